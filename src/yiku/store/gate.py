"""
What guards the database from beside it: the gate, which lets one writer in; the mark, which says how far it came; the reserve.

A kernel lock (flock) on a side file, never on the database: closing any descriptor of the database
would drop SQLite's own locks. The kernel frees the lock when its holder dies, so nothing is left to
clean. Every write, every checkpoint, the creation and the last close happen inside the gate.

The gate's file is never deleted: a second file of the same name would be a second gate.

The mark is the file `store.id`: the store's id and the number of its last change that is surely on the
disk. It is flushed when it is made; later it is written after a commit and not flushed, so it may lag behind the
database, and never runs ahead of it: a database that knows less than its mark is an older copy, and one of another id is another's.
Its last word says whether the WAL was emptied: where it was not and the WAL is gone, another program did it.

A fork waits until no thread of this process is inside SQLite. A child gets SQLite as it is at that moment: a mutex that
another thread holds, or the write that it has under way, is held in the child for ever, and whoever asks there waits for it.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import re
import threading
import time
import weakref
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import apsw

from yiku.errors import Closed, Damaged, ForeignStore, ReadOnly, StorageFull, StoreBusy, StoreError

_LINE = re.compile(r"(?P<body>yiku-store 1 (?P<id>[0-9a-f]{32}) (?P<number>\d{15}) (?P<state>open|shut)) (?P<crc>[0-9a-f]{8})\n")
_LINE_BYTES = 76  # of the mark: shorter than a disk sector, so it is written whole or not
RESERVE_BYTES = 1 << 20  # enough pages for forgetting
FIRST_PAUSE_S = 0.0002
FORK_WAITS_S = 1.0  # a call may itself wait for another process
LONGEST_PAUSE_S = 0.002  # longer, and who has waited longest has the least chance


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
        with outside():
            taken = self._thread.acquire(timeout=self.timeout_s)
        if not taken:
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


@contextmanager
def alone(path: Path, busy: str, timeout_s: float = 0.0) -> Iterator[None]:
    """Hold the lock of some work that one process does at a time. Raises StoreBusy, in these words, while another has it."""
    gate = Gate(path, timeout_s)
    try:
        with ExitStack() as held:
            try:
                held.enter_context(gate.held())
            except StoreBusy as error:
                raise StoreBusy(busy) from error
            yield
    finally:
        gate.close()


class Mark:
    """The file `store.id`: one line of fixed length, written in place."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> tuple[str, int] | None:
        """Store id and last change; None where there is no mark, or none that can be read."""
        found = self._line()
        return found and found[:2]

    def shut(self) -> bool:
        """Whether the last writer left nothing in the WAL."""
        found = self._line()
        return found is None or found[2]

    def write(self, store_id: str, number: int, *, shut: bool = False) -> bool:
        """Say how far the store came; whether that worked. The gate is held."""
        body = f"yiku-store 1 {store_id:>32} {number:015d} {'shut' if shut else 'open'}"
        try:
            descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError:
            return False  # the store is whole without it; `yiku status` says that the mark is missing
        try:
            new = os.fstat(descriptor).st_size < _LINE_BYTES
            whole = os.pwrite(descriptor, f"{body} {_crc(body)}\n".encode(), 0) == _LINE_BYTES
            if new:
                self._flush(descriptor)
            return whole
        except OSError:
            return False
        finally:
            os.close(descriptor)

    def _flush(self, descriptor: int) -> None:
        """A mark that was made now survives a power cut, its name too; later ones may lag."""
        os.fsync(descriptor)
        folder = os.open(self.path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def _line(self) -> tuple[str, int, bool] | None:
        try:
            descriptor = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:
            return None
        try:
            line = os.read(descriptor, _LINE_BYTES).decode("ascii", "replace")
        except OSError:
            return None
        finally:
            os.close(descriptor)
        found = _LINE.fullmatch(line)
        if found is None or found["crc"] != _crc(found["body"]):
            return None
        return found["id"], int(found["number"]), found["state"] == "shut"


class Reserve:
    """The file `reserve`: space held back for the day when the disk is full, so that forgetting still works."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def size(self) -> int:
        """Bytes held back."""
        try:
            return self.path.stat().st_size
        except OSError:
            return 0

    def keep(self) -> None:
        """Hold the space back, unless today is that day; `yiku status` says when there is none."""
        if self.size():
            return
        try:
            descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError:
            return
        try:
            os.posix_fallocate(descriptor, 0, RESERVE_BYTES)
        except (OSError, AttributeError):  # the disk is full; or macOS, which has no such call
            with suppress(OSError):
                os.ftruncate(descriptor, 0)
        finally:
            os.close(descriptor)

    def release(self) -> bool:
        """Give the space up; whether there was some."""
        held = self.size()
        with suppress(OSError):
            os.truncate(self.path, 0)
        return held > 0


def has_moved(connection: apsw.Connection) -> bool:
    """Whether another file has taken the name of the one that is open here."""
    moved = ctypes.c_int(0)
    connection.file_control("main", apsw.SQLITE_FCNTL_HAS_MOVED, ctypes.addressof(moved))
    return bool(moved.value)


def wal_bytes(path: Path) -> int:
    """How much lies in the WAL of a database."""
    return bytes_of(Path(f"{path}-wal"))


def bytes_of(path: Path) -> int:
    """The size of a file; 0 where there is none."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _crc(body: str) -> str:
    return f"{zlib.crc32(body.encode()):08x}"


def refusal(error: OSError, what: str) -> StoreError:
    """What the system refused, as our error."""
    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        return ReadOnly(what)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return StorageFull(what)
    return StoreError(f"{what}: {error.strerror or error}")


# ------------------------------------------------------------------ forks


class _Calls:
    """How deep each thread is inside."""

    def __init__(self, depths: dict[int, int]) -> None:
        self.depths = depths
        self.forking: list[int] = []  # the threads that are about to
        self.changed = threading.Condition(threading.Lock())

    def move(self, to: int) -> int:
        """Set this thread's depth, behind a fork where it comes in; what it was."""
        me = threading.get_ident()
        with self.changed:
            before = self.depths.get(me, 0)
            if to and not before:
                self.changed.wait_for(lambda: not self.forking or me in self.forking)
            if to:
                self.depths[me] = to
            else:
                self.depths.pop(me, None)
                if self.forking:
                    self.changed.notify_all()
        return before

    def stop(self) -> None:
        me = threading.get_ident()
        with self.changed:
            self.forking.append(me)
            self.changed.wait_for(lambda: self.depths.keys() <= {*self.forking}, FORK_WAITS_S)

    def go_on(self) -> None:
        with self.changed:
            self.forking.remove(threading.get_ident())
            self.changed.notify_all()


_CALLS = _Calls({})
_GATES = weakref.WeakSet[Gate]()


@contextmanager
def inside() -> Iterator[None]:
    """While this thread is in SQLite; again in its own call, too."""
    before = _CALLS.depths.get(threading.get_ident(), 0)
    _CALLS.move(before + 1)
    try:
        yield
    finally:
        _CALLS.move(before)


@contextmanager
def outside() -> Iterator[None]:
    """While it waits for something else, in the middle of such a call."""
    before = _CALLS.move(0)
    try:
        yield
    finally:
        _CALLS.move(before)


def _before_a_fork() -> None:
    _CALLS.stop()


def _in_the_parent() -> None:
    _CALLS.go_on()


def _in_a_child() -> None:
    """A forked child lets go of the parent's locks at once: its copy of a descriptor would hold them after the parent's death."""
    global _CALLS  # noqa: PLW0603 - the lock of the old one may be held by a thread that is no more
    me = threading.get_ident()
    _CALLS = _Calls({me: depth} if (depth := _CALLS.depths.get(me)) else {})
    for gate in list(_GATES):
        gate.start_over()


os.register_at_fork(before=_before_a_fork, after_in_parent=_in_the_parent, after_in_child=_in_a_child)


# ------------------------------------------------------------------ errors


def means_full(error: apsw.Error) -> bool:
    """Whether the disk is full: some of SQLite's errors say so in words only."""
    return isinstance(error, apsw.FullError) or "full" in str(error).lower()


@contextmanager
def translated(what: str) -> Iterator[None]:
    """SQLite's errors as ours; and a fork waits for what is done within."""
    try:
        with inside():
            yield
    except (apsw.ConnectionClosedError, apsw.CursorClosedError) as error:
        raise Closed from error
    except apsw.BusyError as error:
        raise StoreBusy(what) from error
    except apsw.FullError as error:
        raise StorageFull(what) from error
    except (apsw.ReadOnlyError, apsw.PermissionsError) as error:
        raise ReadOnly(what) from error
    except (apsw.CorruptError, apsw.NotADBError) as error:
        raise (ForeignStore if isinstance(error, apsw.NotADBError) else Damaged)(what) from error
    except apsw.IOError as error:
        if getattr(error, "extendedresult", 0) == apsw.SQLITE_IOERR_DATA:
            raise Damaged(f"{what}: a page is not what was written") from error
        raise (StorageFull if means_full(error) else StoreError)(f"{what}: {error}") from error
    except UnicodeDecodeError as error:
        raise Damaged(f"{what}: a text is not UTF-8") from error
    except apsw.Error as error:
        raise (Damaged if "unsupported file format" in str(error) else StoreError)(f"{what}: {error}") from error
    except OSError as error:
        raise refusal(error, what) from error
