"""
`Store.notes` on SQLite: read the indexed Markdown files of the vault (notes folder) and their passages.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from yiku.store import index, row_codec, scope_names
from yiku.store.database import Database
from yiku.types import Note, NoteFile

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
