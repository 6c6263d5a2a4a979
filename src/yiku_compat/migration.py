"""
Shared by all migrations: a private copy of an old file, its fingerprint, and the report.

The original is never opened by a database: what is read is a copy of it. Records go in under external ids made of the
document's name and their old ids, so a run that was cut off goes on, and a second one changes nothing.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from yiku import YikuError
from yiku.errors import NotFound

COMPANIONS = ("-wal", "-journal")  # what SQLite keeps beside a database; the shared index is made again


class NotVerified(YikuError):
    """Some records of the old home were not found as they were. The original is untouched; run the migration again."""


@dataclass(frozen=True, slots=True)
class Migrated:
    """
    Report of a migration.

    read:     records of the old home
    imported: those that this run brought in
    known:    those that an earlier run brought in
    merged:   those that say what another record says
    skipped:  ids of the others, each with the reason
    sha256:   of the old file, the same before and after
    """

    read: int
    imported: int
    known: int
    merged: int
    skipped: tuple[tuple[str, str], ...]
    sha256: str


def fingerprint(old: Path) -> str:
    """Return the SHA-256 of a file. Raises NotFound."""
    try:
        with open(old, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise NotFound(f"{old}: {error.strerror or error}", "Name a file of the old home.") from error


@contextmanager
def copied(old: Path) -> Iterator[Path]:
    """Yield a private copy of a database and its log, which is removed afterwards. Raises NotFound."""
    fingerprint(old)
    with tempfile.TemporaryDirectory(prefix="yiku-migration-") as folder:
        copy = Path(folder) / old.name
        shutil.copyfile(old, copy)
        for end in COMPANIONS:
            if Path(f"{old}{end}").exists():
                shutil.copyfile(f"{old}{end}", f"{copy}{end}")
        yield copy
