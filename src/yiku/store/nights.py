"""
`Store.nights` on SQLite: read nightly maintenance runs and decisions; find stale summaries, sessions to summarize.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from yiku.store import row_codec
from yiku.store.database import Database
from yiku.store.night_tables import ITEM_COLUMNS, RUN_COLUMNS
from yiku.types import NightItem, NightRun


class SqliteNights:
    """See yiku.store.protocol.Nights."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def runs(self, scope: int, *, id: str | None = None, limit: int | None = None) -> list[NightRun]:
        """See Nights.runs."""
        sql = f"select {RUN_COLUMNS} from runs where scope_id = ?1 and (?2 is null or id = ?2) order by n desc limit ?3"
        with self._database.read() as connection:
            found = connection.execute(sql, (scope, id, -1 if limit is None else limit)).fetchall()
        return [_run(row) for row in found]

    def items(self, scope: int, run: str, *, after: int = 0, limit: int | None = None) -> list[NightItem]:
        """See Nights.items."""
        sql = f"select {ITEM_COLUMNS} from night_items where scope_id = ? and run = ? and item > ? order by item limit ?"
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
