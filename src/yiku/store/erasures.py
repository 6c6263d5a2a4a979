"""
`Store.erasures` on SQLite: list erasures, look up tombstones, search rows and files for erased text, scrub.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from yiku.store import byte_search, column_file, erase, index, row_codec, text_columns, write
from yiku.store.database import Database
from yiku.store.protocol import Spoken
from yiku.types import HeldText


class SqliteErasures:
    """See yiku.store.protocol.Erasures."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> list[dict[str, Any]]:
        """See Erasures.all."""
        with self._database.read() as connection:
            return list(erase.erasures(connection))

    def last(self) -> int:
        """See Erasures.last."""
        with self._database.read() as connection:
            return int(index.fetch_one(connection, write.LAST_ERASURE)[0])

    def known(self, ids: Sequence[str]) -> set[str]:
        """See Erasures.known."""
        sql = "select id from erasures where id in (select value from json_each(?))"
        with self._database.read() as connection:
            return {id for (id,) in connection.execute(sql, (json.dumps([*ids]),))}

    def tombstoned(self, seals: Sequence[bytes]) -> Mapping[bytes, datetime]:
        """See Erasures.tombstoned."""
        with self._database.read() as connection:
            found = erase.tombstoned(connection, seals)
        return {seal: row_codec.EPOCH + row_codec.MICROSECOND * at for seal, at in found.items()}

    def texts(self, scope: int, at_least: int, spoken: Spoken | None = None) -> Iterator[list[HeldText]]:
        """See Erasures.texts."""
        with self._database.read() as connection:
            yield from text_columns.texts(connection, scope, at_least, spoken)

    def texts_in_rows(self, texts: Sequence[str]) -> set[str]:
        """See Erasures.texts_in_rows."""
        with self._database.read() as connection:
            return byte_search.texts_in_rows(connection, texts)

    def needles_in_rows(self, needles: Iterable[bytes]) -> set[bytes]:
        """See Erasures.held."""
        with self._database.read() as connection:
            return byte_search.needles_in_rows(connection, needles)

    def found(self, needles: Sequence[bytes]) -> tuple[int, set[bytes]]:
        """See Erasures.found."""
        with self._database.guarded():
            return byte_search.search_live(self._database.path, needles)

    def scrub(self, *, rewrite: bool = False) -> bool:
        """See Erasures.scrub."""
        with self._database.guarded(), self._database.gate.held():
            column_file.remove(self._database.derived)
            connection = self._database.connection()
            if rewrite:
                with write.transaction(connection):  # at once: an index may not keep the rows that its rewriting puts in
                    erase.rewrite_indexes(connection)
            return erase.scrub(connection, rewrite=rewrite)
