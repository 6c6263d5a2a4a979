"""
Tables of episodes, scratchpads and attachments: the latest version of each.

A record lies in its table whole: its dataclass's fields as columns, and beside them the tokens under which it is
indexed, so that it leaves the index with the very tokens it came with, in a copy of the store too. A change is
journaled with the whole row as it was. Times are microseconds UTC with one offset; lists and mappings are JSON.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields, is_dataclass
from datetime import datetime
from typing import Any

import apsw

from yiku.errors import Stale, Unreadable
from yiku.store import index, row_codec, scope_names
from yiku.store.protocol import Index, Journal, R
from yiku.types import ActionNode, Attachment, Drop, Episode, Put, Record, Records, Scratchpad, Task, Tokens

TABLES: dict[type[Any], str] = {Episode: "episodes", Scratchpad: "scratchpad", Attachment: "attachments"}
KINDS: dict[str, type[Any]] = {table: kind for kind, table in TABLES.items()}
INDEXES: dict[str, Index] = {"episodes": "episode", "attachments": "attachment"}
TIME = {
    "episodes": "ended_at",
    "scratchpad": "updated_at",
    "attachments": "said_at",
}  # by which they are chosen; its offset is kept
_OUTSIDE = ("n", "scope", "changed", "left_out")  # fields that are not columns of their own
_INSIDE: dict[str, type[Any]] = {"tuple[ActionNode, ...]": ActionNode, "tuple[Task, ...]": Task}
# Of each table the fields of its dataclass, with their types as written there; and all that a row's digest covers.
_FIELDS = {
    table: {field.name: str(field.type) for field in fields(kind) if field.name not in _OUTSIDE} for kind, table in TABLES.items()
}
DIGESTED = {table: ", ".join(["n", "scope_id", *_FIELDS[table], "offset_min", "tokens"]) for table in KINDS}


# ------------------------------------------------------------------ rows and values


def _column(value: object) -> Any:
    match value:
        case bool():
            return int(value)
        case datetime():
            return row_codec.micros(value)
        case None | int() | float() | str():
            return value
    return json.dumps(_plain(value), ensure_ascii=False, separators=(",", ":")) if value else None


def _plain(value: object) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return _plain(asdict(value))
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items() if each is not None}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    return row_codec.micros(value) if isinstance(value, datetime) else value


def _field(kind: str, value: Any, offset: int) -> Any:
    """Convert a column to its field's type."""
    if kind.startswith("datetime"):
        return row_codec.moment(value, offset)
    if kind == "bool":
        return bool(value)
    if kind.startswith("Mapping"):
        found = json.loads(value) if value else {}
        _must(type(found) is dict and ("Any" in kind or all(type(one) is str for one in found.values())))
        return found
    if kind.startswith("tuple"):
        parts = json.loads(value) if value else []
        inside = _INSIDE.get(kind)
        _must(type(parts) is list and all(type(part) is (str if inside is None else dict) for part in parts))
        return tuple(parts if inside is None else [_part(inside, part, offset) for part in parts])
    if kind == "float":
        _must(0 <= value <= 1)
    return value


def _part(kind: type[Any], values: dict[str, Any], offset: int) -> Any:
    """Decode a step or a task; only its times are not JSON."""
    types = {field.name: str(field.type) for field in fields(kind)}
    times = {name for name, of in types.items() if of.startswith("datetime")}
    made = kind(**{name: row_codec.moment(value, offset) if name in times else value for name, value in values.items()})
    for name, of in types.items():
        decoded, wanted = getattr(made, name), _PLAIN.get(of.removesuffix(" | None"))
        _must(wanted is None or (decoded is None and of.endswith("None")) or type(decoded) is wanted)
    return made


_PLAIN = {"str": str, "bool": bool, "Mapping[str, Any]": dict}


def _must(fits: bool) -> None:
    """Raise ValueError unless the condition holds."""
    if not fits:
        raise ValueError("a field holds what it cannot hold")


def _values(n: int, scope: int, record: Record, tokens: Tokens | None) -> tuple[Any, ...]:
    table = TABLES[type(record)]
    at: datetime = getattr(record, TIME[table])
    given = [_column(getattr(record, name)) for name in _FIELDS[table]]
    encoded = None if tokens is None else json.dumps([tokens.words, tokens.characters], ensure_ascii=False, separators=(",", ":"))
    return (n, scope, *given, row_codec.offset_min(at), encoded)


def _record(table: str, row: Sequence[Any], changed: int, scope: str) -> Any:
    """Decode a record from the columns of DIGESTED. Raises Unreadable."""
    columns, offset = _FIELDS[table], row[-2]
    fields = {}
    for (name, of), value in zip(columns.items(), row[2:-2], strict=True):
        try:
            fields[name] = _field(of, value, offset)
            _must(name != "blob" or value is None or row_codec.BLOB.fullmatch(value) is not None)
        except row_codec.UNFIT as error:
            raise Unreadable(f"{row[2]} of {table}", f"cannot be read: {name}", id=row[2], scope=row[1]) from error
    return KINDS[table](n=row[0], changed=changed, scope=scope, **fields)


def tokens(encoded: str | None) -> Tokens | None:
    """Decode the tokens of a row. Raises ValueError."""
    if encoded is None:
        return None
    found = json.loads(encoded)
    _must(type(found) is list and [list, list] == [type(part) for part in found])
    _must(all(type(token) is str for part in found for token in part))
    return Tokens(*found)


# ------------------------------------------------------------------ reading


def read(
    connection: apsw.Connection,
    kind: type[R],
    scopes: Sequence[int],
    select: Records,
    left_out: Callable[[Unreadable], object],
) -> list[R]:
    """
    Return the selected records, by row number, or newest first.

    left_out: is told those that cannot be read
    """
    table = TABLES[kind]
    conditions: list[str] = [f"scope_id in ({index.placeholders(scopes)})"]
    values: list[Any] = [*scopes]
    for column, wanted in _conditions(table, select):
        conditions.append(column)
        values.append(wanted)
    order = f"{TIME[table]} desc, n desc" if select.newest_first else "n"
    sql = (
        f"select {DIGESTED[table]}, digest, changed, (select name from scopes where id = scope_id) from {table}"
        f" where {' and '.join(conditions)} order by {order} limit ?"
    )
    found = connection.execute(sql, (*values, -1 if select.limit is None else select.limit))
    return row_codec.decode_all(lambda row: decode(table, row), found, left_out)


def decode(table: str, row: Sequence[Any]) -> Any:
    """Decode a record from its columns, digest, last change and scope. Raises Unreadable."""
    *columns, digest, changed, scope = row
    if row_codec.digest(columns) != digest:
        raise Unreadable(f"{columns[2]} of {table}", row_codec.NOT_AS_WRITTEN, id=columns[2], scope=columns[1])
    try:
        tokens(columns[-1])
    except row_codec.UNFIT as error:
        raise Unreadable(f"{columns[2]} of {table}", "cannot be read: tokens", id=columns[2], scope=columns[1]) from error
    return _record(table, columns, changed, scope_names.decode(scope))


def _conditions(table: str, select: Records) -> Iterator[tuple[str, Any]]:
    """Return the conditions of a selection, each with its bound value."""
    lists = {"n": select.ns, "id": select.ids, "session": select.sessions, "turn": select.turns}
    for column, among in lists.items():
        if among is not None:
            yield f"{column} in (select value from json_each(?))", json.dumps([*among], ensure_ascii=False)
    if select.suffix is not None:
        yield "id like ? escape '\\'", "%" + select.suffix.replace("\\", r"\\").replace("%", r"\%").replace("_", r"\_")
    if select.after is not None:
        yield "n > ?", select.after
    if select.user is not None:
        yield "user_id = ?", select.user
    if select.since is not None:
        yield f"{TIME[table]} >= ?", row_codec.micros(select.since)
    if select.until is not None:
        yield f"{TIME[table]} < ?", row_codec.micros(select.until)


# ------------------------------------------------------------------ writing


def put(connection: apsw.Connection, scope: int, change: Put, journal: Journal) -> Iterable[int]:
    """Insert or update a record. Raises Stale if it changed since it was read."""
    record, table = change.record, TABLES[type(change.record)]
    known: Any = connection.execute(f"select n, changed from {table} where scope_id = ? and id = ?", (scope, record.id)).fetchone()
    n, changed = known or (0, 0)
    if changed != record.changed:
        raise Stale
    if known:
        before = _image(connection, table, scope, n)
        _unindex(connection, table, scope, n)
        connection.execute(f"delete from {table} where scope_id = ? and n = ?", (scope, n))
        number = journal.note("update", table, n, before)
    else:
        # One that comes back, by undo, has its number again.
        n = (
            record.n
            or index.fetch_one(connection, "select coalesce(max(seq), 0) + 1 from sqlite_sequence where name = ?", table)[0]
        )
        if connection.execute(f"select 1 from {table} where scope_id = ? and n = ?", (scope, n)).fetchone():
            raise Stale
        number = journal.note("insert", table, n)
    values = _values(n, scope, record, change.tokens)
    names = f"{DIGESTED[table]}, changed, digest"
    connection.execute(
        f"insert into {table} ({names}) values ({index.placeholders(range(len(values) + 2))})",
        (*values, number, row_codec.digest(values)),
    )
    if change.tokens is not None and table in INDEXES:
        index.add(connection, INDEXES[table], scope, n, change.tokens)
    return (n,)


def count_shown(connection: apsw.Connection, scope: int, episodes: Sequence[int]) -> None:
    """Count that these episodes were shown; not journaled."""
    for n in episodes:
        sql = f"select {DIGESTED['episodes']} from episodes where scope_id = ? and n = ?"
        for row in connection.execute(sql, (scope, n)).fetchall():
            values: dict[str, Any] = dict(zip(DIGESTED["episodes"].split(", "), row, strict=True))
            values["access_count"] += 1
            counted = (values["access_count"], row_codec.digest([*values.values()]), scope, n)
            connection.execute("update episodes set access_count = ?, digest = ? where scope_id = ? and n = ?", counted)


def drop(connection: apsw.Connection, scope: int, change: Drop, journal: Journal) -> Iterable[int]:
    """Delete a record. Raises Stale if it changed since it was read."""
    record, table = change.record, TABLES[type(change.record)]
    sql = f"select n from {table} where scope_id = ? and id = ? and changed = ?"
    known = connection.execute(sql, (scope, record.id, record.changed)).fetchone()
    if known is None:
        raise Stale
    n = int(known[0])
    journal.note("delete", table, n, _image(connection, table, scope, n))
    _unindex(connection, table, scope, n)
    connection.execute(f"delete from {table} where scope_id = ? and n = ?", (scope, n))
    return (n,)


def _image(connection: apsw.Connection, table: str, scope: int, n: int) -> dict[str, Any]:
    """Return the row image of a record, for the journal."""
    columns = DIGESTED[table].split(", ")
    row = index.fetch_one(connection, f"select {DIGESTED[table]} from {table} where scope_id = ? and n = ?", scope, n)
    return {name: value for name, value in zip(columns, row, strict=True) if name not in ("scope_id",) and value is not None}


def from_image(table: str, before: dict[str, Any], scope: str) -> Record:
    """Decode a record from a row image in the journal."""
    row = [before.get(name) for name in DIGESTED[table].split(", ")]
    found: Record = _record(table, row, 0, scope)
    return found


def _unindex(connection: apsw.Connection, table: str, scope: int, n: int) -> None:
    encoded = index.fetch_one(connection, f"select tokens from {table} where scope_id = ? and n = ?", scope, n)[0]
    decoded = tokens(encoded)
    if decoded is not None and table in INDEXES:
        index.remove(connection, INDEXES[table], scope, n, decoded)


def erase(connection: apsw.Connection, scope: int, ids: Mapping[str, Sequence[str]], images: Sequence[int] = ()) -> int:
    """
    Erase records and their journal images; return the number deleted. Missing ids are ignored.

    ids: by table; images: rows of the journal that keep older forms of others
    """
    gone = 0
    forgotten = "update changes set before = null, reason = null where scope_id = ?"
    connection.execute(f"{forgotten} and number in (select value from json_each(?))", (scope, json.dumps([*images])))
    for table, among in ids.items():
        sql = f"select n from {table} where scope_id = ? and id in (select value from json_each(?))"
        found: Any = connection.execute(sql, (scope, json.dumps([*among]))).fetchall()
        for (n,) in found:
            _unindex(connection, table, scope, n)
            connection.execute(f"delete from {table} where scope_id = ? and n = ?", (scope, n))
            connection.execute(f"{forgotten} and tbl = ? and row_n = ?", (scope, table, n))
            gone += 1
    return gone


# ------------------------------------------------------------------ checking


def readable(connection: apsw.Connection, left_out: Callable[[Unreadable], object]) -> Iterator[str]:
    """Yield the table of every readable record; unreadable ones are reported."""
    for table in KINDS:
        for row in connection.execute(f"select {DIGESTED[table]}, digest, changed, '' from {table}"):
            row_codec.decode_all(lambda row, table=table: decode(table, row), [row], left_out)  # type: ignore[misc]
            yield table


def digests(connection: apsw.Connection) -> Iterator[tuple[str, str, bool]]:
    """Yield table, id and validity of the digest of every record."""
    for table in KINDS:
        for *row, digest in connection.execute(f"select {DIGESTED[table]}, digest from {table}"):
            yield table, row[2], row_codec.digest(row) == digest


def indexed(connection: apsw.Connection) -> Iterator[tuple[Index, int, int, Tokens]]:
    """Yield what the indexes should contain: index, row, scope, tokens."""
    for table, name in INDEXES.items():
        for n, scope, encoded in connection.execute(f"select n, scope_id, tokens from {table} where tokens is not null"):
            decoded = tokens(encoded)
            assert decoded is not None
            yield name, n, scope, decoded


def blobs(connection: apsw.Connection) -> set[str]:
    """Return the blobs that attachments refer to."""
    found: Any = connection.execute("select blob from attachments where blob is not null")
    return {name for (name,) in found}
