"""
Run scheduled maintenance (a night): its eight phases in order, resuming an interrupted run at its phase.

    0 expire    what has an end and has reached it          4 maintain  duplicates, contradictions, beliefs, summaries
    1 collect   what waits: turns, questions to the model   5 rank      what fades falls asleep; junk goes after its grace
    2 filter    what is not worth learning from             6 indexes   segments, caches, old copies, the backup
    3 extract   statements and missing episodes             7 publish   pages, the snapshot, the report

One process at a time consolidates. A run writes down which phase it is at; a phase asks the store for its work, so doing one
again does only what is left. The time by which a run decides is that of its beginning.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from typing import NamedTuple

from yiku.errors import InvalidInput
from yiku.flows.common import checks, pause
from yiku.flows.common.handle import Handle
from yiku.flows.night import beliefs, conflicts, duplicates, expire, extract, indexes, persona, publish, rank, summaries
from yiku.flows.night.run import OPERATION, Night
from yiku.store.api import one_at_a_time
from yiku.types import KeepRun, NightItem, NightMode, NightReport, NightRun

SPACING = timedelta(hours=20)  # between two full runs; a run that was cut off earlier than that, or later than now, is not resumed
ITEMS_SHOWN = 1_000  # of a report; `yiku report` has all

Steps = Callable[[Night], Iterator[NightItem]]
Progress = Callable[[str, int], object]


class Phase(NamedTuple):
    """A phase: its name, what it does in order, and whether a light run does it, too."""

    name: str
    steps: tuple[Steps, ...] = ()
    light: bool = False


PHASES = (
    Phase("expire", (expire.steps,)),
    Phase("collect", light=True),  # of the three, the third does all: a turn is read once
    Phase("filter", light=True),
    Phase("extract", (extract.steps,), light=True),
    Phase("maintain", (duplicates.steps, conflicts.steps, beliefs.steps, summaries.steps, persona.steps)),
    Phase("rank", (rank.fade, rank.purge, indexes.attachments)),
    Phase("indexes", (indexes.prune, indexes.copies, indexes.merge)),
    Phase("publish", (publish.steps,)),
)


def consolidate(
    handle: Handle,
    mode: str = "full",
    *,
    phase: int | None = None,
    dry_run: bool = False,
    budget_s: float | None = None,
    progress: Progress | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> NightReport:
    """
    Run the phases of a night on this scope, or go on with a run that was cut off.

    mode:  full, or light: only what waits is learned from
    phase: only this one; progress: is told the phase and how many decisions were made
    Raises InvalidInput, Paused, StoreBusy.
    """
    if mode not in ("full", "light"):
        raise InvalidInput(f"mode must be full or light, not {checks.shown(mode)}")
    if phase is not None:
        checks.integer(phase, "phase", at_most=len(PHASES) - 1)
    checks.flag(dry_run, "dry_run")
    checks.optional_seconds(budget_s, "budget_s")
    checks.optional_call(progress, "progress")
    handle.store.upkeep.about()  # a memory that was closed says so
    pause.raise_if_paused(handle)
    began = time.monotonic()

    def over() -> bool:
        return stopped() or (budget_s is not None and time.monotonic() - began >= budget_s)

    with one_at_a_time(handle.paths.locks / "consolidate.lock", "another process consolidates"):
        scope = handle.own()[0] if dry_run and handle.own() else 0 if dry_run else handle.writes()
        run = _begin(handle, scope, "phase" if phase is not None else "light" if mode == "light" else "full", phase, dry_run)
        night = Night(replace(handle, run=run.id), scope, run, handle.chat(), dry_run, over)
        report = _go_through(night, phase, progress or _told_nobody) if scope else NightReport(run=run.id, mode=run.mode, at=run.at)
        handle.put_off, handle.uncopied_since = night.handle.put_off, night.handle.uncopied_since or handle.uncopied_since
    return replace(report, dry_run=dry_run, seconds=round(time.monotonic() - began, 3))


def _told_nobody(_phase: str, _done: int) -> None:
    """Nobody asked for the progress."""


def _begin(handle: Handle, scope: int, mode: NightMode, phase: int | None, dry_run: bool) -> NightRun:
    """Return the run of this mode that was cut off, or a new one, written down."""
    now = handle.now()
    last = next((run for run in handle.store.nights.runs(scope, limit=8) if run.mode == mode), None) if scope else None
    cut_off = last is not None and last.finished_at is None and mode != "phase"
    if last is not None and cut_off and timedelta(0) <= now - last.at < SPACING and not dry_run:
        return last
    seen = max((row.number for row in handle.store.journal([scope], limit=1)), default=0) if scope else 0
    run = NightRun(id=f"night-{handle.new_id()}", mode=mode, at=now, started_at=now, phase=phase or 0, seen=seen)
    if not dry_run:
        _keep(handle, scope, run)
    return run


def _keep(handle: Handle, scope: int, run: NightRun) -> NightRun:
    handle.store.apply(scope, [KeepRun(run)], handle.cause(OPERATION))
    return run


def _go_through(night: Night, only: int | None, progress: Progress) -> NightReport:
    """Do the phases that are left, writing down after each how far the run is."""
    run, planned, finished, store = night.run, list[NightItem](), True, night.handle.store
    done = 0
    for number, phase in enumerate(PHASES):
        if number < run.phase or (only is not None and number != only) or (run.mode == "light" and not phase.light):
            continue
        at_it = replace(night, phase=number)
        for steps in phase.steps:
            for item in steps(at_it):
                done += 1
                planned += [item] if night.dry_run else []
                progress(phase.name, done)
        finished = not night.over()
        run = replace(run, phase=number + finished)
        if not night.dry_run:
            run = _keep(night.handle, night.scope, replace(run, counts=store.nights.counts(night.scope, run.id)))
        if not finished:
            break
    if night.dry_run:
        return _report(replace(run, counts=Counter(item.action for item in planned)), planned[:ITEMS_SHOWN], finished, night.notes)
    if finished:
        run = _keep(night.handle, night.scope, replace(run, finished_at=night.handle.now()))
    return _report(run, store.nights.items(night.scope, run.id, limit=ITEMS_SHOWN), finished, night.notes)


def _report(run: NightRun, items: list[NightItem], finished: bool, notes: list[str]) -> NightReport:
    return NightReport(
        run=run.id,
        mode=run.mode,
        at=run.at,
        phase=run.phase,
        finished=finished,
        counts=dict(run.counts),
        items=tuple(items),
        notes=tuple(notes),
    )
