"""
undo: one operation is taken back, with the images that the journal kept.

A memory that was added is archived, a column that was changed gets its old value, a turn that was
recorded leaves recall (its text stays, as always). Nothing is taken back from under a later change: then
that one must be undone first. An undo is an operation itself and can be undone.
"""

from __future__ import annotations

from yiku.errors import CannotUndo, NotFound
from yiku.flows import checks
from yiku.flows.handle import Handle, settled
from yiku.flows.record import tokens
from yiku.flows.remember import index_tokens
from yiku.types import Change, ChangeRow, Expect, Memories, SemanticMemory, SetTurnHidden, State, Turns, Undone, UpdateMemory

UNDONE = "undone"


def undo(handle: Handle, operation: int) -> Undone:
    """Take back what an operation did. Raises NotFound, or CannotUndo when later changes rest on it."""
    number = checks.whole(operation, "operation", at_least=1, at_most=2**62)

    def attempt() -> Undone:
        done = handle.store.journal(handle.own(), transaction=number) if handle.own() else []
        memories = [change for change in done if change.table == "memories"]
        turns = [change for change in done if change.table in ("conversation_turns", "turn_state")]
        if not memories and not turns:
            raise NotFound(f"operation {number}")
        rows = {row.n: row for row in _rows(handle, {change.row for change in done if change.table.startswith("memor")})}
        last = {change.row: change.number for change in reversed(done) if change.table.startswith("memor")}
        for n, row in rows.items():
            if row.changed != last[n]:
                raise CannotUndo(f"operation {number}: «{row.content[:60]}» was changed since")
        changes = [_taken_back(change, rows[change.row], number) for change in memories]
        hidden = [back for change in turns for back in _turns_back(handle, change)]
        expect = Expect(rows={n: row.changed for n, row in rows.items()})
        cause = handle.cause("undo", f"operation {number}")
        applied = handle.store.apply(handle.writes(), [*changes, *hidden], cause, expect)
        return Undone(number, len(rows), len(hidden), applied.transaction)

    return settled(handle, attempt)


def _rows(handle: Handle, ns: set[int]) -> list[SemanticMemory]:
    return handle.store.memories(handle.own(), Memories(ns=sorted(ns))) if ns else []


def _taken_back(change: ChangeRow, row: SemanticMemory, number: int) -> Change:
    if change.action == "insert":
        return UpdateMemory(row.n, {"state": State.ARCHIVED, "reason": f"{UNDONE}: operation {number}"}, index_tokens(row))
    return UpdateMemory(row.n, dict(change.before or {}), index_tokens(row))


def _turns_back(handle: Handle, change: ChangeRow) -> list[Change]:
    """Recorded turns leave recall; hidden ones come back, and the reverse."""
    before = change.before or {}
    ns = range(change.row, change.row + change.count)
    found = handle.store.turns(handle.own(), Turns(ns=list(ns), hidden=True))
    was_hidden = change.table == "turn_state" and before.get("hidden_at") is not None
    if change.table == "conversation_turns" or was_hidden:
        return [SetTurnHidden(turn.n, handle.now(), tokens(turn)) for turn in found]
    return [SetTurnHidden(turn.n, None, tokens(turn)) for turn in found]


def journal(handle: Handle, limit: int) -> list[ChangeRow]:
    """What was changed in the scope that this handle writes, newest first."""
    own, limit = handle.own(), checks.whole(limit, "limit")
    return handle.store.journal(own, limit=limit) if own else []
