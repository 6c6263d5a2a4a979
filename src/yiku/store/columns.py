"""
Cache of each scope's turns as NumPy columns (session, time, speaker) for ranking; writes the column files.

Turns are added and go, but never change in these columns, and numbers are never given twice. So only what came
since is read. After an erasure, or where the newest turn is there no more (a backup was put back), all is read
again. Of a large scope a file has them (`column_file`), so that a process need not read them all for its first answer.
"""

from __future__ import annotations

import json
import os
import threading
import weakref
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw

from yiku.store import column_file
from yiku.store.gate import Gate
from yiku.store.index import fetch_one
from yiku.store.write import LAST_ERASURE
from yiku.types import TurnColumns

if TYPE_CHECKING:
    import numpy as np

SCOPES_KEPT = 64
FILED_FROM = 20_000  # turns of a scope: fewer are read in 20 ms
READ_AT_ONCE = 50_000  # turns: of a million, all at once would be half a gigabyte of text
# Lists of numbers as text take a third of the time and memory of rows.
_LISTS = """
    select group_concat(n), group_concat(session_n), group_concat(said_at), group_concat(user), json_group_array(speaker)
    from (select n, session_n, said_at, role = 'user' as user, speaker from conversation_turns"""


@dataclass(frozen=True, slots=True)
class CachedScope:
    """The cached turns of a scope, with the last turn number and last erasure that they reflect."""

    upto: int
    erasure: int
    columns: TurnColumns


class Columns:
    """Cache of turn columns of recently used scopes. Safe to use from several threads and after a fork."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder  # of the files
        self._kept: dict[int, CachedScope] = {}
        self._lock = threading.Lock()
        _EVERY.add(self)

    def of(self, connection: apsw.Connection, scopes: Sequence[int]) -> TurnColumns:
        """Return the columns of the turns of these scopes, ordered by row number."""
        with self._lock:
            erasure = fetch_one(connection, LAST_ERASURE)[0]
            each = [self._scope(connection, scope, erasure) for scope in scopes]
        each = [columns for columns in each if len(columns.ns)]
        return _merge(each)

    def _scope(self, connection: apsw.Connection, scope: int, erasure: int) -> TurnColumns:
        upto = fetch_one(connection, "select coalesce(max(seq), 0) from sqlite_sequence where name = ?", "conversation_turns")[0]
        known = self._kept.pop(scope, None) or self._from_file(connection, scope, upto)
        if known is None or known.erasure != erasure or not _newest_exists(connection, scope, known.columns):
            columns = _merge([*_by_time(connection, scope, upto)])
        elif known.upto < upto:
            found = _read(connection, f"{_LISTS} where n > ? and n <= ? and scope_id = ?)", known.upto, upto, scope)
            columns = _merge([known.columns, found]) if len(found.ns) else known.columns
        else:
            columns = known.columns
        self._kept[scope] = CachedScope(upto, erasure, columns)
        while len(self._kept) > SCOPES_KEPT:
            del self._kept[next(iter(self._kept))]
        return columns

    def _from_file(self, connection: apsw.Connection, scope: int, upto: int) -> CachedScope | None:
        """Return the columns in the scope's file, if it belongs to this store and is nearly up to date."""
        found = column_file.open_mapped(self._folder, _store_id(connection), scope)
        if found is None:
            return None
        of, columns = found
        if not 0 <= upto - of.upto <= READ_AT_ONCE or _newest(connection, scope, columns) != of.newest:
            return None
        return CachedScope(of.upto, of.erasure, columns)

    def build_files(self, connection: apsw.Connection, gate: Gate) -> None:
        """Write the column file of each large scope that has none or an old one. Raises OSError."""
        sql = "select scope_id from conversation_turns group by scope_id having count(*) >= ?"
        large: list[Any] = connection.execute(sql, (FILED_FROM,)).fetchall()
        for (scope,) in large:
            with self._lock:
                self._scope(connection, scope, fetch_one(connection, LAST_ERASURE)[0])
                known = self._kept[scope]
            found = column_file.open_mapped(self._folder, _store_id(connection), scope)
            if found is not None and (found[0].upto, found[0].erasure) == (known.upto, known.erasure):
                continue
            with gate.held():  # nothing is erased meanwhile
                newest = _newest(connection, scope, known.columns)
                if newest is not None and fetch_one(connection, LAST_ERASURE)[0] == known.erasure:
                    of = column_file.BuiltFrom(_store_id(connection), scope, known.erasure, known.upto, newest)
                    column_file.write(self._folder, of, known.columns)

    def forget(self) -> None:
        """Drop all cached columns after an erasure; files record which erasure they reflect."""
        with self._lock:
            self._kept = {}

    def start_over(self) -> None:
        """Replace the lock in a forked child: a parent's thread may hold the copy."""
        self._lock = threading.Lock()
        self._kept = {}


def _newest_exists(connection: apsw.Connection, scope: int, columns: TurnColumns) -> bool:
    """Tell whether the newest of these turns still exists."""
    if not len(columns.ns):
        return True
    sql = "select 1 from conversation_turns where n = ? and +scope_id = ?"
    return connection.execute(sql, (int(columns.ns[-1]), scope)).fetchone() is not None


def _newest(connection: apsw.Connection, scope: int, columns: TurnColumns) -> str | None:
    """Return the id of the newest of these turns; None if it was deleted."""
    sql = "select id from conversation_turns where n = ? and +scope_id = ?"
    found = connection.execute(sql, (int(columns.ns[-1]), scope)).fetchone()
    return found and str(found[0])


def _store_id(connection: apsw.Connection) -> str:
    return str(fetch_one(connection, "select value from meta where key = ?", "store_id")[0])


def _by_time(connection: apsw.Connection, scope: int, upto: int) -> Iterator[TurnColumns]:
    """Yield batches of a scope's turns in the order of the covering index."""
    at, n = -1 << 63, 0
    sql = f"{_LISTS} indexed by turns_by_time where scope_id = ? and (said_at, n) > (?, ?) and n <= ? order by said_at, n limit ?)"
    while len((found := _read(connection, sql, scope, at, n, upto, READ_AT_ONCE)).ns):
        yield found
        at = int(found.said_at.max())
        n = int(found.ns[found.said_at == at].max())


def _read(connection: apsw.Connection, sql: str, *values: int) -> TurnColumns:
    import numpy as np

    *numbers, compressed = fetch_one(connection, sql, *values)
    ns, sessions, said_at, user = (np.fromstring(text or "", np.int64, sep=",") for text in numbers)
    speakers = json.loads(compressed)
    names = {name: place for place, name in enumerate(sorted({*speakers} - {None}))}
    order = np.argsort(ns)
    return TurnColumns(
        ns[order],
        sessions[order],
        said_at[order],
        user[order].astype(np.bool_),
        np.array([names.get(name, -1) for name in speakers], np.int32)[order],
        tuple(names),
    )


def _merge(each: Sequence[TurnColumns]) -> TurnColumns:
    """Merge columns, ordered by row number."""
    import numpy as np

    if not each:
        none = np.empty(0, np.int64)
        return TurnColumns(none, none, none, none.astype(np.bool_), none.astype(np.int32), ())
    names = tuple(dict.fromkeys(name for columns in each for name in columns.names))
    place = {name: k for k, name in enumerate(names)}

    def compressed(columns: TurnColumns) -> np.ndarray[Any, Any]:
        renamed = np.array([*(place[name] for name in columns.names), -1], np.int32)
        found: np.ndarray[Any, Any] = renamed[columns.speakers]
        return found

    if len(each) == 1:
        return each[0]
    ns = np.concatenate([columns.ns for columns in each])
    order = np.argsort(ns, kind="stable")
    return TurnColumns(
        ns[order],
        np.concatenate([columns.sessions for columns in each])[order],
        np.concatenate([columns.said_at for columns in each])[order],
        np.concatenate([columns.user for columns in each])[order],
        np.concatenate([compressed(columns) for columns in each])[order],
        names,
    )


def _in_a_child() -> None:
    for columns in list(_EVERY):
        columns.start_over()


_EVERY = weakref.WeakSet[Columns]()
os.register_at_fork(after_in_child=_in_a_child)
