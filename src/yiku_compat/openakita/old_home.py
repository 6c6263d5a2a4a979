"""
Read OpenAkita's data folder, read-only: database, memories.json, JSON Lines of conversations.

Rows come as mappings, by table, each with the name of where it stood; what cannot be read is told.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apsw

from yiku.errors import InvalidInput, NotFound
from yiku_compat.migration import copied, fingerprint
from yiku_compat.openakita.storage import DATABASES

TABLES = ("memories", "episodes", "scratchpad", "conversation_turns", "extraction_queue", "attachments")
JSON_FILE, HISTORY = "memories.json", "conversation_history"
_ORDER = {"conversation_turns": "session_id, turn_index, rowid"}

Row = Mapping[str, Any]


@dataclass
class OldHome:
    """What an old home holds: rows by table, turns of JSON Lines by session, and what could not be read."""

    files: tuple[Path, ...]
    tables: dict[str, list[Row]] = field(default_factory=dict)
    history: dict[str, list[tuple[int, Row]]] = field(default_factory=dict)
    unreadable: list[tuple[str, str]] = field(default_factory=list)

    def rows(self, table: str) -> list[Row]:
        """Return the rows of a table."""
        return self.tables.get(table, [])

    @property
    def sha256(self) -> str:
        """Of all files, in their order."""
        each = [fingerprint(path) for path in self.files]
        return each[0] if len(each) == 1 else hashlib.sha256("".join(each).encode()).hexdigest()


def read(old: Path) -> OldHome:
    """Read a folder such as data/memory, a database, or memories.json. Raises NotFound, InvalidInput."""
    files = tuple(_files(old))
    if not files:
        raise NotFound(f"{old} holds no database, no {JSON_FILE} and no {HISTORY}", "Name the folder data/memory of the old home.")
    home = OldHome(files)
    for path in files:
        if path.suffix in DATABASES:
            _read_database(home, path)
        elif path.suffix == ".jsonl":
            _read_history(home, path)
        else:
            _read_json(home, path)
    return home


def _files(old: Path) -> Iterator[Path]:
    if old.is_file():
        yield old
        return
    yield from sorted(path for path in old.glob("*") if path.suffix in DATABASES and path.is_file() and path.name != "yiku.db")
    if (old / JSON_FILE).is_file():
        yield old / JSON_FILE
    yield from sorted((old / HISTORY).glob("*.jsonl"))


def _read_database(home: OldHome, path: Path) -> None:
    with _opened(path) as connection:
        there = {name for (name,) in connection.execute("select name from sqlite_master where type in ('table', 'view')")}
        for table in TABLES:
            if table not in there:
                continue
            names = ["_row", *(name for _, name, *_ in connection.execute(f"pragma table_info({table})"))]
            rows = connection.execute(f"select rowid, * from {table} order by {_ORDER.get(table, 'rowid')}")
            home.tables.setdefault(table, []).extend(dict(zip(names, row, strict=True)) for row in rows)


@contextmanager
def _opened(path: Path) -> Iterator[apsw.Connection]:
    """Open a private copy of a database. Raises InvalidInput where it is none."""
    with copied(path) as copy:
        connection = apsw.Connection(str(copy))
        try:
            connection.execute("select count(*) from sqlite_master").fetchall()
            yield connection
        except apsw.Error as error:
            raise InvalidInput(f"{path.name} cannot be read: {error}") from error
        finally:
            connection.close()


def _read_json(home: OldHome, path: Path) -> None:
    """Read memories.json: a list, or an object with one, or records by their ids."""
    try:
        found = json.loads(path.read_text(encoding="utf-8-sig"))
    except ValueError as error:
        raise InvalidInput(f"{path.name} is no JSON: {error}") from error
    if isinstance(found, Mapping):
        found = found["memories"] if isinstance(found.get("memories"), (list, Mapping)) else found
    if isinstance(found, Mapping):
        found = [{"id": id, **entry} if isinstance(entry, Mapping) else entry for id, entry in found.items()]
    known = {str(row.get("id")) for row in home.rows("memories")}
    for number, entry in enumerate(found if isinstance(found, list) else []):
        if not isinstance(entry, Mapping):
            home.unreadable.append((f"{path.name}:{number}", "is no object"))
        elif str(entry.get("id")) not in known:  # what was brought into the database is newer there
            home.tables.setdefault("memories", []).append(entry)


def _read_history(home: OldHome, path: Path) -> None:
    """Read a session's JSON Lines; the last line of a process that was killed may be half."""
    with open(path, encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                entry = json.loads(line)
                if not isinstance(entry, Mapping):
                    raise ValueError("is no object")
                home.history.setdefault(path.stem, []).append((number, entry))
            except ValueError as error:
                home.unreadable.append((f"{path.name}:{number}", str(error)))
