"""
import: what already lies on the disk comes in, with its own ids and times.

A door's importer gives records in order: turns, statements, what holds nothing to keep, and what it
could not read. Turns are stored in batches, each a transaction, so an import that was cut short goes on
where it stopped: a record whose external id is known is only counted. A bad record is reported with its
line and the rest goes on; no record is dropped in silence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from yiku.errors import InvalidInput, NotFound
from yiku.flows import checks
from yiku.flows.handle import Handle
from yiku.flows.record import checked, record
from yiku.flows.remember import checked as checked_statement
from yiku.flows.remember import remember
from yiku.types import BadRecord, ImportRecord, ImportReport, Memories, MemoryRecord, SkippedRecord, TurnRecord, Turns

BATCH = 500  # turns a transaction
PROBLEMS_KEPT = 1_000  # in the report; all are counted


@dataclass(slots=True)
class _Run:
    """One import under way."""

    handle: Handle
    dry_run: bool
    waiting: list[TurnRecord] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    problems: list[tuple[int, str]] = field(default_factory=list)
    sessions: set[str] = field(default_factory=set)
    seen: set[str] = field(default_factory=set)


def import_(
    handle: Handle,
    records: Iterable[ImportRecord],
    *,
    source: str,
    dry_run: bool = False,
    progress: Callable[[int], None] | None = None,
) -> ImportReport:
    """Take in records; with `dry_run` check and count them only. `progress` is told each line that was read."""
    run, name = _Run(handle, dry_run), checks.name(source, "source")
    for item in records:
        run.counts["records"] += 1
        match item:
            case TurnRecord():
                run.waiting.append(item)
                if len(run.waiting) >= BATCH:
                    _store_turns(run)
            case MemoryRecord():
                _store_turns(run)  # a statement may name a turn before it as its source
                _store_memory(run, item)
            case SkippedRecord(what=what):
                run.skipped[what] += 1
            case BadRecord(line=line, why=why):
                run.problems.append((line, why))
        if progress is not None:
            progress(item.line)
    _store_turns(run)
    return ImportReport(
        source=name,
        records=run.counts["records"],
        turns=run.counts["turns"],
        memories=run.counts["memories"],
        known=run.counts["known"],
        skipped=dict(sorted(run.skipped.items())),
        problems=tuple(run.problems[:PROBLEMS_KEPT]),
        sessions=len(run.sessions),
        dry_run=dry_run,
    )


def _store_turns(run: _Run) -> None:
    """Store the waiting turns together; if one of them is refused, one by one, so that only it is left out."""
    batch, run.waiting = run.waiting, []
    if not batch:
        return
    try:
        _keep(run, batch)
    except InvalidInput:
        for item in batch:
            try:
                _keep(run, [item])
            except InvalidInput as error:
                run.problems.append((item.line, str(error)))


def _keep(run: _Run, batch: list[TurnRecord]) -> None:
    """Store turns, or with `dry_run` see whether they could be stored."""
    if run.dry_run:
        turns = [checked(run.handle, item.turn, None, run.handle.now(), keep=False) for item in batch]
        known = _known(run, [turn.external_id for turn in turns if turn.external_id])
        run.seen.update(turn.external_id for turn in turns if turn.external_id)
        stored = len(turns) - known
    else:
        recorded = record(run.handle, [item.turn for item in batch])
        stored, known = len(recorded.ids), recorded.known
    run.counts.update(turns=stored, known=known)
    run.sessions.update(str(item.turn.get("session") or "default") for item in batch)


def _known(run: _Run, external_ids: list[str]) -> int:
    """How many of these turns are stored already, or came before in this import."""
    own = run.handle.own()
    there = (
        {turn.external_id for turn in run.handle.store.turns(own, Turns(external_ids=external_ids, hidden=True))} if own else set()
    )
    known = 0
    for id in external_ids:
        known += id in there or id in run.seen
        run.seen.add(id)
    return known


def _store_memory(run: _Run, item: MemoryRecord) -> None:
    try:
        statement = checked_statement(run.handle, item.text, item.details)
        own, id = run.handle.own(), statement.memory.external_id
        if id is not None and own and run.handle.store.memories(own, Memories(external_id=id, limit=1)):
            run.counts["known"] += 1
            return
        if not run.dry_run:
            remember(run.handle, item.text, item.details)  # type: ignore[arg-type]
        run.counts["memories"] += 1
    except (InvalidInput, NotFound) as error:
        run.problems.append((item.line, str(error)))
