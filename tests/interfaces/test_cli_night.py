"""The commands `consolidate`, `report` and `undo RUN`: a page for people, JSON for scripts."""

from commands import run


def test_a_report_names_each_decision_and_its_number(home):
    """The page has the text, the reason and the number; undoing that number brings the memory back, and the report says so."""
    path = str(home)
    assert 1 == run("report", "--home", path).code
    for text in ("The lift is out of order.", "电梯坏了。"):
        run("remember", text, "--home", path, "--expires-at", "2026-03-01", "--said-at", "2026-02-01")
    run("consolidate", "--phase", "0", "--home", path)
    page, data = run("report", "--home", path).out, run("report", "--home", path, "--json").json
    name = data["run"]["id"]
    back = run("undo", name[-8:], "1", "--home", path)
    again = run("report", name[-8:], "--home", path)

    assert '- 1. "The lift is out of order." #' in page and ": its time is over" in page
    assert [(1, "expired", False), (2, "expired", False)] == [(one["item"], one["action"], one["undone"]) for one in data["items"]]
    assert {"The lift is out of order.", "电梯坏了。"} == {*data["texts"].values()}
    assert back.out.startswith(f"undone  1 item of {name}: 1 memory")
    assert 1 == again.out.count("(taken back)")
    assert 1 == run("undo", name, "7", "--home", path).code
