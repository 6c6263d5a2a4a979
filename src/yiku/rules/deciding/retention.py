"""
How long a memory is kept: from words (`permanent`, 7d, 本次会话, short_term) to the columns that end it.

    expires_at      from then on it is no longer recalled: it goes to the archive
    ttl_days        so long after it was last used it is junk;
    auto_delete_at  the time that follows from ttl_days

What was said decides, in this order: a time, a duration, a priority, the kind. Nothing permanent has an end. A rule
for one task ends a day after the session in which it was said; a rule of behaviour never does, and is pinned. What
is used before it ends lives longer (`renewed`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Any

from yiku.rules.lexicon.lists import at_end, at_start, words
from yiku.rules.text.folding import folded
from yiku.rules.values.days import number
from yiku.types import Kind, Priority, SemanticMemory

DAY = timedelta(days=1)
PRIORITY_DAYS: Mapping[Priority, int] = {"transient": 1, "short_term": 3, "long_term": 30}  # S2's; permanent has no end
ERROR_DAYS = 7  # S2: a lesson; one that is used in that time lives on like what is long_term
LASTING = frozenset((Kind.PREFERENCE, Kind.RULE, Kind.SKILL, Kind.PERSONA_TRAIT))  # S2: permanent where nothing is said
RENEWED: frozenset[Priority] = frozenset(("short_term", "long_term"))  # by each use
AFTER_SESSION = DAY  # a rule for a task outlives its session by so much
LONGEST_DAYS = 36_500

_UNIT_HOURS = {"minutes": 1 / 60, "hours": 1, "days": 24, "weeks": 7 * 24, "months": 30 * 24, "years": 365 * 24}
_PRIORITIES: tuple[Priority, ...] = ("transient", "short_term", "long_term", "permanent")
_DIGITS = 6  # of a count


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """
    How long a memory is kept, as its columns.

    with_session:   it ends with the session it was said in: ask again, with `session_ends`, when that is known
    unread:         words that say nothing that is known here, and were passed over
    """

    priority: Priority | None = None
    expires_at: datetime | None = None
    auto_delete_at: datetime | None = None
    ttl_days: int | None = None
    pinned: bool = False
    with_session: bool = False
    unread: tuple[str, ...] = ()

    def columns(self) -> dict[str, Any]:
        """What is written to the row."""
        return {name: getattr(self, name) for name in ("priority", "expires_at", "auto_delete_at", "ttl_days", "pinned")}


def until(
    kind: Kind,
    priority: str | None = None,
    duration: str | None = None,
    *,
    now: datetime,
    session_ends: datetime | None = None,
    expires_at: datetime | None = None,
    ttl_days: int | None = None,
) -> Retention:
    """
    How long a memory of this kind is kept.

    priority:       transient, short_term, long_term or permanent, in any spelling or in Chinese
    duration:       permanent, session, or a span: 24h, 7d, `two weeks`, 三天; it wins over a priority
    session_ends:   of the session it was said in; None while that goes on
    expires_at, ttl_days: said outright; they win over everything but `permanent`
    """
    given = next((one for one in _PRIORITIES if _word(priority) in words(f"records.{one}")), None)
    asked = _word(duration)
    session, span = asked in words("records.this_session"), _span(asked)
    for_ever = asked in words("records.for_ever")
    unread = tuple(word for word, read in ((priority, given), (duration, session or span or for_ever)) if word and not read)
    if given is None and not (session or span or ttl_days or expires_at) and kind in LASTING:
        for_ever = True
    if for_ever or (given == "permanent" and not session and not span):
        return Retention(priority="permanent", pinned=kind is Kind.RULE, unread=unread)
    for_task = kind is Kind.RULE and (session or (span is not None and span <= DAY))
    if expires_at is not None:
        ends: datetime | None = expires_at
    elif for_task:
        ends, given = _task_ends(now, span, session_ends), "transient"
    elif session:
        ends, given = min(now + DAY, session_ends or now + DAY), "transient"
    elif span is not None:
        ends, given = now + span, None
    elif given is None and kind is Kind.ERROR and not ttl_days:
        ends, given = now + ERROR_DAYS * DAY, "long_term"
    else:
        ends = None if ttl_days or given is None else now + PRIORITY_DAYS[given] * DAY
    return Retention(
        priority=given,
        expires_at=ends,
        ttl_days=ttl_days,
        auto_delete_at=now + min(ttl_days, LONGEST_DAYS) * DAY if ttl_days else None,
        with_session=session or for_task,
        unread=unread,
    )


def _task_ends(now: datetime, span: timedelta | None, session_ends: datetime | None) -> datetime | None:
    """When a rule for a task ends: a day after its session, and not before what was said."""
    ends = [now + span] if span is not None else []
    return max([*ends, session_ends + AFTER_SESSION] if session_ends else ends, default=None)


def _word(given: str | None) -> str:
    return re.sub(r"[\s_-]+", "_", folded(given or "").strip())


def _span(word: str) -> timedelta | None:
    """The time that a word like 7d, two_weeks or 三天 names."""
    if behind := at_start(word, "records.kept_for"):
        word = word[behind:].removeprefix("_")
    word = word.removesuffix(at_end(word, "records.kept_within"))
    unit = max((unit for unit in _units() if word.endswith(unit)), key=len, default="")
    count = word.removesuffix(unit).removesuffix("_")
    if not unit or not count or len(count) > _DIGITS:
        return None
    try:
        hours = (0.5 if count in words("records.half") else number(count)) * _units()[unit]
    except (KeyError, ValueError):
        return None
    return min(timedelta(hours=hours), LONGEST_DAYS * DAY) if hours else None


@cache
def _units() -> dict[str, float]:
    """The hours of each word for a unit of time."""
    return {word: hours for name, hours in _UNIT_HOURS.items() for word in words(f"records.{name}")}


def renewed(memory: SemanticMemory, used_at: datetime) -> dict[str, Any]:
    """
    The columns that change when a memory was used: its end moves as far ahead as its priority or ttl_days say.

    An end that was said outright, or that comes with a session, stays; none moves back.
    """
    days = next((days for priority, days in PRIORITY_DAYS.items() if priority == memory.priority), 0)
    found: dict[str, Any] = {}
    if memory.expires_at and memory.priority in RENEWED and memory.expires_at < used_at + days * DAY:
        found["expires_at"] = used_at + days * DAY
    if memory.auto_delete_at and memory.ttl_days and memory.auto_delete_at < used_at + memory.ttl_days * DAY:
        found["auto_delete_at"] = used_at + memory.ttl_days * DAY
    return found
