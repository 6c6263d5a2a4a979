"""
A disk that fails or kills the process at its n-th operation, by wrapping the real one.

It stands between SQLite and the system as a VFS, and between Python and the system as an audit hook, and
counts what changes the disk: opening for writing, writing, truncating, flushing, deleting, renaming,
making folders. `arm(n, …)` makes the n-th of them from now on fail; nothing else is altered or pretended.
"""

import errno
import os
import signal
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw

from yiku.store import pages

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
CHANGES = {"os.mkdir", "os.rename", "os.remove", "os.rmdir"}

# How an operation can fail: the error of SQLite's layer, and that of the system's.
FULL = (apsw.FullError, errno.ENOSPC)
BROKEN = (apsw.IOError, errno.EIO)
Failure = tuple[type[apsw.Error], int]


class Disk:
    """Counts the operations under a folder, and fails one."""

    def __init__(self, folder: Path) -> None:
        self.folder = str(folder)
        self.seen: list[str] = []
        self.at = 0
        self.failure: Failure | None = None
        self.fired = ""
        self.for_good = False
        self.looks: Collection[int] = ()
        self.look: Callable[[int], object] = int

    def arm(self, n: int, failure: Failure | None, *, for_good: bool = False) -> None:
        """From now on the n-th operation fails (all after it too, `for_good`); without a failure the process is killed there."""
        self.seen, self.at, self.failure, self.fired, self.for_good = [], n, failure, "", for_good

    def before(self, ns: Collection[int], look: Callable[[int], object]) -> None:
        """Before each of these operations somebody looks at the disk, with its number: it is as a kill would leave it."""
        self.looks, self.look = frozenset(ns), look

    def disarm(self) -> None:
        self.at = 0

    def step(self, what: str, fail: Callable[[Failure], Exception]) -> None:
        """One operation is about to be done."""
        self.seen.append(what)
        if len(self.seen) in self.looks:
            self.look(len(self.seen))
        if self.at and (len(self.seen) == self.at or (self.for_good and len(self.seen) > self.at)):
            if self.failure is None:
                os.kill(os.getpid(), signal.SIGKILL)
            else:
                self.fired = self.fired or what
                raise fail(self.failure)

    def of_sqlite(self, what: str, name: str) -> None:
        self.step(f"{what} {name.rpartition('/')[2]}", lambda failure: failure[0]())

    def of_the_system(self, what: str, path: object) -> None:
        if not isinstance(path, (str, Path)) or str(path).endswith(".lock"):
            return
        if str(path).startswith(self.folder) or not os.path.isabs(path):  # a name alone: it is done from a folder's descriptor
            name = str(path).removeprefix(self.folder)
            self.step(f"{what} {name}", lambda failure: OSError(failure[1], os.strerror(failure[1])))


_watched: list[Disk] = []  # at most one; an audit hook cannot be taken away, so ours looks here


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if not _watched:
        return
    if event == "open" and isinstance(arguments[2], int) and arguments[2] & WRITING:
        _watched[0].of_the_system("open", arguments[0])
    elif event in CHANGES:
        _watched[0].of_the_system(event, arguments[0])


class _File(apsw.VFSFile):
    def __init__(self, disk: Disk, base: str, name: Any, flags: list[int]) -> None:
        self.disk, self.name = disk, name.filename() if isinstance(name, apsw.URIFilename) else str(name)
        if flags[0] & apsw.SQLITE_OPEN_CREATE:
            disk.of_sqlite("create", self.name)
        super().__init__(base, name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:
        self.disk.of_sqlite("write", self.name)
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:
        self.disk.of_sqlite("flush", self.name)
        super().xSync(flags)

    def xTruncate(self, size: int) -> None:
        self.disk.of_sqlite("truncate", self.name)
        super().xTruncate(size)


class _Files(apsw.VFS):
    def __init__(self, disk: Disk) -> None:
        self.disk, self.base = disk, apsw.vfs_names()[0]
        super().__init__("failing", self.base, makedefault=True)

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:
        return _File(self.disk, self.base, name, flags)

    def xDelete(self, name: str, sync: bool) -> None:
        self.disk.of_sqlite("delete", name)
        super().xDelete(name, sync)


@contextmanager
def failing(folder: Path) -> Iterator[Disk]:
    """All that is done under a folder meanwhile goes over a disk that can be told to fail."""
    if _audit not in _hooked:
        sys.addaudithook(_audit)
        _hooked.append(_audit)
    pages.enabled()  # before ours: its layer is put over the one that is there first, and stays for good
    disk, fsync = Disk(folder), os.fsync
    files = _Files(disk)

    def flush(descriptor: int) -> None:
        disk.of_the_system("fsync", os.readlink(f"/proc/self/fd/{descriptor}") if sys.platform == "linux" else disk.folder)
        fsync(descriptor)

    os.fsync = flush
    _watched.append(disk)
    try:
        yield disk
    finally:
        os.fsync = fsync
        _watched.clear()
        files.unregister()


_hooked: list[object] = []
