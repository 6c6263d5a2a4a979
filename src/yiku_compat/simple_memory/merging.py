"""
Merge memories into the strongest, with all their tags, as one imported transaction that a single `undo` reverts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from yiku import Memory
from yiku.errors import Stale
from yiku.types import OperationRecord


def merge(memory: Memory, lines: Sequence[str], strongest: int) -> str:
    """
    Keep the strongest of some lines with the tags of all; return its id. The others are archived.

    strongest: the most that the sum of the strengths may be
    Raises Stale where somebody else changed one of them meanwhile; then nothing is merged.
    """
    rows: list[Any] = [memory.get(line) for line in lines]
    keep, *others = sorted(rows, key=lambda row: (-row.strength, row.id))
    merged = {
        "tags": sorted({tag for row in rows for tag in row.tags}),
        "strength": min(sum(row.strength for row in rows), strongest),
        "pinned": any(row.pinned for row in rows),
    }
    changes = [_change(keep, {"tags": [*keep.tags], "strength": keep.strength, "pinned": keep.pinned}, merged)]
    why = f"forgotten: merged into {keep.id}"
    changes += [_change(row, {"state": "active", "reason": row.reason}, {"state": "archived", "reason": why}) for row in others]
    changes += _unflagged(memory, {row.id for row in others})
    header = {"type": "operation", "at": _now(memory).isoformat(), "operation": "merge", "changes": len(changes)}
    operation = OperationRecord(0, memory.scope, None, header, tuple(enumerate(changes)))
    done = memory.admin.import_([operation], source="simple_memory", trust=True)
    if done.skipped or done.problems:
        last = memory.admin.journal(limit=1)[0]
        if last.operation == "merge":
            memory.admin.undo(last.transaction)
        raise Stale(f"{keep.id} or what was to be merged into it")
    return str(keep.line)


def _unflagged(memory: Memory, gone: set[str]) -> Iterator[dict[str, Any]]:
    """Yield the changes of what is marked as contradicting one that goes."""
    for row in memory.get_all(where={"flag": "conflict"}, limit=10_000):
        if gone & {*row.flagged_with} and row.id not in gone:
            left = [id for id in row.flagged_with if id not in gone]
            before = {"flag": row.flag, "flagged_with": [*row.flagged_with]}
            yield _change(row, before, {"flag": row.flag if left else None, "flagged_with": left})


def _now(memory: Memory) -> datetime:
    """Return the time by the memory's clock."""
    return datetime.fromtimestamp(int(str(memory.admin.sql("select memory_now()").rows[0][0])) / 1_000_000, UTC)


def _change(row: Any, before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """Return a line of an operation that changes a memory."""
    return {"type": "update", "memory": row.id, "before": dict(before), "after": dict(after)}
