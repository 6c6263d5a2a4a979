"""
Open a store: create, migrate, add missing checksums, or read only; refuse a foreign, replaced or older file.

To look needs no gate and writes nothing. Whoever has to write looks again inside the gate, since another process may have
been faster. The mark is read before the database, which may only grow after it: a file that is not the one it means, or
knows less, is refused.

A file that is still empty is left alone until the gate is held, and a connection that looked at one of an earlier schema is
not used behind it: checksums are switched on by the header that a connection finds when it is opened, and one that found none
would write pages that look damaged to all others.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw

from yiku.errors import IndexOutdated, ReadOnly, StoreMismatch, Unsupported
from yiku.store import connect, pages, schema
from yiku.store.connect import file_size, wal_bytes
from yiku.store.gate import Gate
from yiku.store.identity_file import IdentityFile
from yiku.store.reserve import Reserve

OLDEST_SQLITE = (3, 51, 3)  # earlier ones can lose acknowledged rows when a WAL is reset (sqlite.org/wal.html)


@dataclass(slots=True, kw_only=True)
class Opening:
    """Opening a store; `wrote` tells whether the file changed and needs a checkpoint."""

    path: Path
    gate: Gate
    mark: IdentityFile
    reserve: Reserve
    connection: Callable[[], apsw.Connection]  # made when it is first asked for
    forget: Callable[[], None]  # closes that connection: the next one is another
    analyzer: str
    key: bytes
    durability: str
    network: bool
    wrote: bool = False

    def ready(self) -> str:
        """Return the store id, once the file is ours, current, and the one that `store.id` names."""
        if tuple(map(int, apsw.sqlite_lib_version().split("."))) < OLDEST_SQLITE or sys.platform not in ("linux", "darwin"):
            raise Unsupported(f"SQLite {apsw.sqlite_lib_version()} on {sys.platform}")
        pages.enabled()
        mark = self.mark.read()
        if not self.mark.clean_shutdown() and not wal_bytes(self.path) and file_size(self.path):
            self._seal()
        if not file_size(self.path) or not self._current(mark):
            with self.gate.held():
                self.forget()
                mark = self.mark.read()
                if not file_size(self.path) or not self._current(mark):
                    self._migrate(mark)
        connection = self.connection()
        meta: Any = dict(map(tuple, connection.execute("select key, value from meta")))
        store_id = str(meta["store_id"])
        if mark is not None:
            schema.compare(mark, store_id, schema.last_change(connection), self.path)
        if meta.get("analyzer") != self.analyzer:
            raise IndexOutdated(f"index of analyzer {meta.get('analyzer')}, here {self.analyzer}")
        return store_id

    def _seal(self) -> None:
        """Add checksums if another program wrote the file without them and every row is valid."""
        with self.gate.held():
            if not self.mark.clean_shutdown() and not wal_bytes(self.path):
                schema.add_checksums(self.connection(), self.path, self.mark)

    def _current(self, mark: tuple[str, int] | None) -> bool:
        """Tell whether nothing needs creating or migrating, or can be."""
        connection = self.connection()
        if not schema.is_current(connection, self.path, mark):
            return False
        if connect.cannot_write(connection):
            return True
        return pages.knows_checksums(connection) and self.network is not (connection.pragma("journal_mode") == "wal")

    def _migrate(self, mark: tuple[str, int] | None) -> None:
        """Migrate the file. The gate must be held."""
        if mark is not None and not file_size(self.path):
            raise StoreMismatch(f"{self.path} is {'empty' if self.path.exists() else 'not there'}, and it had {mark[1]:,} changes")
        if not self.path.exists():
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600))
        connection = self.connection()
        if connect.cannot_write(connection):
            raise ReadOnly(str(self.path))
        if mark is not None:
            schema.compare(mark, *schema.identity(connection), self.path)
        self.wrote = True
        if not self.network:
            connection.pragma("synchronous", "FULL")  # whatever the durability: the mark below vouches for it
        schema.migrate(connection, self.path, analyzer=self.analyzer, key=self.key, network=self.network)
        connection.pragma("synchronous", connect.synchronous(self.durability, network=self.network))
        self.mark.write(*schema.identity(connection))
        self.reserve.keep()
