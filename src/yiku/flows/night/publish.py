"""
Phase 7, publish: write MEMORY.md, USER.md, the compiled identity, the snapshot, the summaries of days and the report of the run.

Everything here is made of what the database holds, so it is made again whenever it is asked for, nothing is written where nothing
changed, and none of it is a decision. What a person edited in the pages is read first, as theirs: it carries no name of the
night, whose undo would take it back. A scope without files publishes nothing; its reports are shown by `yiku report`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any

from yiku.errors import StoreBusy
from yiku.files import reports
from yiku.flows.common.forgotten import remembered
from yiku.flows.night.report import language, of_run
from yiku.flows.night.run import Night
from yiku.flows.notes import publish as pages
from yiku.flows.notes import sync
from yiku.flows.prompts import publish
from yiku.flows.prompts.compile import compile_identity
from yiku.rules.night import report as report_rules
from yiku.rules.night import snapshot as snapshot_rules
from yiku.rules.prompts.condense import TARGETS
from yiku.types import Episode, Memories, NightItem, Records, RunReport, SemanticMemory, Turns

DAYS = 7  # of which a summary is made, if nights were missed
MOST = 200  # sessions and statements of a day
TURNS = 100_000  # that are looked at for a day
FARTHEST = timedelta(days=1)  # from UTC: more than any place's offset


def steps(night: Night) -> Iterator[NightItem]:
    """Publish the pages, then what is made of them for people to read."""
    root = night.handle.vault
    if root is None or night.dry_run:
        return
    _pages(night)
    _identity(night)
    yield from ()
    if night.over():
        return
    erasures = night.handle.store.erasures
    last = erasures.last()
    _snapshot(night, root)
    _days(night, root)
    _report(night, root)
    if erasures.last() != last:  # what was read before may have been erased meanwhile
        reports.clear(root)


def _pages(night: Night) -> None:
    """Publish MEMORY.md and USER.md and index them; a page that waits for somebody, or is being written to, is a note."""
    handle = replace(night.handle, run=None)
    try:
        done = publish.publish(handle)
        if written := [page.path for page in done.pages if page.action != "held"]:  # also those of a night that was cut off
            failed = sync.sync_files(handle, written).failed or {}
            night.notes.extend(f"{path} was not indexed: {why}" for path, why in failed.items())
    except StoreBusy as error:
        night.notes.append(f"pages were not published: {error.detail}")
        return
    night.notes.extend(f"{page.path} {page.why}" for page in done.pages if page.action == "held")


def _identity(night: Night) -> None:
    """Compile each identity file that changed, by the model if the night has one; one that cannot be compiled is a note."""
    handle = replace(night.handle, run=None)
    for name in TARGETS:
        if night.over():
            return
        try:
            done = compile_identity(handle, only=(name,), strategy="auto" if night.model is not None else "rules")
        except StoreBusy as error:
            night.notes.append(f"the identity was not compiled: {error.detail}")
            return
        night.notes.extend(f"{one.path} was not compiled: {one.why}" for one in done.summaries if one.action == "held")


# ------------------------------------------------------------------ for people to read


def _snapshot(night: Night, root: Path) -> None:
    handle = night.handle
    rows = handle.store.with_details(pages.pool(handle))
    counted = handle.store.upkeep.counts([night.scope])
    counts = {"memories": sum(counted["kinds"].values()), **{name: counted[name] for name in ("turns", "sessions", "episodes")}}
    page = snapshot_rules.page(rows, counts, night.now, language(handle, [night.scope]))
    reports.write(root, reports.SNAPSHOT, page, below=Path(handle.home))


def _days(night: Night, root: Path) -> None:
    """Write the summary of each of the last days on which something was said or learned; one of which all was forgotten goes."""
    spoken, below = language(night.handle, [night.scope]), Path(night.handle.home)
    for back in range(1, DAYS + 1):
        day = (night.now - timedelta(days=back)).date()
        turns, episodes, learned = _of_day(night, day)
        name = f"{reports.DAYS}/{day.isoformat()}.md"
        if turns or learned:
            reports.write(root, name, report_rules.day(day, turns, episodes[:MOST], learned[:MOST], spoken), below=below)
        else:
            reports.remove(root, name)


def _of_day(night: Night, day: date) -> tuple[int, list[Episode], list[SemanticMemory]]:
    """Return how many turns a day has, its episodes and what was learned on it; the day is that of who said it, where they were."""
    store, own, begin = night.handle.store, [night.scope], datetime.combine(day, time(), UTC)
    since, until = begin - FARTHEST, begin + timedelta(days=1) + FARTHEST
    turns = [
        turn for turn in store.turns(own, Turns(since=since, until=until, limit=TURNS, order="said")) if turn.said_at.date() == day
    ]
    if not turns and not store.count(own, Memories(since=since, until=until)):
        return 0, [], []
    episodes = [one for one in store.records(Episode, own, Records(since=since, until=until)) if one.ended_at.date() == day]
    learned = [
        row
        for row in store.memories(own, Memories(since=since, until=until, current=True, order="said"))
        if row.said_at.date() == day <= row.created_at.astimezone(row.said_at.tzinfo).date()
    ]
    return len(turns), remembered(night.handle, own, episodes), [row for row in learned if row.live and not row.expired(night.now)]


def _report(night: Night, root: Path) -> None:
    """Write the report of this run, if it decided something; the oldest ones go."""
    items = night.handle.store.nights.items(night.scope, night.run.id)
    if items:
        done = of_run(night.handle, [night.scope], replace(night.run, phase=night.phase), items)
        name = f"{night.run.at:%Y-%m-%d-%H%M}-{night.run.id[-8:]}"
        below = Path(night.handle.home)
        reports.write(root, f"{name}.md", done.page, below=below)
        reports.write(root, f"{name}.json", json.dumps(_plainly(done), separators=(",", ":")) + "\n", below=below)
    reports.prune(root)


def _plainly(done: RunReport) -> dict[str, Any]:
    """Return a report without any words, for programs."""
    return {
        "run": done.run.id,
        "mode": done.run.mode,
        "at": done.run.at.isoformat(),
        "items": [
            {
                "item": one.item,
                "phase": one.phase,
                "action": one.action,
                "ids": list(one.ids),
                "reason": one.reason,
                "evidence": dict(one.evidence),
                "operation": one.operation,
            }
            for one in done.items
        ],
    }
