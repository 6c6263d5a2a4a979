"""
`Vectors`: SQLite file of embedding vectors: search, text cache, embedding progress, pairs of superseded turns.

Rows of int8 numbers are the truth, and all of them can be made again; so this file is never backed up, and where
it is damaged, or of another store, it is begun anew, while questions are answered by words. What was read of a scope
is kept in memory, and only what came since is read. A search looks at every vector of the scopes asked: exact, and
a scope costs what the scope has. A large scope has a matrix, too (sign_index.py): it is mapped, and what came since is read.

One connection a process, under a lock that nobody holds while waiting for another process: who writes takes the
gate first. Each page carries a checksum, as in the database.
"""

from __future__ import annotations

import os
import secrets
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib.resources import files
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw

from yiku.errors import Closed, Damaged, ForeignStore, SchemaTooNew, StoreError, VectorsDamaged
from yiku.store import connect, index, pages, write
from yiku.store.connect import file_size, was_replaced
from yiku.store.error_mapping import mapped_errors
from yiku.store.gate import Gate
from yiku.store.identity_file import IdentityFile
from yiku.store.vectors import scope_vectors, sign_index, similarity, tables
from yiku.store.vectors.scope_vectors import READ_AT_ONCE, ScopeVectors
from yiku.store.vectors.sign_index import SignIndex
from yiku.store.vectors.similarity import Centre, Codes
from yiku.store.vectors.tables import NOTES, PAIRS, of_notes
from yiku.types import Embedded, Item, Similar, Superseded, Vector

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

VERSION = 6
CACHE_SINCE = 4  # its form is of this version
PAIRS_SINCE = 6  # are compared
READABLE = 3  # from this version on: before it is written to, it is brought to today's
SCOPES_KEPT = 32  # and spaces of them
CACHED_AT_MOST = 10_000  # vectors of texts, some 6 MB
CACHE_KIB = 4_096
TRIES = 3  # of a row that the model refuses
BEYOND_MATRIX = 4  # a matrix is made anew when one vector in so many came after it
EMPTIED_WITHIN_MS = 2_000  # by readers of the log
CLOSE_WITHIN_S = 0.5  # of who writes
_COLUMNS = "item = 'memory', unspaced, row_n, factor, code"
_INHERITED: list[apsw.Connection | None] = []  # connections of a parent process: never used, and never closed by us


class Vectors:
    """The vectors of a home. Safe to use from several threads and after a fork."""

    def __init__(self, path: Path, *, busy_timeout_s: float = 30.0, read_only: bool = False) -> None:
        """Nothing is opened or created until it is needed."""
        self.path = path
        self.read_only = read_only
        self.busy_timeout_s = busy_timeout_s
        self._gate = Gate(path.with_name("lock"), busy_timeout_s)
        self._lock = threading.RLock()
        self._connection: apsw.Connection | None = None
        self._held: dict[tuple[int, int], ScopeVectors] = {}
        self._centres: dict[tuple[Any, ...], Centre] = {}
        self._fitting: set[str] = set()
        self._damaged: set[tuple[int, int]] = set()  # scopes and spaces whose matrix is not what was written
        self._wrote = False
        self._closed = False
        _EVERY.add(self)

    # -------------------------------------------------------------- reading

    def exist(self) -> bool:
        """Tell whether anything was ever embedded here. An empty file is one that another process is creating."""
        return file_size(self.path) > 0

    def progress_of(self, scope: int, space: str) -> Embedded:
        """Return how far a scope is embedded in a space."""
        with self._read() as connection:
            if connection is None or (number := tables.space_of(connection, space)[0]) is None:
                return Embedded()
            sql = "select turns, memories from progress where scope_id = ? and space = ?"
            turns, memories = connection.execute(sql, (scope, number)).fetchone() or (0, 0)
            sql = "select item, row_n, tries from again where scope_id = ? and space = ? order by tries, row_n"
            failed: Any = connection.execute(sql, (scope, number)).fetchall()
            again = [(item, n) for item, n, tries in failed if tries < TRIES]
            return Embedded(turns, memories, again, len(failed) - len(again))

    def other_spaces(self, space: str) -> list[str]:
        """Return the names of other spaces with vectors."""
        with self._read() as connection:
            if connection is None:
                return []
            used = "exists (select 1 from progress where space = n and turns + memories > 0)"
            found = connection.execute(
                f"select name from spaces where name not in (?, ?) and name not like ? and {used} order by n",
                (space, of_notes(space), f"{PAIRS}%"),
            )
            return [name.removeprefix(NOTES) for (name,) in found]

    def superseded(self, scopes: Sequence[int], space: str, turns: Sequence[int]) -> list[Superseded]:
        """Return what the model of this space found of these turns and later ones, the likeliest first."""
        with self._read() as connection:
            if connection is None or not turns or self._is_older(connection, PAIRS_SINCE):
                return []
            return tables.superseded(connection, scopes, tables.space_of(connection, space)[0], turns)

    def beginnings(self, scopes: Sequence[int], space: str, rows: Sequence[tuple[Item, int]]) -> dict[tuple[Item, int], Array]:
        """Return the vector, (d,) float32 of about unit length, of the first window of each of these rows that has one."""
        with self._read() as connection:
            return {} if connection is None else tables.beginnings(connection, scopes, tables.space_of(connection, space)[0], rows)

    def load(self, scopes: Sequence[int], space: str) -> int | None:
        """Load the vectors of these scopes; return their dimensions, or None if there are none."""
        with self._read() as connection:
            number, dimensions = (None, None) if connection is None else tables.space_of(connection, space)
            if connection is None or number is None:
                return None
            loaded = [self._load(connection, scope, number) for scope in scopes]
            return dimensions if any(each.ns or each.matrix for each in loaded) else None

    def similar(
        self,
        scopes: Sequence[int],
        space: str,
        question: Array,
        *,
        is_cjk: bool | None = None,
        always_score: Sequence[tuple[bool, Array]] = (),
        common: Callable[[], Array] | None = None,
    ) -> Similar | None:
        """
        Return the similarity of each turn and memory to a question (unit length); None if nothing is embedded.

        is_cjk:       the script of the question, for what they have in common beyond their languages (similarity.py)
        always_score: rows that are measured exactly however large the scope is: whether memories, and their numbers, ascending
        common:       gives what texts of each script have in common, where these scopes have too few to tell
        """
        import numpy as np

        with self._read() as connection:
            number, dimensions = (None, None) if connection is None else tables.space_of(connection, space)
            if connection is None or number is None or dimensions != len(question):
                return None
            kept = {scope: self._load(connection, scope, number) for scope in scopes}
            mapped = {scope: each.matrix for scope, each in kept.items() if each.matrix}
            by_scope = {scope: each for scope, each in kept.items() if each.ns}
            rows = [scope_vectors.rows(each) for each in by_scope.values()]
            vectors = [Codes([*each.codes], [*each.factors], np.concatenate(each.is_cjk)) for each in by_scope.values()]
            largest = max(mapped.values(), key=lambda each: len(each.starts), default=None)
            centre = self._centre(number, by_scope, vectors, largest, common) if by_scope and is_cjk is not None else None
            lengths = [*centre.lengths] if centre else []
        found = []
        for scope, each in mapped.items():
            try:
                alike = sign_index.similarities(each, question, is_cjk=bool(is_cjk), always_score=always_score)
            except Damaged:  # its rows are read from now on
                with self._lock:
                    self._damaged.add((scope, number))
                    self._held.pop((scope, number), None)
                return self.similar(scopes, space, question, is_cjk=is_cjk, always_score=always_score, common=common)
            found.append((each.ns, each.memories, each.is_cjk, alike))
        for place, (of, some) in enumerate(zip(rows, vectors, strict=True)):
            if centre is None or is_cjk is None:
                alike = similarity.cosines(some, question)
            else:
                alike = similarity.centred_cosines(some, lengths[place], centre.means, question, is_cjk=is_cjk)
            found.append((of.ns, of.memories, of.is_cjk, np.maximum.reduceat(alike[of.order], of.starts)))
        if not found:
            return None
        if len(found) == 1:
            return Similar(*found[0])
        return Similar(*(np.concatenate(parts) for parts in zip(*found, strict=True)))

    def _centre(
        self,
        space: int,
        by_scope: Mapping[int, ScopeVectors],
        vectors: Sequence[Codes],
        largest: SignIndex | None,
        common: Callable[[], Array] | None,
    ) -> Centre:
        """Return the mean vectors of these scopes, recomputed when their number doubled or some were removed."""
        key = (
            space,
            *((scope, each.removals, each.matrix and each.matrix.of.last) for scope, each in by_scope.items()),
            largest and largest.of,
        )
        given = None if largest is None else largest.means
        self._centres[key] = similarity.centre(vectors, self._centres.pop(key, None), given, common)
        while len(self._centres) > SCOPES_KEPT:
            del self._centres[next(iter(self._centres))]
        return self._centres[key]

    def _load(self, connection: apsw.Connection, scope: int, space: int) -> ScopeVectors:
        """Return the current vectors of a scope: the cached ones and those added since."""
        last, removals = tables.progress(connection, scope, space)
        cached = self._held.pop((scope, space), None)
        if cached is None or cached.removals != removals or cached.last > last:
            cached = ScopeVectors(removals)
        if last - cached.last >= sign_index.FROM and (known := self._open_matrix(connection, scope, space, removals)) is not None:
            cached = ScopeVectors(removals, known, known.of.last)
        if cached.last < last:  # no further than `last`: what another process adds meanwhile is read the next time
            sql = f"select {_COLUMNS} from vectors where scope_id = ? and space = ? and seq > ? and seq <= ? order by seq"
            found = connection.execute(sql, (scope, space, cached.last, last))
            while some := [*islice(found, READ_AT_ONCE)]:
                scope_vectors.add(cached, some)
            cached.last = last
        self._held[scope, space] = cached
        while len(self._held) > SCOPES_KEPT:
            del self._held[next(iter(self._held))]
        return cached

    def _open_matrix(self, connection: apsw.Connection, scope: int, space: int, removals: int) -> SignIndex | None:
        """Return the mapped matrix of a scope, if it is sound and matches these rows."""
        if (scope, space) in self._damaged:
            return None
        dimensions = index.fetch_one(connection, "select dimensions from spaces where n = ?", space)[0]
        return sign_index.open_mapped(self._matrix(scope, space), tables.file_id(connection), removals, dimensions)

    def _matrix(self, scope: int, space: int) -> Path:
        return self._own_folder() / f"{scope}-{space}.matrix"

    # -------------------------------------------------------------- writing

    def build_files(self, scope: int, space: str) -> None:
        """Write the matrix of a large scope that has none or an old one."""
        if not self.exist():
            return
        with self._gate.held(), self._map_errors():  # nothing is taken out meanwhile, and whoever asks goes on
            with self._lock:
                connection = self._current()
                number, dimensions = (None, None) if connection is None else tables.space_of(connection, space)
                if connection is None or number is None or dimensions is None:
                    return
                last, removals = tables.progress(connection, scope, number)
                known = self._open_matrix(connection, scope, number, removals) if last >= sign_index.FROM else None
            so_far = known.of.last if known else 0
            if last - so_far < max(sign_index.FROM, so_far // BEYOND_MATRIX):
                return
            own = self._connect()
            try:
                of = sign_index.BuiltFrom(tables.file_id(own), last, removals, dimensions)
                sql = "select count(*), total(item <> 'memory') from vectors where scope_id = ? and space = ?"
                count, turns = index.fetch_one(own, sql, scope, number)
                sign_index.write(self._matrix(scope, number), of, count, int(turns), tables.by_rows(own, scope, number))
            finally:
                own.close()
        with self._lock:
            self._damaged.discard((scope, number))
            self._held.pop((scope, number), None)

    def add(
        self,
        scope: int,
        space: str,
        found: Sequence[Vector],
        *,
        turns: int,
        memories: int,
        is_current: Callable[[], bool],
        done: Sequence[tuple[Item, int]] = (),
        refused: Sequence[tuple[Item, int]] = (),
    ) -> bool:
        """
        Store vectors and the progress of a scope; return whether that was done.

        is_current: whether what they were made of is still there, asked once nobody else can write
        done:       rows that need not be embedded again
        refused:    rows of which the model made nothing, once more
        Where the space has vectors of another length, these are dropped instead: the model has changed under its name.
        """
        with self._transaction() as connection:
            if not is_current():
                return False
            number, dimensions = tables.space_of(connection, space)
            length = len(found[0].values) if found else dimensions
            if number is None:
                sql = "insert into spaces (name, dimensions) values (?, ?) returning n"
                number = index.fetch_one(connection, sql, space, length)[0]
            elif dimensions is None:
                connection.execute("update spaces set dimensions = ? where n = ?", (length, number))
            elif dimensions != length:
                tables.empty_space(connection, number, length)
                return False
            connection.execute("insert or ignore into progress (scope_id, space) values (?, ?)", (scope, number))
            last = index.fetch_one(connection, "select last from progress where scope_id = ? and space = ?", scope, number)[0]
            gone = tables.insert(connection, scope, number, last, found)
            connection.execute(
                "update progress set turns = max(turns, ?3), memories = max(memories, ?4), last = ?5, removals = removals + ?6"
                " where scope_id = ?1 and space = ?2",
                (scope, number, turns, memories, last + len(found), gone),
            )
            sql = "delete from again where scope_id = ? and space = ? and item = ? and row_n = ?"
            connection.executemany(sql, [(scope, number, *row) for row in done])
            sql = "insert into again values (?, ?, ?, ?, 1) on conflict do update set tries = tries + 1"
            connection.executemany(sql, [(scope, number, *row) for row in refused])
        return True

    def add_superseded(
        self,
        scope: int,
        space: str,
        found: Sequence[Superseded],
        *,
        turns: int,
        done: Sequence[tuple[Item, int]],
        is_current: Callable[[], bool],
    ) -> bool:
        """
        Store what a model found of pairs, and how far it is; return whether that was done. See `add`.

        done: turns that were compared again; their other pairs stay, those of a changed text went with it (`forget`)
        """
        with self._transaction() as connection:
            if not is_current():
                return False
            connection.execute("insert or ignore into spaces (name, dimensions) values (?, null)", (space,))
            number = tables.space_of(connection, space)[0]
            connection.execute("insert or ignore into progress (scope_id, space) values (?, ?)", (scope, number))
            sql = "update progress set turns = max(turns, ?) where scope_id = ? and space = ?"
            connection.execute(sql, (turns, scope, number))
            sql = "delete from again where scope_id = ? and space = ? and item = ? and row_n = ?"
            connection.executemany(sql, [(scope, number, *row) for row in done])
            connection.executemany(
                f"insert or replace into superseded values ({index.placeholders(range(7))})",
                [(scope, number, one.earlier, one.later, one.likely, one.start, one.end) for one in found],
            )
        return True

    def forget(
        self,
        scope: int,
        rows: Sequence[tuple[Item, int]],
        *,
        again: Sequence[tuple[Item, int]] = (),
        changed: Sequence[tuple[Item, int]] = (),
    ) -> bool:
        """
        Delete the vectors and pairs of these rows, also from the cache; return whether the log was emptied too.

        again:   rows to embed again, whose own text is the same: their pairs stay
        changed: rows whose text is another one: embedded and compared again, and so are the later turns of their pairs
        """

        def step(connection: apsw.Connection) -> None:
            gone = sum(tables.delete_row(connection, scope, item, n) for item, n in (*rows, *again, *changed))
            connection.execute("update progress set removals = removals + ? where scope_id = ?", (gone, scope))
            later = [one for item, n in changed if item == "turn" for one in tables.delete_pairs(connection, scope, n)]
            for _, n in (row for row in rows if row[0] == "turn"):
                tables.delete_pairs(connection, scope, n)
            tables.queue_pairs(connection, scope, later)
            tables.queue(connection, scope, again)
            tables.queue(connection, scope, changed, compare=True)
            sql = "delete from again where scope_id = ? and item = ? and row_n = ?"
            connection.executemany(sql, [(scope, *row) for row in rows])

        return self._delete(step, scope)

    def remove(self, scope: int, rows: Sequence[tuple[Item, int]]) -> None:
        """Take out the vectors of rows that are not there any more. Not for what is erased: the log and the cache may still have them."""
        with self._transaction() as connection:
            of = [int(space) for item, n in rows for space in tables.spaces_with(connection, scope, item, n)]
            for item, n in rows:
                tables.delete_row(connection, scope, item, n)
            sql = "update progress set removals = removals + 1 where scope_id = ? and space = ?"
            connection.executemany(sql, [(scope, space) for space in sorted({*of})])
            sql = "delete from again where scope_id = ? and item = ? and row_n = ?"
            connection.executemany(sql, [(scope, *row) for row in rows])

    def drop(self, scope: int | None = None) -> bool:
        """Delete all vectors of a scope, or all; return whether the log was emptied too."""
        among = "1" if scope is None else f"scope_id = {int(scope)}"
        return self._delete(lambda connection: tables.drop(connection, among), scope)

    def keep_only(self, scopes: Sequence[int]) -> bool:
        """Delete the vectors of all other scopes; return whether the log was emptied too."""
        kept = ", ".join(str(int(scope)) for scope in scopes)
        return self._delete(lambda connection: tables.drop(connection, f"scope_id not in ({kept})"))

    def fits(self, space: str) -> bool | None:
        """Tell whether the model's dimensions match the space; None if the space has no vectors."""
        if space in self._fitting:
            return True
        with self._read() as connection:
            return None if connection is None or tables.space_of(connection, space)[1] is None else False

    def fit(self, space: str, length: int) -> None:
        """Set the dimensions of a space, dropping vectors of other dimensions."""
        with self._transaction() as connection:
            for name in (space, of_notes(space)):
                number, dimensions = tables.space_of(connection, name)
                if number is not None and dimensions != length:
                    tables.empty_space(connection, number, length)
        self._fitting.add(space)

    def _delete(self, step: Callable[[apsw.Connection], None], scope: int | None = None) -> bool:
        """Delete something, also from cache and log; a damaged file is deleted as a whole."""
        if not self.exist():
            return True
        with self._gate.held():
            try:
                with self._transaction() as connection:
                    step(connection)
                    connection.execute("delete from embedding_cache")
                self._unmap(scope)
            except Damaged:
                self.reset()
            with self._read() as current:
                return current is None or pages.empty_wal(current, EMPTIED_WITHIN_MS)

    # -------------------------------------------------------------- the cache

    def cached(self, key: tuple[str, str, str], hashes: Sequence[bytes]) -> dict[bytes, Array]:
        """Return cached vectors of texts for this provider, model and variant."""
        with self._read() as connection:
            if connection is None or self._is_older(connection, CACHE_SINCE):
                return {}
            sql = "select factor, code from embedding_cache where hash = ? and (provider, model, provider_key) = (?, ?, ?)"
            found = ((text, connection.execute(sql, (text, *key)).fetchone()) for text in hashes)
            return {text: scope_vectors.decode(*row) for text, row in found if row}

    def cache(self, key: tuple[str, str, str], found: Sequence[tuple[bytes, Array]], is_current: Callable[[], bool]) -> None:
        """Cache vectors of texts, the newest CACHED_AT_MOST."""
        now = time.time_ns() // 1000
        with self._transaction() as connection:
            if not is_current():
                return
            known = "delete from embedding_cache where hash = ? and (provider, model, provider_key) = (?, ?, ?)"
            connection.executemany(known, [(text, *key) for text, _ in found])
            columns = "provider, model, provider_key, hash, factor, code, dims, updated_at"
            connection.executemany(
                f"insert into embedding_cache ({columns}) values (?, ?, ?, ?, ?, ?, ?, ?)",
                [(*key, text, *scope_vectors.encode(values), len(values), now) for text, values in found],
            )
            over = index.fetch_one(connection, "select count(*) from embedding_cache")[0] - CACHED_AT_MOST
            if over > 0:
                connection.execute(
                    "delete from embedding_cache where n in (select n from embedding_cache order by n limit ?)", (over,)
                )

    # -------------------------------------------------------------- the file

    @contextmanager
    def _read(self) -> Iterator[apsw.Connection | None]:
        """Yield the connection, or None if nothing of this store is embedded. Raises StoreError."""
        with self._lock, self._map_errors():
            yield self._current()

    @contextmanager
    def _transaction(self) -> Iterator[apsw.Connection]:
        """Yield a transaction under the lock. Raises StoreError; Damaged if only a new file helps."""
        with self._map_errors():
            self._own_folder().mkdir(mode=0o700, exist_ok=True)
        with self._gate.held(), self._lock, self._map_errors():
            connection = self._current() or self._create()
            self._wrote = True
            if self._is_older(connection):
                self._migrate(connection)
            with write.transaction(connection):
                yield connection

    @contextmanager
    def _map_errors(self) -> Iterator[None]:
        try:
            with mapped_errors(str(self.path)):
                yield
        except (Damaged, ForeignStore) as error:
            raise VectorsDamaged(f"{self.path} cannot be read") from error

    def _current(self) -> apsw.Connection | None:
        """Return a connection to a readable file; None if it is missing, older, or of another store."""
        if self._closed:
            raise Closed
        if self._connection is not None and was_replaced(self._connection):  # begun anew by another process
            self._release()
        if self._connection is None:
            if not self.exist():
                return None
            connection = self._connect()
            version = index.fetch_one(connection, "pragma user_version")[0]
            if version > VERSION:
                raise SchemaTooNew(str(self.path))
            if version < READABLE or not self._ours(connection):
                connection.close()
                return None
            self._connection = connection
        return self._connection

    def _connect(self) -> apsw.Connection:
        pages.enabled()  # from here on, all that is read
        path = self._own_folder() / self.path.name
        connection = connect.open_connection(path, durability="fast", network=False, busy_timeout_s=self.busy_timeout_s)
        connection.pragma("cache_size", -CACHE_KIB)  # what is read once is kept as arrays
        return connection

    def _ours(self, connection: apsw.Connection) -> bool:
        mark = IdentityFile(self._own_folder().with_name("store.id")).read()
        return mark is None or index.fetch_one(connection, "select store_id from vectors_of")[0] in (mark[0], "")

    def _own_folder(self) -> Path:
        """Return the folder of the file; a link out of the home is refused."""
        if self.path.parent.is_symlink():
            raise StoreError(f"{self.path.parent} is a link; what belongs to a home lies in it")
        return self.path.parent

    def _create(self) -> apsw.Connection:
        """Create the file. The gate must be held."""
        self._remove()
        os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600))
        connection = self._connect()
        pages.reserve_space(connection)
        connection.pragma("journal_mode", "wal")
        mark = IdentityFile(self.path.parent.with_name("store.id")).read()
        with write.transaction(connection):
            connection.execute(files("yiku.store.sql").joinpath("vectors.sql").read_text(encoding="utf-8"))
            connection.execute("insert into vectors_of values (?, ?)", (mark[0] if mark else "", secrets.token_hex(8)))
            connection.execute(f"pragma user_version = {VERSION}")
        self._connection = connection
        return connection

    def _is_older(self, connection: apsw.Connection, than: int = VERSION) -> bool:
        """Tell whether a file can be read and has the format of an earlier version."""
        return int(index.fetch_one(connection, "pragma user_version")[0]) < than

    def _migrate(self, connection: apsw.Connection) -> None:
        """Migrate the file and release free space. The gate must be held."""
        with write.transaction(connection):
            for version in range(index.fetch_one(connection, "pragma user_version")[0] + 1, VERSION + 1):
                connection.execute(files("yiku.store.sql").joinpath(f"vectors_{version:04}.sql").read_text(encoding="utf-8"))
            connection.execute(f"pragma user_version = {VERSION}")
        with suppress(apsw.Error):  # somebody reads, or the disk is full: the pages are used again
            pages.vacuum(connection)

    def reset(self) -> None:
        """Delete the file; other processes that have it open notice."""
        with self._gate.held(), self._lock, self._map_errors():
            self._remove()

    def _remove(self) -> None:
        self._release()
        for suffix in ("-wal", "-shm", ""):
            Path(f"{self.path}{suffix}").unlink(missing_ok=True)
        self._unmap()

    def _unmap(self, scope: int | None = None) -> None:
        """Delete the matrix of this scope, or all. The gate must be held."""
        for path in self._own_folder().glob(f"{'*' if scope is None else scope}-*.matrix*"):
            path.unlink(missing_ok=True)

    def _release(self) -> None:
        self._held.clear()
        self._centres.clear()
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(apsw.Error):
                connection.close()

    def close(self) -> None:
        """Release the file, emptying the log if possible. Other threads get Closed."""
        self._gate.timeout_s = min(self._gate.timeout_s, CLOSE_WITHIN_S)
        with suppress(StoreError), self._lock:
            connection, wrote = self._connection, self._wrote
            self._closed = True
            if connection is not None and wrote and not was_replaced(connection):
                with self._gate.held():
                    pages.empty_wal(connection, 0)
        with self._lock:
            self._release()
        self._gate.close()

    def start_over(self) -> None:
        """Reset in a forked child: neither the connection nor the lock is usable."""
        self._lock = threading.RLock()
        _INHERITED.append(self._connection)
        self._connection = None
        self._held = {}
        self._centres = {}


def _in_a_child() -> None:
    for vectors in list(_EVERY):
        vectors.start_over()


_EVERY = weakref.WeakSet[Vectors]()
os.register_at_fork(after_in_child=_in_a_child)
