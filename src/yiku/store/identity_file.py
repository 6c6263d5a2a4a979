"""
The file `store.id`: store id, last change number, clean shutdown flag; reveals a replaced or older database.

It holds the store's id and the number of its last change that is surely on the disk. It is flushed when it is made;
later it is written after a commit and not flushed, so it may lag behind the database, and never runs ahead of it: a
database that knows less than its mark is an older copy, and one of another id is another's. Its last word says whether
the WAL was emptied: where it was not and the WAL is gone, another program did it.
"""

from __future__ import annotations

import os
import re
import zlib
from pathlib import Path

_LINE = re.compile(r"(?P<body>yiku-store 1 (?P<id>[0-9a-f]{32}) (?P<number>\d{15}) (?P<state>open|shut)) (?P<crc>[0-9a-f]{8})\n")
_LINE_BYTES = 76  # shorter than a disk sector, so it is written whole or not


class IdentityFile:
    """The file `store.id`: one line of fixed length, overwritten in place."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> tuple[str, int] | None:
        """Return store id and last change; None if the file is missing or unreadable."""
        found = self._line()
        return found and found[:2]

    def clean_shutdown(self) -> bool:
        """Tell whether the last writer left the WAL empty."""
        found = self._line()
        return found is None or found[2]

    def write(self, store_id: str, number: int, *, clean_shutdown: bool = False) -> bool:
        """Write store id and last change; return whether that worked. The gate must be held."""
        body = f"yiku-store 1 {store_id:>32} {number:015d} {'shut' if clean_shutdown else 'open'}"
        try:
            descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError:
            return False  # the store is whole without it; `yiku status` says that the mark is missing
        try:
            new = os.fstat(descriptor).st_size < _LINE_BYTES
            whole = os.pwrite(descriptor, f"{body} {_crc(body)}\n".encode(), 0) == _LINE_BYTES
            if new:
                self._flush(descriptor)
            return whole
        except OSError:
            return False
        finally:
            os.close(descriptor)

    def _flush(self, descriptor: int) -> None:
        """Flush a new file and its name; later updates may lag."""
        os.fsync(descriptor)
        folder = os.open(self.path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def _line(self) -> tuple[str, int, bool] | None:
        try:
            descriptor = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:
            return None
        try:
            line = os.read(descriptor, _LINE_BYTES).decode("ascii", "replace")
        except OSError:
            return None
        finally:
            os.close(descriptor)
        found = _LINE.fullmatch(line)
        if found is None or found["crc"] != _crc(found["body"]):
            return None
        return found["id"], int(found["number"]), found["state"] == "shut"


def _crc(body: str) -> str:
    return f"{zlib.crc32(body.encode()):08x}"
