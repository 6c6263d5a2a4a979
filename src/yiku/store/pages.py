"""
Page checksums of the database: each page ends in 8 bytes of checksum, verified on every read.

SQLite itself cannot tell a flipped bit from data. Its extension `cksumvfs`, which the apsw wheels bring,
can: a page that is not what was written is an error instead of an answer, be it text, index or freelist.
It works on files that keep eight bytes of each page free, so a new store does, and the step to schema 2
rewrites an older one. Where the extension is missing, such a store is only read: a page written without
its checksum would look damaged to everybody else.
"""

from __future__ import annotations

import ctypes
import threading
from functools import cache

import apsw

RESERVED_BYTES = 8  # of each page, as the extension wants them
_LOADING = threading.Lock()


def enabled() -> bool:
    """Tell whether this process verifies and writes checksums; the first call loads the extension."""
    with _LOADING:
        return _load()


@cache
def _load() -> bool:
    from apsw import sqlite_extra

    connection = apsw.Connection(":memory:")
    try:
        sqlite_extra.load(connection, "cksumvfs")  # becomes the default for every file opened later in this process
    except (sqlite_extra.NotAvailable, LookupError, apsw.Error):
        return False
    finally:
        connection.close()
    return True


def reserve_space(connection: apsw.Connection) -> None:
    """Reserve space for a checksum in each page of an empty or vacuumed file."""
    _reserved(connection, RESERVED_BYTES)


def has_checksums(connection: apsw.Connection) -> bool:
    """Tell whether the pages of this file carry checksums."""
    return _reserved(connection, -1) == RESERVED_BYTES


def knows_checksums(connection: apsw.Connection) -> bool:
    """Tell whether a connection writes checksums; one opened before the file had any does not."""
    return not has_checksums(connection) or connection.pragma("checksum_verification", "on") == "1"


def _reserved(connection: apsw.Connection, wanted: int) -> int:
    value = ctypes.c_int(wanted)
    connection.file_control("main", apsw.SQLITE_FCNTL_RESERVE_BYTES, ctypes.addressof(value))
    return value.value


def vacuum(connection: apsw.Connection) -> None:
    """Rewrite the file with checksums, with a cache large enough that no page is spilled before the first."""
    connection.pragma("cache_spill", 0)
    try:
        connection.execute("vacuum")
    finally:
        connection.pragma("cache_spill", 1)


def empty_wal(connection: apsw.Connection, wait_ms: int) -> bool:
    """Empty the WAL, waiting for readers; return whether it is empty. The gate must be held."""
    patience = connection.pragma("busy_timeout")
    connection.set_busy_timeout(wait_ms)
    try:
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    except apsw.BusyError:
        return False  # the next round
    else:
        return True
    finally:
        connection.set_busy_timeout(patience)


def without_verification(connection: apsw.Connection) -> apsw.Connection:
    """Return the connection with verification off, to read a damaged or foreign file."""
    connection.pragma("checksum_verification", "off")
    return connection


def with_verification(connection: apsw.Connection) -> apsw.Connection:
    """Return the connection with verification on again, with schema and cache dropped."""
    connection.pragma("shrink_memory")
    connection.pragma("checksum_verification", "on")
    connection.pragma("writable_schema", "reset")
    return connection
