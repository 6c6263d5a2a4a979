"""
Columns of all turns of a scope, kept in memory: what ranking asks of each turn, and a row look-up would cost too much for.

Turns are added and go, but never change in these columns, and numbers are never given twice. So what was read
stays right, and only what came since is read; a turn that is gone is in no posting.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import apsw

from yiku.types import TurnColumns

if TYPE_CHECKING:
    import numpy as np

SCOPES_KEPT = 64
_COLUMNS = "n, session_n, said_at, role = 'user', speaker"


class Columns:
    """The columns of the scopes last asked for. Safe to use from several threads."""

    def __init__(self) -> None:
        self._kept: dict[int, TurnColumns] = {}
        self._lock = threading.Lock()

    def of(self, connection: apsw.Connection, scopes: Sequence[int]) -> TurnColumns:
        """The turns of these scopes, by their numbers."""
        with self._lock:
            each = [self._scope(connection, scope) for scope in scopes]
        each = [columns for columns in each if len(columns.ns)]
        return each[0] if len(each) == 1 else _merged(each)

    def _scope(self, connection: apsw.Connection, scope: int) -> TurnColumns:
        known = self._kept.pop(scope, None)
        if known is None or not len(known.ns):
            sql = f"select {_COLUMNS} from conversation_turns indexed by turns_by_time where scope_id = ?"
            fresh = _read(connection.execute(sql, (scope,)).fetchall())
        else:
            sql = f"select {_COLUMNS} from conversation_turns where n > ? and +scope_id = ?"
            found = connection.execute(sql, (int(known.ns[-1]), scope)).fetchall()
            fresh = _merged([known, _read(found)]) if found else known
        self._kept[scope] = fresh
        while len(self._kept) > SCOPES_KEPT:
            del self._kept[next(iter(self._kept))]
        return fresh


def _read(found: Sequence[tuple[Any, ...]]) -> TurnColumns:
    import numpy as np

    if not found:
        none = np.empty(0, np.int64)
        return TurnColumns(none, none, none, none.astype(np.bool_), none.astype(np.int32), ())
    ns, sessions, said_at, user, speakers = zip(*found, strict=True)
    names = {name: place for place, name in enumerate(sorted({*speakers} - {None}))}
    order = np.argsort(np.array(ns, np.int64))
    return TurnColumns(
        np.array(ns, np.int64)[order],
        np.array(sessions, np.int64)[order],
        np.array(said_at, np.int64)[order],
        np.array(user, np.bool_)[order],
        np.array([names.get(name, -1) for name in speakers], np.int32)[order],
        tuple(names),
    )


def _merged(each: Sequence[TurnColumns]) -> TurnColumns:
    """Several as one, in the order of the turns' numbers."""
    import numpy as np

    if not each:
        return _read(())
    names = tuple(dict.fromkeys(name for columns in each for name in columns.names))
    place = {name: k for k, name in enumerate(names)}

    def told(columns: TurnColumns) -> np.ndarray[Any, Any]:
        renamed = np.array([*(place[name] for name in columns.names), -1], np.int32)
        found: np.ndarray[Any, Any] = renamed[columns.speakers]
        return found

    ns = np.concatenate([columns.ns for columns in each])
    order = np.argsort(ns, kind="stable")
    return TurnColumns(
        ns[order],
        np.concatenate([columns.sessions for columns in each])[order],
        np.concatenate([columns.said_at for columns in each])[order],
        np.concatenate([columns.user for columns in each])[order],
        np.concatenate([told(columns) for columns in each])[order],
        names,
    )
