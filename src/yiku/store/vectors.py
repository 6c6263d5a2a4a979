"""
Vectors: what a model made of turns and memories, in a file of its own beside the database.

Rows of int8 numbers are the truth, and all of them can be made again; so this file is never backed up, and where
it is damaged it is put aside and begun anew, while questions are answered by words. What was read of a scope is
kept in memory as one array, and only what came since is read. A search looks at every vector of the scopes asked:
exact, and a scope costs what the scope has.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw

from yiku.errors import Damaged, StoreError
from yiku.store import index, write
from yiku.store.gate import Gate
from yiku.types import Embedded, Item, Similar, Vector

if TYPE_CHECKING:
    import numpy as np

VERSION = 1
BLOCK = 8_192  # vectors that are turned into floats at a time: they stay in the processor's cache
SEGMENTS = 8  # pieces of a scope's array, before they are joined
SCOPES_KEPT = 16
CACHED_AT_MOST = 10_000  # vectors of texts, some 15 MB
INT8 = 127
_COLUMNS = "item = 'memory', unspaced, row_n, factor, code"


@dataclass(slots=True)
class Segment:
    """Vectors of a scope, in the order in which they came; `starts` are the places where another row begins."""

    memories: np.ndarray[Any, Any]
    unspaced: np.ndarray[Any, Any]
    ns: np.ndarray[Any, Any]
    starts: np.ndarray[Any, Any]
    factors: np.ndarray[Any, Any]
    codes: np.ndarray[Any, Any]


@dataclass(slots=True)
class Held:
    """All vectors of a scope in a space, as they were at some moment."""

    last: int
    removals: int
    segments: list[Segment]


class Vectors:
    """The vectors of a home. Safe to use from several threads and after a fork."""

    def __init__(self, path: Path, *, busy_timeout_s: float = 30.0, read_only: bool = False) -> None:
        """Nothing is opened or made before it is needed."""
        self.path = path
        self.read_only = read_only
        self.busy_timeout_s = busy_timeout_s
        self._gate = Gate(path.with_name("lock"), busy_timeout_s)
        self._lock = threading.RLock()
        self._connection: apsw.Connection | None = None
        self._pid = os.getpid()
        self._held: dict[tuple[int, int], Held] = {}
        self._sound = False  # whether this process has looked

    # -------------------------------------------------------------- reading

    def exist(self) -> bool:
        """Whether anything was ever embedded here."""
        return self.path.exists()

    def embedded(self, scope: int, space: str) -> Embedded:
        """How far a scope is in a space."""
        with self._read() as connection:
            if connection is None or (number := _space(connection, space)) is None:
                return Embedded()
            sql = "select turns, memories from progress where scope_id = ? and space = ?"
            turns, memories = connection.execute(sql, (scope, number)).fetchone() or (0, 0)
            again: Any = connection.execute("select item, row_n from again where scope_id = ?", (scope,)).fetchall()
            sql = "select count(*) from vectors where scope_id = ? and space = ?"
            return Embedded(turns, memories, tuple(map(tuple, again)), index.one(connection, sql, scope, number)[0])

    def progress(self, scope: int, space: str) -> tuple[int, int] | None:
        """The last turn and memory of a scope that were looked at; None where nothing is embedded in this space."""
        with self._read() as connection:
            if connection is None or (number := _space(connection, space)) is None:
                return None
            sql = "select turns, memories from progress where scope_id = ? and space = ? and last > 0"
            found: tuple[int, int] | None = connection.execute(sql, (scope, number)).fetchone()
            return found

    def spaces(self) -> list[tuple[str, int]]:
        """The names of all spaces, with how many vectors each has."""
        with self._read() as connection:
            if connection is None:
                return []
            sql = "select name, (select count(*) from vectors v where v.space = s.n) from spaces s order by n"
            return [(name, count) for name, count in connection.execute(sql)]

    def similar(self, scopes: Sequence[int], space: str, question: np.ndarray[Any, Any]) -> Similar | None:
        """How much each turn and memory resembles a question, a vector of unit length; None where nothing is embedded."""
        import numpy as np

        with self._read() as connection:
            if connection is None or (number := _space(connection, space)) is None:
                return None
            held = [self._loaded(connection, scope, number) for scope in scopes]
        found = [_best(segment, question) for each in held for segment in each.segments]
        if not found:
            return None
        memories, unspaced, ns, cosines = (np.concatenate(parts) for parts in zip(*found, strict=True))
        order = np.argsort(ns, kind="stable")
        return Similar(ns[order], memories[order], unspaced[order], cosines[order])

    def _loaded(self, connection: apsw.Connection, scope: int, space: int) -> Held:
        """The vectors of a scope as they are now: what is known, and what came since."""
        sql = "select last, removals from progress where scope_id = ? and space = ?"
        last, removals = connection.execute(sql, (scope, space)).fetchone() or (0, 0)
        held = self._held.pop((scope, space), None)
        if held is None or held.removals != removals or held.last > last:
            held = Held(0, removals, [])
        if held.last < last:
            sql = f"select {_COLUMNS} from vectors where scope_id = ? and space = ? and seq > ? order by seq"
            if found := connection.execute(sql, (scope, space, held.last)).fetchall():
                held.segments.append(_segment(found))
            held.last = last
            if len(held.segments) > SEGMENTS:
                held.segments = [_joined(held.segments)]
        self._held[scope, space] = held
        while len(self._held) > SCOPES_KEPT:
            del self._held[next(iter(self._held))]
        return held

    # -------------------------------------------------------------- writing

    def add(self, scope: int, space: str, found: Sequence[Vector], *, turns: int, memories: int, still: Callable[[], bool]) -> bool:
        """
        Keep vectors, and how far the scope is with them.

        still: whether what they were made of is still there, asked once nobody else can write
        """
        with self._written() as connection:
            if not still():
                return False
            number = _space(connection, space)
            if number is None:
                number = index.one(connection, "insert into spaces (name) values (?) returning n", space)[0]
            sql = "insert or ignore into progress (scope_id, space) values (?, ?)"
            connection.execute(sql, (scope, number))
            sql = "select last from progress where scope_id = ? and space = ?"
            last = index.one(connection, sql, scope, number)[0]
            rows = {(vector.item, vector.n) for vector in found}
            gone = sum(_taken(connection, scope, item, n, number) for item, n in rows)
            connection.executemany(
                f"insert into vectors values ({index.marks(range(9))})",
                [
                    (scope, number, last + k, vector.item, vector.n, vector.part, vector.unspaced, *coded(vector.values))
                    for k, vector in enumerate(found, 1)
                ],
            )
            connection.execute(
                "update progress set turns = max(turns, ?3), memories = max(memories, ?4), last = ?5, removals = removals + ?6"
                " where scope_id = ?1 and space = ?2",
                (scope, number, turns, memories, last + len(found), gone),
            )
        return True

    def settled(self, scope: int, rows: Sequence[tuple[Item, int]]) -> None:
        """These rows need not be embedded again: it is done, or they are gone."""
        with self._written() as connection:
            sql = "delete from again where scope_id = ? and item = ? and row_n = ?"
            connection.executemany(sql, [(scope, *row) for row in rows])

    def forget(self, scope: int, rows: Sequence[tuple[Item, int]], *, again: Sequence[tuple[Item, int]] = ()) -> None:
        """Take out the vectors of these rows, and what the cache holds; `again` are rows that are embedded anew."""
        if not self.exist():
            return
        with self._written() as connection:
            gone = sum(_taken(connection, scope, item, n) for item, n in (*rows, *again))
            connection.execute("update progress set removals = removals + ? where scope_id = ?", (gone, scope))
            connection.executemany("insert or ignore into again values (?, ?, ?)", [(scope, *row) for row in again])
            connection.executemany(
                "delete from again where scope_id = ? and item = ? and row_n = ?", [(scope, *row) for row in rows]
            )
            connection.execute("delete from embedding_cache")
        self._emptied()

    def drop(self, scope: int | None = None) -> None:
        """All vectors of a scope, or of all, are gone; they can be made again."""
        if not self.exist():
            return
        with self._written() as connection:
            among = "" if scope is None else f" where scope_id = {int(scope)}"
            for table in ("vectors", "again"):
                connection.execute(f"delete from {table}{among}")
            connection.execute(f"update progress set turns = 0, memories = 0, removals = removals + 1{among}")
            connection.execute("delete from embedding_cache")
        self._emptied()

    def _emptied(self) -> None:
        """Nothing of what was deleted stays in the write-ahead log."""
        with self._lock, self._gate.held(), contextlib.suppress(apsw.BusyError):
            self._opened().wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)

    # -------------------------------------------------------------- the cache

    def cached(self, key: tuple[str, str, str], hashes: Sequence[bytes]) -> dict[bytes, np.ndarray[Any, Any]]:
        """The vectors of texts that this provider, model and variant were asked for before."""
        import numpy as np

        with self._read() as connection:
            if connection is None:
                return {}
            sql = "select embedding from embedding_cache where provider = ? and model = ? and provider_key = ? and hash = ?"
            found = ((text, connection.execute(sql, (*key, text)).fetchone()) for text in hashes)
            return {text: np.frombuffer(row[0], np.float32) for text, row in found if row}

    def cache(
        self, key: tuple[str, str, str], found: Sequence[tuple[bytes, np.ndarray[Any, Any]]], still: Callable[[], bool]
    ) -> None:
        """Keep what a model said of texts, at most CACHED_AT_MOST of them, the last used."""
        now = time.time_ns() // 1000
        with self._written() as connection:
            if not still():
                return
            connection.executemany(
                "insert or replace into embedding_cache values (?, ?, ?, ?, ?, ?, ?)",
                [(*key, text, values.astype("float32").tobytes(), len(values), now) for text, values in found],
            )
            over = index.one(connection, "select count(*) from embedding_cache")[0] - CACHED_AT_MOST
            if over > 0:
                oldest = "select provider, model, provider_key, hash from embedding_cache order by updated_at limit ?"
                sql = f"delete from embedding_cache where (provider, model, provider_key, hash) in ({oldest})"
                connection.execute(sql, (over,))

    # -------------------------------------------------------------- the file

    @contextmanager
    def _read(self) -> Iterator[apsw.Connection | None]:
        """The connection, or None where there is nothing. Raises Damaged."""
        with self._lock, self._told():
            yield self._opened() if self.exist() else None

    @contextmanager
    def _written(self) -> Iterator[apsw.Connection]:
        """A transaction while nobody else writes; a damaged file is put aside, and a new one begun."""
        self.path.parent.mkdir(mode=0o700, exist_ok=True)
        with self._lock, self._gate.held(), self._told():
            try:
                connection = self._made()
            except (apsw.CorruptError, apsw.NotADBError, Damaged):
                self._put_aside()
                connection = self._made()
            with write.transaction(connection):
                yield connection

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except (apsw.CorruptError, apsw.NotADBError) as error:
            raise Damaged(f"{self.path}: the vectors cannot be read, `yiku embed` makes them anew") from error
        except apsw.Error as error:
            raise StoreError(f"{self.path}: {error}") from error

    def _made(self) -> apsw.Connection:
        connection = self._opened()
        version = index.one(connection, "pragma user_version")[0]
        if version > VERSION:
            raise Damaged(f"{self.path} is of a later version")
        if version == 0:
            script = files("yiku.store.sql").joinpath("vectors.sql").read_text(encoding="utf-8")
            with write.transaction(connection):
                connection.execute(script)
                connection.execute(f"pragma user_version = {VERSION}")
        if not self._sound:
            if index.one(connection, "pragma quick_check(1)")[0] != "ok":
                raise Damaged(str(self.path))
            self._sound = True
        return connection

    def _opened(self) -> apsw.Connection:
        if self._pid != os.getpid():  # the parent's connection is not ours
            self._connection, self._pid = None, os.getpid()
        if self._connection is None:
            flags = apsw.SQLITE_OPEN_READONLY if self.read_only else apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
            connection = apsw.Connection(str(self.path.parent.resolve() / self.path.name), flags | apsw.SQLITE_OPEN_NOFOLLOW)
            if not self.read_only:
                os.chmod(self.path, 0o600)
            connection.set_busy_timeout(int(self.busy_timeout_s * 1000))
            connection.pragma("journal_mode", "wal")
            connection.pragma("synchronous", "normal")  # what a power cut takes is made again
            connection.pragma("secure_delete", "on")
            self._connection = connection
        return self._connection

    def _put_aside(self) -> None:
        self.close()
        self._held.clear()
        self._sound = False
        for suffix in ("-wal", "-shm", ""):
            Path(f"{self.path}{suffix}").unlink(missing_ok=True)

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            if self._connection is not None and self._pid == os.getpid():
                with contextlib.suppress(apsw.Error):
                    self._connection.close()
            self._connection = None


# ------------------------------------------------------------------ arithmetic


def coded(values: np.ndarray[Any, Any]) -> tuple[float, bytes]:
    """A vector as one factor and int8 numbers."""
    import numpy as np

    factor = max(float(np.abs(values).max()) / INT8, 1e-12)
    return factor, np.rint(values / factor).astype(np.int8).tobytes()


def _segment(found: Sequence[tuple[Any, ...]]) -> Segment:
    import numpy as np

    memories, unspaced, ns, factors, codes = zip(*found, strict=True)
    kept = np.frombuffer(b"".join(codes), np.int8).reshape(len(codes), -1)
    return _rowed(
        np.array(memories, np.bool_), np.array(unspaced, np.bool_), np.array(ns, np.int64), np.array(factors, np.float32), kept
    )


def _rowed(
    memories: np.ndarray[Any, Any],
    unspaced: np.ndarray[Any, Any],
    ns: np.ndarray[Any, Any],
    factors: np.ndarray[Any, Any],
    codes: np.ndarray[Any, Any],
) -> Segment:
    import numpy as np

    another = (ns[1:] != ns[:-1]) | (memories[1:] != memories[:-1])
    return Segment(memories, unspaced, ns, np.concatenate([[0], np.flatnonzero(another) + 1]), factors, codes)


def _joined(segments: Sequence[Segment]) -> Segment:
    import numpy as np

    names = ("memories", "unspaced", "ns", "factors", "codes")
    return _rowed(*(np.concatenate([getattr(each, name) for each in segments]) for name in names))


def _best(segment: Segment, question: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], ...]:
    """Sort, script, number and best cosine of each row of a segment."""
    import numpy as np

    cosines = np.empty(len(segment.ns), np.float32)
    for start in range(0, len(cosines), BLOCK):
        block = slice(start, start + BLOCK)
        cosines[block] = segment.codes[block].astype(np.float32) @ question
    cosines *= segment.factors
    starts = segment.starts
    if len(starts) < len(cosines):
        cosines = np.maximum.reduceat(cosines, starts)
    return segment.memories[starts], segment.unspaced[starts], segment.ns[starts], cosines


def _space(connection: apsw.Connection, name: str) -> int | None:
    found = connection.execute("select n from spaces where name = ?", (name,)).fetchone()
    return found[0] if found else None


def _taken(connection: apsw.Connection, scope: int, item: str, n: int, space: int | None = None) -> int:
    """Delete the vectors of a row; whether there were some."""
    sql = "delete from vectors where scope_id = ?1 and item = ?2 and row_n = ?3 and (?4 is null or space = ?4)"
    connection.execute(sql, (scope, item, n, space))
    return int(connection.changes() > 0)
