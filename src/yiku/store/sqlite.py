"""
The store on SQLite: connections, transactions, reads.

One file in WAL mode. Reads go straight to SQLite, one connection a thread. A write holds the gate,
begins immediately, checks what its decision rested on, changes, and commits with one flush; nothing
is acknowledged before. Opening and reading write nothing; creating and migrating happen in the gate.
`write` says how each change lies in the tables, `index` how search does, `rows` how values do, `schema`
how a file becomes one of ours. Beside the file lie its mark (`store.id`) and a reserve of space, given
up so that forgetting works on a full disk.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import apsw

from yiku.errors import (
    Closed,
    Damaged,
    ForeignStore,
    IndexOutdated,
    NotFound,
    ReadOnly,
    Stale,
    StorageFull,
    StoreBusy,
    StoreError,
    StoreMismatch,
    Unsupported,
)
from yiku.store import connect, index, pages, rows, schema, where, write
from yiku.store.api import Index
from yiku.store.gate import Gate, Mark, Reserve, refusal
from yiku.types import (
    Applied,
    Cardinality,
    Cause,
    Change,
    ChangeRow,
    Expect,
    Memories,
    Met,
    Postings,
    Relation,
    SemanticMemory,
    Source,
    Turn,
    Turns,
)

OLDEST_SQLITE = (3, 51, 3)  # earlier ones can lose acknowledged rows when a WAL is reset (sqlite.org/wal.html)
FLUSH_EACH_S = 1.0  # with durability = fast
CLOSE_WITHIN_S = 2.0  # for other threads and processes that are busy
LOOK_AT_WAL_EACH = 64  # writes
FREEING = frozenset(("forget", "erase"))  # what may use the reserve
SCOPES_KNOWN_S = 1.0  # a scope's number is looked up again after so long: another process may have erased it
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
        if tuple(map(int, apsw.sqlite_lib_version().split("."))) < OLDEST_SQLITE or sys.platform not in (
            "linux",
            "darwin",
        ):
            raise Unsupported(f"SQLite {apsw.sqlite_lib_version()} on {sys.platform}")
        self.path = path
        self.analyzer = analyzer
        self.durability = durability
        self.busy_timeout_s = busy_timeout_s
        self.key = key
        self.network = network
        self.read_only = False
        self.store_id = ""
        self._mark = Mark(path.with_name("store.id"))
        self._reserve = Reserve(path.with_name("reserve"))
        self._gate = Gate(gate, busy_timeout_s)
        self._writes = 0
        self._local = threading.local()
        self._connections = weakref.WeakSet[apsw.Connection]()  # a thread that ends takes its own with it
        self._pid = os.getpid()
        self._wrote = False
        self._flushed = 0.0  # when `fast` last flushed, on the monotonic clock
        self._closed = False
        self._scopes: dict[str, tuple[int, float]] = {}  # number, and when it was looked up
        try:
            with translated(str(path)):
                self._settle()
        except BaseException:
            self.close()
            raise

    # -------------------------------------------------------------- opening and closing

    def _settle(self) -> None:
        """Make, migrate or just look at the file, until it is one of ours, up to date, and the one that the mark means."""
        pages.verified()
        mark = self._mark.read()  # before the database, which may only grow after it
        if not self.path.exists() or not self._current(mark):
            with self._gate.held():
                mark = self._mark.read()
                if not self.path.exists() or not self._current(mark):
                    self._migrate(mark)
        connection = self._connection()
        meta: Any = dict(map(tuple, connection.execute("select key, value from meta")))
        self.store_id = str(meta["store_id"])
        if mark is not None:
            schema.compare(mark, self.store_id, schema.last_change(connection), self.path)
        if meta.get("analyzer") != self.analyzer:
            raise IndexOutdated(f"index of analyzer {meta.get('analyzer')}, here {self.analyzer}")

    def _current(self, mark: tuple[str, int] | None) -> bool:
        connection = self._connection()
        if not schema.current(connection, self.path, mark):
            return False
        return self.read_only or self.network is not (connection.pragma("journal_mode") == "wal")

    def _migrate(self, mark: tuple[str, int] | None) -> None:
        """Bring the file up to date. The gate is held."""
        if not self.path.exists():
            if mark is not None:
                raise StoreMismatch(f"{self.path} is not there, and it had {mark[1]:,} changes")
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600))
        connection = self._connection()
        if self.read_only:
            raise ReadOnly(str(self.path))
        self._wrote = True
        schema.migrate(connection, self.path, analyzer=self.analyzer, key=self.key, network=self.network)
        self._mark.write(*schema.identity(connection))
        self._reserve.keep()

    def _connection(self) -> apsw.Connection:
        """This thread's connection."""
        if self._closed:
            raise Closed
        if self._pid != os.getpid():  # after a fork SQLite's handles belong to the parent
            _INHERITED.append(self._local)
            self._local, self._connections, self._pid = threading.local(), weakref.WeakSet(), os.getpid()
        connection: apsw.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = self._open()
            self._connections.add(connection)
        return connection

    def _open(self) -> apsw.Connection:
        connection = connect.to(self.path, durability=self.durability, network=self.network, busy_timeout_s=self.busy_timeout_s)
        self.read_only = self.read_only or connect.cannot_write(connection)
        return connection

    def close(self) -> None:
        """Checkpoint what this process wrote, inside the gate, and let go of the files. Calls under way end with Closed."""
        if self._closed:
            return
        self._closed = True
        if self._pid == os.getpid():
            try:
                if self._wrote:
                    self._gate.timeout_s = min(self._gate.timeout_s, CLOSE_WITHIN_S)
                    with self._gate.held():
                        connection = self._open()
                        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
                        if self.durability == "fast":
                            self._mark.write(*schema.identity(connection))
                        connection.close()
            except (apsw.Error, StoreError):
                pass  # a reader or another writer is busy: the next close does it, the WAL stays valid
            deadline = time.monotonic() + CLOSE_WITHIN_S
            for connection in list(self._connections):
                connect.closed(connection, deadline)
        self._gate.close()

    # -------------------------------------------------------------- writing

    def apply(self, scope: int, changes: Sequence[Change], cause: Cause, expect: Expect | None = None) -> Applied:
        """See Store.apply."""
        with translated(str(self.path)):
            connection = self._connection()
            if self.read_only:
                raise ReadOnly(str(self.path))
            with self._gate.held():
                try:
                    return self._applied(connection, scope, changes, cause, expect)
                except (apsw.FullError, apsw.IOError) as error:
                    if cause.operation not in FREEING or not (_means_full(error) and self._reserve.release()):
                        raise
                    return self._applied(connection, scope, changes, cause, expect)

    def _applied(
        self, connection: apsw.Connection, scope: int, changes: Sequence[Change], cause: Cause, expect: Expect | None
    ) -> Applied:
        flushed = self._flush_in_time(connection)
        try:
            with write.transaction(connection):
                self._wrote = True
                if expect is not None:
                    write.check(connection, scope, expect)
                if not self._writes:
                    write.key_known(connection, self.key, cause.at)
                applied = write.write(connection, scope, changes, cause, self.key)
        except apsw.ConstraintError as error:
            if getattr(error, "extendedresult", 0) != apsw.SQLITE_CONSTRAINT_FOREIGNKEY:
                raise
            self._scopes.clear()  # another process has erased this scope
            raise Stale from error
        if applied.last and flushed:
            self._mark.write(self.store_id, applied.last)
        self._writes += 1
        if self._writes % LOOK_AT_WAL_EACH == 1:
            self._reserve.keep()
            self._keep_wal_small(connection)
        return applied

    def _flush_in_time(self, connection: apsw.Connection) -> bool:
        """Whether this commit is flushed. With `fast` one a second is, and all before with it; SQLite would wait for a checkpoint."""
        if self.durability == "full":
            return True
        due = time.monotonic() - self._flushed >= FLUSH_EACH_S
        connection.pragma("synchronous", "FULL" if due else "NORMAL")
        self._flushed = time.monotonic() if due else self._flushed
        return due

    def _keep_wal_small(self, connection: apsw.Connection) -> None:
        """Where readers kept SQLite's own checkpoints from starting the WAL anew, one that waits for nobody may find a gap."""
        wal = Path(f"{self.path}-wal")
        if wal.exists() and wal.stat().st_size > connect.WAL_LIMIT_BYTES:
            connection.set_busy_timeout(0)
            try:
                connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            except apsw.BusyError:
                pass  # the next round
            finally:
                connection.set_busy_timeout(int(self.busy_timeout_s * 1000))

    def alone(self) -> AbstractContextManager[None]:
        """See Store.alone: the gate, which is re-entrant in its thread."""
        return self._gate.held()

    def scope(self, name: str) -> int | None:
        """See Store.scope."""
        number, seen = self._scopes.get(name, (0, 0.0))
        if not number or time.monotonic() - seen > SCOPES_KNOWN_S:
            row = self._one("select id from scopes where name = ?", name)
            if row is None:
                self._scopes.pop(name, None)
                return None
            number = row[0]
            self._scopes[name] = number, time.monotonic()
        return number

    def marks(self, scope: int, slots: Iterable[str], hashes: Iterable[bytes]) -> Expect:
        """See Store.marks."""
        with translated(str(self.path)):
            return write.marks(self._connection(), scope, slots, hashes)

    # -------------------------------------------------------------- reading

    def met(self, scope: int, new: SemanticMemory) -> Met:
        """See Store.met. The marks are read first: what changes after them makes the decision stale."""
        expect = self.marks(scope, [new.slot] if new.slot else [], [new.content_hash])
        if new.slot is None:
            return Met(expect=expect, same=self._memories(_SAME, scope, new.content_hash, new.kind.value))
        at = (rows.micros(new.said_at), new.place)
        previous = self._memories(_IN_SLOT + _BEFORE, scope, new.slot, *at)
        following = self._memories(_IN_SLOT + _AFTER, scope, new.slot, *at)
        if previous and previous[0].confirmed_at > new.said_at:
            previous = self.filled(previous)
        live = self._memories(_IN_SLOT + _LIVE, scope, new.slot) if following else previous
        rivals: list[SemanticMemory] = []
        if new.cardinality is Cardinality.UNKNOWN and not previous and not following:
            pair = (new.subject or "", new.predicate or "")
            with translated(str(self.path)):
                expect = replace(expect, pairs={pair: write.pair_mark(self._connection(), scope, *pair)})
            rivals = self._memories(_RIVALS, scope, *pair)
        first, second, third = (next(iter(found), None) for found in (previous, following, live))
        return Met(expect=expect, previous=first, following=second, live=third, rivals=rivals)

    def _memories(self, sql: str, *values: Any) -> list[SemanticMemory]:
        return [rows.memory(row) for row in self._all(f"select {rows.MEMORY_COLUMNS} {_FROM_MEMORIES} {sql}", *values)]

    def _all(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        with translated(str(self.path)):
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

    def _merged(self, read: Callable[..., list[Any]], scopes: Sequence[int], select: Any) -> list[Any]:
        """A page over several scopes: each is read through its own index up to the page's end, then they are merged."""
        each = replace(select, limit=select.offset + select.limit, offset=0)
        found = [item for scope in scopes for item in read([scope], each)]
        found.sort(key=where.order_of(select), reverse=select.newest_first)
        return found[select.offset : select.offset + select.limit]

    def version(self, scope: int, id: str) -> SemanticMemory:
        """See Store.version."""
        found = self.filled(self._memories("where m.scope_id = ? and m.id = ?", scope, id))
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
        sources: dict[int, list[Source]] = {}
        entities: dict[int, list[str]] = {}
        relations: dict[int, list[Relation]] = {}
        tags: dict[int, list[str]] = {}
        scopes = f"scope_id in (select scope_id from memories where n in (select value from json_each(?))) and {among}"
        for row in self._all(f"select {rows.SOURCE_COLUMNS} from memory_sources where {scopes} order by memory_n, seq", ns, ns):
            sources.setdefault(row[0], []).append(rows.source(row))
        for n, entity in self._all(f"select memory_n, entity from memory_entities where {scopes} order by entity", ns, ns):
            entities.setdefault(n, []).append(entity)
        for n, *triple in self._all(
            f"select memory_n, subject, relation_type, object from memory_relations where {scopes} order by id", ns, ns
        ):
            relations.setdefault(n, []).append(Relation(*triple))
        for n, tag in self._all(
            f"select r.memory_n, g.name from memory_tag_rel r join memory_tags g on g.id = r.tag_id where r.{scopes} order by g.name",
            ns,
            ns,
        ):
            tags.setdefault(n, []).append(tag)
        return [
            replace(
                memory,
                sources=tuple(sources.get(memory.n, ())),
                entities=tuple(entities.get(memory.n, ())),
                relations=tuple(relations.get(memory.n, ())),
                tags=tuple(tags.get(memory.n, ())),
            )
            for memory in memories
        ]

    def turns(self, scopes: Sequence[int], select: Turns) -> list[Turn]:
        """See Store.turns."""
        if not scopes:
            return []
        if len(scopes) > 1 and select.limit is not None:
            return self._merged(self.turns, scopes, select)
        sql, values = where.turns(scopes, select)
        return [rows.turn(row) for row in self._all(f"select {rows.TURN_COLUMNS} {_FROM_TURNS} {sql}", *values)]

    def postings(self, name: Index, scopes: Sequence[int], terms: Sequence[str], *, past: bool, cap: int) -> Postings:
        """See Store.postings."""
        with translated(str(self.path)):
            connection = self._connection()
            if not getattr(self._local, "indexed", False):
                index.prepare(connection)
                self._local.indexed = True
            return index.postings(connection, name, scopes, terms, past=past, cap=cap)

    def journal(
        self,
        scopes: Sequence[int],
        *,
        transaction: int | None = None,
        table: str | None = None,
        row_ns: Sequence[int] | None = None,
        since: datetime | None = None,
        limit: int | None = None,
    ) -> list[ChangeRow]:
        """See Store.journal."""
        parts, values = [f"scope_id in ({index.marks(scopes)})"], list[Any](scopes)
        if transaction is not None:
            parts.append("tx = ?")
            values.append(transaction)
        if table is not None:
            parts.append("tbl = ?")
            values.append(table)
        if row_ns is not None:
            parts.append("row_n in (select value from json_each(?))")
            values.append(json.dumps(list(row_ns)))
        if since is not None:
            parts.append("at > ?")
            values.append(rows.micros(since))
        sql = f"select {rows.JOURNAL_COLUMNS} from changes where {' and '.join(parts)} order by number desc limit ?"
        return [rows.change(row) for row in self._all(sql, *values, -1 if limit is None else limit)]

    def receipt(self, scope: int, key: str) -> tuple[bytes, Mapping[str, Any]] | None:
        """See Store.receipt."""
        row = self._one("select digest, result from receipts where scope_id = ? and key = ?", scope, key)
        return None if row is None else (row[0], json.loads(row[1]))

    def counts(self, scopes: Sequence[int]) -> Mapping[str, Any]:
        """See Store.counts."""
        among = f"scope_id in ({index.marks(scopes)})"

        def one(sql: str) -> Any:
            return self._all(sql, *scopes)[0][0]

        spoken = self._all(f"select count(*), min(said_at), max(said_at) from conversation_turns where {among}", *scopes)[0]
        standing = "case when state = 'active' and superseded_by is not null then 'superseded' else state end"
        live = f"{among} and state = 'active' and superseded_by is null"
        return {
            "turns": spoken[0],
            "first_said_at": rows.moment(spoken[1]),
            "last_said_at": rows.moment(spoken[2]),
            "sessions": one(f"select count(*) from sessions where {among}"),
            "memories": dict(
                self._all(f"select {standing} as s, count(*) from memories where {among} group by s order by s", *scopes)
            ),
            "kinds": dict(self._all(f"select kind, count(*) from memories where {live} group by kind order by kind", *scopes)),
            "flagged": one(f"select count(*) from memories where {live} and flag is not null"),
            "entities": one(f"select count(distinct entity) from memory_entities where {among}"),
            "relations": one(f"select count(*) from memory_relations where {among}"),
            "tags": one(f"select count(*) from memory_tags where {among}"),
            "changes": one(f"select count(*) from changes where {among}"),
        }

    def about(self) -> Mapping[str, Any]:
        """See Store.about."""
        meta = dict(self._all("select key, value from meta"))
        sizes = [path.stat().st_size for name in ("", "-wal") if (path := Path(f"{self.path}{name}")).exists()]
        return {
            **meta,
            "schema": self._all("pragma user_version")[0][0],
            "sqlite": apsw.sqlite_lib_version(),
            "durability": self.durability,
            "read_only": self.read_only,
            "network": self.network,
            "bytes": sum(sizes),
            "wal_bytes": sizes[1] if len(sizes) > 1 else 0,
            "verified": pages.verified() and pages.has_checksums(self._connection()),
            "marked": self._mark.read() is not None,
            "reserve": self._reserve.size() > 0,
        }


def _means_full(error: apsw.Error) -> bool:
    return isinstance(error, apsw.FullError) or "full" in str(error).lower()


@contextmanager
def translated(what: str) -> Iterator[None]:
    """SQLite's errors as ours."""
    try:
        yield
    except (apsw.ConnectionClosedError, apsw.CursorClosedError) as error:
        raise Closed from error
    except apsw.BusyError as error:
        raise StoreBusy(what) from error
    except apsw.FullError as error:
        raise StorageFull(what) from error
    except (apsw.ReadOnlyError, apsw.PermissionsError) as error:
        raise ReadOnly(what) from error
    except (apsw.CorruptError, apsw.NotADBError) as error:
        raise (ForeignStore if isinstance(error, apsw.NotADBError) else Damaged)(what) from error
    except apsw.IOError as error:
        if getattr(error, "extendedresult", 0) == apsw.SQLITE_IOERR_DATA:
            raise Damaged(f"{what}: a page is not what was written") from error
        raise (StorageFull if _means_full(error) else StoreError)(f"{what}: {error}") from error
    except UnicodeDecodeError as error:
        raise Damaged(f"{what}: a text is not UTF-8") from error
    except apsw.Error as error:
        raise (Damaged if "unsupported file format" in str(error) else StoreError)(f"{what}: {error}") from error
    except OSError as error:
        raise refusal(error, what) from error
