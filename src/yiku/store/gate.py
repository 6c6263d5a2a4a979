"""
The write gate: one writer at a time, across threads and processes.

A kernel lock (flock) on a side file, never on the database: closing any descriptor of the database
would drop SQLite's own locks. The kernel frees the lock when its holder dies, so nothing is left to
clean. Every write, every checkpoint, the creation and the last close happen inside the gate.

The side file is never deleted: a second file of the same name would be a second gate.
"""

from __future__ import annotations

import errno
import fcntl
import os
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from yiku.errors import ReadOnly, StorageFull, StoreBusy, StoreError

FIRST_PAUSE_S = 0.0002
LONGEST_PAUSE_S = 0.02


class Gate:
    """One gate a store and process; `held()` is re-entrant in its thread."""

    def __init__(self, path: Path, timeout_s: float) -> None:
        self.path = path
        self.timeout_s = timeout_s
        self._thread = threading.RLock()
        self._depth = 0
        self._descriptor: int | None = None
        _GATES.add(self)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the gate. Raises StoreBusy after `timeout_s`, ReadOnly where no lock file can be opened."""
        deadline = time.monotonic() + self.timeout_s
        if not self._thread.acquire(timeout=self.timeout_s):
            raise StoreBusy("another thread of this process is writing")
        try:
            if self._depth == 0:
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
        """Let go of the side file."""
        if self._thread.acquire(timeout=self.timeout_s):
            try:
                if self._descriptor is not None and self._depth == 0:
                    os.close(self._descriptor)
                    self._descriptor = None
            finally:
                self._thread.release()

    def start_over(self) -> None:
        """In a forked child: the parent's lock is not ours, neither its thread lock nor its descriptor."""
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
            raise refusal(error, f"the write lock {self.path}") from error


def refusal(error: OSError, what: str) -> StoreError:
    """What the system refused, as our error."""
    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        return ReadOnly(what)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return StorageFull(what)
    return StoreError(f"{what}: {error.strerror or error}")


def _in_a_child() -> None:
    """A forked child lets go of the parent's locks at once: its copy of a descriptor would hold them after the parent's death."""
    for gate in list(_GATES):
        gate.start_over()


_GATES = weakref.WeakSet[Gate]()
os.register_at_fork(after_in_child=_in_a_child)
