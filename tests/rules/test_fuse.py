"""Fusing: one relevance from several routes."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from yiku.rules import ask, fuse
from yiku.types import SemanticMemory

AT = datetime(2026, 3, 2, tzinfo=UTC)


def memory(subject: str, object_: str, *, superseded_by: str | None = None) -> SemanticMemory:
    return SemanticMemory(
        id="m", line="m", content=object_, subject=subject, object=object_, superseded_by=superseded_by,
        said_at=AT, confirmed_at=AT, valid_from=AT, created_at=AT, updated_at=AT,
    )  # fmt: skip


@given(st.floats(0, 50), st.floats(0, 50))
def test_more_words_are_more_relevant_but_never_as_much_as_a_slot(one: float, other: float) -> None:
    """The scale rises with BM25 and stays below an exact slot."""
    low, high = sorted((one, other))

    assert 0 <= fuse.words(low) <= fuse.words(high) <= fuse.WORDS_AT_MOST < 1


@given(st.dictionaries(st.sampled_from(["slot", "words"]), st.floats(0, 1), min_size=1))
def test_a_row_is_at_least_as_relevant_as_by_its_best_route(found: dict[str, float]) -> None:
    """Routes add up and never take away."""
    assert max(found.values()) - 1e-9 <= fuse.together(found) <= 1


def test_who_asks_for_his_sister_does_not_ask_for_himself() -> None:
    """The owner of what is asked for comes behind it."""
    question = ask.analyse("What is my sister allergic to?")
    named = {"user", "user's sister"}

    sister = fuse.slot(memory("user's sister", "peanuts"), question, named=named, steps_back=0)
    myself = fuse.slot(memory("user", "penicillin"), question, named=named, steps_back=0)
    assert sister > myself


def test_before_oslo_does_not_ask_for_oslo() -> None:
    """Asked for the past, the retired value is ahead of the live one, and of the one that was named."""
    question = ask.analyse("Where did I live before Oslo?")
    bergen = fuse.slot(memory("user", "Bergen", superseded_by="x"), question, named={"user"}, steps_back=1)
    oslo = fuse.slot(memory("user", "Oslo"), question, named={"user"}, steps_back=0)

    assert bergen > oslo


def test_recency_orders_equals_and_moves_nothing_far() -> None:
    """The newest gets the whole of a small bonus, the oldest nothing."""
    times = [AT, AT + timedelta(days=9), AT + timedelta(days=1)]

    assert [0.0, fuse.RECENCY, fuse.RECENCY / 2] == fuse.recency(times)
    assert [0.0] == fuse.recency(times[:1])
