"""Versions that an import brings to statements which a home has already: one line, of which nothing points elsewhere."""

import pytest
from exports import opened, taken
from integrity import open_and_check

VERSIONS = ["Ann likes green tea.", "Ann likes black tea.", "Ann likes milk."], ["小明喜欢绿茶", "小明喜欢红茶", "小明喜欢牛奶"]


@pytest.mark.parametrize("versions", VERSIONS)
def test_what_a_known_statement_superseded_elsewhere_follows_it_into_its_line(tmp_path, versions):
    """Each version has a slot of its own; only the last is known here, so only that one had to wait for its place."""
    with opened(tmp_path / "theirs") as memory:
        last = memory.remember(versions[0]).memory
        for text in versions[1:]:
            last = memory.update(last.id, text)
        memory.admin.export(tmp_path / "theirs.jsonl")
    with opened(tmp_path / "ours") as memory:
        known = memory.remember(versions[-1]).memory

    report = taken(tmp_path / "ours", tmp_path / "theirs.jsonl")

    assert (3, ()) == (report.memories, report.problems)
    with opened(tmp_path / "ours") as memory:
        assert () == memory.admin.check("deep").problems
        rows = sorted(memory.history(known.id), key=lambda row: row.said_at)
        assert [versions[-1], *versions] == [row.content for row in rows]
        assert {known.line} == {row.line for row in rows}
    open_and_check(tmp_path / "ours")
