"""
Decide when a night is due, and start it: from a background thread, `yiku consolidate --if-due`, cron or systemd.

At least 20 hours lie between two full runs. One is due then as soon as nothing was written for 20 minutes, and after 48 hours in
any case; one that was cut off is due at once. A night that was missed because no process was there runs when one comes.
"""

from __future__ import annotations

import shlex
import shutil
import sys
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from yiku.errors import Closed, ReadOnly, StoreBusy, YikuError
from yiku.flows.common import background, checks, pause
from yiku.flows.common.background import Worker
from yiku.flows.common.handle import Handle
from yiku.flows.night.consolidate import SPACING, consolidate
from yiku.flows.night.run import OPERATION
from yiku.flows.notes import watch as notes_watch
from yiku.types import NightReport, Schedule, SyncReport

IDLE, FALLBACK = timedelta(minutes=20), timedelta(hours=48)
LOOK_EACH_S = 60.0
STOP_S = 0.5  # that a thread has to end its decision
WORK_S, REST_S = 0.005, 0.01  # of a night in a thread: what searches at the same time shares the interpreter with it
NICE = 10  # of a night that the system starts: whoever searches meanwhile comes first
LATEST = 500  # runs among which the last full one is looked for
LATEST_ROWS = 50  # of the journal, among which the last one of somebody else is


def not_due(handle: Handle) -> str | None:
    """Return why no full run is due now; None where one is."""
    own = handle.own()
    first = handle.store.journal(own, after=0, limit=1) if own else []
    if not first:
        return "nothing was written yet"
    now = handle.now()
    last = next((run for run in handle.store.nights.runs(own[0], limit=LATEST) if run.mode == "full"), None)
    since = last.at if last is not None else first[0].at
    if since > now:  # the clock was set back
        return None
    if last is not None and last.finished_at is None and now - last.at < SPACING:
        return None
    if now - since < SPACING:
        return f"the last night was {_hours(now - since)} ago" if last else "memory is not a day old"
    written = max((row.at for row in handle.store.journal(own, limit=LATEST_ROWS) if row.operation != OPERATION), default=since)
    if now - since < FALLBACK and timedelta(0) <= now - written < IDLE:
        return "something was written in the last 20 minutes"
    return None


def consolidate_if_due(handle: Handle, mode: str, *, if_due: bool, **given: Any) -> NightReport:
    """Run the night, with `if_due` only where one is due."""
    if checks.flag(if_due, "if_due"):
        handle.store.upkeep.about()  # a memory that was closed says so
        if (why := not_due(handle)) is not None:
            return NightReport(run="", mode="full", at=handle.now(), finished=True, notes=(f"not due: {why}",))
    return consolidate(handle, mode, **given)


def _hours(span: timedelta) -> str:
    hours = int(span.total_seconds() // 3600)
    return f"{hours} hour{'' if hours == 1 else 's'}"


def next_due(handle: Handle) -> datetime | None:
    """Return when a full run is due at the earliest; None where nothing was written yet."""
    own = handle.own()
    first = handle.store.journal(own, after=0, limit=1) if own else []
    if not first:
        return None
    last = next((run for run in handle.store.nights.runs(own[0], limit=LATEST) if run.mode == "full"), None)
    return (last.at if last is not None else first[0].at) + SPACING


# ------------------------------------------------------------------ in a long-lived interface


def in_background(handle: Handle) -> Worker:
    """Start a thread that runs the night when it is due."""
    return Worker(handle, background.NIGHT, look)


def look(worker: Worker) -> float:
    """Run a night if one is due; return how many seconds later it is worth to look again."""
    handle = worker.handle
    try:
        if handle.settings.nights == "off" or handle.store.read_only:
            worker.end()
        elif not pause.paused(handle)[0] and not_due(handle) is None:
            consolidate(handle, stopped=_considerately(worker))
        worker.trouble = None
    except StoreBusy:  # another process does, or writes
        return LOOK_EACH_S
    except (Closed, ReadOnly):
        worker.end()
    except (YikuError, OSError) as error:
        worker.trouble = str(error)
        return background.AFTER_TROUBLE_S
    return LOOK_EACH_S


def _considerately(worker: Worker) -> Callable[[], bool]:
    """Return whether the night of a thread has to stop, and let the other threads of its process work before each answer."""
    since = time.monotonic()

    def stopped() -> bool:
        nonlocal since
        if time.monotonic() - since > WORK_S:
            time.sleep(REST_S)
            since = time.monotonic()
        return worker.ended()

    return stopped


def watch(handle: Handle, tell: Callable[[SyncReport], object] | None, *, stopped: Callable[[], bool] | None) -> None:
    """Follow the notes, and run the night when it is due, until `stopped` says so."""
    worker = in_background(handle)
    try:
        notes_watch.watch(handle, tell, stopped=stopped)
    finally:
        worker.stop(STOP_S)


# ------------------------------------------------------------------ in the system


def lines(handle: Handle) -> Schedule:
    """Return what to give to cron or systemd, so that it asks each hour whether a night is due."""
    program = shutil.which("yiku")
    words = [program] if program and Path(program).is_absolute() else [sys.executable, "-m", "yiku"]
    command = [*words, "consolidate", "--if-due", "--quiet", "--home", handle.home, "--scope", handle.scope]
    service = f"[Unit]\nDescription=Yiku tidies memory\n\n[Service]\nType=oneshot\nNice={NICE}\nExecStart={_for_systemd(command)}\n"
    timer = "[Unit]\nDescription=Ask each hour whether a night of Yiku is due\n\n[Timer]\nOnCalendar=hourly\nPersistent=true\n"
    return Schedule(
        cron=f"17 * * * * nice -n {NICE} {shlex.join(command).replace('%', chr(92) + '%')}",
        service=service,
        timer=f"{timer}\n[Install]\nWantedBy=timers.target\n",
        next_due=next_due(handle),
        not_due=not_due(handle),
    )


def _for_systemd(command: list[str]) -> str:
    escaped = (word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$") for word in command)
    return " ".join(f'"{word}"' for word in escaped)
