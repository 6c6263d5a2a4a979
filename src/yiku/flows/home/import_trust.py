"""
Limit what an untrusted export may claim: origins, pins, rules, times.

Nothing in a file proves who wrote it: whoever can read an export can write one. So unless the owner says that a file
is theirs (`trust`), what it says of itself is lowered: its statements are of origin import, with that origin's trust at
most; none is pinned; a rule is a candidate, which stands nowhere until somebody confirms it, and so is a statement whose
place is taken here. What a user says in its turns teaches candidates only. Nothing known here is changed by it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from yiku.flows.common.checks import FUTURE_ALLOWED
from yiku.flows.keep.remember import TRUST
from yiku.types import Kind, Origin, SemanticMemory, Source, State, Turn

FOREIGN = "imported from another home: waits for a review"  # the reason of a candidate that counted there
BELIEVED = frozenset("origin trust pinned kind".split())  # columns that a change in such a file does not set


def turn(given: Turn, now: datetime) -> Turn:
    """Return a turn of another home: its user is not this home's, and nothing was said tomorrow."""
    origin = Origin.IMPORT if given.origin is Origin.USER else given.origin
    return replace(given, origin=origin, said_at=_cap_at_now(now, given.said_at))


def source(given: Source) -> Source:
    """Return a source of another home with lowered trust."""
    return replace(given, origin=Origin.IMPORT) if given.origin is Origin.USER else given


def memory(given: SemanticMemory, now: datetime) -> SemanticMemory:
    """Return a statement of another home with lowered trust."""
    lowered = replace(
        given,
        origin=Origin.IMPORT,
        trust=min(given.trust, TRUST[Origin.IMPORT]),
        pinned=False,
        sources=tuple(source(one) for one in given.sources),
        said_at=_cap_at_now(now, given.said_at),
        confirmed_at=_cap_at_now(now, given.confirmed_at),
        valid_from=_cap_at_now(now, given.valid_from),
    )
    return as_candidate(lowered) if given.kind is Kind.RULE and given.state is State.ACTIVE else lowered


def as_candidate(given: SemanticMemory) -> SemanticMemory:
    """Return the same statement as a candidate."""
    return replace(given, state=State.CANDIDATE, reason=FOREIGN)


def allowed_columns(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns that a change in such a file may set."""
    return {name: value for name, value in given.items() if name not in BELIEVED}


def trust_updates(row: SemanticMemory, claimed: SemanticMemory) -> dict[str, Any]:
    """Return the changes to a lowered row once its file is trusted."""
    if row.origin is not Origin.IMPORT:
        return {}
    wanted: dict[str, Any] = {"origin": claimed.origin, "trust": claimed.trust}
    wanted |= {"pinned": True} if claimed.pinned else {}
    return {name: value for name, value in wanted.items() if getattr(row, name) != value}


def _cap_at_now(now: datetime, at: datetime) -> datetime:
    """Cap a time more than a day ahead of the clock."""
    return now.astimezone(at.tzinfo) if at > now + FUTURE_ALLOWED else at
