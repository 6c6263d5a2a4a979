"""
Write the tables of nightly maintenance: runs, decisions, sources of summaries; delete rows no longer needed.

Runs and decisions are not journaled; the changes that they made are.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace

import apsw

from yiku.store import index, row_codec
from yiku.types import CiteSources, KeepItem, KeepRun, Prune
from yiku.types.changes import RETRACTION

RUN_COLUMNS = "id, mode, at, offset_min, started_at, finished_at, phase, seen, counts"
ITEM_COLUMNS = "item, phase, action, tx, ids, reason, evidence, at"


def cite_sources(connection: apsw.Connection, scope: int, change: CiteSources) -> Iterable[int]:
    """Write down from which statements a summary was made."""
    sql = "insert or ignore into summary_sources select ?1, n, ?3 from memories where scope_id = ?1 and id = ?2"
    connection.executemany(sql, [(scope, change.summary, n) for n in change.sources])
    return ()


def keep_run(connection: apsw.Connection, scope: int, change: KeepRun) -> Iterable[int]:
    """Insert or update a run."""
    run = change.run
    sql = (
        f"insert into runs (scope_id, {RUN_COLUMNS}) values ({index.placeholders(range(10))}) on conflict (scope_id, id) do update set"
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
        f"insert into night_items (scope_id, run, {ITEM_COLUMNS}) select ?1, ?2, coalesce(max(item), 0) + 1, ?3, ?4, ?5, ?6, ?7, ?8, ?9"
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
        ("receipts", f"at < ?2 and key not glob '{RETRACTION} *'", (scope, at)),
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
