"""
Records that importers yield, one for each message, memory or unusable line of a source.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from yiku.types.value import value


@value(frozen=True, slots=True)
class TurnRecord:
    """A turn in a source: its line, and the arguments of `record`."""

    line: int
    turn: Mapping[str, Any]


@value(frozen=True, slots=True)
class MemoryRecord:
    """A statement in a source: its line, text, and details for `remember`."""

    line: int
    text: str
    details: Mapping[str, Any]


@value(frozen=True, slots=True)
class SkippedRecord:
    """A record without content to store, and what it was."""

    line: int
    what: str


@value(frozen=True, slots=True)
class BadRecord:
    """An unreadable record, and the reason."""

    line: int
    why: str


@value(frozen=True, slots=True)
class OperationRecord:
    """An operation in a Yiku export: line, scope and label, header, and changes by line."""

    line: int
    scope: str
    label: str | None
    header: Mapping[str, Any]
    changes: tuple[tuple[int, Mapping[str, Any]], ...]


ImportRecord = TurnRecord | MemoryRecord | SkippedRecord | BadRecord | OperationRecord
