"""
Find texts in every text column of the schema and clear or replace them there, for erasures in rows that stay.

The rows that an erasure means go by store/erase.py. What this looks for is the same sentence in a row that stays: a label, a name,
a reason, metadata, an image in the journal. A column that may be null is emptied; a row that is nothing but a label goes. What
names or links a row, or may not be null, stays as it is, and whoever asks is told where.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

import apsw

from yiku.store import records, row_codec
from yiku.store.protocol import Spoken
from yiku.types import HeldText

Way = Literal["empty", "row", "kept"]
BATCH = 5_000  # rows that are looked through at once
TEXTUAL = ("TEXT", "ANY", "")
# Found by the search index and in blobs, and redacted sentence by sentence.
SPOKEN = {"conversation_turns": frozenset("content tool_calls tool_results".split()), "chunks": frozenset(["heading", "text"])}
SPOKEN_IN: Mapping[Spoken, str] = {"turn": "conversation_turns", "note": "chunks"}
# A row is no more than the label.
LABELS = frozenset("receipts memory_entities memory_relations memory_tags".split())
# What a row is found, linked or ordered by; an episode and its like go whole where they say it.
LINKING = {
    "memories": frozenset("id line subject predicate object cardinality slot flag flagged_with superseded_by priority".split()),
    "conversation_turns": frozenset("id speaker blob".split()),
    "memory_sources": frozenset(["turn"]),
    "erasures": frozenset(["id"]),
    **dict.fromkeys(records.KINDS),  # None: each column
}
_DIGESTED = {"conversation_turns": row_codec.TURN_DIGESTED, "memories": row_codec.MEMORY_DIGESTED, **records.DIGESTED}
_VIRTUAL = re.compile(r"create virtual table", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Table:
    """A table of the schema: its text columns, key, and nullable columns."""

    name: str
    texts: tuple[str, ...]
    key: tuple[str, ...]
    nullable: frozenset[str]
    columns: frozenset[str]

    def way(self, column: str) -> Way:
        linking = LINKING.get(self.name, frozenset())
        if self.name in LABELS:
            return "row"
        return "empty" if column in self.nullable and linking is not None and column not in linking else "kept"


def tables(connection: apsw.Connection) -> Iterator[_Table]:
    """Return the tables of rows, with their text columns."""
    found: Any = connection.execute(
        "select name, sql from sqlite_schema where type = 'table' and name not like 'sqlite_%'"
    ).fetchall()
    virtual = [name for name, sql in found if _VIRTUAL.match(sql)]
    for name, _ in found:
        if any(name == one or name.startswith(f"{one}_") for one in virtual):
            continue
        columns: Any = connection.execute(f"pragma table_info({name})").fetchall()
        texts = tuple(column for _, column, type_, *_ in columns if type_.upper() in TEXTUAL)
        key = tuple(column for _, column, *_, place in sorted(columns, key=lambda one: one[5]) if place) or ("rowid",)
        nullable = frozenset(column for _, column, _, not_null, _, place in columns if not not_null and not place)
        yield _Table(name, texts, key, nullable, frozenset(column for _, column, *_ in columns))


def texts(connection: apsw.Connection, scope: int, at_least: int, spoken: Spoken | None) -> Iterator[list[HeldText]]:
    """Yield the texts in rows of a scope, or of none, by columns. See Erasures.texts."""
    for table in tables(connection):
        indexed = SPOKEN.get(table.name, frozenset())
        if spoken is None:
            columns = [column for column in table.texts if column not in indexed]
        else:
            columns = [column for column in table.texts if column in indexed] if table.name == SPOKEN_IN[spoken] else []
        if not columns:
            continue
        cursor = connection.execute(_selected(table, columns), (scope, at_least))
        while page := list(islice(cursor, BATCH)):
            keys = 1 + len(table.key)
            for place, column in enumerate(columns, keys):
                way = table.way(column)
                yield [
                    HeldText(table.name, column, tuple(row[1:keys]), row[0], text, way)
                    for row in page
                    if isinstance(text := row[place], str)
                ]


def _selected(table: _Table, columns: Sequence[str]) -> str:
    """Return a query for texts of some length, with row or memory id and key."""
    id = "null"
    if "id" in table.texts:
        id = "t.id"
    elif "memory_n" in table.columns:
        id = "(select m.id from memories m where m.scope_id = t.scope_id and m.n = t.memory_n)"
    key = ", ".join(f"t.{name}" for name in table.key)
    columns_sql = ", ".join(f"case when length(t.{column}) >= ?2 then t.{column} end" for column in columns)
    of = "t.scope_id = ?1" if "scope_id" in table.columns else "t.id = ?1" if table.name == "scopes" else "?1 = ?1"
    return f"select {id}, {key}, {columns_sql} from {table.name} t where {of}"


def replace_texts(connection: apsw.Connection, scope: int, texts: Iterable[tuple[HeldText, str | None]]) -> int:
    """Replace texts, or clear them; delete rows that are only labels. Return the number changed."""
    known = {table.name: table for table in tables(connection)}
    count = 0
    for old, text in texts:
        table = known[old.table]
        names = (*(["scope_id"] if "scope_id" in table.columns else []), *table.key)
        key = (*([scope] if "scope_id" in table.columns else []), *old.key)
        of = " and ".join(f"{name} = ?" for name in names)
        if old.way == "row":
            if old.table == "memory_tags":
                connection.execute("delete from memory_tag_rel where scope_id = ? and tag_id = ?", (scope, *old.key))
            connection.execute(f"delete from {old.table} where {of}", key)
        elif old.way == "empty":
            connection.execute(f"update {old.table} set {old.column} = ? where {of}", (text, *key))
        count += connection.changes()
        columns = _DIGESTED.get(old.table)
        if columns and (row := connection.execute(f"select {columns} from {old.table} where {of}", key).fetchone()):
            connection.execute(f"update {old.table} set digest = ? where {of}", (row_codec.digest(row), *key))
    return count
