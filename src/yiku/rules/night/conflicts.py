"""
Judge whether the later of two live statements replaces or contradicts the earlier, by slots, values and denials.

Each statement asks its own question: what it says, without its value. Of that question the rule of recall decides
(rules/finding/supersede.py), and because nobody asked, more than that is required here:

    replaced   both state the same slot of one value, of the same known subject, with different values
    flagged    both tell of the same known subject the very same with another value, or one denies what the other says

Whatever was said on the way to something else, of another time, hedged, planned, of many values, or only similar, is left.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from yiku.rules.deciding import conflict, slots
from yiku.rules.finding import supersede
from yiku.rules.finding.supersede import Answer, Statement
from yiku.rules.finding.supersede_weights import MARKED
from yiku.rules.lexicon import built_in, lists
from yiku.rules.lexicon import flags as F
from yiku.rules.night.duplicates import HAPPENINGS
from yiku.rules.statements.clause import Asked, Clause
from yiku.rules.statements.read import read
from yiku.rules.text.folding import folded
from yiku.rules.text.words import Word, words
from yiku.rules.values import canonical
from yiku.types import Cardinality, Kind, SemanticMemory, Standing

Verdict = Literal["replaced", "flagged"]
LEAST_SHARED = 2  # content words that two clauses must have in common, beside their values
_COUNTED = ("time", "amount")
_NUMBER = "number"  # the sort of an amount without a unit


@dataclass(frozen=True, slots=True)
class Contradiction:
    """
    Two statements that cannot both hold, and where the clauses stand that say so.

    why: a code: slot, value or denial
    """

    verdict: Verdict
    old: SemanticMemory
    new: SemanticMemory
    why: str
    old_span: tuple[int, int]
    new_span: tuple[int, int]


def judge(one: SemanticMemory, other: SemanticMemory) -> Contradiction | None:
    """Return what the later of two live statements does to the earlier; None where both may hold."""
    old, new = sorted((one, other), key=conflict.key)
    if not _comparable(old, new):
        return None
    if _one_slot(old, new):
        whole = (0, len(old.content)), (0, len(new.content))
        sure = new.trust >= old.trust and not old.pinned and old.said_at < new.said_at
        return Contradiction("replaced" if sure else "flagged", old, new, "slot", *whole)
    for first, second, why in _contrary(old, new):
        return Contradiction("flagged", old, new, why, (first.start, first.end), (second.start, second.end))
    return None


def _comparable(old: SemanticMemory, new: SemanticMemory) -> bool:
    """Whether two statements hold at the same time in the same world: live facts of one project and agent, no happenings."""
    if not (old.live and new.live and old.scope == new.scope and old.project == new.project and old.agent == new.agent):
        return False
    if any(row.standing is not Standing.FACT or row.valid_to is not None or row.kind in HAPPENINGS for row in (old, new)):
        return False
    if "until_session" in old.metadata or "until_session" in new.metadata or (old.kind is Kind.RULE) is not (new.kind is Kind.RULE):
        return False
    return old.id not in new.flagged_with and new.id not in old.flagged_with


def _one_slot(old: SemanticMemory, new: SemanticMemory) -> bool:
    """Whether both fill the same slot of one value, with different values."""
    if not (old.subject and old.predicate and old.object and new.object):
        return False
    one = old.cardinality is new.cardinality is Cardinality.SINGLE
    return one and (old.subject, old.predicate) == (new.subject, new.predicate) and not conflict.same_object(old, new)


# ------------------------------------------------------------------ clauses


def _contrary(old: SemanticMemory, new: SemanticMemory) -> Iterator[tuple[Clause, Clause, str]]:
    """Yield pairs of clauses that cannot both hold, and why."""
    moment = any(lists.has(folded(row.content), "night.moment") for row in (old, new))
    for first in (clause for clause in read(old.content) if _states(clause)):
        for second in (clause for clause in read(new.content) if _states(clause)):
            why = _how(old, first, new, second) if not moment or (first.habit and second.habit) else ""
            if why == "denial" or (why and asks_for_both(old, first, new, second) >= MARKED):
                yield first, second, why


def _states(clause: Clause) -> bool:
    """Whether a clause plainly tells how somebody or something is now."""
    return (
        clause.plain
        and slots.is_of_somebody(clause)
        and clause.alone
        and not (clause.possible or clause.event or clause.also or clause.jest or clause.material)
    )


def _how(old: SemanticMemory, first: Clause, new: SemanticMemory, second: Clause) -> str:
    """Return why two clauses cannot both hold: denial, value; empty where they can."""
    if not first.who & second.who or first.habit is not second.habit:
        return ""
    if first.denied is not second.denied:
        alike = first.content == second.content and len(first.content) >= LEAST_SHARED
        return "denial" if alike and _values(old, first) == _values(new, second) else ""
    if first.denied or first.many or second.many or first.beside != second.beside or len(first.beside) < LEAST_SHARED:
        return ""
    one, another = _only_value(old, first), _only_value(new, second)
    if one is None or another is None or canonical.sort_of(one) != canonical.sort_of(another):
        return ""
    return "" if canonical.same(one, old.said_at, another, new.said_at) else "value"


def _values(memory: SemanticMemory, clause: Clause) -> frozenset[str]:
    return frozenset(canonical.form(memory.content[value.start : value.end], memory.said_at) for value in clause.values)


def _only_value(memory: SemanticMemory, clause: Clause) -> str | None:
    """The one amount or time that a clause gives, and nothing else is named in it."""
    if len(clause.values) != 1 or clause.values[0].sort not in _COUNTED:
        return None
    value = memory.content[clause.values[0].start : clause.values[0].end]
    text = folded(memory.content)
    before = words(text, clause.start, clause.values[0].start, built_in())
    return None if _is_done(before) or _is_name(text, before, clause) else value


def _is_done(before: Sequence[Word]) -> bool:
    """Whether an amount belongs to something that was done, and can be done again: bought 3, 买了3个. What `is closed` is not done."""
    if before and before[-1].text.endswith(tuple(lists.words("night.aspects"))):
        return True
    done, ending, never = lists.words("night.done"), tuple(lists.words("night.done_ending")), lists.words("night.never_done")
    return not any(word.flags & F.BE for word in before) and any(
        word.text in done or (word.text.endswith(ending) and word.text not in never) for word in before
    )


def _is_name(text: str, before: Sequence[Word], clause: Clause) -> bool:
    """Whether the number of a clause is part of a name: the 3rd chapter, 第3章; before its verb parcel 5, our bus 5, 发票41."""
    start, end = clause.values[0].start, clause.values[0].end
    if before and before[-1].text in lists.words("night.ordinal"):
        return True
    following = words(text, start, clause.end, built_in())
    if (
        following[0].flags & F.ORDINAL
        and len(following) > 1
        and following[0].end == end
        and not (following[1].sign or following[1].flags & F.LIGHT)
    ):
        return True
    if not before or before[-1].flags & F.LIGHT or canonical.sort_of(text[start:end]) != _NUMBER:
        return False
    named = sum(not (word.sign or word.flags & (F.LIGHT | F.MY)) for word in before)
    return 0 < named <= len(clause.about)


# ------------------------------------------------------------------ the question that a statement asks


def own_question(clause: Clause) -> Asked:
    """Return the question that a clause answers: what it says, without its value."""
    sorts = [value.sort for value in clause.values]
    return Asked(
        sort=sorts[0] if sorts and sorts[0] in ("time", "amount", "place", "person") else "thing" if sorts else "yes",
        subjects=clause.who,
        wanted=frozenset(slot.predicate for slot in clause.slots),
        content=clause.beside or clause.content,
        several=False,
        before=False,
    )


def asks_for_both(old: SemanticMemory, first: Clause, new: SemanticMemory, second: Clause) -> float:
    """Return the score that the later clause supersedes the earlier, by the question that the later one asks of itself."""
    asked = own_question(second)
    answers = [_answer(asked, old, first, 1), _answer(asked, new, second, 0)]
    if not supersede.may_supersede(answers[1], answers[0]):
        return float("-inf")
    return max((score for score, _, _ in supersede.best(asked, answers)), default=float("-inf"))


def _answer(asked: Asked, memory: SemanticMemory, clause: Clause, rank: int) -> Answer:
    values = [value for value in clause.values if value.sort == asked.sort] or [*clause.values]
    speaker = (memory.sources[-1].actor if memory.sources else None) or "user"
    return Answer(
        Statement(memory.id, memory.content, memory.said_at, memory.place, speaker),
        clause,
        tuple(slot for slot in clause.slots if slot.predicate in asked.wanted),
        frozenset(value.text for value in values) or clause.content - asked.content,
        tuple(memory.content[value.start : value.end] for value in values),
        asked.content & (clause.content | clause.about),
        rank,
    )


def contradictions(row: SemanticMemory, near: Sequence[SemanticMemory]) -> Iterator[Contradiction]:
    """Yield what a statement contradicts among those that share words or a slot with it, or what contradicts it."""
    for other in near:
        if other.id != row.id and (found := judge(row, other)) is not None:
            yield found
