"""
Open, configure, attach and close connections to the store; inspect its files (sizes, replaced, read-only).
"""

from __future__ import annotations

import ctypes
import os
import time
from collections.abc import Mapping
from pathlib import Path

import apsw

from yiku.errors import ReadOnly
from yiku.store import pages

CACHE_KIB = 65_536
STATEMENTS = 200
WAL_LIMIT_BYTES = 16 << 20  # beyond it a writer asks for a checkpoint; SQLite's own wait for a moment without readers


def open_connection(path: Path, *, durability: str, network: bool, busy_timeout_s: float) -> apsw.Connection:
    """Open a connection with the store's standard configuration."""
    connection = _connect(str(path.parent.resolve() / path.name))
    connection.set_busy_timeout(int(busy_timeout_s * 1000))
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)  # the gate closes what wrote, see SqliteStore.close
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
    settings: dict[str, int | str] = {
        "cache_size": -CACHE_KIB,
        "synchronous": synchronous(durability, network=network),
        "journal_size_limit": WAL_LIMIT_BYTES,
        "secure_delete": "ON",
        "foreign_keys": "ON",
        "temp_store": "MEMORY",
    }
    try:
        _set(connection, settings)
    except apsw.IOError:  # to set up reads the first page; whoever asks for data is told that it is damaged
        _set(pages.without_verification(connection), settings)
        pages.with_verification(connection)
    return connection


def _set(connection: apsw.Connection, settings: Mapping[str, int | str]) -> None:
    for name, value in settings.items():
        connection.pragma(name, value)


def synchronous(durability: str, *, network: bool) -> str:
    """Return the `synchronous` level: with `full` each commit is flushed, with `fast` each checkpoint."""
    return "EXTRA" if network else "FULL" if durability == "full" else "NORMAL"


def cannot_write(connection: apsw.Connection) -> bool:
    """Tell whether the file is read-only here, or the connection could not write its checksums."""
    return connection.readonly("main") or (pages.has_checksums(connection) and not pages.enabled())


def attach_read_only(path: Path, name: str) -> apsw.Connection:
    """Open an empty database in memory with this one attached to it under a name, read-only."""
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_MEMORY | apsw.SQLITE_OPEN_URI | apsw.SQLITE_OPEN_NOFOLLOW
    connection = apsw.Connection("", flags=flags)
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
    connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    _set(connection, {"temp_store": "MEMORY"})
    attach(connection, path, name)
    return connection


def attach(connection: apsw.Connection, path: Path, name: str) -> None:
    """Attach a database under a name, read-only."""
    place, wal = (path.parent.resolve() / path.name).as_uri(), Path(f"{path}-wal")
    try:
        connection.execute("attach ? as ?", (f"{place}?mode=ro", name))
        connection.pragma("schema_version", schema=name)
    except (apsw.CantOpenError, apsw.ReadOnlyError):
        if wal.exists() and wal.stat().st_size:
            raise
        connection.execute("detach ?", (name,))
        connection.execute("attach ? as ?", (f"{place}?immutable=1", name))


def _connect(place: str) -> apsw.Connection:
    """
    Connect, read-only if the file is; symbolic links are not followed.

    SQLite needs the WAL and its shared index even to read. Where it cannot make them, the file alone is
    read if the WAL is empty (`immutable` would pass over what the WAL holds); else ReadOnly is raised.
    """
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_NOFOLLOW
    connection = apsw.Connection(place, flags=flags, statementcachesize=STATEMENTS)
    if not connection.readonly("main"):
        return connection
    try:
        connection.pragma("schema_version")
    except (apsw.CantOpenError, apsw.ReadOnlyError) as error:
        connection.close()
        wal = Path(f"{place}-wal")
        if wal.exists() and wal.stat().st_size:
            raise ReadOnly(f"{place}, whose last writes in {wal.name} can only be read where the folder can be written") from error
        flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_NOFOLLOW | apsw.SQLITE_OPEN_URI
        connection = apsw.Connection(f"{Path(place).as_uri()}?immutable=1", flags=flags, statementcachesize=STATEMENTS)
    return connection


def close(connection: apsw.Connection, deadline: float) -> None:
    """Close a connection once the statement that another thread may be running has ended."""
    while True:
        try:
            return connection.close()
        except apsw.ThreadingViolationError:
            if time.monotonic() > deadline:
                return None  # it goes with its thread
            time.sleep(0.001)


def was_replaced(connection: apsw.Connection) -> bool:
    """Tell whether the path now names another file than the open one."""
    moved = ctypes.c_int(0)
    connection.file_control("main", apsw.SQLITE_FCNTL_HAS_MOVED, ctypes.addressof(moved))
    return bool(moved.value)


def file_of(path: Path) -> tuple[int, int] | None:
    """Return the device and number of the file that a path names now; nothing is opened, which would drop locks."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def wal_bytes(path: Path) -> int:
    """Return the size of the WAL of a database."""
    return file_size(Path(f"{path}-wal"))


def file_size(path: Path) -> int:
    """Return the size of a file in bytes; 0 if it does not exist."""
    try:
        return path.stat().st_size
    except (FileNotFoundError, NotADirectoryError):
        return 0
