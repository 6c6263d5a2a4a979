"""
Select what was recorded at a time (`as_of`) and what was valid then (`valid_at`), from rows and their journal.

`as_of` rewinds the rows with the journal: every change after that time is taken back, newest first.
`valid_at` asks what held then by what is known now, of all that had been said by then. What a night put away since, because its
time was over or little was left of its weight, held until then; what somebody took out of memory did not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from datetime import datetime

from yiku.rules.night import ends
from yiku.types import ChangeRow, SemanticMemory, State

RETRACTED = "retracted"  # the reason of what was archived by `just kidding`
_FIELDS = frozenset(field.name for field in fields(SemanticMemory))


def rewind(memory: SemanticMemory, changes: Iterable[ChangeRow], at: datetime) -> SemanticMemory | None:
    """Return a row as recorded at a time, None if it did not exist yet; `changes` newest first."""
    if memory.created_at > at:
        return None
    for change in changes:
        if change.row == memory.n and change.table == "memories" and change.at > at and change.before:
            memory = replace(memory, **{name: value for name, value in change.before.items() if name in _FIELDS})
    return replace(memory, sources=tuple(source for source in memory.sources if source.recorded_at <= at))


def held(memory: SemanticMemory, successor: SemanticMemory | None, at: datetime) -> bool:
    """Whether a version held at a time, ignoring everything said later."""
    if memory.said_at > at or memory.valid_from > at or memory.state is not State.ACTIVE:
        return False
    if memory.expired(at):
        return False
    if memory.superseded_by is None or successor is None:
        return memory.superseded_by is None
    return successor.said_at > at or successor.valid_from > at


def put_away(memory: SemanticMemory) -> bool:
    """Whether a night took a version out of recall, for its end or its age; nobody denied it."""
    return memory.state in (State.ARCHIVED, State.JUNK) and memory.reason in ends.REASONS


def awake(memory: SemanticMemory, changes: Iterable[ChangeRow]) -> SemanticMemory:
    """Return a version as it stood before the nights of these changes, newest first, put it away."""
    for change in changes:
        if not put_away(memory):
            break
        before = change.before or {}
        memory = replace(memory, **{name: before[name] for name in ("state", "reason") if name in before})
    return memory


def recallable(memory: SemanticMemory, now: datetime) -> bool:
    """Whether a version can be recalled at a time: live and not expired."""
    return memory.live and not memory.expired(now)


def holds(memory: SemanticMemory, now: datetime) -> bool:
    """Whether a version still claims to hold; one that names its own end does not, after that end."""
    return memory.valid_to is None or memory.valid_to > now


def end_of(memory: SemanticMemory, versions: Iterable[SemanticMemory]) -> datetime | None:
    """Return when a version stopped holding: as a time of the one that took its place, in whose offset it is, if that is among these."""
    same = (one.valid_from for one in versions if one.id == memory.superseded_by and one.valid_from == memory.valid_to)
    return next(same, memory.valid_to)


def by_line(memories: Iterable[SemanticMemory]) -> Mapping[str, list[SemanticMemory]]:
    """Group versions by line, oldest first."""
    lines: dict[str, list[SemanticMemory]] = {}
    for memory in sorted(memories, key=lambda m: (m.said_at, m.place, m.n)):
        lines.setdefault(memory.line, []).append(memory)
    return lines
