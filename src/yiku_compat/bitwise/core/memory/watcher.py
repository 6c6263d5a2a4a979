"""
FileWatcher and PollingFileWatcher: call back once changed Markdown files have been quiet for a while.

Changes are reported together after `debounce_ms` without another one, and after ten times as long at the latest: who writes all
the time puts nothing off for ever. An editor that saves by renaming is one change. What a callback raises is kept in `trouble`.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from yiku.errors import InvalidInput

LONGEST = 10  # times the debounce, until a change is reported in any case
TICK_S = 0.02
ENDINGS = (".md", ".markdown")
State = Mapping[str, tuple[int, int, int]]
OnChange = Callable[[list[str]], object]


class _Watcher:
    """What both have: the paths, the thread that reports, the changes that wait."""

    def __init__(self, watch_paths: Iterable[str | os.PathLike[str]], on_change: OnChange, debounce_ms: int = 1000) -> None:
        if not 0 < debounce_ms <= 3_600_000:
            raise InvalidInput("debounce_ms must be a number of milliseconds above 0")
        self.on_change, self.debounce_s = on_change, debounce_ms / 1000
        self.paths = [Path(path).expanduser().absolute() for path in watch_paths]
        self.trouble: str | None = None
        self._changed: dict[str, None] = {}
        self._first = self._last = 0.0
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def is_running(self) -> bool:
        """Whether it watches."""
        return self._thread is not None and self._thread.is_alive()

    def start(self) -> None:
        """Begin to watch; a second call changes nothing."""
        if self.is_running:
            return
        self._ended.clear()
        self._attach()
        self._thread = threading.Thread(target=self._run, name=type(self).__name__, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Watch no more; what waits is reported first."""
        if self._thread is not None:
            self._ended.set()
            if self._thread is not threading.current_thread():
                self._thread.join()
            self._thread = None
        self._detach()

    def add_path(self, path: str | os.PathLike[str]) -> None:
        """Watch another file or folder, too."""
        added = Path(path).expanduser().absolute()
        if added not in self.paths:
            self.paths = [*self.paths, added]
            self._again()

    def remove_path(self, path: str | os.PathLike[str]) -> None:
        """Watch a file or folder no more."""
        self.paths = [one for one in self.paths if one != Path(path).expanduser().absolute()]
        self._again()

    def _again(self) -> None:
        if self.is_running:
            self._detach()
            self._attach()

    def _attach(self) -> None: ...

    def _detach(self) -> None: ...

    def _look(self) -> None: ...

    def _note(self, path: str) -> None:
        """Remember that a file changed."""
        if not path.lower().endswith(ENDINGS) or os.path.basename(path).startswith("."):
            return
        if not any(Path(path).is_relative_to(root) for root in self.paths):
            return
        with self._lock:
            self._last = time.monotonic()
            self._first = self._first or self._last
            self._changed[path] = None

    def _note_all(self, paths: Iterable[str]) -> None:
        for path in paths:
            self._note(path)

    def _run(self) -> None:
        while not self._ended.wait(min(TICK_S, self.debounce_s)):
            self._look()
            self._report(time.monotonic())
        self._report(None)

    def _report(self, now: float | None) -> None:
        """Call back if it is time, or with None in any case."""
        with self._lock:
            due = min(self._last + self.debounce_s, self._first + LONGEST * self.debounce_s)
            if not self._changed or (now is not None and now < due):
                return
            changed, self._changed, self._first = [*self._changed], {}, 0.0
        try:
            self.on_change(changed)
            self.trouble = None
        except Exception as error:  # of whoever is told; the next change is reported all the same
            self.trouble = f"{type(error).__name__}: {error}"


class FileWatcher(_Watcher):
    """
    Watches by events of the file system; where there are none, as PollingFileWatcher does.

    on_change: called with the paths that changed, were made, moved or removed
    """

    _observer: Any = None
    _polling: PollingFileWatcher | None = None

    def _attach(self) -> None:
        from watchdog.events import FileSystemEventHandler
        from watchdog.observers import Observer

        handler = FileSystemEventHandler()
        handler.on_any_event = self._event  # type: ignore[method-assign]
        observer = Observer()
        try:
            for folder in {path if path.is_dir() else path.parent for path in self.paths}:
                if folder.is_dir():
                    observer.schedule(handler, str(folder), recursive=folder in self.paths)
            observer.start()
            self._observer = observer
        except OSError:  # too many watches, or a file system without events
            self._polling = PollingFileWatcher(self.paths, self._note_all)
            self._polling.debounce_s = self.debounce_s
            self._polling.start()

    def _detach(self) -> None:
        observer, self._observer = self._observer, None
        polling, self._polling = self._polling, None
        if observer is not None:
            observer.stop()
            observer.join()
        if polling is not None:
            polling.stop()

    def _event(self, event: Any) -> None:
        if event.event_type in ("opened", "closed_no_write"):
            return
        for path in (event.src_path, event.dest_path):
            if path:
                self._note(os.fsdecode(path))


class PollingFileWatcher(_Watcher):
    """Looks at sizes and times of the files every `poll_s` seconds: for machines without watchdog or events."""

    poll_s = 1.0
    _seen: State = MappingProxyType({})
    _looked = 0.0

    def _attach(self) -> None:
        self._seen = dict(self._scan())

    def _look(self) -> None:
        if time.monotonic() - self._looked < min(self.poll_s, self.debounce_s):
            return
        self._looked, before = time.monotonic(), self._seen
        self._seen = dict(self._scan())
        for path in before.keys() | self._seen.keys():
            if before.get(path) != self._seen.get(path):
                self._note(path)

    def _scan(self) -> Iterator[tuple[str, tuple[int, int, int]]]:
        for root in self.paths:
            found = root.rglob("*") if root.is_dir() else [root]
            for path in found:
                try:
                    about = path.lstat()
                except OSError:
                    continue
                if path.suffix.lower() in ENDINGS:
                    yield str(path), (about.st_size, about.st_mtime_ns, about.st_ino)
