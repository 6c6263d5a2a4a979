"""
Compute when a memory expires: from its kind, priority and session, the times given, and its use.

What was said decides, in this order: a time, that it is for one session, a priority, the kind. Nothing permanent has an
end, and what is pinned none but one that was named. A rule for one task ends a day after the session in which it was
said; a rule of behaviour never does, and is pinned. What is used before it ends lives longer (`renewal`); what is said
again keeps the later end (`retold`).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from yiku.rules.learning import durations
from yiku.types import Kind, Origin, Priority, SemanticMemory

DAY = timedelta(days=1)
PRIORITY_DAYS: Mapping[Priority, int] = {"transient": 1, "short_term": 3, "long_term": 30}  # S2's; permanent has no end
ERROR_DAYS = 7  # S2: a lesson; one that is used in that time lives on like what is long_term
LASTING = frozenset((Kind.PREFERENCE, Kind.RULE, Kind.SKILL, Kind.PERSONA_TRAIT))  # S2: permanent where nothing is said
RENEWED: frozenset[Priority] = frozenset(("short_term", "long_term"))  # by each use
UNTIL_SESSION = "until_session"  # in the metadata of what is for one session
COUNTED_WITHIN = timedelta(hours=1)  # a night counts an end from its beginning, and writes it somewhat later
AFTER_SESSION = DAY  # a rule for a task outlives its session by so much


class Retention(NamedTuple):
    """How long a memory is kept, as its columns; from `expires_at` on it is no longer recalled."""

    priority: Priority | None
    expires_at: datetime | None = None
    pinned: bool = False


def until(
    kind: Kind,
    priority: Priority | None = None,
    *,
    now: datetime,
    session: bool = False,
    session_ends: datetime | None = None,
    expires_at: datetime | None = None,
) -> Retention:
    """
    Return how long a memory of this kind is kept.

    session:        it is for the session it was said in
    session_ends:   None while that goes on
    expires_at:     said outright; it wins over everything but `permanent`
    """
    if priority is None and not session and expires_at is None and kind in LASTING:
        priority = "permanent"
    if priority == "permanent" and not session:
        return Retention("permanent", pinned=kind is Kind.RULE)
    if expires_at is not None:
        return Retention(priority, expires_at)
    if session and kind is Kind.RULE:
        return Retention("transient", session_ends + AFTER_SESSION if session_ends else None)
    if session:
        return Retention("transient", min(now + DAY, session_ends or now + DAY))
    if priority is None:
        return Retention("long_term", now + ERROR_DAYS * DAY) if kind is Kind.ERROR else Retention(None)
    return Retention(priority, now + PRIORITY_DAYS[priority] * DAY)


def retold(known: SemanticMemory, new: SemanticMemory) -> dict[str, Any]:
    """
    The columns that change when a user says a memory again: the later end holds, and none where the new telling has none.

    A new telling whose own words have an end (tomorrow, for now) has that; what is for a session ends with it.
    """
    end, new_end = known.ends_at, new.ends_at
    if end is None or new.origin is not Origin.USER or new.said_at < known.confirmed_at or UNTIL_SESSION in new.metadata:
        return {}
    if new_end is not None:
        later = {name: getattr(new, name) for name in ("expires_at", "auto_delete_at", "ttl_days", "priority")}
    else:
        new_end = durations.named_end(new.content, new.kind, new.said_at)
        later = {"expires_at": new_end, "auto_delete_at": None, "ttl_days": None}
        later |= {} if new_end else {"priority": new.priority}
    return later if new_end is None or new_end > end else {}


def reprioritized(known: SemanticMemory, given: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    """
    The columns of its end that change where somebody gives a memory another priority, and names no end.

    A priority brings its end, counted from now; what is permanent or pinned has none.
    """
    if "priority" not in given or "expires_at" in given:
        return {}
    lasting = given.get("pinned", known.pinned) or "ttl_days" in given
    days = 0 if lasting else _days(given["priority"])
    columns: dict[str, Any] = {"expires_at": now + days * DAY if days else None}
    if given["priority"] == "permanent" and "ttl_days" not in given:
        columns |= {"auto_delete_at": None, "ttl_days": None}
    return columns


def ends_with_priority(memory: SemanticMemory, since: datetime | None) -> bool:
    """
    Tell whether the end of a memory came with its priority; else it was named.

    since: when the end was last changed; None where it is that of the beginning
    """
    begins = since or max(memory.said_at, memory.created_at - DAY)
    days = _days(memory.priority)
    return bool(days and memory.expires_at and abs(memory.expires_at - days * DAY - begins) < COUNTED_WITHIN)


def _days(priority: str | None) -> int:
    return next((days for name, days in PRIORITY_DAYS.items() if name == priority), 0)


def renewal(memory: SemanticMemory, used_at: datetime) -> dict[str, Any]:
    """
    The columns that change when a memory was used: its end moves as far ahead as its priority or ttl_days say.

    An end that was said outright, or that comes with a session, stays; none moves back.
    """
    days = _days(memory.priority)
    found: dict[str, Any] = {}
    if memory.expires_at and memory.priority in RENEWED and memory.expires_at < used_at + days * DAY:
        found["expires_at"] = used_at + days * DAY
    if memory.auto_delete_at and memory.ttl_days and memory.auto_delete_at < used_at + memory.ttl_days * DAY:
        found["auto_delete_at"] = used_at + memory.ttl_days * DAY
    return found
