"""
Long contents, compressed and named by their hash.

    blobs/ab/abcdef….z   zlib of the UTF-8 text; the name is the BLAKE2b-256 of the text, in hex

A blob is on the disk before the row that names it. The row keeps the head and the tail; a blob that no
row names is harmless, and the same text is stored once.
"""

from __future__ import annotations

import hashlib
import re
import zlib
from pathlib import Path

from yiku.errors import Damaged, NotFound
from yiku.files.vault import write_atomically, written

INLINE_BYTES = 64 * 1024  # longer texts become blobs
HEAD_CHARS = 16_000
TAIL_CHARS = 4_000
_NAME = re.compile(r"[0-9a-f]{64}")


def excerpt(text: str) -> str:
    """Head and tail of a long text, with a line between that says how much is left out."""
    return f"{text[:HEAD_CHARS]}\n[… {len(text) - HEAD_CHARS - TAIL_CHARS:,} characters in the blob …]\n{text[-TAIL_CHARS:]}"


def is_long(text: str) -> bool:
    """Whether it is kept as a blob."""
    return len(text) > INLINE_BYTES // 4 and len(text.encode()) > INLINE_BYTES


def put(folder: Path, text: str) -> str:
    """Store a text; its name. Durable when this returns."""
    content = text.encode()
    name = hashlib.blake2b(content, digest_size=32).hexdigest()
    path = _path(folder, name)
    if not path.exists():
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise written(error, path.parent) from error
        write_atomically(path, zlib.compress(content, 6))
    return name


def get(folder: Path, name: str) -> str:
    """The text of a blob. Raises NotFound, or Damaged when it is not what its name says."""
    if not _NAME.fullmatch(name):
        raise NotFound(f"blob {name[:80]}")
    try:
        content = zlib.decompress(_path(folder, name).read_bytes())
    except FileNotFoundError as error:
        raise NotFound(f"blob {name}") from error
    except zlib.error as error:
        raise Damaged(f"blob {name}") from error
    if hashlib.blake2b(content, digest_size=32).hexdigest() != name:
        raise Damaged(f"blob {name}")
    return content.decode()


def size(folder: Path) -> int:
    """Bytes of all blobs."""
    return sum(path.stat().st_size for path in folder.glob("*/*.z")) if folder.is_dir() else 0


def _path(folder: Path, name: str) -> Path:
    return folder / name[:2] / f"{name}.z"
