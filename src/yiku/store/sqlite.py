"""
The store on SQLite: connections, transactions, reads.

One file in WAL mode. Reads go straight to SQLite, one connection a thread. A write holds the gate,
begins immediately, checks what its decision rested on, changes, and commits with one flush; nothing
is acknowledged before. Opening and reading write nothing; creating and migrating happen in the gate (`opening`).
`write` says how each change lies in the tables, `index` how search does, `rows` how values do, `schema`
how a file becomes one of ours. Beside the file lie its mark (`store.id`) and a reserve of space, given
up so that forgetting works on a full disk.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import apsw

from yiku.errors import (
    Closed,
    Damaged,
    NotFound,
    ReadOnly,
    Stale,
    StoreBusy,
    StoreError,
    StoreMismatch,
    Unreadable,
)
from yiku.store import byte_search, connect, copy, erase, index, jobs, pages, records, rows, schema, texts, totals, where, write
from yiku.store.api import Index, R
from yiku.store.columns import Columns
from yiku.store.connect import bytes_of, has_moved, wal_bytes
from yiku.store.error_mapping import mapped_errors, means_full
from yiku.store.forks import inside
from yiku.store.gate import Gate
from yiku.store.mark import Mark
from yiku.store.opening import Opening
from yiku.store.reserve import Reserve
from yiku.types import (
    Applied,
    Cardinality,
    Cause,
    Change,
    ChangeRow,
    Copied,
    Expect,
    HeldText,
    Job,
    LearningState,
    Memories,
    Met,
    ModelCall,
    Postings,
    Records,
    Relation,
    SemanticMemory,
    Session,
    Source,
    Turn,
    TurnColumns,
    Turns,
)

FLUSH_AFTER_S = 0.5  # with durability = fast, from the first write that waits for it; we promise a second
CLOSE_WITHIN_S = 2.0  # for other threads and processes that are busy
LOOK_AT_WAL_EACH = 64  # writes
WAIT_FOR_READERS_MS = 100  # of that checkpoint: readers that overlap leave no moment without one; new ones are in nobody's way
UNREADABLE_KEPT = 1_000  # rows that are named
FREEING = ("forget", "erase")  # what may use the reserve
SCOPES_KNOWN_S = 1.0  # a scope's number is looked up again after so long: another process may have erased it
_log = logging.getLogger(__name__)
_INHERITED: list[threading.local] = []  # connections of a parent process: never used, and never closed by us
_FROM_TURNS = (
    "from conversation_turns t join sessions s on s.n = t.session_n join scopes c on c.id = t.scope_id"
    " left join turn_state x on x.turn_n = t.n"
)
_FROM_MEMORIES = "from memories m join scopes c on c.id = m.scope_id"

# What a new statement meets, see SqliteStore.met.
_CURRENT = "m.state = 'active' and m.superseded_by is null"
_SAME = f"where m.scope_id = ? and m.content_hash = ? and m.kind = ? and {_CURRENT}"
_RIVALS = f"where m.scope_id = ? and m.subject = ? and m.predicate = ? and {_CURRENT}"
_IN_SLOT = "where m.scope_id = ? and m.slot = ? and m.state = 'active' "
_RETRIEVED = (
    f"where m.scope_id = ? and {_CURRENT} and m.n in"
    " (select memory_n from access_log where scope_id = ? and at >= ? and access = 'retrieved')"
)
_BEFORE = "and (m.said_at, m.place) <= (?, ?) order by m.said_at desc, m.place desc, m.n desc limit 1"
_AFTER = "and (m.said_at, m.place) > (?, ?) order by m.said_at, m.place, m.n limit 1"
_LIVE = "and m.superseded_by is null order by m.said_at desc, m.n desc limit 1"


class SqliteStore:
    """See yiku.store.api.Store. Safe to use from several threads and after a fork."""

    def __init__(
        self,
        path: Path,
        *,
        gate: Path,
        analyzer: str,
        key: bytes = b"",
        durability: str = "full",
        busy_timeout_s: float = 30.0,
        network: bool = False,
    ) -> None:
        """
        Open the store at `path`, making it when it is not there.

        analyzer: the version of the analyzer whose tokens will be handed in
        key:      of the journal's digests, at most 64 bytes
        network:  the file system is a network's, whose memory is not shared: no WAL
        Raises StoreMismatch, ForeignStore, SchemaTooNew, IndexOutdated, Damaged, ReadOnly, StorageFull, StoreBusy, Unsupported.
        """
        self.path = path
        self.durability = durability
        self.busy_timeout_s = busy_timeout_s
        self.key = key
        self.network = network
        self.read_only = False
        self._mark = Mark(path.with_name("store.id"))
        self._reserve = Reserve(path.with_name("reserve"))
        self._gate = Gate(gate, busy_timeout_s)
        self._writes = 0
        self._local = threading.local()
        self._connections = weakref.WeakSet[apsw.Connection]()  # a thread that ends takes its own with it
        self._pid = os.getpid()
        self._flushing: threading.Timer | None = None  # with `fast`, while a write waits for its flush
        self._closed = False
        self._scopes: dict[str, tuple[int, float]] = {}  # number, and when it was looked up
        self._columns = Columns()
        self._unreadable: dict[str, tuple[int, str]] = {}  # rows that were met and left out: their scope, and why
        opening = Opening(
            path=path,
            gate=self._gate,
            mark=self._mark,
            reserve=self._reserve,
            connection=self._connection,
            forget=self._forget_connection,
            analyzer=analyzer,
            key=key,
            durability=durability,
            network=network,
        )
        try:
            with mapped_errors(str(path)):
                try:
                    self.store_id = opening.settled()
                finally:
                    self._wrote = opening.wrote
        except (IndexError, KeyError) as error:
            self.close()
            raise Damaged(f"{path}: a row that is always there is missing") from error
        except BaseException:
            self.close()
            raise

    # -------------------------------------------------------------- connections

    def _connection(self) -> apsw.Connection:
        """This thread's connection."""
        if self._closed:
            raise Closed
        if self._pid != os.getpid():  # after a fork SQLite's handles belong to the parent
            _INHERITED.append(self._local)
            self._local, self._connections, self._pid = threading.local(), weakref.WeakSet(), os.getpid()
            self._flushing = None  # the timer stayed with the parent
        connection: apsw.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = self._open()
            self._local.indexed = set[Index]()  # what was prepared in it
            self._connections.add(connection)
        return connection

    def _forget_connection(self) -> None:
        """Close this thread's connection; the next call opens another."""
        connection: apsw.Connection | None = getattr(self._local, "connection", None)
        if connection is not None:
            self._local.connection = None
            connection.close()

    def _open(self) -> apsw.Connection:
        connection = connect.to(self.path, durability=self.durability, network=self.network, busy_timeout_s=self.busy_timeout_s)
        self.read_only = self.read_only or connect.cannot_write(connection)
        return connection

    def close(self) -> None:
        """Checkpoint what this process wrote, inside the gate, and let go of the files. Calls under way end with Closed."""
        if self._closed:
            return
        self._closed = True
        if self._flushing is not None:
            self._flushing.cancel()
        if self._pid == os.getpid():
            try:
                if self._wrote:
                    self._gate.timeout_s = min(self._gate.timeout_s, CLOSE_WITHIN_S)
                    with self._gate.held(), inside():
                        connection = getattr(self._local, "connection", None) or self._open()
                        self._connections.add(connection)
                        if not has_moved(connection) and pages.emptied_wal(connection, int(CLOSE_WITHIN_S * 1000)):
                            self._mark.write(*schema.identity(connection), shut=True)
            except (apsw.Error, StoreError):
                pass  # a reader or another writer is busy: the next close does it, the WAL stays valid
            deadline = time.monotonic() + CLOSE_WITHIN_S
            with inside():
                for connection in list(self._connections):
                    connect.closed(connection, deadline)
        self._gate.close()

    # -------------------------------------------------------------- writing

    def apply(self, scope: int, changes: Sequence[Change], cause: Cause, expect: Expect | None = None) -> Applied:
        """See Store.apply."""
        with mapped_errors(str(self.path)):
            connection = self._connection()
            if self.read_only:
                raise ReadOnly(str(self.path))
            with self._gate.held():
                self._refuse_moved(connection)
                try:
                    return self._applied(connection, scope, changes, cause, expect)
                except (apsw.FullError, apsw.IOError) as error:
                    if cause.operation not in FREEING or not (means_full(error) and self._reserve.release()):
                        raise
                    return self._applied(connection, scope, changes, cause, expect)

    def _refuse_moved(self, connection: apsw.Connection) -> None:
        """Raise StoreMismatch where the file that is open here is not the one at the path any more: SQLite goes on with it."""
        if has_moved(connection):
            became = "replaced" if self.path.exists() else "deleted, or its home was moved,"
            raise StoreMismatch(f"{self.path} was {became} while it was open here; close this memory and open it again")

    def _applied(
        self, connection: apsw.Connection, scope: int, changes: Sequence[Change], cause: Cause, expect: Expect | None
    ) -> Applied:
        try:
            with write.transaction(connection):
                self._wrote = True
                if expect is not None:
                    write.check(connection, scope, expect)
                if not self._writes:
                    write.key_known(connection, self.key, cause.at)
                applied = write.write(connection, scope, changes, cause, self.key)
        except apsw.ConstraintError as error:
            reason = getattr(error, "extendedresult", 0)
            if reason == apsw.SQLITE_CONSTRAINT_FOREIGNKEY:
                self._scopes.clear()  # another process has erased this scope
            elif reason != apsw.SQLITE_CONSTRAINT_UNIQUE:  # another process has made the same meanwhile
                raise
            raise Stale from error
        if self.durability == "fast" and cause.operation == "erase":
            self._flush()  # the mirror, which is written next, must not know more than a power cut leaves
        elif self.durability == "fast":
            self._flush_soon()
        elif applied.last:
            self._mark.write(self.store_id, applied.last)
        if cause.operation == "erase":
            self._scopes.clear()  # perhaps a whole scope is gone
            self._columns = Columns()
        self._writes += 1
        if self._writes % LOOK_AT_WAL_EACH == 1:
            self._reserve.keep()
            self._keep_wal_small()
        return applied

    def _flush_soon(self) -> None:
        """With `fast`: within a second what is written from now on is flushed, also when nobody writes again."""
        if self._flushing is None:
            timer = threading.Timer(FLUSH_AFTER_S, self._flush)
            timer.daemon = True
            with contextlib.suppress(RuntimeError):  # no more threads, or the interpreter ends: closing flushes, too
                timer.start()
                self._flushing = timer

    def _flush(self) -> None:
        """A commit that is flushed, and all before with it. A checkpoint would not do: it flushes nothing while a reader stops it."""
        try:
            with mapped_errors(str(self.path)):
                connection = self._connection()
                with self._gate.held():
                    self._flushing = None
                    connection.pragma("synchronous", "FULL")
                    with write.transaction(connection):
                        version = index.one(connection, "pragma user_version")[0]
                        connection.execute(f"pragma user_version = {version}")  # as it is: a page to write
                    self._mark.write(*schema.identity(connection))
        except Closed:
            pass
        except StoreBusy:
            self._flushing = None
            self._flush_soon()
        except StoreError as error:  # a full disk, a home that is gone: the next write tries again
            self._flushing = None
            _log.warning("what was written last is not flushed yet: %s", error.detail)

    def _keep_wal_small(self) -> None:
        """Where readers kept SQLite's own checkpoints from starting the WAL anew, one that waits a moment finds a gap."""
        if wal_bytes(self.path) > connect.WAL_LIMIT_BYTES:
            try:
                pages.emptied_wal(self._connection(), WAIT_FOR_READERS_MS)
            except apsw.Error as error:  # what was committed stays in the WAL, and the next one tries again
                _log.warning("the log of %s could not be worked in: %s", self.path, error)

    def alone(self) -> AbstractContextManager[None]:
        """See Store.alone."""
        return self._gate.held()

    def copied(self, path: Path) -> Copied:
        """See Store.copied."""
        with mapped_errors(str(path)):
            return copy.verified(self._connection(), path, self._gate.held())

    def since(self, last: Mapping[str, int]) -> Mapping[str, int]:
        """How many turns, memories and changes there are behind these numbers."""
        with mapped_errors(str(self.path)):
            return copy.since(self._connection(), last)

    def go_on(self, before: Path, mark: tuple[str, int] | None, cause: Cause, scope: str) -> int:
        """Go on from where a store was that cannot be opened any more, by its file and its mark; as `put_back` does."""
        from yiku.store import restore

        with mapped_errors(str(self.path)):
            connection = self._connection()
            given = restore.guessed(before, connection, mark)
            return restore.go_on(connection, given, self.scope(scope) or 0, cause, self.key)

    def put_back(self, prepared: SqliteStore, cause: Cause, scope: str, sweep: Callable[[], None]) -> int:
        """
        The content of a prepared store becomes this one's, in one transaction; the number of the row in the scope's journal.

        sweep: takes out of the prepared store what was erased since it was copied. The gate is held.
        """
        from yiku.store import restore

        with mapped_errors(str(self.path)):
            live, connection = self._connection(), prepared._connection()
            if self.read_only:
                raise ReadOnly(str(self.path))
            number = restore.go_on(connection, restore.given(live), prepared.scope(scope) or 0, cause, self.key)
            sweep()
            self._wrote = True
            restore.put(connection, live)
            self._scopes.clear()
            self._mark.write(*schema.identity(live))
            self._keep_wal_small()
        return number

    def scope(self, name: str) -> int | None:
        """See Store.scope. Every verb asks for its scopes first, so this is where a database that is gone is noticed."""
        with mapped_errors(str(self.path)):
            self._refuse_moved(self._connection())
        number, seen = self._scopes.get(name, (0, 0.0))
        if not number or time.monotonic() - seen > SCOPES_KNOWN_S:
            if (row := self._one("select id from scopes where name = ?", name)) is None:
                self._scopes.pop(name, None)
                return None
            number = row[0]
            self._scopes[name] = number, time.monotonic()
        return number

    def scopes(self) -> list[tuple[int, str, str | None]]:
        """See Store.scopes."""
        return [(number, name, label) for number, name, label in self._all("select id, name, label from scopes order by id")]

    def marks(self, scope: int, slots: Iterable[str], hashes: Iterable[bytes]) -> Expect:
        """See Store.marks."""
        with mapped_errors(str(self.path)):
            return write.marks(self._connection(), scope, slots, hashes)

    # -------------------------------------------------------------- reading

    def met(self, scope: int, new: SemanticMemory) -> Met:
        """See Store.met. The marks are read first: what changes after them makes the decision stale."""
        expect = self.marks(scope, [new.slot] if new.slot else [], [new.content_hash])
        if new.slot is None:
            return Met(expect=expect, same=self._exactly(_SAME, scope, new.content_hash, new.kind.value))
        at = (rows.micros(new.said_at), new.place)
        previous = self._exactly(_IN_SLOT + _BEFORE, scope, new.slot, *at)
        following = self._exactly(_IN_SLOT + _AFTER, scope, new.slot, *at)
        if previous and previous[0].confirmed_at > new.said_at:
            previous = self.filled(previous)
        live = self._exactly(_IN_SLOT + _LIVE, scope, new.slot) if following else previous
        rivals: list[SemanticMemory] = []
        if new.cardinality is Cardinality.UNKNOWN and not previous and not following:
            pair = (new.subject or "", new.predicate or "")
            with mapped_errors(str(self.path)):
                expect = replace(expect, pairs={pair: write.pair_mark(self._connection(), scope, *pair)})
            rivals = self._exactly(_RIVALS, scope, *pair)
        same = [] if previous or following else self._exactly(_SAME, scope, new.content_hash, new.kind.value)
        first, second, third = (next(iter(found), None) for found in (previous, following, live))
        return Met(expect=expect, same=same, previous=first, following=second, live=third, rivals=rivals)

    def _memories(self, sql: str, *values: Any) -> list[SemanticMemory]:
        """What can be read of the memories that are asked for."""
        return rows.each(rows.memory, self._all(f"select {rows.MEMORY_COLUMNS} {_FROM_MEMORIES} {sql}", *values), self._left_out)

    def _exactly(self, sql: str, *values: Any) -> list[SemanticMemory]:
        """The memories that are asked for: a decision rests on each of them. Raises Unreadable."""
        return [rows.memory(row) for row in self._all(f"select {rows.MEMORY_COLUMNS} {_FROM_MEMORIES} {sql}", *values)]

    def _left_out(self, error: Unreadable, scope: int = 0) -> None:
        """A row that cannot be read is left out of an answer, and said: once in the log, and to who asks."""
        if error.id not in self._unreadable and len(self._unreadable) < UNREADABLE_KEPT:
            self._unreadable[error.id] = error.scope or scope, error.detail
            _log.warning("%s; it is left out: yiku check says more, yiku repair mends it", error.detail)

    def unreadable(self, scopes: Sequence[int]) -> Mapping[str, str]:
        """See Store.unreadable."""
        return {id: why for id, (scope, why) in [*self._unreadable.items()] if scope in scopes}

    def _all(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        with mapped_errors(str(self.path)):
            return self._connection().execute(sql, values).fetchall()

    def _one(self, sql: str, *values: Any) -> tuple[Any, ...] | None:
        found = self._all(sql, *values)
        return found[0] if found else None

    def memories(self, scopes: Sequence[int], select: Memories) -> list[SemanticMemory]:
        """See Store.memories."""
        if not scopes:
            return []
        if len(scopes) > 1 and select.limit is not None:
            return self._merged(self.memories, scopes, select)
        sql, values = where.memories(scopes, select)
        return self._memories(sql, *values)

    def count(self, scopes: Sequence[int], select: Memories) -> int:
        """See Store.count."""
        if not scopes:
            return 0
        sql, values = where.memories(scopes, replace(select, order="n", limit=None))
        return int(self._all(f"select count(*) {_FROM_MEMORIES} {sql}", *values)[0][0])

    def _merged(self, read: Callable[..., list[Any]], scopes: Sequence[int], select: Any) -> list[Any]:
        """A page over several scopes: each is read through its own index up to the page's end, then they are merged."""
        each = replace(select, limit=select.offset + select.limit, offset=0)
        found = [item for scope in scopes for item in read([scope], each)]
        found.sort(key=where.order_of(select), reverse=select.newest_first)
        return found[select.offset : select.offset + select.limit]

    def version(self, scope: int, id: str) -> SemanticMemory:
        """See Store.version."""
        found = self.filled(self._exactly("where m.scope_id = ? and m.id = ?", scope, id))
        if not found:
            raise NotFound(f"id {id}")
        return found[0]

    def turn(self, scopes: Sequence[int], id: str) -> Turn:
        """See Store.turn."""
        among = index.marks(scopes)
        row = self._one(f"select {rows.TURN_COLUMNS} {_FROM_TURNS} where t.scope_id in ({among}) and t.id = ?", *scopes, id)
        if row is None:
            raise NotFound(f"turn {id[:80]}")
        return rows.turn(row)

    def filled(self, memories: Sequence[SemanticMemory]) -> list[SemanticMemory]:
        """See Store.filled."""
        if not memories:
            return []
        ns = json.dumps([memory.n for memory in memories])
        among = "memory_n in (select value from json_each(?))"
        scopes = f"scope_id in (select scope_id from memories where n in (select value from json_each(?))) and {among}"

        def details(columns: str, tables: str, order: str) -> dict[int, list[tuple[Any, ...]]]:
            found: dict[int, list[tuple[Any, ...]]] = {}
            for row in self._all(f"select {columns} from {tables}{scopes} order by {order}", ns, ns):
                found.setdefault(row[0], []).append(row)
            return found

        sources = details(rows.SOURCE_COLUMNS, "memory_sources where ", "memory_n, seq")
        entities = details("memory_n, entity", "memory_entities where ", "entity")
        relations = details("memory_n, subject, relation_type, object", "memory_relations where ", "id")
        tags = details("r.memory_n, g.name", "memory_tag_rel r join memory_tags g on g.id = r.tag_id where r.", "g.name")
        return [
            replace(
                memory,
                sources=tuple(self._sources(memory, sources.get(memory.n, ()))),
                entities=tuple(entity for _, entity in entities.get(memory.n, ())),
                relations=tuple(Relation(*triple) for _, *triple in relations.get(memory.n, ())),
                tags=tuple(tag for _, tag in tags.get(memory.n, ())),
            )
            for memory in memories
        ]

    def _sources(self, memory: SemanticMemory, found: Iterable[tuple[Any, ...]]) -> list[Source]:
        return rows.each(rows.source, found, lambda error: self._left_out(error, self.scope(memory.scope) or 0))

    def turns(self, scopes: Sequence[int], select: Turns) -> list[Turn]:
        """See Store.turns."""
        if not scopes:
            return []
        if len(scopes) > 1 and select.limit is not None:
            return self._merged(self.turns, scopes, select)
        sql, values = where.turns(scopes, select)
        return rows.each(rows.turn, self._all(f"select {rows.TURN_COLUMNS} {_FROM_TURNS} {sql}", *values), self._left_out)

    def postings(self, name: Index, scopes: Sequence[int], terms: Sequence[str], *, past: bool, cap: int) -> Postings:
        """See Store.postings."""
        with mapped_errors(str(self.path)):
            connection = self._connection()
            if name not in self._local.indexed:
                index.prepare(connection, name)
                self._local.indexed.add(name)
            return index.postings(connection, name, scopes, terms, past=past, cap=cap)

    def columns(self, scopes: Sequence[int]) -> TurnColumns:
        """See Store.columns."""
        with mapped_errors(str(self.path)):
            return self._columns.of(self._connection(), scopes)

    def hidden(self, scopes: Sequence[int]) -> list[int]:
        """See Store.hidden."""
        sql = f"select turn_n from turn_state where scope_id in ({index.marks(scopes)}) and hidden_at is not null"
        with mapped_errors(str(self.path)):
            return [n for (n,) in self._connection().execute(sql, (*scopes,))]

    def records(self, kind: type[R], scopes: Sequence[int], select: Records) -> list[R]:
        """See Store.records."""
        with mapped_errors(str(self.path)):
            return records.read(self._connection(), kind, scopes, select, self._left_out) if scopes else []

    def retrieved_since(self, scope: int, since: datetime) -> list[SemanticMemory]:
        """See Store.retrieved_since."""
        return self._memories(_RETRIEVED, scope, scope, rows.micros(since))

    def learned(self, scope: int) -> int:
        """See Store.learned."""
        with mapped_errors(str(self.path)):
            return jobs.upto(self._connection(), scope)

    def extracted(self, scope: int, ns: Sequence[int]) -> set[int]:
        """See Store.extracted."""
        with mapped_errors(str(self.path)):
            return jobs.extracted(self._connection(), scope, ns)

    def waiting(self, scope: int) -> int:
        """See Store.waiting."""
        with mapped_errors(str(self.path)):
            return jobs.waiting(self._connection(), scope)

    def learning(self, scope: int) -> LearningState:
        """See Store.learning."""
        with mapped_errors(str(self.path)):
            return jobs.learning(self._connection(), scope)

    def compressions(self, scope: int, ns: Sequence[int]) -> Mapping[int, str]:
        """See Store.compressions."""
        with mapped_errors(str(self.path)):
            return jobs.compressions(self._connection(), scope, ns)

    def jobs(self, scope: int, *, ns: Sequence[int] | None = None, dead: bool | None = None) -> list[Job]:
        """See Store.jobs."""
        with mapped_errors(str(self.path)):
            return jobs.jobs(self._connection(), scope, ns=ns, dead=dead)

    def sessions(self, scope: int, *, id: str | None = None, limit: int | None = None) -> list[Session]:
        """See Store.sessions."""
        with mapped_errors(str(self.path)):
            return jobs.sessions(self._connection(), scope, id=id, limit=limit)

    def spent(self, scope: int, *, since: datetime | None = None, session: str | None = None) -> list[ModelCall]:
        """See Store.spent."""
        with mapped_errors(str(self.path)):
            return jobs.spent(self._connection(), scope, since=since, session=session)

    def journal(
        self,
        scopes: Sequence[int],
        *,
        transaction: int | None = None,
        run: str | None = None,
        table: str | None = None,
        row_ns: Sequence[int] | None = None,
        since: datetime | None = None,
        after: int | None = None,
        limit: int | None = None,
    ) -> list[ChangeRow]:
        """See Store.journal."""
        sql, values = where.journal(
            scopes, transaction=transaction, run=run, table=table, row_ns=row_ns, since=since, after=after, limit=limit
        )
        found = self._all(f"select {rows.JOURNAL_COLUMNS} from changes {sql}", *values)
        if transaction is not None or run is not None:  # who takes it back needs all of it
            return [rows.change(row) for row in found]
        return rows.each(rows.change, found, lambda error: self._left_out(error, scopes[0]))

    def receipt(self, scope: int, key: str) -> tuple[bytes, Mapping[str, Any]] | None:
        """See Store.receipt."""
        row = self._one("select digest, result from receipts where scope_id = ? and key = ?", scope, key)
        return None if row is None else (row[0], json.loads(row[1]))

    def last_erasure(self) -> int:
        """See Store.last_erasure."""
        return int(self._all(write.LAST_ERASURE)[0][0])

    def erased(self, seals: Sequence[bytes]) -> Mapping[bytes, datetime]:
        """See Store.erased."""
        with mapped_errors(str(self.path)):
            found = erase.sealed(self._connection(), seals)
        return {seal: rows.EPOCH + rows.MICROSECOND * at for seal, at in found.items()}

    def erasures(self) -> list[dict[str, Any]]:
        """See Store.erasures."""
        with mapped_errors(str(self.path)):
            return list(erase.erasures(self._connection()))

    def known_erasures(self, ids: Sequence[str]) -> set[str]:
        """See Store.known_erasures."""
        return {
            id for (id,) in self._all("select id from erasures where id in (select value from json_each(?))", json.dumps([*ids]))
        }

    def scrub(self, *, rewrite: bool = False) -> bool:
        """See Store.scrub."""
        with mapped_errors(str(self.path)), self._gate.held():
            return erase.scrub(self._connection(), rewrite=rewrite)

    def merge(self) -> None:
        """See Store.merge. What is merged already is left as it is."""
        with mapped_errors(str(self.path)):
            connection = self._connection()
            if not self.read_only:
                with self._gate.held(), write.transaction(connection):
                    self._wrote = True
                    for name in index.EVERY:
                        index.merge(connection, name)

    def found(self, needles: Sequence[bytes]) -> tuple[int, set[bytes]]:
        """See Store.found."""
        with mapped_errors(str(self.path)):
            return byte_search.found_live(self.path, needles)

    def held(self, needles: Iterable[bytes]) -> set[bytes]:
        """See Store.held."""
        with mapped_errors(str(self.path)):
            return byte_search.held(self._connection(), needles)

    def holding(self, scope: int, groups: Sequence[Sequence[str]]) -> list[HeldText]:
        """See Store.holding."""
        with mapped_errors(str(self.path)):
            return list(texts.holding(self._connection(), scope, groups))

    def still_said(self, texts: Sequence[str]) -> set[str]:
        """See Store.still_said."""
        with mapped_errors(str(self.path)):
            return byte_search.still_said(self._connection(), texts)

    def counts(self, scopes: Sequence[int]) -> Mapping[str, Any]:
        """See Store.counts."""
        with mapped_errors(str(self.path)):
            return totals.counts(self._connection(), scopes)

    def unsettled(self, scopes: Sequence[int]) -> tuple[int, int]:
        """See Store.unsettled."""
        with mapped_errors(str(self.path)):
            return totals.unsettled(self._connection(), scopes)

    def about(self) -> Mapping[str, Any]:
        """See Store.about."""
        with mapped_errors(str(self.path)):
            self._refuse_moved(self._connection())
        meta = dict(self._all("select key, value from meta"))
        return {
            **meta,
            "schema": self._all("pragma user_version")[0][0],
            "sqlite": apsw.sqlite_lib_version(),
            "durability": self.durability,
            "read_only": self.read_only,
            "network": self.network,
            "bytes": bytes_of(self.path) + wal_bytes(self.path),
            "wal_bytes": wal_bytes(self.path),
            "verified": pages.verified() and pages.has_checksums(self._connection()),
            "marked": self._mark.read() is not None,
            "reserve": self._reserve.size() > 0,
        }
