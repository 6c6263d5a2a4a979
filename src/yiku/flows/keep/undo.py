"""
Undo an operation, or a run of them, using the row images in the journal.

A memory that was added is archived, a column that was changed gets its old value, a turn that was
recorded leaves recall (its text stays, as always). An episode, a scratchpad or an attachment is as it
was, or is not there. Operations that carry the name of one run are taken back together, the last first.
Nothing is taken back from under a later change: then that one must be undone first. An undo is an
operation itself and can be undone; an operation and its undo together are as if neither had been.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from yiku.errors import CannotUndo, NotFound
from yiku.flows.common import checks
from yiku.flows.common.handle import Handle, retry_if_stale
from yiku.flows.common.turn_texts import tokens
from yiku.flows.keep import transcripts
from yiku.rules.deciding.conflict import CONFLICT
from yiku.rules.deciding.slots import index_tokens
from yiku.store.api import RECORD_KINDS, record_tokens, record_was
from yiku.types import (
    AddSource,
    Change,
    ChangeRow,
    Drop,
    Expect,
    Memories,
    Put,
    Record,
    Records,
    RemoveSources,
    SemanticMemory,
    SetTurnHidden,
    State,
    Turns,
    Undone,
    UpdateMemory,
)

UNDONE = "undone"
REVERSIBLE = frozenset(("memories", "conversation_turns", "turn_state", *RECORD_KINDS))  # tables
ERASED = "What was erased cannot be brought back."
OPERATION, RUN = "operation", "run"  # with its number, or its name: the reason of an undo
FLAGS = frozenset(("flag", "flagged_with"))  # which several operations give one memory, each with its own rivals
NO_ROWS: Mapping[int, SemanticMemory] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Reversal:
    """The changes that take an operation back, and what they rest on. rows: the memories that change, as they are now."""

    changes: Sequence[Change]
    expect: Expect
    rows: Mapping[int, SemanticMemory]
    turns: int = 0
    records: int = 0

    @property
    def after(self) -> Mapping[int, SemanticMemory]:
        """Return the memories as they are after it."""
        after = dict(self.rows)
        for change in self.changes:
            if isinstance(change, UpdateMemory):
                after[change.n] = replace(after[change.n], **change.columns)
        return after


def undo(handle: Handle, operation: int, *, dry_run: bool = False) -> Undone:
    """Undo an operation; with `dry_run` only say what would change. Raises NotFound, or CannotUndo, also if later changes depend on it."""
    number = checks.integer(operation, "operation", at_least=1, at_most=2**62)
    checks.flag(dry_run, "dry_run")

    def attempt() -> Undone:
        done = _changes_of(handle, number)
        if done and not any(change.table in REVERSIBLE for change in done):
            what = f"operation {number} ({done[0].operation}) cannot be undone"
            raise CannotUndo(what, "Only changes of memories, turns and what is made of them can be.")
        try:
            refuse_under_later(handle, number, done)
            back = reversal(handle, number, done)
        except CannotUndo as error:
            raise _with_the_rest(error, done) from error
        if dry_run:
            return Undone(number, len(back.rows), back.turns, 0, back.records)
        cause = handle.cause("undo", f"{RUN} {done[0].run}" if done[0].run else f"{OPERATION} {number}")
        applied = handle.store.apply(handle.writes(), back.changes, cause, back.expect)
        transcripts.note_write(handle)
        return Undone(number, len(back.rows), back.turns, applied.transaction, back.records)

    return retry_if_stale(handle, attempt)


def reversal(
    handle: Handle, number: int, done: Sequence[ChangeRow], *, meanwhile: Mapping[int, SemanticMemory] = NO_ROWS
) -> Reversal:
    """
    Return what takes these changes back. Raises NotFound, or CannotUndo where a row is gone, or said again since.

    done: all of an operation or of a run, newest first
    meanwhile: memories that a reversal before this one changes, as they will be then
    """
    memories = [change for change in done if change.table == "memories"]
    turns = [change for change in done if change.table in ("conversation_turns", "turn_state")]
    grown = [change for change in done if change.table in RECORD_KINDS]
    if not memories and not turns and not grown:
        raise NotFound(f"there is no operation {number}", "`yiku journal` lists the operations and their numbers.")
    rows = {row.n: row for row in _rows(handle, {change.row for change in memories})}
    if {change.row for change in memories} - {*rows}:
        raise CannotUndo(f"operation {number}: one of its memories was erased or lost", ERASED)
    if any(change.action == "update" and change.before is None for change in memories):
        raise CannotUndo(f"operation {number}: what it overwrote is not kept any more", "`yiku update` changes the memory instead.")
    since = sorted({*rows} - {change.row for change in memories if rows[change.row].changed == change.number})
    later = handle.store.journal(handle.own(), table="memories", row_ns=since) if since else []
    updates, now = list[UpdateMemory](), dict(rows)
    for change in memories:
        updates.append(_reverse(change, now[change.row], number, later))
        now[change.row] = replace(now[change.row], **updates[-1].columns)
    changes: list[Change] = [*updates]
    changes += [back for change in done if change.table == "memory_sources" for back in _sources_back(change)]
    expect = Expect(rows={n: row.changed for n, row in rows.items()})
    _refuse_second(handle, number, Reversal(changes, expect, rows).after, meanwhile)
    hidden = [back for change in turns for back in _turns_back(handle, change)]
    others = [_record_back(handle, number, change) for change in reversed(grown)]
    return Reversal([*changes, *hidden, *others], expect, rows, len(hidden), len(others))


def _with_the_rest(error: CannotUndo, done: Sequence[ChangeRow]) -> CannotUndo:
    """Say what takes back the rest, where the operation is one of a run: that goes decision by decision."""
    if len({change.transaction for change in done}) == 1:
        return error
    return CannotUndo(f'{error.detail}; `yiku undo "{done[0].run}"` takes back the rest of its run', error.advice)


def _changes_of(handle: Handle, number: int) -> list[ChangeRow]:
    """Return the changes of an operation, or of its whole run, newest first."""
    own = handle.own()
    done = handle.store.journal(own, transaction=number) if own else []
    return handle.store.journal(own, run=done[0].run) if done and done[0].run else done


def refuse_under_later(handle: Handle, number: int, done: Sequence[ChangeRow]) -> None:
    """Raise CannotUndo if a later operation changed these rows; undone ones do not count."""
    if later := depending(handle, number, done):
        raise CannotUndo(f"operation {number}: operation {later.transaction} ({later.operation}) depends on it")


def depending(
    handle: Handle, number: int, done: Sequence[ChangeRow], *, by_field: bool = False, ignored: Collection[int] = ()
) -> ChangeRow | None:
    """
    Return the last change behind an operation that changed its rows and still holds.

    by_field: a change of other fields of a memory does not count, nor does one of its flags
    ignored:  operations that do not count
    """
    since: dict[str, dict[int, int]] = {name: {} for name in ("memories", "memory_sources", "turn_state", *RECORD_KINDS)}
    for change in done:  # newest first: of each row the first operation that touched it stays
        if change.table in RECORD_KINDS:
            since[change.table][change.row] = change.transaction
        elif change.table in ("memories", "memory_sources"):
            since["memories"][change.row] = since["memory_sources"][change.row] = change.transaction
        else:
            since["turn_state"] |= dict.fromkeys(range(change.row, change.row + change.count), change.transaction)
    ours = {change.transaction for change in done}
    later: dict[int, list[ChangeRow]] = {}
    for table, rows in since.items():
        for change in handle.store.journal(handle.own(), table=table, row_ns=sorted(rows)) if rows else ():
            if change.transaction not in ours and change.transaction > rows.get(change.row, number):
                later.setdefault(change.transaction, []).append(change)
    fields = _fields(done) if by_field else None
    for transaction in sorted(later, reverse=True):
        if (rows_of := later.pop(transaction, None)) is None:
            continue
        taken_back = [other for other, earlier in later.items() if is_undo_of(rows_of[0], earlier[0])]
        for other in taken_back:
            del later[other]
        if not taken_back and transaction not in ignored and any(_clashes(change, fields) for change in rows_of):
            return rows_of[0]
    return None


def _fields(done: Sequence[ChangeRow]) -> Mapping[int, frozenset[str] | None]:
    """Return the fields that these changes gave each memory, flags apart; None for one that they added."""
    found: dict[int, frozenset[str] | None] = {}
    for change in done:
        if change.table == "memories":
            before = found.get(change.row, frozenset())
            given = {*(change.before or {})} - FLAGS
            found[change.row] = None if change.action == "insert" or before is None else before | given
    return found


def _clashes(later: ChangeRow, fields: Mapping[int, frozenset[str] | None] | None) -> bool:
    """Tell whether a later change stands on what these fields hold. fields: None for all of them."""
    if fields is None or later.table not in ("memories", "memory_sources"):
        return True
    ours = fields.get(later.row, frozenset())
    if ours is None or later.action == "delete":
        return True
    return later.table == "memories" and not ours.isdisjoint(later.before or {})


def is_undo_of(change: ChangeRow, earlier: ChangeRow) -> bool:
    """Tell whether one operation undid another."""
    what = (f"{OPERATION} {earlier.transaction}", f"{RUN} {earlier.run}")
    return change.operation == "undo" and change.reason in what


def _refuse_second(
    handle: Handle, number: int, after: Mapping[int, SemanticMemory], meanwhile: Mapping[int, SemanticMemory]
) -> None:
    """Raise CannotUndo if a revived row would duplicate a live slot or text."""
    for memory in (row for row in after.values() if row.live):
        same = [
            *handle.store.memories(handle.own(), Memories(hash=memory.content_hash, states=(State.ACTIVE,), current=True)),
            *(
                handle.store.memories(handle.own(), Memories(slot=memory.slot, states=(State.ACTIVE,), current=True))
                if memory.slot
                else ()
            ),
        ]
        for other in (row for row in same if meanwhile.get(row.n, row).live):
            text = other.content_hash == memory.content_hash and other.kind is memory.kind
            value = other.slot == memory.slot is not None and memory.flag is other.flag is None
            if (text or value) and other.n not in after:
                raise CannotUndo(f'operation {number}: "{other.content[:60]}" was said since')


def _rows(handle: Handle, ns: set[int]) -> list[SemanticMemory]:
    return handle.store.memories(handle.own(), Memories(ns=sorted(ns))) if ns else []


def _reverse(change: ChangeRow, row: SemanticMemory, number: int, later: Sequence[ChangeRow]) -> UpdateMemory:
    """Return the changes that reverse one. row: as it is then; later: what was done to it since, newest first"""
    if change.action == "insert":
        return UpdateMemory(row.n, {"state": State.ARCHIVED, "reason": f"{UNDONE}: {OPERATION} {number}"}, index_tokens(row))
    return UpdateMemory(row.n, {**(change.before or {}), **_flags_back(change, row, later)}, index_tokens(row))


def _flags_back(change: ChangeRow, row: SemanticMemory, later: Sequence[ChangeRow]) -> Mapping[str, Any]:
    """Return the flag of a memory without what this change did to it: what was flagged or settled since stays."""
    if "flagged_with" not in (before := change.before or {}):
        return {}
    since = (one.before for one in reversed(later) if one.row == change.row and one.number > change.number)
    left = next((image["flagged_with"] for image in since if image and "flagged_with" in image), row.flagged_with)
    was, now = before["flagged_with"], row.flagged_with
    kept = (*(id for id in was if id in now or id not in left), *(id for id in now if id not in (*was, *left)))
    return {} if kept == tuple(was) else {"flagged_with": kept, "flag": CONFLICT if kept else None}


def _sources_back(change: ChangeRow) -> list[Change]:
    """Remove added sources; restore moved ones."""
    before = change.before or {}
    if change.action == "insert":
        return [RemoveSources(change.row, (before["seq"],))]
    return [AddSource(change.row, source) for source in before["sources"]]


def _turns_back(handle: Handle, change: ChangeRow) -> list[Change]:
    """Hide recorded turns; reverse visibility changes."""
    before = change.before or {}
    ns = range(change.row, change.row + change.count)
    found = handle.store.turns(handle.own(), Turns(ns=list(ns), hidden=True))
    was_hidden = change.table == "turn_state" and before.get("hidden_at") is not None
    if change.table == "conversation_turns" or was_hidden:
        return [SetTurnHidden(turn.n, handle.now(), tokens(turn)) for turn in found]
    return [SetTurnHidden(turn.n, None, tokens(turn)) for turn in found]


def _record_back(handle: Handle, number: int, change: ChangeRow) -> Change:
    """Restore the previous version of a record, or drop it."""
    found = handle.store.records(RECORD_KINDS[change.table], handle.own(), Records(ns=[change.row]))
    if (change.action == "delete") is bool(found) or (change.action != "insert" and not change.before):
        raise CannotUndo(f"operation {number}: the data it changed was erased or lost", ERASED)
    if change.action == "insert":
        return Drop(found[0])
    image = dict(change.before or {})
    was: Record = record_was(change.table, image, handle.scope)
    return Put(replace(was, changed=found[0].changed if found else 0), record_tokens(image.get("tokens")))


def journal(handle: Handle, limit: int) -> list[ChangeRow]:
    """Return the changes in the handle's scope, newest first."""
    own, limit = handle.own(), checks.integer(limit, "limit")
    return handle.store.journal(own, limit=limit) if own else []
