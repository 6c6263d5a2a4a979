"""
Verified online copy of the database: one snapshot, complete under its name or absent; open and verify copies.

SQLite's backup reads one snapshot in one step, so writers go on meanwhile; the copy has no WAL, and its free pages
hold nothing (`secure_delete`). It gets its name after it was read back: `copy_over` looks at its pages, `copy_verified` at every
row too, and counts what the store itself has up to there.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, suppress
from pathlib import Path

import apsw

from yiku.errors import Damaged, Stale
from yiku.store import index, pages, records, row_codec, write
from yiku.types import Copied

NUMBERED = {"conversation_turns": "n", "memories": "n", "changes": "number"}  # what a copy is counted by


def copy_over(connection: apsw.Connection, path: Path) -> Path:
    """Copy the store to `path`, replacing any file there. Raises Damaged if the copy is not sound."""
    with _temporary_copy(connection, path) as temporary:
        if trouble := page_errors(temporary):
            raise Damaged(f"the copy of {connection.filename}: {trouble[0]}")
    return path


def copy_verified(connection: apsw.Connection, path: Path, exclusive: AbstractContextManager[None]) -> Copied:
    """
    Copy the store to `path` and verify that every row is there and unchanged.

    Raises Damaged, and Stale when something was erased meanwhile, which must not outlive that in a copy. So the
    last look and the naming are done `alone`: an erasure comes before them, or finds the copy under its name.
    """
    erasure = index.fetch_one(connection, write.LAST_ERASURE)
    with ExitStack() as until_named, _temporary_copy(connection, path) as temporary:
        copied = read_all(temporary)
        fsync(temporary)
        until_named.enter_context(exclusive)
        if any(_count(connection, table, last) != count for table, (last, count) in copied.rows.items()):
            raise Stale(str(path))
        if index.fetch_one(connection, write.LAST_ERASURE) != erasure:  # of a sentence: no row is missing
            raise Stale(str(path))
    return copied


@contextmanager
def _temporary_copy(connection: apsw.Connection, path: Path) -> Iterator[Path]:
    """Yield a temporary copy that is renamed to `path` on success and deleted otherwise."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}")
    try:
        os.close(os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600))
        _copy(connection, temporary)
        yield temporary
        fsync(temporary)
        temporary.rename(path)
        fsync(path.parent)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


def _copy(connection: apsw.Connection, path: Path) -> None:
    """
    Copy the pages of one snapshot into an empty file.

    Not by `vacuum into`: of a store that is larger than the page cache it writes pages without their checksums. The file has a
    first page before it is opened for the copy: a connection writes checksums if it found room for them then. So pages may leave
    its cache as they come, and the memory that this takes is the same for any store.
    """
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_NOFOLLOW
    if pages.has_checksums(connection):
        with closing(apsw.Connection(str(path), flags=flags)) as blank:
            blank.pragma("page_size", connection.pragma("page_size"))
            pages.reserve_space(blank)
            blank.pragma("user_version", 1)  # anything that writes the page
    with closing(apsw.Connection(str(path), flags=flags)) as target:
        target.pragma("synchronous", "OFF")  # it is flushed when it is whole
        with target.backup("main", connection, "main") as under_way:
            under_way.step(-1)
        target.pragma("journal_mode", "delete")


def read_all(path: Path) -> Copied:
    """Read a copy page by page and row by row. Raises Damaged at the first that is not what was written."""
    if trouble := page_errors(path):
        raise Damaged(f"{path}: {trouble[0]}")
    with closing(open_copy(path)) as connection:
        digested = index.fetch_one(connection, "pragma user_version")[0] > 1  # schema 1 had no digests
        blobs = set[str]()
        for table, columns in (("conversation_turns", row_codec.TURN_DIGESTED), ("memories", row_codec.MEMORY_DIGESTED)):
            for row in connection.execute(f"select {columns}{', digest' if digested else ''} from {table}"):
                if digested and row_codec.digest(row[:-1]) != row[-1]:
                    raise Damaged(f"{path}: row {row[0]} of {table} is not what was written")
                if table == "conversation_turns":
                    blobs.update(row_codec.blobs(row))
        if "attachments" in {name for (name,) in connection.execute("select name from sqlite_schema")}:
            blobs |= records.blobs(connection)
            if (broken := next((id for _, id, sound in records.digests(connection) if not sound), None)) is not None:
                raise Damaged(f"{path}: record {broken} is not what was written")
        last = {
            table: index.fetch_one(connection, f"select coalesce(max({key}), 0) from {table}")[0] for table, key in NUMBERED.items()
        }
        return Copied(
            store_id=str(index.fetch_one(connection, "select value from meta where key = 'store_id'")[0]),
            rows={table: (last[table], _count(connection, table, last[table])) for table in NUMBERED},
            blobs=frozenset(blobs),
        )


def _count(connection: apsw.Connection, table: str, last: int) -> int:
    """Count the rows up to a number; later ones were written after the copy."""
    count: int = index.fetch_one(connection, f"select count(*) from {table} where {NUMBERED[table]} <= ?", last)[0]
    return count


def rows_since(connection: apsw.Connection, last: Mapping[str, int]) -> dict[str, int]:
    """Count the rows of each table after a number."""
    return {
        table: index.fetch_one(connection, f"select count(*) from {table} where {NUMBERED[table]} > ?", number)[0]
        for table, number in last.items()
    }


def open_copy(path: Path) -> apsw.Connection:
    """Open a copy read-only, without creating files beside it."""
    pages.enabled()
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_NOFOLLOW | apsw.SQLITE_OPEN_URI
    return apsw.Connection(f"{path.resolve().as_uri()}?immutable=1", flags=flags)


def page_errors(path: Path) -> list[str]:
    """Return the page errors of a copy; empty if it is sound."""
    try:
        connection = open_copy(path)
    except apsw.Error as error:
        return [str(error)]
    try:
        found = [row[0] for row in connection.execute("pragma quick_check(10)")]
        return [] if found == ["ok"] else found
    except apsw.Error as error:
        return [str(error)]
    finally:
        connection.close()


def fsync(path: Path) -> None:
    """Flush a file, or the names in a folder, to the disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
