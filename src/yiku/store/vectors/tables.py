"""
SQL on the vector file's tables: embedding spaces, progress; read, insert and delete the vectors of rows.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import apsw

from yiku.store import index
from yiku.store.vectors.scope_vectors import READ_AT_ONCE, decode, encode
from yiku.types import Item, Superseded, Vector

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

NOTES = "notes of "  # before the name of a model's space
PAIRS = "pairs of "  # before the name of a model that compares pairs of turns: it has progress, and no vectors


def of_notes(space: str) -> str:
    """The name of the space in which a model's vectors of notes lie: apart, so that talk is searched as if there were no notes."""
    return f"{NOTES}{space}"


def of_pairs(model: str) -> str:
    """The name of the space in which it stands how far a model has compared pairs."""
    return f"{PAIRS}{model}"


def space_of(connection: apsw.Connection, name: str) -> tuple[int | None, int | None]:
    """Return the number of a space and its dimensions."""
    found = connection.execute("select n, dimensions from spaces where name = ?", (name,)).fetchone()
    return found or (None, None)


def progress(connection: apsw.Connection, scope: int, space: int) -> tuple[int, int]:
    """Return the last vector of a scope, and how often some were removed."""
    sql = "select last, removals from progress where scope_id = ? and space = ?"
    return connection.execute(sql, (scope, space)).fetchone() or (0, 0)


def file_id(connection: apsw.Connection) -> str:
    """Return the id that distinguishes this file from another of the same store."""
    return str(index.fetch_one(connection, "select made from vectors_of")[0])


def by_rows(connection: apsw.Connection, scope: int, space: int) -> Iterator[list[tuple[int, int, float, bytes]]]:
    """Yield batches of a scope's vectors for its matrix: turns first, by row number."""
    for item in ("turn", "note", "memory"):
        sql = """
            select row_n, unspaced, factor, code from vectors indexed by vectors_by_row
            where scope_id = ? and item = ? and space = ? order by row_n, part"""
        found = connection.execute(sql, (scope, item, space))
        while some := [*islice(found, READ_AT_ONCE)]:
            yield some


def beginnings(
    connection: apsw.Connection, scopes: Sequence[int], space: int | None, rows: Sequence[tuple[Item, int]]
) -> dict[tuple[Item, int], Array]:
    """Return the vectors of the first windows of these rows; none of a space that is not there."""
    found: dict[tuple[Item, int], Array] = {}
    for item in dict.fromkeys(item for item, _ in rows):
        sql = f"""
            select row_n, factor, code from vectors indexed by vectors_by_row
            where scope_id in ({index.placeholders(scopes)}) and item = ? and space = ? and part = 0
                and row_n in (select value from json_each(?))"""
        ns = json.dumps([n for other, n in rows if other == item])
        for n, factor, code in connection.execute(sql, (*scopes, item, space, ns)):
            found[item, n] = decode(factor, code)
    return found


def superseded(connection: apsw.Connection, scopes: Sequence[int], space: int | None, turns: Sequence[int]) -> list[Superseded]:
    """Return what was found of these turns and later ones, the likeliest first."""
    sql = f"""
        select earlier, later, likely, first, stop from superseded
        where scope_id in ({index.placeholders(scopes)}) and space = ? and earlier in (select value from json_each(?))
        order by likely desc"""
    return [Superseded(*row) for row in connection.execute(sql, (*scopes, space, json.dumps([*turns])))]


def spaces_with(connection: apsw.Connection, scope: int, item: str, n: int) -> list[int]:
    """The spaces in which a row has vectors."""
    sql = "select distinct space from vectors indexed by vectors_by_row where scope_id = ? and item = ? and row_n = ?"
    return [space for (space,) in connection.execute(sql, (scope, item, n))]


def empty_space(connection: apsw.Connection, space: int, length: int | None) -> None:
    """Delete all vectors of a space; the next ones have this length."""
    for table in ("vectors", "again"):
        connection.execute(f"delete from {table} where space = ?", (space,))
    connection.execute("update progress set turns = 0, memories = 0, removals = removals + 1 where space = ?", (space,))
    connection.execute("update spaces set dimensions = ? where n = ?", (length, space))
    connection.execute("delete from embedding_cache")


def drop(connection: apsw.Connection, among: str) -> None:
    for table in ("vectors", "again", "superseded"):
        connection.execute(f"delete from {table} where {among}")
    connection.execute(f"update progress set turns = 0, memories = 0, removals = removals + 1 where {among}")


def delete_row(connection: apsw.Connection, scope: int, item: str, n: int, space: int | None = None) -> int:
    """Delete the vectors of a row; return whether there were any."""
    sql = "delete from vectors indexed by vectors_by_row where scope_id = ? and item = ? and row_n = ?"
    if space is None:
        connection.execute(sql, (scope, item, n))
    else:
        connection.execute(f"{sql} and space = ?", (scope, item, n, space))
    return int(connection.changes() > 0)


def delete_pairs(connection: apsw.Connection, scope: int, turn: int) -> list[tuple[int, int]]:
    """Delete what was found of a turn beside others; return the later turns of its pairs, each after the space of its model."""
    sql = "select space, later from superseded indexed by superseded_by_earlier where scope_id = ? and earlier = ?"
    later = [*connection.execute(sql, (scope, turn))]
    for column in ("earlier", "later"):
        sql = f"delete from superseded indexed by superseded_by_{column} where scope_id = ? and {column} = ?"
        connection.execute(sql, (scope, turn))
    return later


def queue(connection: apsw.Connection, scope: int, rows: Sequence[tuple[Item, int]], *, compare: bool = False) -> None:
    """Queue rows for embedding in every space of a scope; compare: also turns to be compared with earlier ones."""
    sql = """
        insert into again select scope_id, space, ?2, ?3, 0 from progress
        where scope_id = ?1 and (?4 or space not in (select n from spaces where name like ?5))
        on conflict do update set tries = 0"""
    connection.executemany(sql, [(scope, *row, compare, f"{PAIRS}%") for row in rows])


def queue_pairs(connection: apsw.Connection, scope: int, turns: Sequence[tuple[int, int]]) -> None:
    """Queue turns to be compared with earlier ones, each in the space of a model."""
    sql = "insert or ignore into again values (?, ?, 'turn', ?, 0)"
    connection.executemany(sql, [(scope, *each) for each in turns])


def insert(connection: apsw.Connection, scope: int, space: int, last: int, found: Sequence[Vector]) -> int:
    """Insert vectors in place of those that their rows had, numbered after `last`; return of how many rows some went."""
    gone = sum(delete_row(connection, scope, item, n, space) for item, n in {(vector.item, vector.n) for vector in found})
    connection.executemany(
        f"insert into vectors values ({index.placeholders(range(9))})",
        [
            (scope, space, last + k, vector.item, vector.n, vector.part, vector.is_cjk, *encode(vector.values))
            for k, vector in enumerate(found, 1)
        ],
    )
    return gone
