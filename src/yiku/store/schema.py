"""
Create and migrate the schema, add missing page checksums, verify that the file is the store in `store.id`.

Each migration is one transaction with its number inside, so a process that dies leaves the step before.
A store that holds something is copied to backups/ first. The callers hold the gate.
"""

from __future__ import annotations

import uuid
from contextlib import closing
from importlib.resources import files
from pathlib import Path
from typing import Any

import apsw

from yiku.errors import ForeignStore, SchemaTooNew, StoreBusy, StoreError, StoreMismatch
from yiku.store import copy, erase, index, pages, records, row_codec, write
from yiku.store.identity_file import IdentityFile

APPLICATION_ID = 0x59694B75  # "YiKu"
MIGRATIONS = (
    "0001_house.sql",
    "0002_trust.sql",
    "0003_finding.sql",
    "0004_learning.sql",
    "0005_spans.sql",
    "0006_endings.sql",
    "0007_notes.sql",
    "0008_published.sql",
    "0009_nights.sql",
    "0010_maintain.sql",
)
BATCH = 2_000  # rows read at a time


def is_current(connection: apsw.Connection, path: Path, mark: tuple[str, int] | None) -> bool:
    """
    Tell whether the file is a store of this version; False if it must be created or migrated.

    Raises ForeignStore, SchemaTooNew, and StoreMismatch for an empty file where the mark tells of changes.
    """
    try:
        version, application, empty = _read_header(connection)
    except apsw.IOError:  # whose file it is can be told even when its first pages are damaged
        version, application, empty = _read_header(pages.without_verification(connection))
        pages.with_verification(connection)
    if empty:
        if mark is not None:
            raise StoreMismatch(f"{path} is empty, and it had {mark[1]:,} changes")
        return False  # nothing yet: a creation that was cut short
    if application != APPLICATION_ID:
        raise ForeignStore(str(path))
    if version > len(MIGRATIONS):
        raise SchemaTooNew(f"schema {version}, this Yiku knows {len(MIGRATIONS)}")
    return bool(version == len(MIGRATIONS))


def _read_header(connection: apsw.Connection) -> tuple[int, int, bool]:
    """Return schema version, application id and whether the file is empty, from one snapshot."""
    connection.execute("begin")
    try:
        version = index.fetch_one(connection, "pragma user_version")[0]
        application = index.fetch_one(connection, "pragma application_id")[0]
        return version, application, not (version or application or connection.execute("select 1 from sqlite_schema").fetchone())
    finally:
        if connection.in_transaction:
            connection.execute("rollback")


def migrate(connection: apsw.Connection, path: Path, *, analyzer: str, key: bytes, network: bool) -> None:
    """Migrate the file, one transaction per step."""
    version = index.fetch_one(connection, "pragma user_version")[0]
    if 0 < version < len(MIGRATIONS):
        if path.with_name("backups").is_symlink():
            raise StoreError(
                f"{path.with_name('backups')} is a link, and an earlier version is copied there first: remove the link"
            )
        for left in path.with_name("backups").glob(f".before-schema-{len(MIGRATIONS)}.db.*"):
            left.unlink(missing_ok=True)  # of a migration that was cut short; the gate is held, so nobody is making one
        before = path.with_name("backups") / f"before-schema-{len(MIGRATIONS)}.db"
        if not _has_copy(connection, before):
            copy.copy_over(connection, before)
    if pages.enabled() and not pages.has_checksums(connection):
        pages.reserve_space(connection)
        if version:
            pages.vacuum(connection)
    # Who opens the file next is to find its new header in it.
    if version and not pages.empty_wal(connection, connection.pragma("busy_timeout")):
        raise StoreBusy(f"{path} is being read, and cannot be brought up to date meanwhile")
    connection.pragma("journal_mode", "delete" if network else "wal")
    for number in range(version, len(MIGRATIONS)):
        script = files("yiku.store.sql").joinpath(MIGRATIONS[number]).read_text(encoding="utf-8")
        with write.transaction(connection):
            connection.execute(script)
            if number == 0:
                facts = [("store_id", uuid.uuid4().hex), ("analyzer", analyzer)]
                connection.executemany("insert into meta (key, value) values (?, ?)", facts)
            if number == 1:
                _digests(connection)
                rechain_journal(connection, key)
            if number == 4:
                erase.name_erasures(connection)
            connection.execute(f"pragma application_id = {APPLICATION_ID}")
            connection.execute(f"pragma user_version = {number + 1}")


def _has_copy(connection: apsw.Connection, before: Path) -> bool:
    """Tell whether a copy from before these migrations exists and is still current."""
    if not before.exists() or copy.page_errors(before):
        return False
    with closing(copy.open_copy(before)) as known:
        earlier = index.fetch_one(known, "pragma user_version")[0] < index.fetch_one(connection, "pragma user_version")[0]
        return bool(earlier and identity(known) == identity(connection))


def _digests(connection: apsw.Connection) -> None:
    """Compute the digest of every row, as schema 2 requires."""
    for table, columns in (("conversation_turns", row_codec.TURN_DIGESTED), ("memories", row_codec.MEMORY_DIGESTED)):
        last: Any = 0
        while found := connection.execute(
            f"select {columns} from {table} where n > ? order by n limit {BATCH}", (last,)
        ).fetchall():
            connection.executemany(f"update {table} set digest = ? where n = ?", [(row_codec.digest(row), row[0]) for row in found])
            last = found[-1][0]


def rechain_journal(connection: apsw.Connection, key: bytes) -> None:
    """Recompute the digest chain of the journal."""
    previous = b""
    for header in connection.execute(f"select {write.CHAINED} from changes order by number").fetchall():
        previous = write.digest(key, previous, header)
        connection.execute("update changes set digest = ? where number = ?", (previous, header[0]))


def add_checksums(connection: apsw.Connection, path: Path, mark: IdentityFile) -> None:
    """Add missing page checksums and mark the store as cleanly shut down. The gate must be held."""
    known = mark.read()
    if not is_current(connection, path, known):
        return
    if known is not None:
        compare(known, *identity(pages.without_verification(connection)), path)
        pages.with_verification(connection)
    if ensure_checksums(connection):
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        mark.write(*identity(connection), clean_shutdown=True)


def ensure_checksums(connection: apsw.Connection) -> bool:
    """Tell whether every page has its checksum, adding missing ones if all rows and indexes are sound."""
    try:
        if not pages.has_checksums(connection) or connection.pragma("quick_check") == "ok":
            return True
    except apsw.IOError:
        pass
    pages.without_verification(connection)
    try:
        sound = connection.pragma("integrity_check") == "ok" and rows_intact(connection)
        if sound:
            pages.vacuum(connection)
        return sound
    except (apsw.Error, UnicodeDecodeError):
        return False
    finally:
        pages.with_verification(connection)


def rows_intact(connection: apsw.Connection) -> bool:
    """Tell whether every turn, memory and record matches its digest."""
    return all(sound for *_, sound in records.digests(connection)) and all(
        row_codec.digest(values) == found
        for table, columns in (("conversation_turns", row_codec.TURN_DIGESTED), ("memories", row_codec.MEMORY_DIGESTED))
        for *values, found in connection.execute(f"select {columns}, digest from {table}")
    )


def identity(connection: apsw.Connection) -> tuple[str, int]:
    """Return the store id and the number of its last change."""
    return str(index.fetch_one(connection, "select value from meta where key = 'store_id'")[0]), last_change(connection)


def last_change(connection: apsw.Connection) -> int:
    """Return the number of the last change ever made."""
    number: int = index.fetch_one(connection, "select coalesce(max(number), 0) from changes")[0]
    return number


def compare(mark: tuple[str, int], store_id: str, last: int, path: Path) -> None:
    """Raise StoreMismatch unless the file is the store that `mark` names, and at least as new."""
    if mark[0] != store_id:
        raise StoreMismatch(f"{path} belongs to another home: its id is {store_id[:8]}…, store.id says {mark[0][:8]}…")
    if last < mark[1]:
        raise StoreMismatch(f"{path} is an older copy: it has {last:,} changes of {mark[1]:,}")
