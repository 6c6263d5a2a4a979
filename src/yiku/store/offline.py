"""
A database file that no store has open here: looked at, copied, rebuilt, put in place.

`yiku.store.api` hands this on, and imports it only when somebody asks for it.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from yiku.store import copy, restore
from yiku.store.check import Depth, Look, Words, erasures, has_tables, identity, is_foreign, look, named_blobs
from yiku.store.check import backup as check_backup
from yiku.store.copy import flushed
from yiku.store.error_mapping import mapped_errors
from yiku.store.rebuild import put_aside, removed, rescued
from yiku.types import Copied

__all__ = [
    "Depth",
    "Look",
    "Words",
    "check_backup",
    "erasures",
    "flushed",
    "has_tables",
    "identity",
    "install",
    "is_foreign",
    "look",
    "named_blobs",
    "put_aside",
    "read_backup",
    "removed",
    "rescued",
    "unpack_backup",
]


def read_backup(path: Path) -> Copied:
    """Read a backup row by row; what it holds. Raises Damaged where it is not sound."""
    with mapped_errors(str(path)):
        return copy.read_through(path)


def unpack_backup(path: Path, database: Path) -> None:
    """Copy the content of a backup to a database file of its own. Raises Damaged where it is not sound."""
    with mapped_errors(str(path)), closing(copy.opened(path)) as connection:
        copy.kept(connection, database)


def install(prepared: Path, database: Path, aside: Path) -> None:
    """A closed database gets the store's name; what had it is moved aside, with its WAL."""
    with mapped_errors(str(database)):
        restore.install(prepared, database, aside)
