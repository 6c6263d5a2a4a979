"""
`Store.notes` on SQLite: the indexed files of the vault and their passages.

Both are derived from the files: no change of them is journaled, and a passage never changes but for the lines in which it stands.
So its number means one text for ever, and what is made of it, its vector above all, stays as long as it does.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import apsw

from yiku.errors import Stale
from yiku.store import index, row_codec, scope_names
from yiku.store.database import Database
from yiku.types import DropFile, EmptyNotes, IndexFile, Note, NoteFile, Tokens

FILE_COLUMNS = (
    "n, path, source, hash, size, mtime_ns, ctime_ns, inode, seen_ns, status, detail, said_at, offset_min, indexed_at, rules"
)
_CHUNKS = "(select count(*) from chunks c where c.scope_id = files.scope_id and c.file_n = files.n)"
_NOTES = """
    select c.n, c.id, s.name, f.path, f.source, c.heading, c.start_line, c.end_line, c.text, f.said_at, f.offset_min
    from chunks c join files f on f.scope_id = c.scope_id and f.n = c.file_n join scopes s on s.id = c.scope_id"""


class SqliteNotes:
    """See yiku.store.protocol.Notes."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def files(self, scope: int, paths: Sequence[str] | None = None) -> list[NoteFile]:
        """See Notes.files."""
        sql = f"select {FILE_COLUMNS}, {_CHUNKS} from files where scope_id = ?1"
        if paths is not None:
            sql += " and path in (select value from json_each(?2))"
        values = (scope,) if paths is None else (scope, json.dumps([*paths], ensure_ascii=False))
        with self._database.read() as connection:
            return [_file(row) for row in connection.execute(f"{sql} order by path", values).fetchall()]

    def of_file(self, scope: int, file_n: int) -> list[Note]:
        """See Notes.of_file."""
        return self._notes("where c.scope_id = ? and c.file_n = ? order by c.start_line, c.n", scope, file_n)

    def read(self, scopes: Sequence[int], ns: Sequence[int]) -> list[Note]:
        """See Notes.read."""
        among = f"c.scope_id in ({index.placeholders(scopes)}) and c.n in (select value from json_each(?))"
        return self._notes(f"where {among} order by c.n", *scopes, json.dumps([*ns])) if scopes else []

    def after(self, scope: int, n: int, limit: int) -> list[Note]:
        """See Notes.after."""
        return self._notes("where c.scope_id = ? and c.n > ? order by c.n limit ?", scope, n, limit)

    def ending(self, scopes: Sequence[int], end: str, limit: int) -> list[Note]:
        """See Notes.ending."""
        among = f"c.scope_id in ({index.placeholders(scopes)}) and substr(c.id, ?) = ?"
        return self._notes(f"where {among} order by c.n limit ?", *scopes, -len(end), end, limit) if scopes else []

    def count(self, scopes: Sequence[int], after: int = 0) -> int:
        """See Notes.count."""
        with self._database.read() as connection:
            sql = f"select count(*) from chunks where scope_id in ({index.placeholders(scopes)}) and n > ?"
            return int(index.fetch_one(connection, sql, *scopes, after)[0]) if scopes else 0

    def exist(self, scopes: Sequence[int]) -> bool:
        """See Notes.exist."""
        with self._database.read() as connection:
            sql = f"select exists (select 1 from chunks where scope_id in ({index.placeholders(scopes)}))"
            return bool(index.fetch_one(connection, sql, *scopes)[0])

    def _notes(self, sql: str, *values: Any) -> list[Note]:
        with self._database.read() as connection:
            return [_note(row) for row in connection.execute(f"{_NOTES} {sql}", values).fetchall()]


def _file(row: Sequence[Any]) -> NoteFile:
    n, path, source, hash, size, mtime, ctime, inode, seen, status, detail, said_at, offset, indexed_at, cut_by, chunks = row
    return NoteFile(
        n=n, path=path, source=source, hash=hash, size=size, mtime_ns=mtime, ctime_ns=ctime, inode=inode, seen_ns=seen,
        status=status, detail=detail, said_at=row_codec.instant(said_at, offset), indexed_at=row_codec.instant(indexed_at), rules=cut_by,
        chunks=chunks,
    )  # fmt: skip


def _note(row: Sequence[Any]) -> Note:
    n, id, scope, path, source, heading, start, end, text, said_at, offset = row
    return Note(
        n=n, id=id, scope=scope_names.decode(scope), path=path, source=source, heading=heading, start_line=start, end_line=end, text=text,
        said_at=row_codec.instant(said_at, offset),
    )  # fmt: skip


# ------------------------------------------------------------------ writing


def write(connection: apsw.Connection, scope: int, change: IndexFile | DropFile | EmptyNotes) -> Iterable[int]:
    """Do one change; the number of its file. Raises Stale where the file is not as the caller saw it."""
    match change:
        case EmptyNotes():
            return empty(connection)
        case DropFile(n=n, was=was, gone=gone):
            _as_seen(connection, scope, n, was)
            _remove_chunks(connection, scope, n, gone)
            if connection.execute("select 1 from chunks where scope_id = ? and file_n = ?", (scope, n)).fetchone():
                raise Stale
            connection.execute("delete from files where scope_id = ? and n = ?", (scope, n))
            return (n,)
        case IndexFile():
            return _index(connection, scope, change)


def _index(connection: apsw.Connection, scope: int, change: IndexFile) -> Iterable[int]:
    file, n = change.file, change.file.n
    values = (
        scope, file.path, file.source, file.hash, file.size, file.mtime_ns, file.ctime_ns, file.inode, file.seen_ns, file.status,
        file.detail, row_codec.micros(file.said_at), row_codec.offset_min(file.said_at), row_codec.micros(file.indexed_at), file.rules,
    )  # fmt: skip
    columns = "scope_id, path, source, hash, size, mtime_ns, ctime_ns, inode, seen_ns, status, detail, said_at, offset_min, indexed_at, rules"
    if n:
        _as_seen(connection, scope, n, change.was)
        connection.execute(
            f"update files set ({columns}) = ({index.placeholders(values)}) where scope_id = ? and n = ?", (*values, scope, n)
        )
    else:
        sql = f"insert into files ({columns}) values ({index.placeholders(values)}) on conflict do nothing returning n"
        found: Any = connection.execute(sql, values).fetchall()
        if not found:
            raise Stale
        n = found[0][0]
    _remove_chunks(connection, scope, n, change.gone or {})
    for chunk, (id, start, end) in (change.moved or {}).items():
        sql = "update chunks set id = ?, start_line = ?, end_line = ? where scope_id = ? and n = ? and file_n = ?"
        connection.execute(sql, (id, start, end, scope, chunk, n))
        if connection.changes() != 1:
            raise Stale
    sql = "insert into chunks (scope_id, id, file_n, start_line, end_line, heading, text) values (?, ?, ?, ?, ?, ?, ?) returning n"
    for new in change.new:
        row = index.fetch_one(connection, sql, scope, new.id, n, new.start_line, new.end_line, new.heading, new.text)
        index.add(connection, "note", scope, row[0], new.tokens)
    return (n,)


def _as_seen(connection: apsw.Connection, scope: int, n: int, was: bytes) -> None:
    """Raise Stale unless the file has this hash."""
    if connection.execute("select hash from files where scope_id = ? and n = ?", (scope, n)).fetchone() != (was,):
        raise Stale


def _remove_chunks(connection: apsw.Connection, scope: int, file_n: int | None, gone: Mapping[int, Tokens]) -> None:
    """Passages leave the index. Raises Stale where one is not there, or is another file's."""
    for n, tokens in gone.items():
        connection.execute("delete from chunks where scope_id = ? and n = ? and file_n is coalesce(?, file_n)", (scope, n, file_n))
        if connection.changes() != 1:
            raise Stale
        index.remove(connection, "note", scope, n, tokens)


def erase(connection: apsw.Connection, scope: int, gone: Mapping[int, Tokens]) -> int:
    """Passages that say what is erased leave the index, those that are there; their files are indexed anew. How many went."""
    rows: Any = connection.execute(
        "select n, file_n from chunks where scope_id = ? and n in (select value from json_each(?))", (scope, json.dumps([*gone]))
    ).fetchall()
    _remove_chunks(connection, scope, None, {n: gone[n] for n, _ in rows})
    sql = "update files set hash = x'', mtime_ns = 0, ctime_ns = 0 where scope_id = ? and n = ?"
    connection.executemany(sql, [(scope, n) for n in {file_n for _, file_n in rows}])
    return len(rows)


def empty(connection: apsw.Connection) -> Iterable[int]:
    """The index of notes of every scope is empty; no number is given twice."""
    connection.execute("insert into note_index (note_index) values ('delete-all')")
    for table in ("chunks", "files"):
        connection.execute(f"delete from {table}")
    connection.execute("delete from index_stats where name = 'note'")
    return ()


# ------------------------------------------------------------------ checking


def indexed(connection: apsw.Connection) -> Iterator[tuple[int, int, str, str]]:
    """Number, scope, headings and text of every passage."""
    yield from connection.execute("select n, scope_id, heading, text from chunks")
