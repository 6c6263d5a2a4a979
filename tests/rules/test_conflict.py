"""Conflict decisions: the same version chain whatever the order of recording."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import permutations

import pytest

from yiku.rules.deciding import conflict, slots
from yiku.types import Confirmed, ConflictSet, Expect, Flagged, New, Origin, Past, Replaced, SemanticMemory, Slot, Source

START = datetime(2026, 3, 1, tzinfo=UTC)


def statement(text: str, day: int, named: Slot | None = None) -> SemanticMemory:
    """A statement about one home, said on a day."""
    slot, at = named or slots.read(text), START + timedelta(days=day)
    return SemanticMemory(
        id=f"{text}@{day}",
        line=f"{text}@{day}",
        content=text,
        content_hash=conflict.text_hash(text, slot),
        said_at=at,
        confirmed_at=at,
        valid_from=at,
        created_at=at,
        updated_at=at,
        sources=(Source(origin=Origin.USER, said_at=at, recorded_at=at),),
        **(
            {
                "subject": slot.subject,
                "predicate": slot.predicate,
                "object": slot.object,
                "cardinality": slot.cardinality,
                "slot": slot.key,
            }
            if slot
            else {}
        ),
    )


class Table:
    """The rows of one slot, changed as decisions say: a store without a store."""

    def __init__(self) -> None:
        self.rows: dict[str, SemanticMemory] = {}

    def tell(self, new: SemanticMemory) -> conflict.Decision:
        chain = sorted(self.rows.values(), key=conflict.key)
        before = [row for row in chain if row.said_at <= new.said_at]
        after = [row for row in chain if row.said_at > new.said_at]
        live = next((row for row in chain if row.superseded_by is None), None)
        met = ConflictSet(
            expect=Expect(), previous=before[-1] if before else None, following=after[0] if after else None, live=live
        )
        decision = conflict.decide(new, met, split_id=f"{new.id}+")
        for row, columns in decision.updates:
            self.rows[row.id] = replace(self.rows[row.id], **columns)
        for row in decision.adds:
            self.rows[row.id] = replace(row, n=len(self.rows) + 1)
        if decision.source_for is not None:
            known = self.rows[decision.source_for.id]
            self.rows[known.id] = replace(known, sources=(*known.sources, *new.sources))
        return decision

    @property
    def chain(self) -> list[tuple[str, int, int | None]]:
        """(text, day it began, day it ended) of each version, in order; each must point to the next."""
        chain = sorted(self.rows.values(), key=conflict.key)
        assert [row.superseded_by for row in chain] == [row.id for row in chain[1:]] + [None]
        return [(row.content, (row.valid_from - START).days, row.valid_to and (row.valid_to - START).days) for row in chain]


@pytest.mark.spec("S3-67", "T-01")
def test_said_later_wins_and_the_earlier_stays() -> None:
    """The old value ends where the new begins, and points to it."""
    table = Table()
    table.tell(statement("I live in Bergen.", 0))
    decision = table.tell(statement("I live in Oslo.", 5))

    assert isinstance(decision.outcome, Replaced)
    assert [("I live in Bergen.", 0, 5), ("I live in Oslo.", 5, None)] == table.chain


@pytest.mark.parametrize(
    "said",
    [
        ["I live in Bergen.", "I live in Oslo.", "I live in Rome."],
        ["I live in Bergen.", "I live in Oslo.", "I live in Bergen."],
        ["I live in Bergen.", "i live in bergen", "I live in Oslo.", "I live in Bergen."],
        ["我住在卑尔根", "I live in Oslo.", "我搬到奥斯陆了", "我住在卑尔根。"],
        ["I live in Oslo.", "I live in Oslo.", "I live in Oslo."],
    ],
)
def test_any_order_of_recording_leaves_the_same_chain(said: list[str]) -> None:
    """Each permutation ends in the chain of the order in which it was said, runs of the same words being one."""
    statements = [statement(text, day) for day, text in enumerate(said)]
    expected = []
    for row in statements:
        if not expected or expected[-1].content_hash != row.content_hash:
            expected.append(row)

    for order in permutations(statements):
        table = Table()
        for row in order:
            table.tell(row)

        begun = [(row.content_hash, (row.said_at - START).days) for row in expected]
        chain = sorted(table.rows.values(), key=conflict.key)
        assert begun == [(row.content_hash, (row.said_at - START).days) for row in chain], [row.id for row in order]
        assert table.chain


def test_said_earlier_becomes_history_and_retires_nothing() -> None:
    """A statement that arrives late, about a time before, is past at once."""
    table = Table()
    table.tell(statement("I live in Oslo.", 5))
    decision = table.tell(statement("I live in Bergen.", 0))

    assert isinstance(decision.outcome, Past)
    assert "I live in Oslo." == decision.outcome.current.content
    assert [("I live in Bergen.", 0, 5), ("I live in Oslo.", 5, None)] == table.chain


def test_the_same_words_confirm() -> None:
    """Case, width and punctuation make no second statement; confidence rises and both days are known."""
    table = Table()
    table.tell(replace(statement("I live in Oslo.", 5), confidence=0.6))
    decision = table.tell(statement("Ｉ live in OSLO", 7))

    assert isinstance(decision.outcome, Confirmed)
    (row,) = table.rows.values()
    assert (0.8, 2) == (pytest.approx(row.confidence), len(row.sources))


def test_the_same_value_in_other_words_is_confirmed_in_the_newest_words() -> None:
    """`I moved to Oslo` says what `I live in Oslo` said: no replacement is reported, the newest words are live."""
    table = Table()
    table.tell(statement("I live in Oslo.", 0))
    decision = table.tell(statement("I moved to Oslo.", 3))

    assert isinstance(decision.outcome, Confirmed)
    assert "I moved to Oslo." == table.chain[-1][0]


def test_rivals_nobody_can_judge_are_all_kept_and_marked() -> None:
    """With an unknown number of values, both stay and each names the other."""
    mode = [slots.stated("gateway", "mode", value, None) for value in ("strict", "lax")]
    strict, lax = statement("The gateway's mode is strict", 0, mode[0]), statement("The gateway's mode is lax", 1, mode[1])
    decision = conflict.decide(lax, ConflictSet(expect=Expect(), rivals=[strict]))

    assert isinstance(decision.outcome, Flagged)
    assert (strict.id,) == decision.subject.flagged_with
    assert (lax.id,) == decision.updates[0][1]["flagged_with"]


def test_words_alone_confirm_only_themselves() -> None:
    """However alike two texts are, without a slot only the same words meet."""
    dark, light = statement("dark theme for the editor", 0), statement("light theme for the editor", 1)

    assert New(memory=light) == conflict.decide(light, ConflictSet(expect=Expect(), same=[dark])).outcome
    assert dark.content_hash != light.content_hash


def test_versions_that_come_back_take_their_place_in_the_order_of_saying() -> None:
    """Restored beside a newer value, an older one is history; the row that retires comes first."""
    old, new = replace(statement("I live in Bergen.", 0), n=1), replace(statement("I live in Oslo.", 5), n=2)
    updates = conflict.rejoin([old], [new])

    assert [(old.id, new.id)] == [(row.id, columns["superseded_by"]) for row, columns in updates if "superseded_by" in columns]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The password is abcDEF", "The password is ABCdef"),
        ("The ratio is 1:5", "The ratio is 1.5"),
        ("The limit is 1,500", "The limit is 1.500"),
        ("Ask Müller", "Ask Muller"),
        ("The server is up?", "The server is up."),
        ("Use Foo_Bar", "Use foo bar"),
    ],
)
def test_what_differs_in_meaning_is_another_text(one: str, other: str) -> None:
    """Case inside a word, a point inside a number, an accent, a question mark: a new value is never taken for the old one."""
    assert conflict.text_hash(one, None) != conflict.text_hash(other, None)


@pytest.mark.parametrize(
    ("one", "other"), [("I live in Oslo.", "Ｉ live in OSLO"), ("我住在奥斯陆。", "我住在奥斯陆"), ("It works!", "it works")]
)
def test_what_differs_in_form_is_the_same_text(one: str, other: str) -> None:
    """Width, the case of plain words, and punctuation around them make no second statement."""
    assert conflict.text_hash(one, None) == conflict.text_hash(other, None)


def test_what_had_expired_begins_anew_when_it_is_told_again() -> None:
    """It is not confirmed into a row that nobody recalls any more."""
    old = replace(statement("I live in Oslo.", 0), expires_at=START + timedelta(days=1))
    decision = conflict.decide(statement("I live in Oslo.", 5), ConflictSet(expect=Expect(), previous=old, live=old))

    assert 1 == len(decision.adds)
    assert decision.adds[0].id == decision.updates[0][1]["superseded_by"]


@pytest.mark.parametrize(
    ("text", "day", "again"),
    [
        ("I have an exam next Friday.", 7, 14),
        ("My flight to Oslo is tomorrow.", 0, 2),
        ("The museum opens next month.", 0, 40),
        ("我下周五考试。", 7, 14),
        ("我明天下午三点看牙医。", 0, 2),
        ("博物馆下个月开门。", 0, 40),
        ("博物馆明年3月开门。", 0, 400),
    ],
)
def test_the_same_words_of_another_day_are_the_next_version(text: str, day: int, again: int) -> None:
    """Next Friday is another one a week later; told in either order the later one is live. On the same day it is the same."""
    first, later = statement(text, day), statement(text, again)
    decision = conflict.decide(later, ConflictSet(expect=Expect(), same=[first]))
    before = conflict.decide(first, ConflictSet(expect=Expect(), same=[later]))
    repeated = replace(first, id="repeated", said_at=first.said_at + timedelta(hours=1))

    assert (Replaced, first.line) == (type(decision.outcome), decision.subject.line)
    assert (Past, later.id, ()) == (type(before.outcome), before.subject.superseded_by, before.updates)
    assert isinstance(conflict.decide(repeated, ConflictSet(expect=Expect(), same=[first])).outcome, Confirmed)


@pytest.mark.parametrize(
    ("text", "again"), [("Note: buy milk!", "Note buy milk"), ("备注：买牛奶！", "备注：买牛奶"), ("a-" * 30_000, "A-" * 30_000)]
)
def test_other_signs_and_long_words_are_no_other_day(text: str, again: str) -> None:
    """The same words are confirmed, in no time."""
    assert isinstance(
        conflict.decide(statement(again, 3), ConflictSet(expect=Expect(), same=[statement(text, 0)])).outcome, Confirmed
    )


@pytest.mark.parametrize("text", ["My exam is tomorrow.", "我的考试是下周五。"])
def test_the_value_of_a_slot_is_another_where_its_words_name_another_day(text: str) -> None:
    """The date of the exam is corrected by the same words, and confirmed by them on the same day."""
    table = Table()
    decisions = [table.tell(replace(statement(text, day), id=f"{text}{n}")) for n, day in enumerate((0, 0, 7))]

    assert [New, Confirmed, Replaced] == [type(decision.outcome) for decision in decisions]
    assert [(text, 0, 7), (text, 7, None)] == table.chain


@pytest.mark.parametrize("text", ["I run on Fridays.", "I moved to Oslo on 5 March.", "我每周五跑步。", "我3月5日搬到了深圳。"])
def test_words_that_name_the_same_day_at_any_time_confirm(text: str) -> None:
    """A weekday or a date says the same a week later."""
    first = statement(text, 0)
    met = (
        ConflictSet(expect=Expect(), same=[first])
        if first.slot is None
        else ConflictSet(expect=Expect(), previous=first, live=first)
    )

    assert isinstance(conflict.decide(statement(text, 7), met).outcome, Confirmed)
