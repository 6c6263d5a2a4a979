"""
Wake a thread when files of the vault may have changed, using file system events.

An event is a hint and nothing more. It says that it is time to look; what has changed is told by looking through the
folders, so an event that is lost, doubled or out of order, a storm of them, a folder that was renamed and a queue that
ran over all come to the same. The home is watched for its own few files only, the folders of notes with all that lies
below them; links are not followed. watchdog is imported when the first events are asked for (30 ms).
"""

from __future__ import annotations

import os
import sys
import threading
import time
import warnings
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from watchdog.events import FileSystemEvent


class Signals:
    """
    Wakes whoever waits for a change in a folder: once it has been quiet, or after a maximum wait where it never is.

    root:    the folder; of what lies directly in it only `names` count
    folders: the names of folders in it in which everything counts
    """

    def __init__(self, root: Path, names: Collection[str], folders: Sequence[str]) -> None:
        self.root = Path(os.path.realpath(root))  # else a home that is a link would be watched as one
        self.folders = folders
        self._names = frozenset((*names, *folders))
        self._changed = threading.Condition()
        self._first = self._last = 0.0  # of the events that nobody was woken for, on the monotonic clock; 0 where there are none
        self._observer: Any = None
        self._threads = frozenset[threading.Thread]()
        self._watched: dict[str, tuple[int, int]] = {}

    def attach(self) -> None:
        """
        Watch the folders that are there now, in place of those that were watched before.

        Raises OSError where the system gives no events: too many are watched, or it cannot.
        """
        from watchdog.events import FileSystemEventHandler
        from watchdog.observers import Observer

        # watchdog warns of each folder that it meets twice, which every nested folder is: when it is made, and below the other one.
        warnings.filterwarnings("ignore", "Callback with id", RuntimeWarning)
        self.close()
        self._watched = self._there()
        handler = FileSystemEventHandler()
        handler.on_any_event = self._handle  # type: ignore[method-assign]
        before = _threads()
        observer = Observer()
        at_root, below = _kinds_of_events()
        observer.schedule(handler, str(self.root), event_filter=at_root)
        for name in self._watched:
            observer.schedule(handler, str(self.root / name), recursive=True, event_filter=below)
        self._observer = observer
        try:
            observer.start()
            self._threads = _threads() - before
        except BaseException:
            self.close()
            raise

    def works(self) -> bool:
        """Whether all that is to be watched is watched: no thread has ended, and no folder came or went or was replaced."""
        return self._alive() and self._watched == self._there()

    def pending(self) -> bool:
        """Whether something changed that nobody was woken for."""
        return bool(self._first)

    def wait(self, timeout_s: float, quiet_s: float, longest_s: float) -> bool:
        """
        Wait for a change, at most `timeout_s`; whether there was one.

        It returns when nothing has changed any more for `quiet_s`, or `longest_s` after the first change.
        """
        until = time.monotonic() + timeout_s
        with self._changed:
            while True:
                now = time.monotonic()
                due = min(self._last + quiet_s, self._first + longest_s) if self._first else until
                if now >= due:
                    woken = bool(self._first)
                    self._first = 0.0
                    return woken
                self._changed.wait(due - now)

    def nudge(self) -> None:
        """Something changed, or somebody wants a look."""
        with self._changed:
            self._last = time.monotonic()
            if not self._first:  # who waits for the quiet looks at the clock by itself
                self._first = self._last
                self._changed.notify_all()

    def close(self) -> None:
        """Watch no more."""
        observer, self._observer = self._observer, None
        if observer is not None:
            running = observer.is_alive()
            observer.stop()
            if running:
                observer.join()

    def _handle(self, event: FileSystemEvent) -> None:
        if any(self._counts(os.fsdecode(path)) for path in (event.src_path, event.dest_path) if path):
            self.nudge()

    def _counts(self, path: str) -> bool:
        folder, name = os.path.split(path)
        return name in self._names if folder == str(self.root) else path != str(self.root)

    def _alive(self) -> bool:
        return self._observer is not None and all(thread.is_alive() for thread in self._threads)

    def _there(self) -> dict[str, tuple[int, int]]:
        """The folders of notes that are there, each with what tells it from another of the same name."""
        found = {}
        for name in self.folders:
            folder = self.root / name
            if folder.is_dir() and not folder.is_symlink():
                about = folder.stat()
                found[name] = about.st_dev, about.st_ino
        return found


def _threads() -> frozenset[threading.Thread]:
    """The threads of watchdog in this process: those that read events, group and hand them on."""
    return frozenset(thread for thread in threading.enumerate() if type(thread).__module__.startswith("watchdog."))


def _kinds_of_events() -> tuple[list[type[FileSystemEvent]], list[type[FileSystemEvent]]]:
    """What counts in the home itself, and what counts in a folder of notes."""
    from watchdog import events

    below: list[type[FileSystemEvent]] = [
        events.FileCreatedEvent, events.FileMovedEvent, events.FileDeletedEvent, events.FileModifiedEvent,
        events.DirCreatedEvent, events.DirMovedEvent, events.DirDeletedEvent,
    ]  # fmt: skip
    if sys.platform != "linux":  # FSEvents does not say when a file was closed
        return below, below
    # The database lies in the home and is written all the time, but not closed.
    at_root = [kind for kind in below if kind is not events.FileModifiedEvent]
    return [*at_root, events.FileClosedEvent], [*below, events.FileClosedEvent]
