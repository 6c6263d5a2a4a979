"""
`SqliteStore`, the store on SQLite: transactional writes; reads rows, posting lists and journal; holds its parts.

One file in WAL mode (`database`). A write holds the gate, begins immediately, checks what its decision rested on,
changes, and commits with one flush; nothing is acknowledged before. Opening and reading write nothing; creating and
migrating happen in the gate (`opening`). `write` says how each change lies in the tables, `index` how search does,
`rows` how values do, `schema` how a file becomes one of ours.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import apsw

from yiku.errors import (
    Damaged,
    NotFound,
    ReadOnly,
    Stale,
    Unreadable,
)
from yiku.store import index, jobs, published, records, row_codec, scope_names, where, write
from yiku.store.columns import Columns
from yiku.store.database import Database
from yiku.store.erasures import SqliteErasures
from yiku.store.error_mapping import means_full
from yiku.store.learning import SqliteLearning
from yiku.store.nights import SqliteNights
from yiku.store.notes import SqliteNotes
from yiku.store.opening import Opening
from yiku.store.protocol import Index, R
from yiku.store.upkeep import SqliteUpkeep
from yiku.types import (
    Applied,
    Cardinality,
    Cause,
    Change,
    ChangeRow,
    ConflictSet,
    Expect,
    Memories,
    PageVersion,
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

LOOK_AT_WAL_EACH = 64  # writes
UNREADABLE_KEPT = 1_000  # rows that are named
FREEING = ("forget", "erase")  # what may use the reserve
SCOPES_KNOWN_S = 1.0  # a scope's number is looked up again after so long: another process may have erased it
_log = logging.getLogger(__name__)
_FROM_TURNS = (
    "from conversation_turns t join sessions s on s.n = t.session_n join scopes c on c.id = t.scope_id"
    " left join turn_state x on x.turn_n = t.n"
)
_FROM_MEMORIES = "from memories m join scopes c on c.id = m.scope_id"

# What a new statement meets, see SqliteStore.conflict_set.
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
    """See yiku.store.protocol.Store. Safe to use from several threads and after a fork."""

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
        Open the store at `path`, creating it if it does not exist.

        analyzer: the version of the analyzer whose tokens will be handed in
        key:      of the journal's digests, at most 64 bytes
        network:  the file system is a network's, whose memory is not shared: no WAL
        Raises StoreMismatch, ForeignStore, SchemaTooNew, IndexOutdated, Damaged, ReadOnly, StorageFull, StoreBusy, Unsupported.
        """
        database = self._database = Database(
            path, gate=gate, key=key, durability=durability, busy_timeout_s=busy_timeout_s, network=network
        )
        self.path = path
        self.key = key
        self.notes = SqliteNotes(database)
        self.nights = SqliteNights(database)
        self.learning = SqliteLearning(database)
        self.erasures = SqliteErasures(database)
        self._columns = Columns(database.derived)
        self.upkeep = SqliteUpkeep(database, self._columns)
        self._writes = 0
        self._unreadable: dict[str, tuple[int, str]] = {}  # rows that were met and left out: their scope, and why
        opening = Opening(
            path=path,
            gate=database.gate,
            mark=database.mark,
            reserve=database.reserve,
            connection=database.connection,
            forget=database.forget_connection,
            analyzer=analyzer,
            key=key,
            durability=durability,
            network=network,
        )
        try:
            with database.guarded():
                try:
                    self.store_id = opening.ready()
                finally:
                    database.wrote = opening.wrote
                database.accept()
        except (IndexError, KeyError) as error:
            self.close()
            raise Damaged(f"{path}: a row that is always there is missing") from error
        except BaseException:
            self.close()
            raise

    @property
    def read_only(self) -> bool:
        """Whether the store cannot be written."""
        return self._database.read_only

    def shorten_busy_timeout(self) -> None:
        """See Store.shorten_busy_timeout."""
        self._database.shorten_busy_timeout()

    def close(self) -> None:
        """See Store.close."""
        self._database.close()

    # -------------------------------------------------------------- writing

    def apply(self, scope: int, changes: Sequence[Change], cause: Cause, expect: Expect | None = None) -> Applied:
        """See Store.apply."""
        with self._database.read() as connection:
            if self.read_only:
                raise ReadOnly(str(self.path))
            with self._database.gate.held():
                self._database.refuse_moved(connection)
                try:
                    return self._applied(connection, scope, changes, cause, expect)
                except (apsw.FullError, apsw.IOError) as error:
                    if cause.operation not in FREEING or not (means_full(error) and self._database.reserve.release()):
                        raise
                    return self._applied(connection, scope, changes, cause, expect)

    def _applied(
        self, connection: apsw.Connection, scope: int, changes: Sequence[Change], cause: Cause, expect: Expect | None
    ) -> Applied:
        try:
            with write.transaction(connection):
                self._database.wrote = True
                if expect is not None:
                    write.check_expectations(connection, scope, expect)
                if not self._writes:
                    write.register_key(connection, self.key, cause.at)
                applied = write.apply_changes(connection, scope, changes, cause, self.key)
        except apsw.ConstraintError as error:
            reason = getattr(error, "extendedresult", 0)
            if reason == apsw.SQLITE_CONSTRAINT_FOREIGNKEY:
                self._database.scopes.clear()  # another process has erased this scope
            elif reason != apsw.SQLITE_CONSTRAINT_UNIQUE:  # another process has made the same meanwhile
                raise
            raise Stale from error
        if self._database.durability == "fast" and cause.operation == "erase":
            self._database.flush()  # the mirror, which is written next, must not know more than a power cut leaves
        elif self._database.durability == "fast":
            self._database.flush_soon()
        elif applied.last:
            self._database.mark.write(self.store_id, applied.last)
        if cause.operation == "erase":
            self._database.scopes.clear()  # perhaps a whole scope is gone
            self._columns.forget()
        self._writes += 1
        if self._writes % LOOK_AT_WAL_EACH == 1:
            self._database.reserve.keep()
            self._database.keep_wal_small()
        return applied

    def exclusive(self) -> AbstractContextManager[None]:
        """See Store.exclusive."""
        return self._database.gate.held()

    def scope(self, name: str) -> int | None:
        """See Store.scope. Every verb asks for its scopes first, so this is where a database that is gone is noticed."""
        with self._database.read() as connection:
            self._database.refuse_moved(connection)
        number, seen = self._database.scopes.get(name, (0, 0.0))
        if not number or time.monotonic() - seen > SCOPES_KNOWN_S:
            if (row := self._one("select id from scopes where name = ?", scope_names.encode(name))) is None:
                self._database.scopes.pop(name, None)
                return None
            number = row[0]
            self._database.scopes[name] = number, time.monotonic()
        return number

    def scopes(self) -> list[tuple[int, str, str | None]]:
        """See Store.scopes."""
        found = self._all("select id, name, label from scopes order by id")
        return [(number, scope_names.decode(name), label) for number, name, label in found]

    def marks(self, scope: int, slots: Iterable[str], hashes: Iterable[bytes]) -> Expect:
        """See Store.marks."""
        with self._database.read() as connection:
            return write.marks(connection, scope, slots, hashes)

    # -------------------------------------------------------------- reading

    def conflict_set(self, scope: int, new: SemanticMemory) -> ConflictSet:
        """See Store.conflict_set. The marks are read first: what changes after them makes the decision stale."""
        expect = self.marks(scope, [new.slot] if new.slot else [], [new.content_hash])
        if new.slot is None:
            return ConflictSet(expect=expect, same=self._exactly(_SAME, scope, new.content_hash, new.kind.value))
        at = (row_codec.micros(new.said_at), new.place)
        previous = self._exactly(_IN_SLOT + _BEFORE, scope, new.slot, *at)
        following = self._exactly(_IN_SLOT + _AFTER, scope, new.slot, *at)
        if previous and previous[0].confirmed_at > new.said_at:
            previous = self.with_details(previous)
        live = self._exactly(_IN_SLOT + _LIVE, scope, new.slot) if following else previous
        rivals: list[SemanticMemory] = []
        if new.cardinality is Cardinality.UNKNOWN and not previous and not following:
            pair = (new.subject or "", new.predicate or "")
            with self._database.read() as connection:
                expect = replace(expect, pairs={pair: write.pair_mark(connection, scope, *pair)})
            rivals = self._exactly(_RIVALS, scope, *pair)
        same = [] if previous or following else self._exactly(_SAME, scope, new.content_hash, new.kind.value)
        first, second, third = (next(iter(found), None) for found in (previous, following, live))
        return ConflictSet(expect=expect, same=same, previous=first, following=second, live=third, rivals=rivals)

    def _memories(self, sql: str, *values: Any) -> list[SemanticMemory]:
        """Return the readable memories of a query."""
        return row_codec.decode_all(
            row_codec.memory, self._all(f"select {row_codec.MEMORY_COLUMNS} {_FROM_MEMORIES} {sql}", *values), self._note_unreadable
        )

    def _exactly(self, sql: str, *values: Any) -> list[SemanticMemory]:
        """Return the memories of a query, all of which a decision needs. Raises Unreadable."""
        return [row_codec.memory(row) for row in self._all(f"select {row_codec.MEMORY_COLUMNS} {_FROM_MEMORIES} {sql}", *values)]

    def _note_unreadable(self, error: Unreadable, scope: int = 0) -> None:
        """Note a row skipped as unreadable: once in the log, and for `unreadable`."""
        if error.id not in self._unreadable and len(self._unreadable) < UNREADABLE_KEPT:
            self._unreadable[error.id] = error.scope or scope, error.detail
            _log.warning("%s; it is left out: yiku check says more, yiku repair repairs it", error.detail)

    def unreadable(self, scopes: Sequence[int]) -> Mapping[str, str]:
        """See Store.unreadable."""
        return {id: why for id, (scope, why) in [*self._unreadable.items()] if scope in scopes}

    def _all(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        with self._database.read() as connection:
            return connection.execute(sql, values).fetchall()

    def _one(self, sql: str, *values: Any) -> tuple[Any, ...] | None:
        found = self._all(sql, *values)
        return found[0] if found else None

    def memories(self, scopes: Sequence[int], select: Memories) -> list[SemanticMemory]:
        """See Store.memories."""
        if not scopes:
            return []
        if len(scopes) > 1 and select.limit is not None:
            return self._merge_scopes(self.memories, scopes, select)
        sql, values = where.memories(scopes, select)
        return self._memories(sql, *values)

    def count(self, scopes: Sequence[int], select: Memories) -> int:
        """See Store.count."""
        if not scopes:
            return 0
        sql, values = where.memories(scopes, replace(select, order="n", limit=None))
        return int(self._all(f"select count(*) {_FROM_MEMORIES} {sql}", *values)[0][0])

    def _merge_scopes(self, read: Callable[..., list[Any]], scopes: Sequence[int], select: Any) -> list[Any]:
        """Return a page over several scopes: read each through its own index, then merge."""
        each = replace(select, limit=select.offset + select.limit, offset=0)
        found = [item for scope in scopes for item in read([scope], each)]
        found.sort(key=where.order_of(select), reverse=select.newest_first)
        return found[select.offset : select.offset + select.limit]

    def version(self, scope: int, id: str) -> SemanticMemory:
        """See Store.version."""
        found = self.with_details(self._exactly("where m.scope_id = ? and m.id = ?", scope, id))
        if not found:
            raise NotFound(f"there is no memory with the id {id}")
        return found[0]

    def turn(self, scopes: Sequence[int], id: str) -> Turn:
        """See Store.turn."""
        among = index.placeholders(scopes)
        row = self._one(f"select {row_codec.TURN_COLUMNS} {_FROM_TURNS} where t.scope_id in ({among}) and t.id = ?", *scopes, id)
        if row is None:
            raise NotFound(f"there is no turn with the id {id[:80]}")
        return row_codec.turn(row)

    def with_details(self, memories: Sequence[SemanticMemory]) -> list[SemanticMemory]:
        """See Store.with_details."""
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

        sources = details(row_codec.SOURCE_COLUMNS, "memory_sources where ", "memory_n, seq")
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
        return row_codec.decode_all(
            row_codec.source, found, lambda error: self._note_unreadable(error, self.scope(memory.scope) or 0)
        )

    def turns(self, scopes: Sequence[int], select: Turns) -> list[Turn]:
        """See Store.turns."""
        if not scopes:
            return []
        if len(scopes) > 1 and select.limit is not None:
            return self._merge_scopes(self.turns, scopes, select)
        sql, values = where.turns(scopes, select)
        return row_codec.decode_all(
            row_codec.turn, self._all(f"select {row_codec.TURN_COLUMNS} {_FROM_TURNS} {sql}", *values), self._note_unreadable
        )

    def postings(self, name: Index, scopes: Sequence[int], terms: Sequence[str], *, past: bool, cap: int) -> Postings:
        """See Store.postings."""
        with self._database.read() as connection:
            if name not in self._database.indexed():
                index.prepare(connection, name)
                self._database.indexed().add(name)
            return index.postings(connection, name, scopes, terms, past=past, cap=cap)

    def columns(self, scopes: Sequence[int]) -> TurnColumns:
        """See Store.columns."""
        with self._database.read() as connection:
            return self._columns.of(connection, scopes)

    def hidden(self, scopes: Sequence[int], *, limit: int | None = None) -> list[int]:
        """See Store.hidden."""
        sql = f"select turn_n from turn_state where scope_id in ({index.placeholders(scopes)}) and hidden_at is not null limit ?"
        with self._database.read() as connection:
            return [n for (n,) in connection.execute(sql, (*scopes, -1 if limit is None else limit))]

    def records(self, kind: type[R], scopes: Sequence[int], select: Records) -> list[R]:
        """See Store.records."""
        with self._database.read() as connection:
            return records.read(connection, kind, scopes, select, self._note_unreadable) if scopes else []

    def page_versions(self, scope: int, page: str) -> list[PageVersion]:
        """See Store.page_versions."""
        with self._database.read() as connection:
            return published.versions(connection, scope, page)

    def retrieved_since(self, scope: int, since: datetime) -> list[SemanticMemory]:
        """See Store.retrieved_since."""
        return self._memories(_RETRIEVED, scope, scope, row_codec.micros(since))

    def sessions(self, scope: int, *, id: str | None = None, limit: int | None = None) -> list[Session]:
        """See Store.sessions."""
        with self._database.read() as connection:
            return jobs.sessions(connection, scope, id=id, limit=limit)

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
        found = self._all(f"select {row_codec.JOURNAL_COLUMNS} from changes {sql}", *values)
        if transaction is not None or run is not None:  # who takes it back needs all of it
            return [row_codec.change(row) for row in found]
        return row_codec.decode_all(row_codec.change, found, lambda error: self._note_unreadable(error, scopes[0]))

    def receipt(self, scope: int, key: str) -> tuple[bytes, Mapping[str, Any]] | None:
        """See Store.receipt."""
        row = self._one("select digest, result from receipts where scope_id = ? and key = ?", scope, key)
        return None if row is None else (row[0], json.loads(row[1]))
