"""
A verified copy of the store while it is in use: of one moment, whole, on the disk under its name or not at all.

`vacuum into` reads one snapshot, so writers go on meanwhile; the copy has no WAL, no free pages, and nothing
of what was erased. It gets its name after it was read back.
"""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path

import apsw

from yiku.errors import Damaged
from yiku.store import pages


def kept(connection: apsw.Connection, path: Path) -> Path:
    """Copy the store to `path`, over what has that name. Raises Damaged when the copy is not sound."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}")
    try:
        os.close(os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600))
        connection.execute("vacuum into ?", (str(temporary),))
        if trouble := troubles(temporary):
            raise Damaged(f"the copy of {connection.filename}: {trouble[0]}")
        flushed(temporary)
        temporary.rename(path)
        flushed(path.parent)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
    return path


def opened(path: Path) -> apsw.Connection:
    """A copy as a connection that cannot write; nothing is made beside it."""
    pages.verified()
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_NOFOLLOW | apsw.SQLITE_OPEN_URI
    return apsw.Connection(f"{path.resolve().as_uri()}?immutable=1", flags=flags)


def troubles(path: Path) -> list[str]:
    """What is wrong with a copy's pages; empty when they are sound."""
    try:
        connection = opened(path)
    except apsw.Error as error:
        return [str(error)]
    try:
        found = [row[0] for row in connection.execute("pragma quick_check(10)")]
        return [] if found == ["ok"] else found
    except apsw.Error as error:
        return [str(error)]
    finally:
        connection.close()


def flushed(path: Path) -> None:
    """What was written to a file, or the names in a folder, are on the disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
