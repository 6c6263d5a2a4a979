"""The commands `why` and `audit`: pages for people, JSON and exit codes for scripts."""

import pytest
from commands import run


@pytest.fixture
def filled_home(home):
    """A home with a few statements; by text, their ids."""
    texts = ("I own a boat.", "我喜欢绿茶。", "The boiler is in the cellar.", "The boiler is - in the cellar.")
    ids = {}
    for text in texts:
        ids[text] = run("remember", text, "--home", str(home), "--json").json["memory"]["id"]
    return ids


def test_why_is_a_page_and_json(home, filled_home):
    """The page says first whether it is believed; the JSON has words, changes and the page."""
    page = run("why", filled_home["I own a boat."][-8:], "--home", str(home))
    data = run("why", filled_home["我喜欢绿茶。"], "--home", str(home), "--json").json

    assert (0, "I own a boat.\n\n- Believed: yes, this is current.") == (page.code, "\n".join(page.out.splitlines()[:3]))
    assert ["我喜欢绿茶。"] == [words["text"] for words in data["words"]]
    assert ["remember"] == list(dict.fromkeys(change["operation"] for change in data["changes"]))
    assert data["page"].startswith("# 我喜欢绿茶。")


def test_an_audit_over_its_budget_fails_a_script(home, filled_home):
    """Two spellings of one statement are over the budget; with a larger one it passes. A wrong budget is a usage error."""
    failed = run("audit", "--home", str(home), COLUMNS="80")
    passed = run("audit", "--home", str(home), "--budget", "duplicates=0.5", "--json")

    assert (1, 0) == (failed.code, passed.code)
    assert "The boiler is in the cellar. #" in " ".join(failed.out.split())
    assert ("duplicates", 1, 0.25, False) == tuple(passed.json["findings"][0][name] for name in ("check", "count", "share", "over"))
    assert all(len(line) <= 80 for line in failed.out.splitlines())
    for wrong in ("duplicates", "duplicates=x", "colour=1", "stale=7"):
        assert 2 == run("audit", "--home", str(home), "--budget", wrong).code


def test_a_run_is_undone_by_its_name(home):
    """`yiku undo RUN` names what it took back; a run that is not there, and an item of an operation, are refused."""
    path = str(home)
    run("remember", "I own a boat.", "--home", path)
    run("publish", "--home", path)
    page = home / "MEMORY.md"
    page.write_text(page.read_text().replace("I own a boat.", "I own a ship."))
    operation = run("publish", "--home", path, "--json").json["operations"][0]
    name = next(
        change["run"] for change in run("journal", "--home", path, "--json").json["changes"] if change["transaction"] == operation
    )
    planned = run("undo", name, "1", "--dry-run", "--home", path)
    done = run("undo", name, "--home", path)

    assert planned.out.startswith(f"would undo  1 item of {name}: ")
    assert done.out.startswith(f"undone  1 item of {name}: ")
    assert "I own a boat." in run("list", "--home", path).out
    assert 1 == run("undo", "night 7", "--home", path).code
    assert 2 == run("undo", "7", "1", "--home", path).code
