"""
Store long contents as compressed files named by their hash.

    blobs/ab/abcdef….z   zlib of the content, a text in UTF-8; the name is the BLAKE2b-256 of the content, in hex

A blob is on the disk before the row that names it. The row keeps the head and the tail; a blob that no
row names is harmless, and the same text is stored once. Whatever lies under a blob's name is trusted only
as far as the hash says so: no link is followed, and no more is unpacked than a text may have.
"""

from __future__ import annotations

import errno
import hashlib
import re
import stat
import zlib
from pathlib import Path

from yiku.errors import Damaged, NotFound
from yiku.files.vault import as_store_error, content_of, flush_folder, write_atomically

INLINE_BYTES = 64 * 1024  # longer texts become blobs
LONGEST_BYTES = 64 * 1024 * 1024  # of a text
HEAD_CHARS = 16_000
TAIL_CHARS = 4_000
_NAME = re.compile(r"[0-9a-f]{64}")
_NO_FILE = (errno.ELOOP, errno.EINVAL, errno.ENXIO, errno.EFBIG, errno.EISDIR)  # a link, a pipe, too large, a folder


def excerpt(text: str) -> str:
    """Return head and tail of a long text, with the omitted length between."""
    return f"{text[:HEAD_CHARS]}\n[… {len(text) - HEAD_CHARS - TAIL_CHARS:,} characters in the blob …]\n{text[-TAIL_CHARS:]}"


def is_long(text: str) -> bool:
    """Tell whether a text is stored as a blob."""
    return len(text) > INLINE_BYTES // 4 and len(text.encode()) > INLINE_BYTES


def put(folder: Path, text: str) -> str:
    """Store a text durably; return its name."""
    return put_bytes(folder, text.encode())


def put_bytes(folder: Path, content: bytes) -> str:
    """Store bytes durably; return their name."""
    name = name_of(content)
    path = _path(folder, name)
    if not _is_file(path):
        write_atomically(path, zlib.compress(content, 6), below=folder.parent)
    return name


def name_of(content: bytes) -> str:
    """Return the name of a content."""
    return hashlib.blake2b(content, digest_size=32).hexdigest()


def get(folder: Path, name: str) -> str:
    """Return the text of a blob. Raises NotFound, or Damaged if it does not match its name."""
    return get_bytes(folder, name).decode()


def get_bytes(folder: Path, name: str) -> bytes:
    """Return the bytes of a blob. Raises NotFound, or Damaged if they do not match its name."""
    if not _NAME.fullmatch(name):
        raise NotFound(f"there is no blob {name[:80]}")
    path = _path(folder, name)
    try:
        content = zlib.decompressobj().decompress(content_of(path, at_most=2 * LONGEST_BYTES), LONGEST_BYTES + 1)
    except FileNotFoundError as error:
        raise NotFound(f"there is no blob {name}") from error
    except zlib.error as error:
        raise Damaged(f"blob {name}") from error
    except OSError as error:
        raise (Damaged(f"blob {name}") if error.errno in _NO_FILE else as_store_error(error, path)) from error
    if name_of(content) != name:
        raise Damaged(f"blob {name}")
    return content


def remove(folder: Path, name: str) -> bool:
    """Delete a blob; return whether it existed."""
    path = _path(folder, name)
    try:
        path.unlink()
    except FileNotFoundError:
        return False
    flush_folder(path.parent)
    return True


def size(folder: Path) -> int:
    """Return the bytes of all blobs."""
    return sum(path.lstat().st_size for path in folder.glob("*/*.z")) if folder.is_dir() else 0


def _is_file(path: Path) -> bool:
    """Tell whether a path is a regular file."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def _path(folder: Path, name: str) -> Path:
    return folder / name[:2] / f"{name}.z"
