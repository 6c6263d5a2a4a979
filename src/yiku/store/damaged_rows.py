"""
Recover rows from a damaged store and, for what is missing, from its backups, newest first.

Each table is read in the order of its keys; where a page stops that, its rows are read one by one. Rows of
pages that are what was written count. Of the others those do that carry a digest, if it holds: turns, memories, records.
Where a row holds something that no value can be made of, that is mended, or the row stays behind.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apsw

from yiku.errors import Unreadable
from yiku.store import copy, damaged_file, index, pages, records, row_codec

BATCH = 2_000  # rows read at a time

# What is carried over, parents first. By key: where a row's number is the key, a span that cannot be read is halved.
NUMBERED = {
    "scopes": "id",
    "sessions": "n",
    "conversation_turns": "n",
    "turn_state": "turn_n",
    "turn_work": "turn_n",
    "memories": "n",
    "memory_relations": "id",
    "memory_tags": "id",
    "access_log": "id",
    "learned": "scope_id",
    "extraction_queue": "n",
    "model_calls": "n",
    "episodes": "n",
    "scratchpad": "n",
    "attachments": "n",
    "published": "n",
    "runs": "n",
    "changes": "number",
    "erasures": "tx",
}
KEYED = {
    "meta": "key",
    "memory_sources": "scope_id, memory_n, seq",
    "memory_entities": "scope_id, memory_n, entity",
    "memory_tag_rel": "scope_id, memory_n, tag_id",
    "receipts": "scope_id, key",
    "session_state": "scope_id, id",
    "tombstones": "seal",
    "night_items": "scope_id, run, item",
    "summary_sources": "scope_id, memory_n, source_n",
}
DETAILS = ("memory_sources", "memory_entities", "memory_relations", "memory_tag_rel", "access_log")  # of a memory
DIGESTED = {"conversation_turns": row_codec.TURN_DIGESTED, "memories": row_codec.MEMORY_DIGESTED, **records.DIGESTED}
IDS = {  # indexes that know a row's id without the row
    "conversation_turns": "turns_by_id",
    "memories": "memories_by_id",
    **{table: f"{table}_by_id" for table in records.KINDS},
}
DERIVED = {"files", "chunks"}  # from the vault: left behind, but no number of theirs is given twice
GOING = {
    "extraction_queue",
    "night_items",
    "published",
    "runs",
    "session_state",
    "summary_sources",
    *records.KINDS,
}  # what is not there may be done, or dropped, and not lost
HIGHEST = 1 << 40  # of a row's number that is believed
FAILURES_AT_MOST = 100_000  # spans of one table that cannot be read


@dataclass(slots=True)
class Recovered:
    """Counts of recovered rows by table and origin, and descriptions of lost ones."""

    rows: dict[str, dict[str, int]] = field(default_factory=dict)
    lost: list[str] = field(default_factory=list)
    mended: list[str] = field(default_factory=list)  # rows of which one thing could not be read
    kept: Path | None = None  # where the damaged file lies
    known: dict[tuple[str, int], str] = field(default_factory=dict)  # ids that the file's indexes name
    highest: dict[str, int] = field(default_factory=dict)  # the last number that each table gave
    whole: set[str] = field(default_factory=set)  # tables that were read to the end in the file
    brought: set[int] = field(default_factory=set)  # memories that a backup brought

    def came(self, table: str, origin: str, count: int) -> None:
        """Count rows recovered from an origin."""
        if count:
            of = self.rows.setdefault(table, {})
            of[origin] = of.get(origin, 0) + count


def recover(connection: apsw.Connection, damaged: Sequence[Path], backups: Sequence[Path], done: Recovered) -> None:
    """Recover all rows, preferring the file to its backups."""
    for path in damaged:
        with suppress(*damaged_file.UNREADABLE), _source(path) as source:
            _highest(source, done)
            for table in (*NUMBERED, *KEYED):
                _from_the_file(connection, source, table, done)
            pages.without_verification(source)
            _known_ids(source, done)
    for path in backups:
        if not copy.page_errors(path):
            source = copy.open_copy(path)
            try:
                _highest(source, done)
                for table in (*NUMBERED, *KEYED):
                    _from_a_backup(connection, source, table, path.name, done)
            finally:
                source.close()


@contextmanager
def _source(path: Path) -> Iterator[apsw.Connection]:
    connection = damaged_file.open_damaged(path)
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 0)
    connection.pragma("writable_schema", "on")  # what the schema says of one table does not keep us from the others
    try:
        yield damaged_file.read_schema_first(connection)
    finally:
        connection.close()


def _from_the_file(connection: apsw.Connection, source: apsw.Connection, table: str, done: Recovered) -> None:
    """Recover rows of sound pages, and of other pages those with a matching digest."""
    failed: list[str] = []
    done.came(table, "the file", _insert(connection, source, table, _read(source, table, failed, connection), done))
    if not failed:
        done.whole.add(table)
    elif table in DIGESTED:
        pages.without_verification(source)
        done.came(table, "the file", _insert(connection, source, table, _read(source, table, [], connection), done))
        source.pragma("checksum_verification", "on")


def _from_a_backup(connection: apsw.Connection, source: apsw.Connection, table: str, origin: str, done: Recovered) -> None:
    """
    Recover rows that are still missing.

    Details of a memory are recovered only where it has none and could not keep them: one removed since must not
    come back. Nor must finished work or dropped records, where the file's own table is whole.
    """
    if table in GOING and table in done.whole:
        return
    found: Iterable[Sequence[Any]] = _read(source, table, [], connection)
    if table in DETAILS:
        at = [*_columns(source, table, connection), "memory_n"].index("memory_n")
        have = {n for (n,) in connection.execute(f"select distinct memory_n from {table}")}
        spared = done.brought if table in done.whole else None
        found = [row for row in found if row[at] not in have and (spared is None or row[at] in spared)]
    if table == "memories":
        before = {n for (n,) in connection.execute("select n from memories")}
    done.came(table, origin, _insert(connection, source, table, found, done))
    if table == "memories":
        done.brought |= {n for (n,) in connection.execute("select n from memories")} - before


def _insert(
    connection: apsw.Connection, source: apsw.Connection, table: str, found: Iterable[Sequence[Any]], done: Recovered
) -> int:
    """Insert rows with a free key and a valid digest, repaired if necessary; return their number."""
    names = _columns(source, table, connection)
    added = [] if "digest" in names or table not in DIGESTED else ["digest"]  # a copy from before schema 2
    sql = f"insert or ignore into {table} ({', '.join([*names, *added])}) values ({index.placeholders([*names, *added])})"
    before = connection.total_changes()
    for row in found:
        fields = dict(zip(names, row, strict=True))
        if table in DIGESTED:
            digest = _digest(table, fields)
            if not added and fields["digest"] != digest:
                continue
            fields["digest"] = digest
        if (whole := _repair(table, fields, done)) is None:
            continue
        with suppress(apsw.ConstraintError):  # what a sound row never is: of another type than its column
            connection.execute(sql, tuple(whole[name] for name in [*names, *added]))
    return connection.total_changes() - before


def _digest(table: str, fields: Mapping[str, Any]) -> bytes:
    return row_codec.digest([fields[name] for name in DIGESTED[table].split(", ")])


def _repair(table: str, fields: dict[str, Any], done: Recovered) -> dict[str, Any] | None:
    """Return the row with unreadable fields replaced, noting each; None for a record that must be dropped."""
    if table in records.KINDS:
        try:
            records.decode(table, [*(fields[name] for name in DIGESTED[table].split(", ")), fields["digest"], 0, ""])
        except Unreadable:
            return None
    elif table == "changes":
        try:
            row_codec.change([fields[name] for name in row_codec.JOURNAL_COLUMNS.split(", ")])
        except Unreadable:
            done.mended.append(f"journal row {fields['number']}: what it kept of the row before could not be read")
            return {**fields, "before": None}
    elif table in ("conversation_turns", "memories", "memory_sources") and (wrong := row_codec.invalid_columns(fields)):
        what = {"conversation_turns": "turn", "memories": "memory"}.get(table)
        name = f"{what} {fields['id']}" if what else f"source {fields['seq']} of memory row {fields['memory_n']}"
        done.mended.append(f"{name}: {', '.join(wrong)} could not be read")
        fields = row_codec.repaired_columns(fields, 0)
        return {**fields, "digest": _digest(table, fields)} if table in DIGESTED else fields
    return fields


def _columns(source: apsw.Connection, table: str, known: apsw.Connection) -> list[str]:
    """Return the columns of a table; none if the schema cannot be read or is not ours."""
    names, ours = [], {row[1] for row in known.execute(f"pragma table_info({table})")}
    with suppress(*damaged_file.UNREADABLE):
        names = [str(row[1]) for row in source.execute(f"pragma table_info({table})")]
    return names if ours.issuperset(names) else []


def _read(source: apsw.Connection, table: str, failed: list[str], known: apsw.Connection) -> Iterator[Sequence[Any]]:
    """Yield the rows of a table in key order, skipping unreadable ones; `failed` is called for each."""
    try:
        names = _columns(source, table, known)
        if not names:
            failed.append(table)
        elif table in NUMBERED:
            yield from _read_by_number(source, table, ", ".join(names), failed)
        else:
            yield from _read_by_key(source, table, ", ".join(names), failed, known)
    except damaged_file.UNREADABLE:
        failed.append(table)


def _read_by_number(source: apsw.Connection, table: str, columns: str, failed: list[str]) -> Iterator[Sequence[Any]]:
    """Yield rows by ranges of numbers, bisecting around unreadable ones."""
    key = NUMBERED[table]
    sql = f"select {columns} from {table} where {key} between ? and ? order by {key}"
    top = _highest_key(source, table, key)
    spans = [(low, min(low + BATCH, top + 1)) for low in range(1, top + 1, BATCH)][::-1]
    while spans:
        low, high = spans.pop()
        try:
            yield from source.execute(sql, (low, high - 1)).fetchall()
        except damaged_file.UNREADABLE:
            failed.append(f"{table} {low}")
            if len(failed) > FAILURES_AT_MOST:
                return
            if high - low > 1:
                middle = (low + high) // 2
                spans += [(middle, high), (low, middle)]


def _highest_key(source: apsw.Connection, table: str, key: str) -> int:
    """Return the highest row number that a table may contain."""
    try:
        found = index.fetch_one(source, f"select coalesce(max({key}), 0) from {table}")[0]
    except damaged_file.UNREADABLE:
        found = 0
    with suppress(*damaged_file.UNREADABLE):
        found = max(found, index.fetch_one(source, "select coalesce(max(seq), 0) from sqlite_sequence where name = ?", table)[0])
    return min(int(found), HIGHEST)


def _read_by_key(
    source: apsw.Connection, table: str, columns: str, failed: list[str], known: apsw.Connection
) -> Iterator[Sequence[Any]]:
    """Yield rows from both ends, and the details of known memories by their numbers."""
    try:
        yield from source.execute(f"select {columns} from {table}").fetchall()
        return
    except damaged_file.UNREADABLE:
        failed.append(table)
    for order in ("", " desc"):
        by = ", ".join(f"{name}{order}" for name in KEYED[table].split(", "))
        with suppress(*damaged_file.UNREADABLE):
            yield from source.execute(f"select {columns} from {table} order by {by}")
    if "memory_n" in columns.split(", "):
        for scope, n in known.execute("select scope_id, n from memories").fetchall():
            with suppress(*damaged_file.UNREADABLE):
                yield from source.execute(
                    f"select {columns} from {table} where scope_id = ? and memory_n = ?", (scope, n)
                ).fetchall()


def _highest(source: apsw.Connection, done: Recovered) -> None:
    with suppress(*damaged_file.UNREADABLE):
        for table, number in damaged_file.fetch_all(source, "select name, seq from sqlite_sequence"):
            if (table in NUMBERED or table in DERIVED) and number < HIGHEST:
                done.highest[table] = max(number, done.highest.get(table, 0))


def _known_ids(source: apsw.Connection, done: Recovered) -> None:
    """Return the ids of turns and memories listed in the indexes."""
    for table, by_id in IDS.items():
        for order in ("", " desc"):
            with suppress(*damaged_file.UNREADABLE):
                for n, id in source.execute(f"select n, id from {table} indexed by {by_id} order by scope_id{order}, id{order}"):
                    done.known[table, n] = id
