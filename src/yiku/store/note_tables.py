"""
Write the tables of notes: Markdown files of the vault (notes folder), passages, search index; erase passages.

Both are derived from the files: no change of them is journaled, and a passage never changes but for the lines in which it stands.
So its number means one text for ever, and what is made of it, its vector above all, stays as long as it does.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import apsw

from yiku.errors import Stale
from yiku.store import index, row_codec
from yiku.types import DropFile, EmptyNotes, IndexFile, Tokens


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


def indexed(connection: apsw.Connection) -> Iterator[tuple[int, int, str, str]]:
    """Number, scope, headings and text of every passage."""
    yield from connection.execute("select n, scope_id, heading, text from chunks")
