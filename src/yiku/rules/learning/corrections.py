"""
Apply a correction that names only the new value ("sorry, typo: it's 99 88 77 65", 不对，是3月14日) to the last statement.

The value takes the place of the one in what the same person had said just before, where both are of one sort, a date for a
date, and only one thing there can be meant. Words have no sort, so "no, Ann" corrects nothing here.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from yiku.rules.deciding import slots
from yiku.rules.statements.clause import Clause, Mood
from yiku.rules.statements.read import read
from yiku.rules.values import canonical
from yiku.types import Cardinality, SemanticMemory
from yiku.types.learning import Draft

REACHES = timedelta(hours=1)
LONGEST = 80  # characters of such a turn


def may_correct(text: str) -> bool:
    """Whether a turn is a correction that gives only a value."""
    return len(text) <= LONGEST and correction(text) is not None


def correction(text: str) -> Clause | None:
    """Return the single clause of a turn that corrects and holds nothing but its value."""
    told = [clause for clause in read(text) if not clause.bare or clause.values]
    if len(told) != 1 or told[0].mood is not Mood.ASSERTED or told[0].cue != "corrects" or len(told[0].values) != 1:
        return None
    return None if told[0].beside else told[0]


def value(text: str, clause: Clause) -> str:
    """Return the value of a correction."""
    return text[clause.values[0].start : clause.values[0].end]


def _sort(said: str) -> str:
    return "contact" if "@" in said else canonical.sort_of(said)


def draft(text: str, told: Sequence[SemanticMemory], *, answers: bool) -> Draft | None:
    """
    Return the previous statement with the new value, None if it is ambiguous which one is meant.

    answers: whether a question stands before it, which "no, …" may answer
    """
    clause = correction(text)
    if clause is None or (answers and not clause.slip):
        return None
    new = value(text, clause)
    meant = [
        (one, old)
        for one in told
        if one.live
        and one.cardinality is Cardinality.SINGLE
        and (old := one.object or "")
        and _sort(old) == _sort(new) != ""
        and one.content.count(old) == 1
    ]
    if len(meant) != 1:
        return None
    known, old = meant[0]
    return Draft(
        text=known.content.replace(old, new),
        quote=text,
        rule="amended",
        kind=known.kind,
        slot=slots.stated(known.subject or "", known.predicate or "", new, known.cardinality),
        importance=known.importance,
        updates=True,
    )
