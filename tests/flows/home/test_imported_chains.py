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


@pytest.mark.parametrize("text", ["Ann prefers tea.", "小明喜欢绿茶"])
@pytest.mark.parametrize("ours_first", [True, False])
def test_the_same_words_of_another_home_take_no_pin_and_no_tag_away(tmp_path, text, ours_first):
    """As if they had been said twice here: the later saying stands, with the tags of both, and pinned. Undoing brings all back."""
    with opened(tmp_path / "ours") as memory, opened(tmp_path / "theirs") as other:
        days = ("2026-01-01", "2026-02-01") if ours_first else ("2026-02-01", "2026-01-01")
        memory.remember(text, said_at=days[0], tags=["work"], pinned=ours_first)
        other.remember(text, said_at=days[1], tags=["home"], pinned=not ours_first)
        other.admin.export(tmp_path / "theirs.jsonl")
        before, last = memory.get_all(), memory.admin.journal()[0].transaction

    taken(tmp_path / "ours", tmp_path / "theirs.jsonl")

    with opened(tmp_path / "ours") as memory:
        [live] = memory.get_all()
        assert (True, {"work", "home"}) == (live.pinned, {*live.tags})
        assert ("2026-02-01", 2) == (f"{live.said_at:%Y-%m-%d}", len(memory.history(live.id)))
        changed = len(memory.admin.journal())
    taken(tmp_path / "ours", tmp_path / "theirs.jsonl")
    with opened(tmp_path / "ours") as memory:
        assert changed == len(memory.admin.journal())
        for number in sorted({row.transaction for row in memory.admin.journal() if row.transaction > last}, reverse=True):
            memory.admin.undo(number)
        assert [(row.id, row.pinned, row.tags) for row in before] == [(row.id, row.pinned, row.tags) for row in memory.get_all()]
    open_and_check(tmp_path / "ours")


def test_other_words_leave_pin_and_tags_with_the_statement_that_they_replace(tmp_path):
    """A later value of the same thing is a statement of its own."""
    with opened(tmp_path / "ours") as memory, opened(tmp_path / "theirs") as other:
        memory.remember("I live in Bergen. 我住在卑尔根", said_at="2026-01-01", tags=["work"], pinned=True)
        other.remember("I live in Oslo. 我住在奥斯陆", said_at="2026-02-01")
        other.admin.export(tmp_path / "theirs.jsonl")

    taken(tmp_path / "ours", tmp_path / "theirs.jsonl")

    with opened(tmp_path / "ours") as memory:
        assert [(False, ())] == [(row.pinned, row.tags) for row in memory.get_all()]
