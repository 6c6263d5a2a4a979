"""
Memory-mapped cache file of a large scope's turn columns (session, time, speaker), to rank without reading rows.

The file is derived from the rows, written whole under another name and then renamed. It says of which store it is, after
which erasure, up to which number, and the id of its newest turn; where one of these is no longer so, or the file is
missing or damaged, the rows are read. It holds the names of speakers, so each erasure removes every such file (`Erasures.scrub`)
before it looks for what is left. It lies beside the vectors: in no backup and no export.

    a line of JSON, then each column of COLUMNS from the next multiple of ALIGNED on, in the order of that table
"""

from __future__ import annotations

import json
import os
import stat
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from yiku.errors import StoreError
from yiku.types import TurnColumns

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

FORMAT = 1
ALIGNED = 64  # bytes
COLUMNS = {"ns": "<i8", "sessions": "<i8", "said_at": "<i8", "user": "?", "speakers": "<i4"}


@dataclass(frozen=True, slots=True)
class BuiltFrom:
    """What a column file was built from: store, scope, last erasure, last turn number and its id."""

    store: str
    scope: int
    erasure: int
    upto: int
    newest: str


def open_mapped(folder: Path, store: str, scope: int) -> tuple[BuiltFrom, TurnColumns] | None:
    """Return the columns of a scope, or None if their file is missing, damaged, or of another store or format."""
    import numpy as np

    try:
        descriptor = os.open(_path(folder, scope), os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as file:
            if folder.is_symlink() or not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return None
            line = file.readline()
            head = json.loads(line)
            of, count, names = BuiltFrom(**head["of"]), int(head["count"]), tuple(head["names"])
            if (head["format"], of.store, of.scope) != (FORMAT, store, scope):
                return None
            if count < 1 or os.fstat(descriptor).st_size != _size(len(line), count):
                return None
            columns = _columns(np.memmap(file, np.uint8, "r"), len(line), count)
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return None
    return (of, TurnColumns(**columns, names=names)) if head.pop("crc", None) == _crc(head, columns) else None


def write(folder: Path, of: BuiltFrom, found: TurnColumns) -> None:
    """Write the column file. The gate must be held. Raises OSError; StoreError if the folder is a link."""
    import numpy as np

    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.is_symlink():
        raise StoreError(f"{folder} is a link; what belongs to a home lies in it")
    path = _path(folder, of.scope)
    new = path.with_name(f"{path.name}.new")
    new.unlink(missing_ok=True)
    head = {
        "format": FORMAT,
        "of": {name: getattr(of, name) for name in BuiltFrom.__slots__},
        "count": len(found.ns),
        "names": list(found.names),
    }
    columns = {name: np.ascontiguousarray(getattr(found, name), kind) for name, kind in COLUMNS.items()}
    line = json.dumps({**head, "crc": _crc(head, columns)}).encode() + b"\n"
    try:
        with os.fdopen(os.open(new, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600), "wb") as file:
            file.write(line)
            for name, start, end in _layout(len(line), len(found.ns)):
                file.seek(start)
                file.write(columns[name].data.cast("B")[: end - start])
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)


def remove(folder: Path) -> None:
    """Delete the column files. The gate must be held. Raises OSError."""
    if not folder.is_symlink():
        for path in folder.glob("*.columns*"):
            with suppress(FileNotFoundError):
                path.unlink()


def _path(folder: Path, scope: int) -> Path:
    return folder / f"{scope}.columns"


def _layout(head_bytes: int, count: int) -> Iterator[tuple[str, int, int]]:
    """Return each column with its start and end offset."""
    import numpy as np

    end = head_bytes
    for name, kind in COLUMNS.items():
        start = -(-end // ALIGNED) * ALIGNED
        end = start + count * np.dtype(kind).itemsize
        yield name, start, end


def _size(head_bytes: int, count: int) -> int:
    return max(end for _, _, end in _layout(head_bytes, count))


def _columns(whole: Array, head_bytes: int, count: int) -> dict[str, Any]:
    import numpy as np

    plain = whole.view(np.ndarray)  # a memmap's own slices cost more
    return {name: plain[start:end].view(COLUMNS[name]) for name, start, end in _layout(head_bytes, count)}


def _crc(head: Mapping[str, Any], columns: Mapping[str, Array]) -> int:
    crc = zlib.crc32(json.dumps(head, sort_keys=True).encode())
    for column in columns.values():
        crc = zlib.crc32(column.data, crc)
    return crc
