"""
Undo a run of operations (a night, relearning) one by one, or one of them, skipping and naming what changed since.

Each operation of a run is one decision, numbered from 1 in the order in which they were made. They are taken back newest first,
each in a transaction of its own, so an undo that was cut off is continued by the next. A decision is skipped where a later
operation that still holds changed the same fields of one of its memories, or stands on one that it added. Flags are no such
field: of these only what the decision did is taken back, and what was flagged or settled since stays. All that an
undo takes back carries the name of one run, so that one undo of it brings everything back.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from yiku.errors import Ambiguous, CannotUndo, NotFound
from yiku.flows.common import checks
from yiku.flows.common.handle import Handle, retry_if_stale
from yiku.flows.keep import transcripts
from yiku.flows.keep.undo import NO_ROWS, OPERATION, Reversal, depending, is_undo_of, reversal
from yiku.types import ChangeRow, RunUndone, SemanticMemory, SkippedItem

SHORTEST = 4  # of the end of a run's name
Decisions = Mapping[int, Sequence[ChangeRow]]  # the changes of each operation, newest first, by its number


def undo_run(handle: Handle, run: str, item: int | None = None, *, dry_run: bool = False) -> RunUndone:
    """Undo a run, or one of its decisions. Raises NotFound where there is no such run or decision, and Ambiguous."""
    checks.flag(dry_run, "dry_run")
    name = named(handle, checks.name(run, "run"))
    number = None if item is None else checks.integer(item, "item", at_least=1, at_most=2**31)
    every = decisions(handle, name)
    if not every:
        raise NotFound(f"there is no run {name[:80]!r}", "`yiku journal` lists the operations and their runs.")
    numbers = _numbers(handle, name, every)
    operation = next((one for one, place in numbers.items() if place == number), None)
    if number is not None and operation is None:
        raise NotFound(f"run {name} has no item {number} that changed a memory")
    wanted = sorted(every if operation is None else (operation,), reverse=True)
    back = replace(handle, run=f"undo {handle.new_id()}")
    before = undone(handle, every)
    done, taken = RunUndone(run=name, dry_run=dry_run), list[int]()
    after: Mapping[int, SemanticMemory] = NO_ROWS
    for one in wanted:
        if one in before:
            continue
        found = _taken_back(back, one, every[one], ignored=taken if dry_run else (), after=after, dry_run=dry_run)
        place = numbers.get(one, 0)
        if found is None:
            continue
        if isinstance(found, str):
            done = replace(done, skipped=(SkippedItem(place, one, found), *done.skipped))
            continue
        plan, made = found
        taken.append(one)
        after = {**after, **plan.after} if dry_run else NO_ROWS
        done = replace(
            done,
            items=(place, *done.items) if place else done.items,
            memories=done.memories + len(plan.rows),
            turns=done.turns + plan.turns,
            records=done.records + plan.records,
            operation=made or done.operation,
        )
    if done.operation:
        transcripts.note_write(handle)
    return done


def named(handle: Handle, run: str) -> str:
    """Return the name of the night with this end, or the name as it was given. Raises Ambiguous."""
    own = handle.own()
    if not own or len(run) < SHORTEST or handle.store.nights.runs(own[0], id=run):
        return run
    ends = [one.id for one in handle.store.nights.runs(own[0]) if one.id.endswith(run.removeprefix("#"))]
    if len(ends) > 1:
        raise Ambiguous(f"the run {run} fits {', '.join(ends)}")
    return ends[0] if ends else run


def _numbers(handle: Handle, run: str, every: Decisions) -> Mapping[int, int]:
    """Return the numbers of the decisions of a run by their operations: as its report has them, else in their order."""
    items = handle.store.nights.items(handle.own()[0], run)
    if items:
        return {item.operation: item.item for item in items if item.operation in every}
    return {operation: place for place, operation in enumerate(every, 1)}


def undone_of(handle: Handle, run: str) -> frozenset[int]:
    """Return which operations of a run were taken back, and not brought back since."""
    return undone(handle, decisions(handle, run))


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
    ignored: Collection[int],
    after: Mapping[int, SemanticMemory],
    dry_run: bool,
) -> tuple[Reversal, int] | str | None:
    """Take one decision back; return what that changed and its operation, or why it is left as it is; None where nothing is to do."""

    def attempt() -> tuple[Reversal, int] | str | None:
        later = depending(handle, operation, changes, by_field=True, ignored=ignored)
        if later is not None:
            return f"changed since by operation {later.transaction} ({later.operation})"
        try:
            plan = reversal(handle, operation, changes, meanwhile=after)
        except NotFound:  # it changed nothing that an undo brings back, such as a scope that it opened
            return None
        except CannotUndo as error:
            return error.detail.partition(": ")[2] or error.detail
        if dry_run:
            return plan, 0
        cause = handle.cause("undo", f"{OPERATION} {operation}")
        return plan, handle.store.apply(handle.writes(), plan.changes, cause, plan.expect).transaction

    return retry_if_stale(handle, attempt)
