"""
An open database: per-thread connections, flushing, closing.

Reads go straight to SQLite. A writer holds the gate. With durability = fast a commit is flushed by a timer, within
the second that is promised. After a fork the child opens connections of its own. Beside the file lie its mark and its reserve.
"""

from __future__ import annotations

import contextlib
import logging
import os
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import apsw

from yiku.errors import Closed, StoreBusy, StoreError, StoreMismatch
from yiku.store import connect, index, pages, schema, write
from yiku.store.connect import wal_bytes, was_replaced
from yiku.store.error_mapping import mapped_errors
from yiku.store.forks import inside
from yiku.store.gate import Gate
from yiku.store.identity_file import IdentityFile
from yiku.store.protocol import Index
from yiku.store.reserve import Reserve

FLUSH_AFTER_S = 0.5  # with durability = fast, from the first write that waits for it; we promise a second
CLOSE_WITHIN_S = 2.0  # for other threads and processes that are busy
WAIT_FOR_READERS_MS = 100  # of that checkpoint: readers that overlap leave no moment without one; new ones are in nobody's way
_log = logging.getLogger(__name__)
_INHERITED: list[threading.local] = []  # connections of a parent process: never used, and never closed by us


class Database:
    """An open database file. Safe to use from several threads and after a fork."""

    def __init__(self, path: Path, *, gate: Path, key: bytes, durability: str, busy_timeout_s: float, network: bool) -> None:
        """See SqliteStore. Nothing is opened until first use."""
        self.path = path
        self.key = key
        self.durability = durability
        self.busy_timeout_s = busy_timeout_s
        self.network = network
        self.read_only = False
        self.wrote = False  # this process, so that closing checkpoints
        self.scopes: dict[str, tuple[int, float]] = {}  # number, and when it was looked up; empty where others may have theirs
        self.derived = path.with_name("vectors")  # the folder of what can be made again
        self.mark = IdentityFile(path.with_name("store.id"))
        self.reserve = Reserve(path.with_name("reserve"))
        self.gate = Gate(gate, busy_timeout_s)
        self._local = threading.local()
        self._connections = weakref.WeakSet[apsw.Connection]()  # a thread that ends takes its own with it
        self._pid = os.getpid()
        self._flushing: threading.Timer | None = None  # with `fast`, while a write waits for its flush
        self._closed = False
        self._file: tuple[int, int] | None = None  # device and number of the file, once it is known to be ours

    # -------------------------------------------------------------- connections

    def guarded(self) -> AbstractContextManager[None]:
        """Map SQLite's errors to ours, and make forks wait."""
        return mapped_errors(str(self.path))

    @contextmanager
    def read(self) -> Iterator[apsw.Connection]:
        """Yield this thread's connection, guarded. Raises StoreError."""
        with mapped_errors(str(self.path)):
            yield self.connection()

    def connection(self) -> apsw.Connection:
        """Return this thread's connection. Raises Closed."""
        if self._closed:
            raise Closed
        if self._pid != os.getpid():  # after a fork SQLite's handles belong to the parent
            _INHERITED.append(self._local)
            self._local, self._connections, self._pid = threading.local(), weakref.WeakSet(), os.getpid()
            self._flushing = None  # the timer stayed with the parent
        connection: apsw.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = self._open()
            self._local.indexed = set[Index]()
            self._connections.add(connection)
        return connection

    def indexed(self) -> set[Index]:
        """Return the names of the search indexes prepared in this thread's connection."""
        found: set[Index] = self._local.indexed
        return found

    def forget_connection(self) -> None:
        """Close this thread's connection; the next call opens a new one."""
        connection: apsw.Connection | None = getattr(self._local, "connection", None)
        if connection is not None:
            self._local.connection = None
            connection.close()

    def _open(self) -> apsw.Connection:
        connection = connect.open_connection(
            self.path, durability=self.durability, network=self.network, busy_timeout_s=self.busy_timeout_s
        )
        if self._file is not None and self._file != connect.file_of(self.path):  # a thread that comes later must not trust its name
            connection.close()
            raise self._moved()
        self.read_only = self.read_only or connect.cannot_write(connection)
        return connection

    def accept(self) -> None:
        """Note which file this is: it was compared with `store.id`, and later connections open no other."""
        self._file = connect.file_of(self.path)
        self.refuse_moved(self.connection())  # the one that was compared

    def refuse_moved(self, connection: apsw.Connection) -> None:
        """Raise StoreMismatch if the path now names another file: SQLite would keep using the old one."""
        if was_replaced(connection):
            raise self._moved()

    def _moved(self) -> StoreMismatch:
        fate = "replaced" if self.path.exists() else "deleted, or its home was moved,"
        return StoreMismatch(f"{self.path} was {fate} while it was open here; close this memory and open it again")

    def shorten_busy_timeout(self) -> None:
        """See Store.shorten_busy_timeout."""
        self.gate.timeout_s = min(self.gate.timeout_s, CLOSE_WITHIN_S)

    def close(self) -> None:
        """Checkpoint what this process wrote and release the files. Running calls end with Closed."""
        if self._closed:
            return
        self._closed = True
        if self._flushing is not None:
            self._flushing.cancel()
        if self._pid == os.getpid():
            try:
                if self.wrote:
                    self.shorten_busy_timeout()
                    with self.gate.held(), inside():
                        connection = getattr(self._local, "connection", None) or self._open()
                        self._connections.add(connection)
                        if not was_replaced(connection) and pages.empty_wal(connection, int(CLOSE_WITHIN_S * 1000)):
                            self.mark.write(*schema.identity(connection), clean_shutdown=True)
            except (apsw.Error, StoreError):
                pass  # a reader or another writer is busy: the next close does it, the WAL stays valid
            deadline = time.monotonic() + CLOSE_WITHIN_S
            with inside():
                for connection in list(self._connections):
                    connect.close(connection, deadline)
        self.gate.close()

    # -------------------------------------------------------------- flushes

    def flush_soon(self) -> None:
        """With durability `fast`, flush within a second even if nothing else is written."""
        if self._flushing is None:
            timer = threading.Timer(FLUSH_AFTER_S, self.flush)
            timer.daemon = True
            with contextlib.suppress(RuntimeError):  # no more threads, or the interpreter ends: closing flushes, too
                timer.start()
                self._flushing = timer

    def flush(self) -> None:
        """Make a flushed commit, and with it all earlier ones. A checkpoint would skip pages while a reader is active."""
        try:
            with self.guarded():
                connection = self.connection()
                with self.gate.held():
                    self._flushing = None
                    connection.pragma("synchronous", "FULL")
                    with write.transaction(connection):
                        version = index.fetch_one(connection, "pragma user_version")[0]
                        connection.execute(f"pragma user_version = {version}")  # as it is: a page to write
                    self.mark.write(*schema.identity(connection))
        except Closed:
            pass
        except StoreBusy:
            self._flushing = None
            self.flush_soon()
        except StoreError as error:  # a full disk, a home that is gone: the next write tries again
            self._flushing = None
            _log.warning("what was written last is not flushed yet: %s", error.detail)

    def keep_wal_small(self) -> None:
        """Restart the WAL by a blocking checkpoint if readers have kept SQLite from doing so."""
        if wal_bytes(self.path) > connect.WAL_LIMIT_BYTES:
            try:
                pages.empty_wal(self.connection(), WAIT_FOR_READERS_MS)
            except apsw.Error as error:  # what was committed stays in the WAL, and the next one tries again
                _log.warning("the log of %s could not be worked in: %s", self.path, error)
