"""
`Store.nights` on SQLite: runs of the night and their decisions. Neither is journaled; the changes they made are.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

import apsw

from yiku.store import index, row_codec
from yiku.types import CiteSources, KeepItem, KeepRun, NightItem, NightRun, Prune

if TYPE_CHECKING:
    from yiku.store.database import Database  # which imports what writes these

_RUN = "id, mode, at, offset_min, started_at, finished_at, phase, seen, counts"
_ITEM = "item, phase, action, tx, ids, reason, evidence, at"


class SqliteNights:
    """See yiku.store.protocol.Nights."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def runs(self, scope: int, *, id: str | None = None, limit: int | None = None) -> list[NightRun]:
        """See Nights.runs."""
        sql = f"select {_RUN} from runs where scope_id = ?1 and (?2 is null or id = ?2) order by n desc limit ?3"
        with self._database.read() as connection:
            found = connection.execute(sql, (scope, id, -1 if limit is None else limit)).fetchall()
        return [_run(row) for row in found]

    def items(self, scope: int, run: str, *, after: int = 0, limit: int | None = None) -> list[NightItem]:
        """See Nights.items."""
        sql = f"select {_ITEM} from night_items where scope_id = ? and run = ? and item > ? order by item limit ?"
        with self._database.read() as connection:
            found = connection.execute(sql, (scope, run, after, -1 if limit is None else limit)).fetchall()
        return [_item(row) for row in found]

    def counts(self, scope: int, run: str) -> Mapping[str, int]:
        """See Nights.counts."""
        sql = "select action, count(*) from night_items where scope_id = ? and run = ? group by action order by min(item)"
        with self._database.read() as connection:
            return {str(action): int(number) for action, number in connection.execute(sql, (scope, run))}

    def decided(self, scope: int, action: str) -> set[str]:
        """See Nights.decided."""
        sql = "select j.value from night_items i, json_each(i.ids) j where i.scope_id = ? and i.action = ?"
        with self._database.read() as connection:
            return {str(id) for (id,) in connection.execute(sql, (scope, action))}

    def untold(self, scope: int, until: datetime) -> list[str]:
        """See Nights.untold."""
        covered = "select 1 from episodes e where e.scope_id = s.scope_id and e.session = s.id and e.ended_at >= s.ended_at"
        sql = f"select s.id from sessions s where s.scope_id = ? and s.ended_at <= ? and not exists ({covered}) order by s.n"
        with self._database.read() as connection:
            return [str(id) for (id,) in connection.execute(sql, (scope, row_codec.micros(until)))]

    def summarized(self, scope: int, ns: Sequence[int]) -> dict[int, list[int]]:
        """See Nights.summarized."""
        sql = (
            "select memory_n, source_n from summary_sources where scope_id = ? and memory_n in (select value from json_each(?))"
            " order by memory_n, source_n"
        )
        found: dict[int, list[int]] = {}
        with self._database.read() as connection:
            rows: Any = connection.execute(sql, (scope, json.dumps(list(ns)))).fetchall()
        for n, source in rows:
            found.setdefault(n, []).append(source)
        return found

    def stale(self, scope: int) -> list[int]:
        """See Nights.stale."""
        sql = (
            "select distinct s.memory_n from summary_sources s join memories m on m.scope_id = s.scope_id and m.n = s.memory_n"
            " left join memories o on o.scope_id = s.scope_id and o.n = s.source_n"
            " where s.scope_id = ? and m.state = 'active' and m.superseded_by is null"
            " and (o.n is null or o.state <> 'active' or o.superseded_by is not null) order by 1"
        )
        with self._database.read() as connection:
            rows: Any = connection.execute(sql, (scope,)).fetchall()
        return [row[0] for row in rows]


def cite_sources(connection: apsw.Connection, scope: int, change: CiteSources) -> Iterable[int]:
    """Write down from which statements a summary was made."""
    sql = "insert or ignore into summary_sources select ?1, n, ?3 from memories where scope_id = ?1 and id = ?2"
    connection.executemany(sql, [(scope, change.summary, n) for n in change.sources])
    return ()


def keep_run(connection: apsw.Connection, scope: int, change: KeepRun) -> Iterable[int]:
    """Insert or update a run."""
    run = change.run
    sql = (
        f"insert into runs (scope_id, {_RUN}) values ({index.placeholders(range(10))}) on conflict (scope_id, id) do update set"
        " finished_at = excluded.finished_at, phase = excluded.phase, counts = excluded.counts returning n"
    )
    times = (row_codec.micros(run.at), row_codec.offset_min(run.at), row_codec.micros(run.started_at))
    ended = None if run.finished_at is None else row_codec.micros(run.finished_at)
    counts = json.dumps(run.counts, separators=(",", ":"))
    return (index.fetch_one(connection, sql, scope, run.id, run.mode, *times, ended, run.phase, run.seen, counts)[0],)


def keep_item(connection: apsw.Connection, scope: int, change: KeepItem, operation: int) -> Iterable[int]:
    """Write a decision down; the result is its number in the run."""
    item = change.item
    sql = (
        f"insert into night_items (scope_id, run, {_ITEM}) select ?1, ?2, coalesce(max(item), 0) + 1, ?3, ?4, ?5, ?6, ?7, ?8, ?9"
        " from night_items where scope_id = ?1 and run = ?2 returning item"
    )
    ids, evidence = (json.dumps(value, separators=(",", ":")) for value in (item.ids, dict(item.evidence)))
    written = (item.phase, item.action, item.operation or operation, ids, item.reason, evidence, row_codec.micros(item.at))
    return (index.fetch_one(connection, sql, scope, change.run, *written)[0],)


def prune(connection: apsw.Connection, scope: int, change: Prune, operation: int) -> Iterable[int]:
    """Drop what nothing refers to any more; the counts are those of Prune.COUNTED."""
    at, counts = row_codec.micros(change.older_than), list[int]()
    newest = "select max(n) from published p where p.scope_id = published.scope_id and p.page = published.page"
    old_runs = "select id from runs where scope_id = ?1 and started_at < ?2"
    for table, condition, bound in (
        (
            "memory_tags",
            "not exists (select 1 from memory_tag_rel r where r.scope_id = ?1 and r.tag_id = memory_tags.id)",
            (scope,),
        ),
        ("receipts", "at < ?2", (scope, at)),
        ("access_log", "at < ?2", (scope, at)),
        ("published", f"at < ?2 and n < ({newest})", (scope, at)),
        ("night_items", f"run in ({old_runs})", (scope, at)),
    ):
        gone = connection.execute(f"delete from {table} where scope_id = ?1 and {condition} returning 1", bound).fetchall()
        counts.append(len(gone))
    if change.kept and any(counts):
        item = replace(change.kept.item, evidence=dict(zip(Prune.COUNTED, counts, strict=True)))
        keep_item(connection, scope, replace(change.kept, item=item), operation)
    return counts


def _run(row: Sequence[Any]) -> NightRun:
    id, mode, at, offset, started, finished, phase, seen, counts = row
    return NightRun(
        id=id,
        mode=mode,
        at=row_codec.instant(at, offset),
        started_at=row_codec.instant(started, offset),
        finished_at=None if finished is None else row_codec.instant(finished, offset),
        phase=phase,
        seen=seen,
        counts=json.loads(counts),
    )


def _item(row: Sequence[Any]) -> NightItem:
    item, phase, action, operation, ids, reason, evidence, at = row
    return NightItem(
        item=item,
        phase=phase,
        action=action,
        ids=tuple(json.loads(ids)),
        reason=reason,
        evidence=json.loads(evidence),
        operation=operation,
        at=row_codec.instant(at, 0),
    )
