"""
Determine how long a statement is valid: its priority and expiry, from its words and the times it names.

1. Words that say it outright: for ever, for now, at this moment.
2. Of middling weight, the time that it names: today half a day, tomorrow two days, this week ten, this month thirty-five.
3. What hardly weighs anything: three days, which use renews.
Whatever else is said holds until something later says otherwise.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from yiku.rules.learning import importance
from yiku.rules.lexicon import lists
from yiku.rules.text.folding import folded
from yiku.rules.values import when
from yiku.types import Kind
from yiku.types.learning import Priority

MIDDLING = (0.35, 0.70)  # the weight from which, and up to which, a named time counts
BRIEF = timedelta(hours=12)
SHORT = timedelta(days=2)
LIGHT = timedelta(days=3)
GRACE = timedelta(days=1)  # after the date of a plan
_NAMED: tuple[tuple[timedelta, Priority, str], ...] = (
    (timedelta(hours=12), "transient", "clock.hold.today"),
    (timedelta(days=2), "transient", "clock.hold.tomorrow"),
    (timedelta(days=10), "short_term", "clock.hold.week"),
    (timedelta(days=35), "long_term", "clock.hold.month"),
)


def of(text: str, said_at: datetime) -> tuple[Priority, datetime | None]:
    """Return the priority that the words of a statement imply, and when it expires."""
    small = folded(text[: importance.LOOKED_AT])
    if lists.has(small, "clock.hold.ever"):
        return "permanent", None
    if lists.has(small, "clock.hold.hours"):
        return "transient", said_at + BRIEF
    if lists.has(small, "clock.hold.days"):
        return "transient", said_at + SHORT
    weight = importance.score(text)
    if MIDDLING[0] <= weight <= MIDDLING[1]:
        for span, priority, says in _NAMED:
            if lists.has(small, says):
                return priority, said_at + span
    return ("short_term", said_at + LIGHT) if weight < MIDDLING[0] else ("permanent", None)


def named_end(text: str, kind: Kind, said_at: datetime) -> datetime | None:
    """Return when the words of a statement end, whatever it weighs: for now, tomorrow, the date of an event; None if they name no end."""
    small = folded(text[: importance.LOOKED_AT])
    if lists.has(small, "clock.hold.ever"):
        return None
    spans = ((BRIEF, "clock.hold.hours"), (SHORT, "clock.hold.days"), *((span, says) for span, _, says in _NAMED))
    ends = [said_at + span for span, says in spans if lists.has(small, says)]
    over = end_of(text, said_at) if kind is Kind.EVENT else None
    return max([*ends, *([over] if over else [])], default=None)


def end_of(plan: str, said_at: datetime) -> datetime | None:
    """Return when a plan is over: a day after the last future time it names, None if it names none."""
    ends = [window.until for window in when.windows(plan, said_at, ahead=True) if window.until > said_at]
    return max(ends) + GRACE if ends else None
