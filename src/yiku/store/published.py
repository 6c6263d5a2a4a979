"""
Store the known versions of MEMORY.md and USER.md as memory ids and keyed hashes of lines, without any text.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

import apsw

from yiku.store import row_codec
from yiku.types import Entry, KeepPageVersion, PageVersion

AT_MOST = 500  # versions of a page


def keep(connection: apsw.Connection, scope: int, change: KeepPageVersion, at: int) -> Iterable[int]:
    """A version is there, as the last one; too old ones and too many go."""
    one = change.version
    of_page = (scope, one.page)
    sql = "delete from published where scope_id = ? and page = ? and version = ? and digest = ?"
    connection.execute(sql, (*of_page, one.version, one.digest))
    sql = "insert into published (scope_id, page, version, digest, entries, at) values (?, ?, ?, ?, ?, ?) returning n"
    written = json.dumps(one.entries, separators=(",", ":"))
    found = connection.execute(sql, (*of_page, one.version, one.digest, written, at)).fetchone()
    n = int(found[0])  # type: ignore[index]  # it returns the row
    sql = "delete from published where scope_id = ? and page = ? and at < ? and n < ?"
    connection.execute(sql, (*of_page, row_codec.micros(change.older_than), n))
    first = "select n from published where scope_id = ?1 and page = ?2 order by n desc limit 1 offset ?3"
    connection.execute(f"delete from published where scope_id = ?1 and page = ?2 and n <= ({first})", (*of_page, AT_MOST))
    return (n,)


def versions(connection: apsw.Connection, scope: int, page: str) -> list[PageVersion]:
    """All that are known of a page, oldest first."""
    sql = "select version, digest, entries from published where scope_id = ? and page = ? order by n"
    found = connection.execute(sql, (scope, page)).fetchall()
    return [
        PageVersion(page, str(version), str(digest), tuple(Entry(*entry) for entry in json.loads(str(entries))))
        for version, digest, entries in found
    ]
