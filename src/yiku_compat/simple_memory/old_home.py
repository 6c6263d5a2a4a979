"""
Read SimpleMemory's database from a private copy, tolerating malformed rows; list unusable ones with reasons.

    memory_records   a row for each memory; later versions have more columns, earlier ones fewer
    memory_tags, memory_tag_rel   its tags; relations may lead nowhere, and the same one may be there twice

Texts are read as bytes: a column of any type may hold anything. What cannot be a memory is listed with the reason.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import apsw

from yiku.errors import InvalidInput, NotFound
from yiku_compat.migration import COMPANIONS, copied, fingerprint
from yiku_compat.simple_memory.memories import KINDS, PASSIVE_STRENGTH, MemoryType, memory_type
from yiku_compat.simple_memory.scopes import PUBLIC

SUFFIXES = (".db", ".sqlite", ".sqlite3")
OWN = "yiku.db"
TRUE = frozenset(("1", "true", "yes", "是"))
TAG_CHARS, TAGS_AT_MOST = 256, 256
STRONGEST = 1_000
NOTED_CHARS = 1_000  # of a value that has no field here
TAKEN = frozenset("id memory_type judgment reasoning strength is_active memory_scope created_at updated_at _row".split())
MILLISECONDS = 1e11  # above are no seconds


@dataclass(frozen=True, slots=True)
class OldRecord:
    """A row: the id is unique in the old home; `noted` is what Yiku has no field for."""

    id: str
    scope: str
    type: MemoryType
    judgment: str
    reasoning: str
    tags: tuple[str, ...]
    strength: int
    is_active: bool
    created_at: datetime
    updated_at: datetime
    noted: Mapping[str, Any]


@dataclass(slots=True)
class OldHome:
    """What was read: records in the order of their times, what could not be used with the reason, and a hash of the files."""

    records: list[OldRecord] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    sha256: str = ""


def find(old: Path) -> Path:
    """Return the database: a file, or the one of a folder that has the table. Raises NotFound, InvalidInput."""
    if not old.is_dir():
        fingerprint(old)
        return old
    found = [
        path for path in sorted(old.glob("*")) if path.suffix in SUFFIXES and path.name != OWN and path.is_file() and _fits(path)
    ]
    if not found:
        raise NotFound(f"{old} holds no database with a table memory_records", "Name the database of the old home.")
    if len(found) > 1:
        raise InvalidInput(f"{old} holds {', '.join(path.name for path in found)}: name one of them")
    return found[0]


def digest(database: Path) -> str:
    """Return one fingerprint of a database and its log."""
    whole = hashlib.sha256(fingerprint(database).encode())
    for end in COMPANIONS:
        if Path(f"{database}{end}").exists():
            whole.update(f"{end}{fingerprint(Path(f'{database}{end}'))}".encode())
    return whole.hexdigest()


def read(database: Path) -> OldHome:
    """Read an old home. Raises NotFound, InvalidInput."""
    home = OldHome(sha256=digest(database))
    last_written = datetime.fromtimestamp(database.stat().st_mtime, UTC)
    with _opened(database) as connection:
        tags = _tags(connection)
        seen: dict[str, int] = {}
        for row in _rows(connection, "memory_records"):
            _take(home, row, tags, last_written, seen)
    home.records.sort(key=lambda record: (record.created_at, record.id))
    return home


def _fits(path: Path) -> bool:
    try:
        with _opened(path):
            return True
    except InvalidInput:
        return False


@contextmanager
def _opened(database: Path) -> Iterator[apsw.Connection]:
    """Open a private copy of a database that has the table. Raises InvalidInput."""
    with copied(database) as copy:
        connection = apsw.Connection(str(copy))
        try:
            if not connection.execute("select 1 from sqlite_master where name = 'memory_records'").fetchall():
                raise InvalidInput(f"{database.name} has no table memory_records")
            yield connection
        except apsw.Error as error:
            raise InvalidInput(f"{database.name} cannot be read: {error}") from error
        finally:
            connection.close()


def _rows(connection: apsw.Connection, table: str) -> Iterator[dict[str, Any]]:
    """Yield rows by their columns; a text comes as bytes of any encoding and becomes one that can be stored."""
    names = [name for _, name, *_ in connection.execute(f"pragma table_info({table})")]
    columns = ", ".join(f"iif(typeof({name}) = 'text', cast({name} as blob), {name})" for name in map(_quoted, names))
    for number, row in enumerate(connection.execute(f"select {columns} from {table}") if names else (), 1):
        yield {"_row": number, **dict(zip(names, map(_readable, row), strict=True))}


def _tags(connection: apsw.Connection) -> dict[str, list[str]]:
    """Return the names of the tags of each id."""
    names = {row.get("id"): _line(row.get("name")) for row in _rows(connection, "memory_tags")}
    found: dict[str, list[str]] = {}
    for row in _rows(connection, "memory_tag_rel"):
        if name := names.get(row.get("tag_id")):
            found.setdefault(str(row.get("memory_id")), []).append(name)
    return found


def _take(
    home: OldHome, row: Mapping[str, Any], tags: Mapping[str, list[str]], last_written: datetime, seen: dict[str, int]
) -> None:
    """Take a row, under an id of its own: of two with one id the second has its number behind it."""
    id = _line(row.get("id")) or f"row {row['_row']}"
    seen[id] = seen.get(id, 0) + 1
    id = id if seen[id] == 1 else f"{id}#{seen[id]}"
    judgment, scope = str(row.get("judgment") or "").strip(), row.get("memory_scope")
    if not judgment:
        home.skipped.append((id, "has no judgment"))
        return
    created = _time(row.get("created_at")) or _time(row.get("updated_at")) or last_written
    kind, strength, noted = _type(row), _number(row.get("strength")), dict[str, Any]()
    if kind is None:
        noted["memory_type"] = row.get("memory_type")
    if strength is None or strength != min(max(int(strength), 0), STRONGEST):
        noted["strength"] = row.get("strength")
    own = [name[:TAG_CHARS] for name in dict.fromkeys(tags.get(str(row.get("id")), ()))]
    if len(own) > TAGS_AT_MOST:
        noted["tags"] = len(own)
    noted |= {name: value for name, value in row.items() if name not in TAKEN and value not in (None, "")}
    home.records.append(
        OldRecord(
            id=id,
            scope=PUBLIC if "memory_scope" not in row else str(scope or "").strip(),
            type=kind or MemoryType.KNOWLEDGE,
            judgment=judgment,
            reasoning=str(row.get("reasoning") or "").strip(),
            tags=tuple(dict.fromkeys(own[:TAGS_AT_MOST])),
            strength=min(max(int(strength), 0), STRONGEST) if strength is not None else PASSIVE_STRENGTH,
            is_active=str(row.get("is_active")).strip().lower() in TRUE,
            created_at=created,
            updated_at=max(_time(row.get("updated_at")) or created, created),
            noted={name: value[:NOTED_CHARS] if isinstance(value, str) else value for name, value in noted.items()},
        )
    )


def _type(row: Mapping[str, Any]) -> MemoryType | None:
    given = str(row.get("memory_type") or "")
    try:
        return memory_type(given.rpartition(".")[2])
    except InvalidInput:
        return next((name for name, kind in KINDS.items() if kind == given), None)


def _time(value: Any) -> datetime | None:
    """Return a time: seconds or milliseconds since 1970, also as a text, or ISO 8601, which is UTC without an offset."""
    number = _number(value)
    try:
        if number is None:
            found = datetime.fromisoformat(str(value).strip())
        elif number <= 0:
            return None
        else:
            found = datetime.fromtimestamp(number / 1000 if number > MILLISECONDS else number, UTC)
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        return None


def _number(value: Any) -> float | None:
    try:
        found = float(value)
    except (TypeError, ValueError):
        return None
    return found if math.isfinite(found) else None


def _readable(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace").replace("\0", "")
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _line(value: Any) -> str:
    """Return one line of printable characters."""
    return " ".join("".join(c if c.isprintable() else " " for c in str(value)).split()) if value not in (None, "") else ""


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
