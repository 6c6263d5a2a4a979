"""
`watch`: sync the notes index whenever files change; tell which process watches a home, and whether it died.

Events of the file system say when to look (files/watch.py); what has changed is told by `sync`, which looks through the vault.
It looks once it has been quiet for `watch_debounce_s`, at the latest after twice that, and each minute anyway. Where that minute
finds what no event told of, the folders are watched anew, and where it happens again, or the system has no events to give, they
are looked through every few seconds.

One process watches a home, the one that holds `locks/watcher.lock`. The lock's content says who and how, and is emptied where
watching ends as it should: a lock that is free and not empty tells of a watcher that died.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from yiku.errors import Closed, Paused, ReadOnly, StoreBusy, YikuError
from yiku.files import locks, mounts
from yiku.files.notes import FOLDERS, PAGES
from yiku.files.vault import Home
from yiku.files.watch import Signals
from yiku.flows.common import background, checks
from yiku.flows.common.background import Worker
from yiku.flows.common.handle import Handle
from yiku.flows.find import embed
from yiku.flows.notes import publish, sync
from yiku.store.api import one_at_a_time
from yiku.types import SyncReport, Watching

THREAD = "yiku-watch"
TICK_S = 0.5  # between two looks at whether it is to end, and whether events still come
RESCAN_S = 60.0  # between two looks through the vault where events come
POLL_S = 2.0  # where none come, and
POLL_SHARE = 0.02  # of a core at most
LATE_S = 2.0  # an event that comes later than this is a lost one
BUSY_S = 1.0  # after a look that another process kept from happening
ROLE_AGAIN_S = 5.0  # until a process that could not watch, because another does, tries again
TAKING_S = 0.2  # for the lock, which `status` holds for a moment

Say = Callable[..., None]  # what is true of the watching now: fields of Watching
Look = Callable[[], SyncReport]


def watch(handle: Handle, tell: Callable[[SyncReport], object] | None = None, *, stopped: Callable[[], bool] | None = None) -> None:
    """
    Keep the index in step with the files, and embed what is new, until `stopped` says so.

    tell: called with each report that changed something
    Raises StoreBusy while another process or thread watches this home.
    """
    checks.optional_call(tell, "tell")
    checks.optional_call(stopped, "stopped")
    worker = embed.in_background(handle)
    try:
        follow(handle, tell or (lambda report: None), stopped or (lambda: False))
    finally:
        worker.stop(TICK_S)


def follow(handle: Handle, tell: Callable[[SyncReport], object], stopped: Callable[[], bool]) -> None:
    """Sync the notes when they change, until `stopped`."""
    handle.store.upkeep.ensure_open()
    root = publish.vault_of(handle)

    unfit: Mapping[str, str] = {}  # files that cannot be indexed

    def look() -> SyncReport:
        nonlocal unfit
        report = sync.sync(handle, stopped=stopped)
        failed = report.failed or {}
        new = {path: why for path, why in failed.items() if unfit.get(path) != why}
        unfit = failed
        if report.anything or new or any(page.edits for page in report.pages):
            tell(replace(report, failed=new))
        return report

    signals = Signals(root, PAGES, [*FOLDERS])
    network = mounts.kind(root) == "network"
    with _role(handle) as say:
        try:
            if network:
                _poll(look, say, stopped, "a network file system tells only of this machine's changes")
            elif (why := _follow(signals, look, say, stopped, handle.settings.watch_debounce_s)) is not None:
                _poll(look, say, stopped, why)
        finally:
            signals.close()


# ------------------------------------------------------------------ looking


def _follow(signals: Signals, look: Look, say: Say, stopped: Callable[[], bool], quiet_s: float) -> str | None:
    """Look when events say so, and each minute; why there are no events to go by, or None once it is stopped."""
    missed = 0  # times that a look found what no event told of, one after the other
    due, surprising = 0.0, False  # when to look without an event; whether finding something then means that one was lost
    while not stopped():
        if not signals.works():
            try:
                signals.attach()
            except OSError as error:
                return f"the system gives no events ({error.strerror})"
            due, surprising = 0.0, False
        woken = signals.wait(min(TICK_S, max(due - time.monotonic(), 0.0)), quiet_s, 2 * quiet_s)
        if not woken and time.monotonic() < due:
            continue
        report, again_s = _look(look, say)
        missed = 0 if woken else missed
        due = time.monotonic() + (again_s or RESCAN_S)
        if report is not None and report.anything and not woken and surprising:
            if signals.wait(LATE_S, 0.0, 0.0):
                due = 0.0
            elif (missed := missed + 1) > 1:
                return "changes were found that no event had told of"
            else:
                signals.close()
        surprising = report is not None and due > 0.0
    return None


def _poll(look: Look, say: Say, stopped: Callable[[], bool], why: str) -> None:
    """Look every few seconds, or less often where that would take too much of a core."""
    say(how="polling", why=why)
    due = 0.0
    while not stopped():
        if time.monotonic() < due:
            time.sleep(min(TICK_S, max(due - time.monotonic(), 0.0)))
            continue
        began = time.thread_time()
        _, again_s = _look(look, say)
        due = time.monotonic() + (again_s or max(POLL_S, (time.thread_time() - began) / POLL_SHARE))


def _look(look: Look, say: Say) -> tuple[SyncReport | None, float | None]:
    """What a look found; where it could not look, after how many seconds to try again."""
    try:
        report = look()
    except StoreBusy:
        return None, BUSY_S
    except Paused:
        return None, POLL_S
    except (Closed, ReadOnly):
        raise
    except (YikuError, OSError) as error:
        say(trouble=type(error).__name__)
        return None, background.AFTER_TROUBLE_S
    say(trouble=None)
    return report, None


# ------------------------------------------------------------------ the role


@contextmanager
def _role(handle: Handle) -> Iterator[Say]:
    """Be the one that watches this home. Raises StoreBusy while another does."""
    path = _lock(handle.paths)
    state = Watching(os.getpid(), handle.now().isoformat(timespec="seconds"))

    def say(**now: Any) -> None:
        nonlocal state
        if (changed := replace(state, **now)) != state:
            state = changed
            locks.tell(path, json.dumps(asdict(state)))

    with one_at_a_time(path, "another process or thread is watching", TAKING_S):
        locks.tell(path, json.dumps(asdict(state)))
        try:
            yield say
        except (Closed, ReadOnly, KeyboardInterrupt):
            locks.tell(path, "")
            raise
        except BaseException as error:
            say(trouble=type(error).__name__)
            raise
        locks.tell(path, "")


def watching(home: Home) -> Watching | None:
    """Who watches a home, or watched it and ended without saying so; None where nobody does."""
    path = _lock(home)
    before, held, text = locks.content(path), locks.is_held(path), locks.content(path)
    try:
        state = Watching(**json.loads(text))
    except (ValueError, TypeError):  # empty, or being written just now
        return None
    if not held and before != text:  # it began or ended between two looks
        return watching(home)
    return replace(state, alive=held)


def troubles(home: Home) -> Iterator[str]:
    """What is wrong with the watching of a home, a line each."""
    state = watching(home)
    if state is None:
        return
    who = f"process {state.pid}, since {state.since}"
    if not state.alive:
        yield f"the watcher died ({who}{f', {state.trouble}' if state.trouble else ''}): yiku watch"
    elif state.trouble:
        yield f"the watcher cannot index notes ({state.trouble}): yiku sync says why"
    if state.alive and state.why:
        yield f"notes are looked through every few seconds: {state.why}"


def _lock(home: Home) -> Path:
    return home.locks / "watcher.lock"


# ------------------------------------------------------------------ in the background


def in_background(handle: Handle) -> Worker:
    """A thread that watches, as soon as no other process does."""
    return Worker(handle, THREAD, _watch)


def _watch(worker: Worker) -> float:
    """Watch until the memory is closed; how many seconds later to try again where that cannot be."""
    try:
        if worker.handle.vault is None:
            worker.end()
        else:
            follow(worker.handle, lambda report: None, worker.ended)
    except StoreBusy:  # another process does
        return ROLE_AGAIN_S
    except (Closed, ReadOnly):
        worker.end()
    except (YikuError, OSError) as error:
        worker.trouble = str(error)
        return background.AFTER_TROUBLE_S
    return ROLE_AGAIN_S
