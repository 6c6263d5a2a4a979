"""Comparing learned statements with a new reading, and relinking version chains."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from yiku.rules.deciding import conflict
from yiku.rules.learning import reread
from yiku.types import Kind, Origin, SemanticMemory, Source, State

NOW = datetime(2026, 5, 5, tzinfo=UTC)


def source(turn="t1", start=None, end=None, text=None):
    return Source(origin=Origin.USER, said_at=NOW, recorded_at=NOW, turn=turn, start=start, end=end, text=text)


def row(content, *sources, days=0, **more):
    at = NOW + timedelta(days=days)
    made = SemanticMemory(
        id=content, line="l", content=content, content_hash=conflict.text_hash(content, None), said_at=at, confirmed_at=at,
        valid_from=at, created_at=at, updated_at=at, sources=sources or (source(),),
    )  # fmt: skip
    return replace(made, **more)


@pytest.mark.parametrize(
    ("before", "now", "same"),
    [
        (row("I live in Oslo"), row("I live in Oslo."), True),
        (row("我住在奥斯陆"), row("我住在奥斯陆。"), True),
        (row("Green tea", source("t1", text="the green one")), row("the green one"), True),
        (row("Green tea", source("t2", text="the green one")), row("the green one"), False),
        (row("绿茶"), row("红茶"), False),
        (row("Oslo", slot="user|lives in"), row("Oslo", slot="user|drives"), False),
        (row("Oslo", slot="user|lives in"), row("Oslo"), False),
        (row("例会十点", kind=Kind.RULE), row("例会十点"), False),
        (row("Ran a race", kind=Kind.EVENT), row("Ran a race"), True),
    ],
)
def test_a_statement_is_given_again_by_its_words_and_its_slot(before, now, same):
    """Punctuation makes no difference, nor in which words this very turn had said it; a slot and being a rule do."""
    assert (now if same else None) == reread.given(before, [row("something else 别的"), now])


@pytest.mark.parametrize(
    ("old", "new", "known"),
    [
        ((0, 10), (5, 15), True),
        ((0, 10), (10, 15), False),
        ((None, None), (10, 15), True),
        ((0, 10), (None, None), True),
    ],
)
def test_without_a_slot_the_same_words_of_the_turn_are_known(old, new, known):
    """Spans that meet are the same words; one that is not known may be."""
    before, now = row("安在罗马。", source("t1", *old)), row("Ann lives in Rome.", source("t1", *new))

    assert known is reread.known(now, [before]) is reread.overlaps(before, now)
    assert not reread.known(now, [replace(before, sources=(source("another", *old),))])


def test_with_a_slot_the_same_value_is_known():
    """However it was put; another value of the slot is news, whatever words it stands in."""
    slot = {"slot": "user|lives in", "subject": "user", "predicate": "lives in"}
    now = row("I live in Oslo.", source("t1", 0, 5), object="Oslo", **slot)

    assert reread.known(now, [row("Moved to oslo", source("t1", 20, 25), object="oslo", **slot)])
    assert not reread.known(now, [row("Moved to Rome", source("t1", 0, 5), object="罗马", **slot)])


@pytest.mark.parametrize(
    ("one", "other", "by_words"),
    [
        ({}, {}, True),
        ({"subject": "user", "predicate": "mentor"}, {"subject": "user", "predicate": "mentor"}, False),
        ({"slot": "a|b"}, {"slot": "a|b"}, False),
        ({"slot": "a|b", "subject": "a", "predicate": "b"}, {"slot": "c|b", "subject": "c", "predicate": "b"}, True),
    ],
)
def test_a_flag_is_by_words_where_no_slot_leads_to_both(one, other, by_words):
    """One subject and predicate, or one slot, are a reason; words are none."""
    assert by_words is reread.flagged_by_words(row("a 一", **one), row("b 二", **other))


def line(*ends):
    """Versions 0, 1, 2 …, each ended by the one that is named, or live."""
    return [row(str(n), days=n, superseded_by=end) for n, end in enumerate(ends)]


@pytest.mark.parametrize(
    ("gone", "changes"),
    [
        ({"2"}, {"1": None}),
        ({"1"}, {"0": "2"}),
        ({"1", "2"}, {"0": None}),
        ({"0"}, {}),
        ({"0", "1", "2"}, {}),
    ],
)
def test_a_line_closes_over_what_goes(gone, changes):
    """What one of them had ended holds until the next that is left, from when that holds; without one it is live."""
    versions = line("1", "2", None)
    closed = {each.id: columns for each, columns in reread.closed(versions, gone)}

    assert changes == {id: columns["superseded_by"] for id, columns in closed.items()}
    for columns in closed.values():
        next_ = columns["superseded_by"]
        assert (None if next_ is None else versions[int(next_)].valid_from) == columns["valid_to"]


def test_what_is_out_of_memory_ends_nothing():
    """A version that was forgotten in between is passed over, and gets no new end itself."""
    versions = line("1", "2", "3", None)
    versions[2] = replace(versions[2], state=State.ARCHIVED)

    assert [("0", "3")] == [(each.id, columns["superseded_by"]) for each, columns in reread.closed(versions, {"1"})]
    assert [] == [*reread.closed(versions, {"3"})]
