"""
Operations on a database file that is not open: check, copy, rebuild, replace.

`yiku.store.api` hands this on, and imports it only when somebody asks for it.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from yiku.store import copy, restore
from yiku.store.check import Depth, Findings, Tokenizers, check_backup, check_store
from yiku.store.copy import fsync
from yiku.store.damaged_file import has_tables, is_foreign, named_blobs, read_erasures, read_identity
from yiku.store.error_mapping import mapped_errors
from yiku.store.rebuild import keep_damaged, rebuild, remove
from yiku.types import Copied

__all__ = [
    "Depth",
    "Findings",
    "Tokenizers",
    "check_backup",
    "check_store",
    "fsync",
    "has_tables",
    "install",
    "is_foreign",
    "keep_damaged",
    "named_blobs",
    "read_backup",
    "read_erasures",
    "read_identity",
    "rebuild",
    "remove",
    "unpack_backup",
]


def read_backup(path: Path) -> Copied:
    """Read and verify a backup; return what it holds. Raises Damaged."""
    with mapped_errors(str(path)):
        return copy.read_all(path)


def unpack_backup(path: Path, database: Path) -> None:
    """Copy a backup to a database file of its own. Raises Damaged."""
    with mapped_errors(str(path)), closing(copy.open_copy(path)) as connection:
        copy.copy_over(connection, database)


def install(prepared: Path, database: Path, aside: Path) -> None:
    """Move a database to the store's path, moving the file there aside with its WAL."""
    with mapped_errors(str(database)):
        restore.install(prepared, database, aside)
