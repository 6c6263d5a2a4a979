"""
The write lock (the gate): one writer at a time, across threads and processes.

A kernel lock (flock) on a side file, never on the database: closing any descriptor of the database
would drop SQLite's own locks. The kernel frees the lock when its holder dies, so nothing is left to
clean. Every write, every checkpoint, the creation and the last close happen inside the gate.

The gate's file is never deleted: a second file of the same name would be a second gate.
"""

from __future__ import annotations

import errno
import fcntl
import os
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from yiku.errors import StoreBusy, StoreError
from yiku.store import forks
from yiku.store.error_mapping import from_os_error
from yiku.store.forks import outside

FIRST_PAUSE_S = 0.0002
LONGEST_PAUSE_S = 0.002  # longer, and who has waited longest has the least chance


class Gate:
    """A lock for one store and process; `held()` is re-entrant per thread."""

    def __init__(self, path: Path, timeout_s: float) -> None:
        self.path = path
        self.timeout_s = timeout_s
        self._thread = threading.RLock()
        self._depth = 0
        self._descriptor: int | None = None
        forks.GATES.add(self)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the lock. Raises StoreBusy after `timeout_s`, ReadOnly if the lock file cannot be opened."""
        deadline = time.monotonic() + self.timeout_s
        with outside():
            acquired = self._thread.acquire(timeout=self.timeout_s)
        if not acquired:
            raise StoreBusy("another thread of this process is writing")
        try:
            if self._depth == 0:
                with outside():
                    self._lock(deadline)
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1
                if self._depth == 0 and self._descriptor is not None:
                    fcntl.flock(self._descriptor, fcntl.LOCK_UN)
        finally:
            self._thread.release()

    def close(self) -> None:
        """Close the lock file."""
        if self._thread.acquire(timeout=self.timeout_s):
            try:
                if self._descriptor is not None and self._depth == 0:
                    os.close(self._descriptor)
                    self._descriptor = None
            finally:
                self._thread.release()

    def start_over(self) -> None:
        """Reset in a forked child: neither the thread lock nor the descriptor is usable."""
        descriptor, self._descriptor = self._descriptor, None
        self._thread = threading.RLock()
        self._depth = 0
        if descriptor is not None:
            os.close(descriptor)

    def _lock(self, deadline: float) -> None:
        if self._descriptor is None:
            self._descriptor = self._open()
        pause = FIRST_PAUSE_S
        while True:
            try:
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                if error.errno not in (errno.EAGAIN, errno.EACCES, errno.EINTR):
                    raise StoreError(f"the write lock failed: {error}") from error
            else:
                return
            if time.monotonic() >= deadline:
                raise StoreBusy(f"waited {self.timeout_s:g} s")
            time.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE_S)

    def _open(self) -> int:
        try:
            return os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise from_os_error(error, f"the write lock {self.path}") from error


@contextmanager
def one_at_a_time(path: Path, busy: str, timeout_s: float = 0.0) -> Iterator[None]:
    """Hold the lock of a task that only one process runs at a time. Raises StoreBusy with these words."""
    gate = Gate(path, timeout_s)
    try:
        with ExitStack() as stack:
            try:
                stack.enter_context(gate.held())
            except StoreBusy as error:
                raise StoreBusy(busy) from error
            yield
    finally:
        gate.close()
