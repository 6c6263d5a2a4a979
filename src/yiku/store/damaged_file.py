"""
Open a database file that may be damaged or foreign, and read what it says of itself: identity, erasures, blobs.

Page checksums are ignored where they stand in the way. Nothing is written, and what cannot be read counts as not there.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import apsw

from yiku.errors import Damaged, ReadOnly
from yiku.store import connect, copy, erase, index, pages, records, schema

BUSY_S = 10.0
UNREADABLE = (apsw.Error, UnicodeDecodeError, IndexError)  # the last: a row that is always there is not


def describe_error(error: Exception) -> str:
    """Describe an SQLite error."""
    if getattr(error, "extendedresult", 0) == apsw.SQLITE_IOERR_DATA:
        return "a page is not what was written"
    return error.detail if isinstance(error, (Damaged, ReadOnly)) else str(error)


def fetch_all(connection: apsw.Connection, sql: str, *values: object) -> list[tuple[Any, ...]]:
    """Return all rows of a query."""
    found: list[tuple[Any, ...]] = connection.execute(sql, values).fetchall()
    return found


def tables(connection: apsw.Connection) -> set[str]:
    """Return the names of the tables; empty if the schema cannot be read."""
    try:
        return {row[0] for row in connection.execute("select name from sqlite_schema where type = 'table'")}
    except UNREADABLE:
        return set()


def open_damaged(path: Path) -> apsw.Connection:
    """Open a file that may be damaged; if its first page is, without verifying checksums."""
    try:
        return connect.open_connection(path, durability="full", network=False, busy_timeout_s=BUSY_S)
    except UNREADABLE:
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_NOFOLLOW)
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    return read_schema_first(connection)


def read_schema_first(connection: apsw.Connection) -> apsw.Connection:
    """Read the schema without verifying checksums, and verify everything after it."""
    tables(pages.without_verification(connection))
    connection.pragma("checksum_verification", "on")  # not pages.verifying, which would read the schema again
    return connection


@contextmanager
def _open_unverified(path: Path, *, copied: bool = False) -> Iterator[apsw.Connection | None]:
    """Open a connection that ignores checksums; None if there is nothing to read."""
    if not path.is_file() or not path.stat().st_size:
        yield None
        return
    try:
        connection = copy.open_copy(path) if copied else open_damaged(path)
    except (*UNREADABLE, OSError, ReadOnly):
        yield None
        return
    try:
        yield pages.without_verification(connection)
    finally:
        connection.close()


def read_identity(path: Path, *, copied: bool = False) -> tuple[str, int] | None:
    """Return the store id and last change of a file; None if it does not say."""
    with _open_unverified(path, copied=copied) as connection:
        if connection is not None:
            with suppress(*UNREADABLE, IndexError):
                return schema.identity(connection)
    return None


def read_erasures(path: Path) -> tuple[str, set[str]] | None:
    """Return the store id and the ids of the erasures in a file; None if it does not say."""
    with _open_unverified(path) as connection:
        if connection is not None:
            with suppress(*UNREADABLE):
                of, _ = schema.identity(connection)
                rows = fetch_all(connection, "select scope_id, at, rows from erasures") if "erasures" in tables(connection) else []
                return of, {erase.erasure_id(*entry) for entry in rows}
    return None


def is_foreign(path: Path) -> bool:
    """Tell whether the file belongs to another program."""
    with _open_unverified(path) as connection:
        try:
            return connection is not None and index.fetch_one(connection, "pragma application_id")[0] not in (
                0,
                schema.APPLICATION_ID,
            )
        except UNREADABLE:
            return False


def has_tables(path: Path) -> bool:
    """Tell whether any table of a store can be read in the file."""
    with _open_unverified(path) as connection:
        return connection is not None and "memories" in tables(connection)


def named_blobs(path: Path) -> set[str]:
    """Return the blobs that turns and attachments refer to."""
    sql = """
        select blob from conversation_turns where blob is not null union
        select json_extract(j.value, '$.blob') from conversation_turns t, json_each(t.tool_results) j where t.tool_results like '%"blob"%'"""
    with _open_unverified(path) as connection:
        if connection is not None:
            with suppress(*UNREADABLE):
                attached = records.blobs(connection) if "attachments" in tables(connection) else set()
                return attached | {name for (name,) in connection.execute(sql) if name is not None}
    return set()
