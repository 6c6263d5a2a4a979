"""
`ingest`: record the events that hooks captured in the inbox, each once.

The files of the inbox are claimed, and their events read in the order in which they happened, from where the mark says. Turns
are stored in batches under ids made from their events, then the mark moves: what a killed process had recorded already is known
the second time. An event that ends or compresses a session comes after the turns before it.
A line that is no event, or an event that is refused, is set aside for a person. Nothing is recorded while memory is paused,
and nothing of a folder that is switched off.
"""

from __future__ import annotations

import heapq
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from yiku.errors import Closed, InvalidInput, KeptOut, NotFound, Paused, ReadOnly, StoreBusy, YikuError
from yiku.files import inbox, inbox_append
from yiku.files.inbox import Broken, Event
from yiku.flows.common import background, checks, pause
from yiku.flows.common.background import Worker
from yiku.flows.common.handle import Handle
from yiku.flows.keep import record
from yiku.flows.learn import learn, sessions
from yiku.rules.sessions import agent_events
from yiku.rules.sessions.agent_events import Compression, Nothing, SessionEnd
from yiku.store.api import one_at_a_time
from yiku.types import Ingested

BATCH = 200  # turns a transaction
BATCH_BYTES = 4_000_000  # of the lines they come from
FILES = 64  # that are read at the same time
LOCK_S = 5.0  # for another process that records the inbox
ELSEWHERE = "another process records the inbox"
THREAD = "yiku-ingest"
LOOK_EACH_S = 1.0
LEARN_S = 2.0  # that the thread learns in one go
PAUSED_S = 5.0  # until it looks again
SWITCHED_OFF, PRIVATE, ERASED = "in a folder that is switched off", "private", "erased"


@dataclass(slots=True)
class _Run:
    """State of one call."""

    handle: Handle
    over: Callable[[], bool]
    drafts: list[tuple[Event, Mapping[str, Any]]] = field(default_factory=list)
    bytes: int = 0
    read: dict[str, int] = field(default_factory=dict)  # how far each file is read
    counts: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    folders: dict[str, bool] = field(default_factory=dict)  # whether each is switched off


def ingest(
    handle: Handle, *, budget_s: float | None = None, stopped: Callable[[], bool] = lambda: False, wait_s: float = LOCK_S
) -> Ingested:
    """
    Record what waits in the inbox for this scope, for at most so many seconds.

    Raises Paused, and StoreBusy while another process records the inbox.
    """
    checks.optional_seconds(budget_s, "budget_s")
    handle.store.upkeep.ensure_open()
    pause.raise_if_paused(handle)
    began = time.monotonic()
    run = _Run(handle, lambda: stopped() or (budget_s is not None and time.monotonic() - began >= budget_s))
    if _files(handle):
        with one_at_a_time(handle.paths.locks / "inbox.lock", ELSEWHERE, wait_s):
            claimed = inbox.claim_all(handle.paths, scopes(handle))
            for start in range(0, len(claimed), FILES):
                _ingest_files(run, claimed[start : start + FILES])
    return Ingested(
        events=run.counts["events"],
        turns=run.counts["turns"],
        known=run.counts["known"],
        compressed=run.counts["compressed"],
        ended=run.counts["ended"],
        skipped=dict(sorted(run.skipped.items())),
        unreadable=run.counts["unreadable"],
        waiting=waiting(handle),
        seconds=round(time.monotonic() - began, 3),
    )


def waiting(handle: Handle) -> int:
    """Count the events of this scope that wait."""
    count, marks = 0, inbox.marks(handle.paths)
    for path in _files(handle):
        with suppress(OSError), open(path, "rb") as file:
            file.seek(marks.get(path.name, 0))
            count += sum(1 for line in file if line.strip())
    return count


def scopes(handle: Handle) -> list[str | None]:
    """Under which names hooks capture for this scope: None stands for the scope of the home's settings."""
    usual = handle.settings.origins.get("scope", "default") in ("default", "yiku.toml")
    return [None, handle.scope] if usual else [handle.scope]


def _files(handle: Handle) -> list[Path]:
    return [path for scope in scopes(handle) for path in inbox.files(handle.paths, scope)]


# ------------------------------------------------------------------ files


def _ingest_files(run: _Run, paths: Sequence[Path]) -> None:
    """Record claimed files, and remove them once all of them is recorded."""
    if run.over():
        return
    home = run.handle.paths
    marks = inbox.marks(home)
    run.read = {path.name: marks.get(path.name, 0) for path in paths}
    merged = heapq.merge(*(_timed(path, run.read[path.name]) for path in paths), key=lambda one: one[0])
    with closing(merged):
        for _, path, item in merged:
            if run.over():
                _store(run)
                return
            if isinstance(item, Broken) or item.scope not in scopes(run.handle):
                _set_aside(run, item)
            else:
                _take(run, item)
            run.bytes += item.end - run.read[path.name]
            run.read[path.name] = item.end
            if len(run.drafts) >= BATCH or run.bytes >= BATCH_BYTES:
                _store(run)
    _store(run, mark=False)
    for path in paths:
        inbox.remove(path)


def _timed(path: Path, start: int) -> Iterator[tuple[int, Path, Event | Broken]]:
    """The lines of a file with their times; a line without one has that of the line before."""
    at = 0
    for item in inbox.events(path, start):
        at = at if isinstance(item, Broken) else max(at, item.at_us)
        yield at, path, item


def _take(run: _Run, event: Event) -> None:
    run.counts["events"] += 1
    try:
        _take_one(run, event)
    except Paused:
        raise
    except KeptOut:
        run.skipped[PRIVATE] += 1
    except (ValueError, OverflowError, RecursionError):  # also InvalidInput; and a time that is none
        _set_aside(run, event)


def _take_one(run: _Run, event: Event) -> None:
    said_at = datetime.fromtimestamp(event.at_us / 1_000_000, UTC).astimezone(run.handle.now().tzinfo)
    match agent_events.read(event.payload, hook=event.hook, agent=event.agent, id=event.id, said_at=said_at):
        case Nothing(why):
            run.skipped[why] += 1
        case Compression(session):
            _store(run)
            inbox.set_shown(run.handle.paths, run.handle.scope_seal(f"session\0{session}").hex(), None)
            run.counts["compressed"] += sessions.compress_recorded(run.handle, session) is not None
        case SessionEnd(session):
            _store(run)
            with suppress(NotFound):  # nothing was said in it
                sessions.end(run.handle, session, budget_s=0.0)
                run.counts["ended"] += 1
        case agent_events.Turns(drafts):
            if any(_switched_off(run, draft) for draft in drafts):
                run.skipped[SWITCHED_OFF] += 1
            else:
                run.drafts += [(event, draft) for draft in drafts]


def _switched_off(run: _Run, draft: Mapping[str, Any]) -> bool:
    for path in pause.folders_of(draft):
        if path not in run.folders:
            run.folders[path] = pause.switched_off(path, run.handle.settings.private_folders) is not None
        if run.folders[path]:
            return True
    return False


def _store(run: _Run, *, mark: bool = True) -> None:
    """Store the turns that were read, then move the mark behind their lines."""
    drafts, run.drafts, run.bytes = run.drafts, [], 0
    if drafts:
        try:
            _record(run, [draft for _, draft in drafts])
        except InvalidInput:
            for event, draft in drafts:
                try:
                    _record(run, [draft])
                except InvalidInput:
                    _set_aside(run, event)
    if mark:
        inbox.set_marks(run.handle.paths, run.read)


def _record(run: _Run, drafts: list[Mapping[str, Any]]) -> None:
    try:
        done = record.record(run.handle, drafts)
    except Paused:
        raise
    except KeptOut:
        run.skipped[PRIVATE] += len(drafts)
        return
    run.counts["turns"] += len(done.ids)
    run.counts["known"] += done.known
    for why, count in ((ERASED, done.erased), (PRIVATE, len(drafts) - len(done.ids) - done.known - done.erased)):
        run.skipped += Counter({why: count})


def _set_aside(run: _Run, item: Event | Broken) -> None:
    inbox.set_aside(run.handle.paths, item.raw)
    run.counts["unreadable"] += 1


# ------------------------------------------------------------------ in the background


def in_background(handle: Handle) -> Worker:
    """Start a thread that records the inbox as it fills, and learns from that."""
    if not handle.store.read_only:
        inbox_append.hold_back(str(handle.home))
    return Worker(handle, THREAD, _look)


def _look(worker: Worker) -> float:
    """Record and learn what waits; how many seconds later it is worth to look again."""
    handle = worker.handle
    if not _files(handle):
        worker.trouble = None
        return LOOK_EACH_S
    try:
        ingest(handle, stopped=worker.ended, wait_s=0.0)
        if not worker.ended():
            learn.learn(handle, budget_s=LEARN_S, stopped=worker.ended)
    except Paused:
        return PAUSED_S
    except (Closed, ReadOnly):
        worker.end()
    except (YikuError, OSError) as error:
        if _is_recorded_elsewhere(error):
            return LOOK_EACH_S
        worker.trouble = str(error)
        return LOOK_EACH_S if isinstance(error, StoreBusy) else background.AFTER_TROUBLE_S
    worker.trouble = None
    return LOOK_EACH_S


def _is_recorded_elsewhere(error: Exception) -> bool:
    return isinstance(error, StoreBusy) and error.detail == ELSEWHERE
