"""
Replace the store's content with a backup, without reusing row numbers.

Where the store can be opened, SQLite copies the pages over its own in one transaction: other processes see it
as one large change, and a kill leaves the state before or the state after. Where it is damaged or gone, the file
is moved aside, and the prepared one is renamed to its name.

No number is given twice: other processes know rows, scopes and changes by their numbers. So the restored store
goes on behind every number that was ever given, and its journal says so in a row of its own.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw

from yiku.errors import StoreBusy
from yiku.store import copy, erase, index, pages, write
from yiku.types import Cause

UNKNOWN = 1_000_000  # more than was given since any backup, where nobody can read how many it were
# What was erased since the backup stays erased, what was allowed again allowed; columns that every schema has had.
LATER_TABLES = {"tombstones": "seal, at, tx", "erasures": "tx, scope_id, at, rows, receipt"}


@dataclass(frozen=True, slots=True)
class Continuation:
    """State of the store before a restore that must survive it: last row numbers and erasures."""

    numbers: Mapping[str, int]
    erased: Mapping[str, Sequence[tuple[Any, ...]]]
    last_change: int


def read_continuation(connection: apsw.Connection) -> Continuation:
    """Read it from a store that is sound."""
    erased = {table: connection.execute(f"select {columns} from {table}").fetchall() for table, columns in LATER_TABLES.items()}
    numbers: dict[str, Any] = {str(name): last for name, last in connection.execute("select name, seq from sqlite_sequence")}
    return Continuation(numbers, erased, numbers.get("changes", 0))


def guess_continuation(path: Path, prepared: apsw.Connection, mark: tuple[str, int] | None) -> Continuation:
    """Estimate it for a damaged or missing store: from what is readable, else far beyond what backup and mark know."""
    if path.exists():
        with suppress(apsw.Error, OSError), closing(pages.without_verification(copy.open_copy(path))) as connection:
            found = read_continuation(connection)
            return Continuation(found.numbers, found.erased, max(found.last_change, mark[1] if mark else 0))
    known = read_continuation(prepared)
    last = max(known.last_change, mark[1] if mark else 0) + UNKNOWN
    return Continuation({table: number + UNKNOWN for table, number in known.numbers.items()}, {}, last)


def resume_numbering(connection: apsw.Connection, before: Continuation, scope: int, cause: Cause, key: bytes) -> int:
    """Continue the numbering of the previous store in the prepared content; return the journal row's number."""
    with write.transaction(connection):
        for table, number in before.numbers.items():
            sql = "update sqlite_sequence set seq = max(seq, ?2) where name = ?1"
            connection.execute(sql, (table, number))
            sql = "insert into sqlite_sequence (name, seq) select ?1, ?2 where not exists (select 1 from sqlite_sequence where name = ?1)"
            connection.execute(sql, (table, number))
        for table, found in before.erased.items():
            connection.execute(f"delete from {table}")
            sql = f"insert into {table} ({LATER_TABLES[table]}) values ({index.placeholders(LATER_TABLES[table].split(', '))})"
            connection.executemany(sql, found)
        erase.name_erasures(connection)
        journal = write.Journal(connection, scope, cause, key)
        journal.resume_numbering(before.last_change)
        write.register_key(connection, key, cause.at)
        return journal.transaction


def replace_content(prepared: apsw.Connection, live: apsw.Connection) -> None:
    """Replace the pages of the live database, in one transaction."""
    with live.backup("main", prepared, "main") as pages_:
        if not pages_.step(-1):
            raise StoreBusy("the backup was not put back")


def install(prepared: Path, path: Path, aside: Path) -> None:
    """
    Move a file to the store's path, moving the file there aside with its WAL.

    The WAL goes first: it must never lie beside a file to which it does not belong.
    """
    aside.mkdir(mode=0o700, parents=True)
    for name in (f"{path.name}-wal", f"{path.name}-shm"):
        with suppress(FileNotFoundError):
            path.with_name(name).rename(aside / name)
    with suppress(FileNotFoundError):
        os.link(path, aside / path.name, follow_symlinks=False)
    copy.fsync(aside)
    copy.fsync(aside.parent)
    prepared.rename(path)
    copy.fsync(path.parent)
