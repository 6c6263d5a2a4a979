"""
Records that importers yield, one for each message, memory or unusable line of a source.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from yiku.types.value import value


@value(frozen=True, slots=True)
class TurnRecord:
    """A record of a source that is a turn: its line there, and the turn as `record` takes it."""

    line: int
    turn: Mapping[str, Any]


@value(frozen=True, slots=True)
class MemoryRecord:
    """A record of a source that is a statement: its line there, its text, and its details as `remember` takes them."""

    line: int
    text: str
    details: Mapping[str, Any]


@value(frozen=True, slots=True)
class SkippedRecord:
    """A record that holds nothing to keep, and what it was."""

    line: int
    what: str


@value(frozen=True, slots=True)
class BadRecord:
    """A record that could not be read, and why."""

    line: int
    why: str


@value(frozen=True, slots=True)
class OperationRecord:
    """An operation of another store, of Yiku's own export: its line, its scope with label, its header, and its changes by line."""

    line: int
    scope: str
    label: str | None
    header: Mapping[str, Any]
    changes: tuple[tuple[int, Mapping[str, Any]], ...]


ImportRecord = TurnRecord | MemoryRecord | SkippedRecord | BadRecord | OperationRecord
