"""
Undo a run, decision by decision, or one of its decisions; what somebody changed since is left as it is, and named.

Each operation of a run is one decision, numbered from 1 in the order in which they were made. They are taken back newest first,
each in a transaction of its own, so an undo that was cut off is continued by the next. A decision is skipped where a later
operation that still holds changed the same fields of one of its memories, or stands on one that it added. All that an undo
takes back carries the name of one run, so that one undo of it brings everything back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from yiku.errors import CannotUndo, NotFound
from yiku.flows.common import checks
from yiku.flows.common.handle import Handle, retry_if_stale
from yiku.flows.keep import transcripts
from yiku.flows.keep.undo import NO_ROWS, OPERATION, Reversal, depending, is_undo_of, reversal
from yiku.types import ChangeRow, RunUndone, SemanticMemory, SkippedItem

Decisions = Mapping[int, Sequence[ChangeRow]]  # the changes of each operation, newest first, by its number


def undo_run(handle: Handle, run: str, item: int | None = None, *, dry_run: bool = False) -> RunUndone:
    """Undo a run, or one of its decisions. Raises NotFound where there is no such run or decision."""
    checks.flag(dry_run, "dry_run")
    name = checks.name(run, "run")
    number = None if item is None else checks.integer(item, "item", at_least=1, at_most=2**31)
    every = decisions(handle, name)
    if not every:
        raise NotFound(f"there is no run {name[:80]!r}", "`yiku journal` lists the operations and their runs.")
    numbers = dict(enumerate(every, 1))
    if number is not None and number not in numbers:
        raise NotFound(f"run {name} has no item {number}: it has {len(numbers)}")
    wanted = {place: numbers[place] for place in (numbers if number is None else (number,))}
    back = replace(handle, run=f"undo {handle.new_id()}")
    done = RunUndone(run=name, dry_run=dry_run)
    before = undone(handle, every)
    after: Mapping[int, SemanticMemory] = NO_ROWS
    for place, operation in sorted(wanted.items(), reverse=True):
        if operation in before:
            continue
        ignored = [numbers[one] for one in done.items] if dry_run else []
        found = _taken_back(back, operation, every[operation], ignored=ignored, after=after, dry_run=dry_run)
        if isinstance(found, str):
            done = replace(done, skipped=(SkippedItem(place, operation, found), *done.skipped))
            continue
        plan, made = found
        after = {**after, **plan.after} if dry_run else NO_ROWS
        done = replace(
            done,
            items=(place, *done.items),
            memories=done.memories + len(plan.rows),
            turns=done.turns + plan.turns,
            records=done.records + plan.records,
            operation=made or done.operation,
        )
    if done.items and not dry_run:
        transcripts.note_write(handle)
    return done


def decisions(handle: Handle, run: str) -> Decisions:
    """Return the operations of a run, oldest first, with the changes of each, newest first."""
    own = handle.own()
    found: dict[int, list[ChangeRow]] = {}
    for change in handle.store.journal(own, run=run) if own else ():
        found.setdefault(change.transaction, []).append(change)
    return dict(sorted(found.items()))


def undone(handle: Handle, every: Decisions) -> frozenset[int]:
    """Return which operations of a run were taken back, and not brought back since."""
    rows: dict[str, set[int]] = {}
    for changes in every.values():
        for change in changes:
            rows.setdefault(change.table, set()).update(range(change.row, change.row + change.count))
    tables = {"turn_state" if table == "conversation_turns" else table: ns for table, ns in rows.items()}
    undos = {
        change.transaction: change
        for table, ns in tables.items()
        for change in handle.store.journal(handle.own(), table=table, row_ns=sorted(ns))
        if change.operation == "undo"
    }
    for transaction in sorted(undos, reverse=True):
        if (undo := undos.get(transaction)) is not None:
            for other in [other for other, earlier in undos.items() if other < transaction and is_undo_of(undo, earlier)]:
                del undos[other]
    return frozenset(
        number for number, changes in every.items() if any(is_undo_of(change, changes[0]) for change in undos.values())
    )


def _taken_back(
    handle: Handle,
    operation: int,
    changes: Sequence[ChangeRow],
    *,
    ignored: Sequence[int],
    after: Mapping[int, SemanticMemory],
    dry_run: bool,
) -> tuple[Reversal, int] | str:
    """Take one decision back; return what that changed and its operation, or why it is left as it is."""

    def attempt() -> tuple[Reversal, int] | str:
        later = depending(handle, operation, changes, by_field=True, ignored=ignored)
        if later is not None:
            return f"changed since by operation {later.transaction} ({later.operation})"
        try:
            plan = reversal(handle, operation, changes, meanwhile=after)
        except (CannotUndo, NotFound) as error:
            return error.detail.partition(": ")[2] or error.detail
        if dry_run:
            return plan, 0
        cause = handle.cause("undo", f"{OPERATION} {operation}")
        return plan, handle.store.apply(handle.writes(), plan.changes, cause, plan.expect).transaction

    return retry_if_stale(handle, attempt)
