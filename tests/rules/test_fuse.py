"""Fusing the scores of several routes into one."""

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from yiku.rules.finding import ask, fuse
from yiku.types import SemanticMemory, Similar

AT = datetime(2026, 3, 2, tzinfo=UTC)
NEAR = 0.8, 0.9  # cosines: of what resembles nothing, and of the nearest


def memory(subject: str, object_: str, *, superseded_by: str | None = None) -> SemanticMemory:
    return SemanticMemory(
        id="m", line="m", content=object_, subject=subject, object=object_, superseded_by=superseded_by,
        said_at=AT, confirmed_at=AT, valid_from=AT, created_at=AT, updated_at=AT,
    )  # fmt: skip


def near(turns: list[float], statements: list[float] | None = None, *, unspaced: int = 0) -> Similar:
    """Resemblance of turns and statements; so many of the turns are in a script without spaces."""
    alike = np.array([*turns, *(statements or [])], np.float32)
    places = np.arange(len(alike))
    return Similar(places + 1, places >= len(turns), places < unspaced, alike)


@given(st.floats(0, 5), st.floats(0, 5))
def test_more_evidence_is_more_relevant_but_never_as_much_as_a_slot(one: float, other: float) -> None:
    """The scale rises with the evidence and stays below an exact slot."""
    low, high = sorted((one, other))

    assert 0 <= fuse.relevance(low) <= fuse.relevance(high) <= fuse.EVIDENCE_AT_MOST < 1


@given(st.lists(st.floats(0, 1), min_size=1))
def test_a_row_is_at_least_as_relevant_as_by_its_best_route(found: list[float]) -> None:
    """Routes add up and never take away."""
    assert max(found) - 1e-9 <= fuse.combine(found) <= 1


def test_the_best_match_of_few_words_is_no_full_match() -> None:
    """One word of ten found is little, also when no row has more."""
    few, many = fuse.Scale(best=0.1), fuse.Scale(best=0.8)

    assert 0.25 == pytest.approx(few.of_words(np.array([0.1]))[0])
    assert 1.0 == pytest.approx(many.of_words(np.array([0.8]))[0])


def test_in_a_memory_of_two_languages_vectors_count_for_more() -> None:
    """Words are of one language only, so there they say less; a few foreign texts make no second language."""
    words = [np.array([0.9])]
    one = fuse.scale(words, near([0.9] + [0.8] * 99, unspaced=4))
    two = fuse.scale(words, near([0.9] + [0.8] * 99, unspaced=40))

    assert (False, True) == (one.two_scripts, two.two_scripts)
    assert (0.6, 0.4, 1.0, 0.3) == pytest.approx((*map(one.weight, ("vectors", "words")), *map(two.weight, ("vectors", "words"))))
    assert two.of_words(np.array([0.5]))[0] <= one.of_words(np.array([0.5]))[0]


def test_what_was_learned_does_not_change_what_turns_resemble() -> None:
    """A statement is as short as a question, and nearer to it than any turn: the turns stand as they stood without it."""
    turns = [0.9, 0.86, *[0.8 + n / 1000 for n in range(fuse.FEW_TO_JUDGE)]]
    alone, learned = fuse.scale([], near(turns)), fuse.scale([], near(turns, [0.97, 0.7, 0.7]))

    assert alone == learned
    best, nearer = learned.of_vectors(np.array([0.9, 0.97]))
    assert 1.0 == pytest.approx(best)
    assert nearer > best


def test_beside_a_few_turns_all_that_is_there_says_what_is_much() -> None:
    """Who keeps statements only, or has hardly talked yet, has no turns to measure by."""
    few = fuse.scale([], near([0.9, 0.8], [0.97, 0.7, 0.7]))

    assert 1.0 == pytest.approx(few.of_vectors(np.array([0.97]))[0])


def test_a_message_in_the_middle_of_a_matter_means_the_conversation_more_than_the_words() -> None:
    """`I'm back, the setup is done`: what was talked about all around counts for more, who said it for nothing."""
    asks, goes_on = fuse.Scale(1.0, NEAR), fuse.Scale(1.0, NEAR, carries_on=True)

    assert goes_on.weight("words") < asks.weight("words")
    assert goes_on.weight("session") > asks.weight("session")
    assert goes_on.weight("recency") > asks.weight("recency")
    assert goes_on.weight("vectors") == asks.weight("vectors")
    assert 0 == goes_on.weight("role") == goes_on.weight("opening")


def test_a_conversation_with_an_assistant_says_first_what_it_is_about() -> None:
    """The user's first turn has all of it, the next less; a talk among people and the assistant's turns have none."""
    sessions = np.array([0, 0, 1, 0, 1, 2])
    user = np.array([True, False, True, True, True, True])
    of_all = fuse.openings(sessions, user, slice(None))

    assert [1.0, 0.0, 0.0, 1 / (1 + 3 / fuse.OPENING_TURNS), 0.0, 0.0] == pytest.approx(of_all.tolist())
    assert of_all[[3, 0]].tolist() == fuse.openings(sessions, user, np.array([3, 0])).tolist()


def test_what_is_answered_is_of_people() -> None:
    """By somebody else at once, in the same session, both with a name and no assistant; the order is kept."""
    #                    two people   one again  an assistant   one has no name
    sessions = np.array([0, 0, 0,     0, 1,      2, 2,          3, 3])  # fmt: skip
    speakers = np.array([0, 1, 0,     0, 1,      0, 2,          0, -1])  # fmt: skip
    user = np.array([*[True] * 6, False, *[True] * 2])
    every = np.arange(9)[::-1]

    assert [1, 0] == fuse.answered(every, sessions, user, speakers, slice(None)).tolist()
    assert [1] == fuse.answered(every, sessions, user, speakers, np.array([0, 2, *range(3, 10)])).tolist()
    assert [] == fuse.answered(np.array([0]), sessions[:1], user[:1], speakers[:1], slice(None)).tolist()


def test_words_stand_for_a_vector_that_is_missing() -> None:
    """A turn that waits to be embedded is not behind for that."""
    ns, words = np.array([1, 2, 3]), np.array([1.0, 1.0, 0.0])
    found = fuse.evidence(fuse.Scale(1.0, NEAR), ns, words, np.array([np.nan, 0.5, 0.5]), {})

    assert [1.0, 0.7, 0.3] == pytest.approx(found.total.tolist())


def test_who_and_when_alone_are_no_reason() -> None:
    """A turn that shares nothing with the question stays away, whoever said it."""
    found = fuse.evidence(
        fuse.Scale(1.0), np.array([1, 2]), np.array([0.0, 0.5]), None, {"role": np.ones(2), "recency": np.ones(2)}
    )

    assert [1] == found.best_first(10).tolist()


def test_a_time_that_is_named_is_reason_enough() -> None:
    """`What did I do on Monday?` has no other word."""
    found = fuse.evidence(fuse.Scale(1.0), np.array([1, 2]), np.zeros(2), None, {"time": np.array([1.0, 0.0])})

    assert [0] == found.best_first(10).tolist()


@given(st.lists(st.floats(0.2, 2), min_size=1, max_size=50), st.integers(1, 60))
def test_the_best_first_and_of_equals_the_newest(totals: list[float], most: int) -> None:
    """However many are asked for, they are the first of all in their order."""
    ns = np.arange(1, len(totals) + 1)
    found = fuse.Evidence(ns, {}, np.array(totals)).best_first(most)

    assert sorted(range(len(totals)), key=lambda place: (-totals[place], -ns[place]))[:most] == found.tolist()


def test_who_asks_for_his_sister_does_not_ask_for_himself() -> None:
    """The owner of what is asked for comes behind it."""
    question = ask.analyse("What is my sister allergic to?")
    named = {"user", "user's sister"}

    sister = fuse.slot(memory("user's sister", "peanuts"), question, named=named, steps_back=0)
    myself = fuse.slot(memory("user", "penicillin"), question, named=named, steps_back=0)
    assert sister > myself


@pytest.mark.parametrize(
    ("question", "thing", "other"),
    [
        (
            "Who did I have a conversation with about destiny?",
            "I had a long conversation with Sarah",
            "I have an antique desk lamp",
        ),
        ("Do I have a spare 螺丝刀 for my laptop?", "我有一把备用螺丝刀", "我有一只猫"),
    ],
)
def test_who_asks_whether_he_has_a_thing_does_not_ask_for_another(question: str, thing: str, other: str) -> None:
    """`Have` alone is said of everything; what is named behind it says what is asked for."""
    asked = ask.analyse(question)
    meant, lamp = (
        fuse.slot(replace(memory("user", text), predicate="owns"), asked, named={"user"}, steps_back=0) for text in (thing, other)
    )

    assert 1.0 == meant > lamp == fuse.BESIDE_IT


def test_who_asks_what_he_has_asks_for_all_of_it() -> None:
    """No thing is named in 我家养了什么, so none is another."""
    cat = replace(memory("user", "一只猫"), predicate="owns")

    assert 1.0 == fuse.slot(cat, ask.analyse("我家养了什么？"), named={"user"}, steps_back=0)


def test_before_oslo_does_not_ask_for_oslo() -> None:
    """Asked for the past, the retired value is ahead of the live one, and of the one that was named."""
    question = ask.analyse("Where did I live before Oslo?")
    bergen = fuse.slot(memory("user", "Bergen", superseded_by="x"), question, named={"user"}, steps_back=1)
    oslo = fuse.slot(memory("user", "Oslo"), question, named={"user"}, steps_back=0)

    assert bergen > oslo


def test_the_newest_session_is_the_freshest() -> None:
    """By its latest turn, whatever the order of recording, and by days: half for each ten; a number without turns is not fresh."""
    day = fuse.DAY_MICROSECONDS
    said_at, sessions = np.array([10, 30, 20, 5]) * day, np.array([4, 0, 2, 2])

    assert [1.0, 0.0, 0.5, 0.0, 0.25] == fuse.freshness(said_at, sessions).tolist()


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("what's the retry limit of the payments service?", True),
        ("支付服务的重试次数是多少？", True),
        ("how do I get from the airport to the payments service building by train?", False),
        ("从机场坐火车到支付服务那栋楼要多久，中途要换几次车？", False),
    ],
)
def test_a_question_that_only_touches_a_slot_does_not_ask_for_it(question: str, asked: bool) -> None:
    """Of a predicate that no table knows, a good part of the question's words must be those of the slot."""
    chinese = "支付" in question
    subject, predicate = ("支付服务", "重试次数") if chinese else ("payments service", "retry limit")
    stated = replace(memory(subject, "7"), predicate=predicate)

    assert asked == fuse.asks_for(ask.analyse(question), stated)


@pytest.mark.parametrize(("question", "predicate"), [("Has my boss changed?", "主管"), ("我的老板换了吗？", "manager")])
def test_a_slot_is_asked_for_under_another_name_of_its_attribute(question: str, predicate: str) -> None:
    """Boss, manager, 老板 and 主管 are one attribute."""
    assert fuse.asks_for(ask.analyse(question), replace(memory("user", "Ole"), predicate=predicate))


def test_confidence_rises_with_what_is_near_and_with_what_stands_out() -> None:
    """With a model that it was fitted to; how far a row stands out counts only where there are rows enough to say what is usual."""

    def sure(near: float, stands_out: float, rows: int = 200) -> float:
        total = np.full(rows, 0.3)
        total[7] += stands_out
        found = fuse.Evidence(np.arange(rows), {"words": np.zeros(rows)}, total)
        return fuse.confidence(fuse.Scale(0.5, (0.1, near), calibrated=True), [found], 6)

    assert sure(0.3, 0.2) < sure(0.5, 0.2) < sure(0.5, 0.5)
    assert sure(0.5, 0.5, rows=60) - sure(0.5, 0.2, rows=60) < sure(0.5, 0.5) - sure(0.5, 0.2)
