"""
Shared by all exports: create a new folder outside the home, and a database whose tables are copied from SQL views.

What is written is a copy that its owner keeps: an erasure does not reach it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw

from yiku import Memory
from yiku.errors import InvalidInput

PAGE = 2_000  # rows of one look
SECONDS = 60.0  # for one
_CONSTRAINT = re.compile(r"(?:primary key|unique|foreign key|check) ?\(", re.IGNORECASE)


def new_folder(memory: Memory, folder: str | os.PathLike[str]) -> Path:
    """Make a new folder; return it. Raises InvalidInput if it is there already or in the home."""
    place = Path(folder)
    home = Path(memory.settings.home).resolve()
    if home in (place.resolve(), *place.resolve().parents):
        raise InvalidInput(f"{place} is in the home; write the export elsewhere")
    try:
        place.mkdir(mode=0o700, parents=True)
    except FileExistsError as error:
        raise InvalidInput(f"{place} is there already; name a new folder") from error
    return place


@contextmanager
def new_database(path: Path) -> Iterator[apsw.Connection]:
    """Yield a new database that others cannot read; what is written to it is one transaction."""
    connection = apsw.Connection(str(path))
    os.chmod(path, 0o600)
    try:
        with connection:
            yield connection
    finally:
        connection.close()


def copy_tables(
    memory: Memory, connection: apsw.Connection, views: Mapping[str, str], columns: Mapping[str, str], indexes: Mapping[str, str]
) -> dict[str, int]:
    """
    Make tables and indexes, and fill each table from the view of its name; return how many rows each has.

    columns: of each table, as in a create statement; indexes: of each name, the table and its columns
    """
    for table, written in columns.items():
        connection.execute(f"create table {table} ({written})")
    for name, target in indexes.items():
        connection.execute(f"create index {name} on {target}")
    return {table: _copy(memory, connection, views, table, column_names(written)) for table, written in columns.items()}


def column_names(written: str) -> list[str]:
    """Return the names of the columns of a create statement."""
    parts = re.split(r",\s*(?=[a-z_]+ (?:text|integer|real|blob|boolean|key)|unique)", written)
    return [part.split()[0] for part in parts if not _CONSTRAINT.match(part)]


def _copy(memory: Memory, connection: apsw.Connection, views: Mapping[str, str], table: str, names: list[str]) -> int:
    sql = f"insert or ignore into {table} ({', '.join(names)}) values ({', '.join('?' * len(names))})"
    count = 0
    for row in _rows(memory, views, table, names):
        connection.execute(sql, row)
        count += connection.changes()
    return count


def _rows(memory: Memory, views: Mapping[str, str], table: str, names: list[str]) -> Iterator[tuple[Any, ...]]:
    at = 0
    while True:
        page = memory.admin.sql(
            f"select {', '.join(names)} from {table} order by 1, 2 limit ? offset ?",
            (PAGE, at),
            views=views,
            limit=PAGE,
            timeout_s=SECONDS,
        )
        yield from page.rows
        at += len(page.rows)
        if len(page.rows) < PAGE:
            return
