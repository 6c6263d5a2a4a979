"""
`Store.upkeep` on SQLite: facts and counts, merging index segments, users' read-only SQL, verified copy, restore.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import apsw

from yiku.errors import ReadOnly
from yiku.store import copy, index, pages, query, schema, totals, write
from yiku.store.columns import Columns
from yiku.store.connect import file_size, wal_bytes
from yiku.store.database import Database
from yiku.store.error_mapping import mapped_errors
from yiku.types import Cause, Copied, SqlRows


class SqliteUpkeep:
    """See yiku.store.protocol.Upkeep."""

    def __init__(self, database: Database, columns: Columns) -> None:
        self._database = database
        self._columns = columns

    def ensure_open(self) -> None:
        """See Upkeep.ensure_open."""
        with self._database.read() as connection:
            self._database.refuse_moved(connection)

    def about(self) -> Mapping[str, Any]:
        """See Upkeep.about."""
        database = self._database
        with database.read() as connection:
            database.refuse_moved(connection)
            return {
                **dict(map(tuple, connection.execute("select key, value from meta"))),
                "schema": index.fetch_one(connection, "pragma user_version")[0],
                "sqlite": apsw.sqlite_lib_version(),
                "durability": database.durability,
                "read_only": database.read_only,
                "network": database.network,
                "bytes": file_size(database.path) + wal_bytes(database.path),
                "wal_bytes": wal_bytes(database.path),
                "verified": pages.enabled() and pages.has_checksums(connection),
                "marked": database.mark.read() is not None,
                "reserve": database.reserve.size() > 0,
            }

    def counts(self, scopes: Sequence[int]) -> Mapping[str, Any]:
        """See Upkeep.counts."""
        with self._database.read() as connection:
            return totals.counts(connection, scopes)

    def review_counts(self, scopes: Sequence[int]) -> tuple[int, int]:
        """See Upkeep.review_counts."""
        with self._database.read() as connection:
            return totals.review_counts(connection, scopes)

    def sql(
        self,
        scopes: Sequence[int],
        sql: str,
        values: Sequence[Any] | Mapping[str, Any],
        *,
        views: Mapping[str, str],
        limit: int,
        timeout_s: float,
        now: datetime,
        vectors: Path | None = None,
    ) -> SqlRows:
        """See Upkeep.sql."""
        self.ensure_open()
        with mapped_errors(str(self._database.path)):
            return query.select(
                self._database.path, scopes, sql, values, views=views, limit=limit, timeout_s=timeout_s, now=now, vectors=vectors
            )

    def merge(self) -> None:
        """See Upkeep.merge. Indexes that are one segment already are skipped."""
        with self._database.read() as connection:
            if not self._database.read_only:
                with self._database.gate.held(), write.transaction(connection):
                    self._database.wrote = True
                    for name in index.EVERY:
                        index.merge(connection, name)
                self._columns.build_files(connection, self._database.gate)

    def copied(self, path: Path) -> Copied:
        """See Upkeep.copied."""
        with mapped_errors(str(path)):
            return copy.copy_verified(self._database.connection(), path, self._database.gate.held())

    def since(self, last: Mapping[str, int]) -> Mapping[str, int]:
        """See Upkeep.since."""
        with self._database.read() as connection:
            return copy.rows_since(connection, last)

    def restore(self, prepared: SqliteUpkeep, cause: Cause, scope: int, sweep: Callable[[], None]) -> int:
        """See Upkeep.restore."""
        from yiku.store import restore

        with self._database.read() as live:
            connection = prepared._database.connection()
            if self._database.read_only:
                raise ReadOnly(str(self._database.path))
            number = restore.resume_numbering(connection, restore.read_continuation(live), scope, cause, self._database.key)
            sweep()
            self._database.wrote = True
            restore.replace_content(connection, live)
            self._database.scopes.clear()
            self._database.mark.write(*schema.identity(live))
            self._database.keep_wal_small()
        return number

    def resume_numbering(self, before: Path, mark: tuple[str, int] | None, cause: Cause, scope: int) -> int:
        """See Upkeep.resume_numbering."""
        from yiku.store import restore

        with self._database.read() as connection:
            given = restore.guess_continuation(before, connection, mark)
            return restore.resume_numbering(connection, given, scope, cause, self._database.key)
