"""
Apply changes in a transaction: check expectations, write the tables, append to the digest-chained change journal.

Everything here runs inside one transaction that the store has begun, with the gate held. The journal
row comes first, so that a memory row can carry the number of its last change. An insert has no image;
an update keeps what it overwrote; a batch of turns is one row. Access counters are not journaled.
What was erased (store/erase.py) is refused here, whoever brings it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any

import apsw

from yiku.errors import Stale
from yiku.store import erase, index, jobs, night_tables, note_tables, published, records, row_codec, scope_names
from yiku.store.protocol import Index
from yiku.types import (
    AddJobs,
    AddMemory,
    AddScope,
    AddSource,
    AddTurns,
    Applied,
    Cause,
    Change,
    CiteSources,
    ClaimJobs,
    CountAccess,
    Drop,
    DropFile,
    EmptyNotes,
    EndJob,
    Erase,
    Erasure,
    Expect,
    IndexFile,
    KeepItem,
    KeepPageVersion,
    KeepReply,
    KeepRun,
    Learned,
    LearningState,
    Lift,
    MarkCompressed,
    Prune,
    Purge,
    Put,
    Receipt,
    RemoveSources,
    Replayed,
    SetLearning,
    SetSession,
    SetTurnHidden,
    Source,
    Spend,
    State,
    Tokens,
    Turn,
    UpdateMemory,
)

RESTART = "restart"  # the action of a journal row that begins a chain of digests
RESTORED = "restored"  # of one behind a gap, whose numbers were given to changes that a restored backup does not hold
LAST_ERASURE = "select coalesce(max(tx), 0) from erasures"
LAST_OF_SLOT = "select coalesce(max(changed), 0) from memories where scope_id = ? and slot = ?"
LAST_OF_PAIR = "select coalesce(max(changed), 0) from memories where scope_id = ? and subject = ? and predicate = ?"
LAST_OF_HASH = "select coalesce(max(changed), 0) from memories where scope_id = ? and content_hash = ?"


# A place that is not in its turn, as when the turn was shortened since, is none.
UNPLACED = """
    update memory_sources set span_start = null, span_end = null where span_start is not null and not exists (
        select 1 from conversation_turns t where t.scope_id = memory_sources.scope_id and t.id = memory_sources.turn
        and (t.blob is not null or span_end <= length(t.content)))"""


@contextmanager
def transaction(connection: apsw.Connection) -> Iterator[None]:
    """Run a transaction: begin immediate, then commit, or roll back on any error."""
    connection.execute("begin immediate")
    try:
        yield
        connection.execute("commit")
    except BaseException:
        if connection.in_transaction:
            connection.execute("rollback")
        raise


def marks(connection: apsw.Connection, scope: int, slots: Iterable[str], hashes: Iterable[bytes]) -> Expect:
    """Return the last change numbers of slots and texts; 0 if there was none."""
    return Expect(
        slots={slot: index.fetch_one(connection, LAST_OF_SLOT, scope, slot)[0] for slot in slots},
        hashes={text: index.fetch_one(connection, LAST_OF_HASH, scope, text)[0] for text in hashes},
    )


def pair_mark(connection: apsw.Connection, scope: int, subject: str, predicate: str) -> int:
    """Return the last change number of a (subject, predicate) pair."""
    last: int = index.fetch_one(connection, LAST_OF_PAIR, scope, subject, predicate)[0]
    return last


def check_expectations(connection: apsw.Connection, scope: int, expect: Expect) -> None:
    """Raise Stale unless everything is as the decision saw it."""
    seen = marks(connection, scope, expect.slots, expect.hashes)
    if seen.slots != expect.slots or seen.hashes != expect.hashes:
        raise Stale
    if any(pair_mark(connection, scope, *pair) != last for pair, last in expect.pairs.items()):
        raise Stale
    if expect.erasure is not None and index.fetch_one(connection, LAST_ERASURE)[0] != expect.erasure:
        raise Stale
    for n, changed in expect.rows.items():
        if connection.execute("select changed from memories where scope_id = ? and n = ?", (scope, n)).fetchone() != (changed,):
            raise Stale


def apply_changes(connection: apsw.Connection, scope: int, changes: Sequence[Change], cause: Cause, key: bytes) -> Applied:
    """Apply changes in order; return their rows and the journal number."""
    journal = Journal(connection, scope, cause, key)
    done = tuple(tuple(_write(connection, scope, change, journal)) for change in changes)
    return Applied(journal.transaction, done, journal.last if journal.transaction else 0)


def _write(connection: apsw.Connection, scope: int, change: Change, journal: Journal) -> Iterable[int]:
    match change:
        case AddScope():
            return _add_scope(connection, change, journal)
        case AddTurns():
            return _add_turns(connection, scope, change, journal)
        case AddMemory():
            return _add_memory(connection, scope, change, journal)
        case UpdateMemory():
            return _update_memory(connection, scope, change, journal)
        case AddSource(n=n, source=source):
            _require_row(connection, "memories", scope, n)
            seq = _add_sources(connection, scope, n, (source,))
            return _touch(connection, n, journal.note("insert", "memory_sources", n, {"seq": seq}))
        case RemoveSources():
            return _remove_sources(connection, scope, change, journal)
        case SetTurnHidden():
            return _set_turn_hidden(connection, scope, change, journal)
        case CountAccess():
            return _count_access(connection, scope, change, row_codec.micros(journal.cause.at))
        case Receipt():
            return _keep_receipt(connection, scope, change, journal)
        case Erase():
            return erase.erase(connection, scope, change, journal)
        case Purge():
            return erase.purge(connection, scope, change, journal)
        case Erasure(number=number, receipt=receipt):
            written = json.dumps(receipt, ensure_ascii=False)
            connection.execute("update erasures set receipt = ? where tx = ? and scope_id = ?", (written, number, scope))
            return ()
        case Lift(seals=seals):
            journal.note("lift", "tombstones", 0, count=len(seals))
            connection.executemany("delete from tombstones where seal = ?", [(seal,) for seal in seals])
            return ()
        case Replayed():
            return _replay(connection, scope, change, journal)
        case Put():
            return records.put(connection, scope, change, journal)
        case Drop():
            return records.drop(connection, scope, change, journal)
        case CiteSources():
            return night_tables.cite_sources(connection, scope, change)
        case KeepItem():
            return night_tables.keep_item(connection, scope, change, journal.transaction)
        case Prune():
            return night_tables.prune(connection, scope, change, journal.transaction)
        case IndexFile() | DropFile() | EmptyNotes():
            return note_tables.write(connection, scope, change)
        case _:
            return _work(connection, scope, change, row_codec.micros(journal.cause.at))


def _work(connection: apsw.Connection, scope: int, change: Change, at: int) -> Iterable[int]:
    """Apply a change to work in progress, which is not journaled."""
    match change:
        case Learned():
            return jobs.mark_learned(connection, scope, change, at)
        case SetLearning():
            return jobs.set_learning(connection, scope, change)
        case SetSession():
            return jobs.set_session(connection, scope, change)
        case MarkCompressed():
            return jobs.mark_compressed(connection, scope, change, at)
        case AddJobs():
            return jobs.add(connection, scope, change)
        case ClaimJobs():
            return jobs.claim(connection, scope, change, at)
        case EndJob():
            return jobs.end(connection, scope, change)
        case KeepReply():
            return jobs.keep_reply(connection, scope, change)
        case KeepRun():
            return night_tables.keep_run(connection, scope, change)
        case KeepPageVersion():
            return published.keep(connection, scope, change, at)
        case Spend(call=call):
            return jobs.spend(connection, scope, call)
    raise AssertionError(change)


def _replay(connection: apsw.Connection, scope: int, change: Replayed, journal: Journal) -> Iterable[int]:
    """Apply another operation's changes within this transaction; return their rows."""
    inner = Journal(connection, scope, change.cause, journal.key)
    done = [n for each in change.changes for n in _write(connection, scope, each, inner)]
    journal.continue_after(inner)
    return done


def _require_row(connection: apsw.Connection, table: str, scope: int, n: int) -> None:
    """Raise Stale unless the scope contains this row."""
    if not connection.execute(f"select 1 from {table} where scope_id = ? and n = ?", (scope, n)).fetchone():
        raise Stale


# ------------------------------------------------------------------ the journal


class Journal:
    """Journal rows of one transaction; its number is that of the first."""

    def __init__(self, connection: apsw.Connection, scope: int, cause: Cause, key: bytes) -> None:
        self.connection = connection
        self.scope = scope
        self.cause = cause
        self.key = key
        self.transaction = 0
        self.last: int
        self._digest: bytes
        last = "select number, digest from changes union all select 0, x'' order by number desc limit 1"
        self.last, self._digest = index.fetch_one(connection, last)

    def continue_after(self, inner: Journal) -> None:
        """Continue after the rows of a nested operation."""
        self.transaction = self.transaction or inner.transaction
        self.last, self._digest = inner.last, inner._digest

    def restart(self) -> None:
        """Write a row that starts a chain."""
        self._digest = b""
        self.note(RESTART, "meta", 0)

    def resume_numbering(self, after: int) -> None:
        """Write a row that skips numbers, saying where the gap starts."""
        previous, self.last = self.last, max(self.last, after)
        self.note(RESTORED, "changes", previous)

    def note(
        self,
        action: str,
        table: str,
        row: int,
        before: dict[str, Any] | None = None,
        *,
        count: int = 1,
        scope: int | None = None,
    ) -> int:
        """Write one row, chained to the previous one; return its number."""
        self.last += 1
        self.transaction = self.transaction or self.last
        cause = self.cause
        scope = self.scope if scope is None else scope
        header = (self.last, self.transaction, scope, row_codec.micros(cause.at), cause.operation, action, table, row, count)
        self._digest = digest(self.key, self._digest, header)
        image = json.dumps(before, ensure_ascii=False, separators=(",", ":")) if before is not None else None
        self.connection.execute(
            f"insert into changes ({CHAINED}, actor, run, reason, before, digest) values ({index.placeholders(range(14))})",
            (*header, cause.actor, cause.run, cause.reason, image, self._digest),
        )
        return self.last


def fingerprint(key: bytes) -> bytes:
    """Return a fingerprint of a key that reveals nothing of it: `key` in meta."""
    return hashlib.blake2b(b"yiku", digest_size=8, key=key).digest()


def register_key(connection: apsw.Connection, key: bytes, at: datetime) -> None:
    """Continue the journal with this key; if the previous key was lost, start a new chain."""
    mark = fingerprint(key)
    known = connection.execute("select value from meta where key = 'key'").fetchone()
    if known == (mark,):
        return
    connection.execute("insert into meta (key, value) values ('key', ?1) on conflict do update set value = ?1", (mark,))
    if known is not None:
        Journal(connection, 0, Cause("lost key", at), key).restart()


CHAINED = "number, tx, scope_id, at, operation, action, tbl, row_n, count"


def digest(key: bytes, previous: bytes, header: Sequence[Any]) -> bytes:
    """
    Return the keyed hash of a journal row, its CHAINED columns and the previous link.

    By whom, why, and the image are not in it, so that erasing them breaks nothing.
    """
    return hashlib.blake2b(previous + json.dumps(header).encode(), digest_size=16, key=key).digest()


# ------------------------------------------------------------------ scopes and turns


def _add_scope(connection: apsw.Connection, change: AddScope, journal: Journal) -> Iterable[int]:
    name = scope_names.encode(change.name)
    if connection.execute("select 1 from scopes where name = ?", (name,)).fetchone():
        return ()
    sql = "insert into scopes (name, label, created_at) values (?, ?, ?) returning id"
    number = index.fetch_one(connection, sql, name, change.label, row_codec.micros(journal.cause.at))[0]
    journal.note("insert", "scopes", number, scope=number)
    if change.learning:
        jobs.set_learning(connection, number, SetLearning(LearningState(change.learning)))
    return (number,)


def _add_turns(connection: apsw.Connection, scope: int, change: AddTurns, journal: Journal) -> Iterable[int]:
    known = _known(connection, scope, change.turns)
    fresh: list[tuple[int, Turn]] = []
    for i, turn in enumerate(change.turns):
        if turn.external_id is None or turn.external_id not in known:
            fresh.append((i, turn))
            known.add(turn.external_id or "")
    if not fresh:
        return [0] * len(change.turns)
    first = _next_n(connection, "conversation_turns")
    places = _places(connection, scope, [turn for _, turn in fresh])
    connection.executemany(
        f"insert into conversation_turns values ({index.placeholders(range(23))})",
        (row_codec.turn_values(first + k, scope, *places[k], turn) for k, (_, turn) in enumerate(fresh)),
    )
    _index_turns(connection, "turn", scope, [(first + k, change.tokens[i]) for k, (i, _) in enumerate(fresh)])
    tools = [
        (first + k, tokens) for k, (i, _) in enumerate(fresh) if i < len(change.tool_tokens) and (tokens := change.tool_tokens[i])
    ]
    _index_turns(connection, "tool", scope, tools)
    journal.note("insert", "conversation_turns", first, count=len(fresh))
    placed = {i: first + k for k, (i, _) in enumerate(fresh)}
    return [placed.get(i, 0) for i in range(len(change.turns))]


def _known(connection: apsw.Connection, scope: int, turns: Sequence[Turn]) -> set[str]:
    given = [turn.external_id for turn in turns if turn.external_id is not None]
    if not given:
        return set()
    sql = "select external_id from conversation_turns where scope_id = ? and external_id in (select value from json_each(?))"
    return {row[0] for row in connection.execute(sql, (scope, json.dumps(given, ensure_ascii=False)))}


def _next_n(connection: apsw.Connection, table: str) -> int:
    row = connection.execute("select seq from sqlite_sequence where name = ?", (table,)).fetchone()
    return 1 + (row[0] if row else 0)


def _places(connection: apsw.Connection, scope: int, turns: Sequence[Turn]) -> list[tuple[int, int]]:
    """Return session number and position for each turn, creating sessions as needed."""
    spans: dict[str, list[int]] = {}
    for turn in turns:
        at = row_codec.micros(turn.said_at)
        span = spans.setdefault(turn.session, [0, at, at])
        span[:] = span[0] + 1, min(span[1], at), max(span[2], at)
    starts: dict[str, tuple[int, int]] = {}
    for session, (count, start, end) in spans.items():
        sql = (
            "insert into sessions (scope_id, id, turns, started_at, ended_at) values (?1, ?2, ?3, ?4, ?5) on conflict (scope_id, id)"
            " do update set turns = turns + ?3, started_at = min(started_at, ?4), ended_at = max(ended_at, ?5) returning n, turns"
        )
        n, total = index.fetch_one(connection, sql, scope, session, count, start, end)
        starts[session] = (n, total - count)
    placed = []
    for turn in turns:
        n, position = starts[turn.session]
        placed.append((n, position))
        starts[turn.session] = (n, position + 1)
    return placed


def _index_turns(connection: apsw.Connection, name: Index, scope: int, items: Sequence[tuple[int, Tokens]]) -> None:
    if not items:
        return
    connection.executemany(
        f"insert into {name}_index (rowid, tokens) values (?, ?)",
        ((n * index.STEPS + index.step(len(tokens.words)), index.prefixed(tokens, scope, False)) for n, tokens in items),
    )
    index.add_totals(connection, name, scope, len(items), sum(len(tokens.words) for _, tokens in items))


def _set_turn_hidden(connection: apsw.Connection, scope: int, change: SetTurnHidden, journal: Journal) -> Iterable[int]:
    _require_row(connection, "conversation_turns", scope, change.n)
    row = connection.execute("select hidden_at from turn_state where turn_n = ?", (change.n,)).fetchone()
    was, is_ = row[0] if row else None, None if change.hidden_at is None else row_codec.micros(change.hidden_at)
    if (was is None) == (is_ is None):
        return ()
    journal.note("update", "turn_state", change.n, {"hidden_at": was})
    sql = "insert into turn_state (turn_n, scope_id, hidden_at) values (?1, ?2, ?3) on conflict do update set hidden_at = ?3"
    connection.execute(sql, (change.n, scope, is_))
    index.remove(connection, "turn", scope, change.n, change.tokens, past=was is not None)
    index.add(connection, "turn", scope, change.n, change.tokens, past=is_ is not None)
    return (change.n,)


# ------------------------------------------------------------------ memories


def _add_memory(connection: apsw.Connection, scope: int, change: AddMemory, journal: Journal) -> Iterable[int]:
    memory = change.memory
    n = _next_n(connection, "memories")
    changed = journal.note("insert", "memories", n)
    connection.execute(row_codec.MEMORY_INSERT, row_codec.memory_values(n, scope, changed, memory))
    _add_sources(connection, scope, n, memory.sources)
    connection.executemany(
        "insert or ignore into memory_entities values (?, ?, ?)", [(scope, n, entity) for entity in memory.entities]
    )
    created = row_codec.micros(memory.created_at)
    connection.executemany(
        "insert into memory_relations (scope_id, memory_n, subject, relation_type, object, confidence, created, superseded)"
        " values (?, ?, ?, ?, ?, ?, ?, ?)",
        [(scope, n, *relation, memory.confidence, created, int(not memory.live)) for relation in memory.relations],
    )
    _set_tags(connection, scope, n, memory.tags)
    index.add(connection, "memory", scope, n, change.tokens, past=not memory.live)
    return (n,)


def _update_memory(connection: apsw.Connection, scope: int, change: UpdateMemory, journal: Journal) -> Iterable[int]:
    _require_row(connection, "memories", scope, change.n)
    columns = {name: row_codec.column(value) for name, value in change.columns.items() if name != "tags"}
    sql = f"select {row_codec.MEMORY_DIGESTED} from memories where scope_id = ? and n = ?"
    row = dict(zip(row_codec.MEMORY_DIGESTED.split(", "), index.fetch_one(connection, sql, scope, change.n), strict=True))
    counted = [name for name in columns if name not in row]  # counters, which no digest covers: those of a merged row are added
    before = {name: row[name] for name in columns if name in row}
    if counted:
        sql = f"select {', '.join(counted)} from memories where scope_id = ? and n = ?"
        before |= dict(zip(counted, index.fetch_one(connection, sql, scope, change.n), strict=True))
    if "tags" in change.columns:
        before["tags"] = _tags(connection, scope, change.n)
        _set_tags(connection, scope, change.n, change.columns["tags"])
    was = row["state"] == State.ACTIVE and row["superseded_by"] is None
    row |= {name: value for name, value in columns.items() if name in row}
    is_ = row["state"] == State.ACTIVE and row["superseded_by"] is None
    columns["digest"] = row_codec.digest(tuple(row.values()))
    columns["changed"] = journal.note("update", "memories", change.n, before)
    columns["updated_at"] = row_codec.micros(journal.cause.at)
    assignments = ", ".join(f"{name} = ?" for name in columns)
    connection.execute(f"update memories set {assignments} where scope_id = ? and n = ?", (*columns.values(), scope, change.n))
    if was != is_:
        index.remove(connection, "memory", scope, change.n, change.tokens, past=not was)
        index.add(connection, "memory", scope, change.n, change.tokens, past=not is_)
        connection.execute(
            "update memory_relations set superseded = ? where scope_id = ? and memory_n = ?",
            (int(not is_), scope, change.n),
        )
    return (change.n,)


def _add_sources(connection: apsw.Connection, scope: int, n: int, sources: Sequence[Source]) -> int:
    """Append sources; return the number of the last."""
    sql = "select coalesce(max(seq), 0) from memory_sources where scope_id = ? and memory_n = ?"
    last: int = index.fetch_one(connection, sql, scope, n)[0]
    connection.executemany(
        f"insert into memory_sources values ({index.placeholders(range(14))})",
        [(scope, n, last + k, *row_codec.source_values(source)) for k, source in enumerate(sources, 1)],
    )
    if any(source.start is not None for source in sources):
        connection.execute(f"{UNPLACED} and scope_id = ? and memory_n = ? and seq > ?", (scope, n, last))
    return last + len(sources)


def _remove_sources(connection: apsw.Connection, scope: int, change: RemoveSources, journal: Journal) -> Iterable[int]:
    _require_row(connection, "memories", scope, change.n)
    among = f"scope_id = ? and memory_n = ? and seq in ({index.placeholders(change.seqs)})"
    values = (scope, change.n, *change.seqs)
    gone = connection.execute(
        f"select {row_codec.SOURCE_COLUMNS} from memory_sources where {among} order by seq", values
    ).fetchall()
    connection.execute(f"delete from memory_sources where {among}", values)
    return _touch(connection, change.n, journal.note("delete", "memory_sources", change.n, {"sources": gone}, count=len(gone)))


def _touch(connection: apsw.Connection, n: int, number: int) -> Iterable[int]:
    """Set a row's last change, for changes in other tables."""
    connection.execute("update memories set changed = ? where n = ?", (number, n))
    return (n,)


def _tags(connection: apsw.Connection, scope: int, n: int) -> list[str]:
    sql = "select g.name from memory_tag_rel r join memory_tags g on g.id = r.tag_id where r.scope_id = ? and r.memory_n = ? order by g.name"
    return [row[0] for row in connection.execute(sql, (scope, n))]


def _set_tags(connection: apsw.Connection, scope: int, n: int, tags: Sequence[str]) -> None:
    connection.execute("delete from memory_tag_rel where scope_id = ? and memory_n = ?", (scope, n))
    connection.executemany("insert or ignore into memory_tags (scope_id, name) values (?, ?)", [(scope, tag) for tag in tags])
    sql = "insert or ignore into memory_tag_rel select ?1, ?2, id from memory_tags where scope_id = ?1 and name = ?3"
    connection.executemany(sql, [(scope, n, tag) for tag in tags])


def _count_access(connection: apsw.Connection, scope: int, change: CountAccess, at: int) -> Iterable[int]:
    access, since = change.access, None if change.since is None else row_codec.micros(change.since)
    sql = (
        f"update memories set {access} = {access} + 1, last_{access} = ?1 where scope_id = ?2 and n = ?3"
        f" and (?4 is null or last_{access} is null or last_{access} < ?4 or last_{access} > ?1) returning n"
    )
    counted: list[Any] = [row[0] for n in change.ns for row in connection.execute(sql, (at, scope, n, since)).fetchall()]
    sql = "insert into access_log (scope_id, memory_n, access, at) values (?, ?, ?, ?)"
    connection.executemany(sql, [(scope, n, access, at) for n in counted])
    records.count_shown(connection, scope, change.episodes)
    return counted


def _keep_receipt(connection: apsw.Connection, scope: int, change: Receipt, journal: Journal) -> Iterable[int]:
    if connection.execute("select 1 from receipts where scope_id = ? and key = ?", (scope, change.key)).fetchone():
        raise Stale  # another process was first: read its result
    result = json.dumps({**change.result, "operation": journal.transaction}, ensure_ascii=False)
    sql = "insert into receipts (scope_id, key, digest, result, at) values (?, ?, ?, ?, ?)"
    connection.execute(sql, (scope, change.key, change.digest, result, row_codec.micros(journal.cause.at)))
    return ()
