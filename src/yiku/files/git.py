"""
Find files of Yiku's home folder that a git repository tracks but should not: the database and the key.

A database in git grows with each commit, is inconsistent if committed during a write, and goes back in time with a checkout.
Markdown pages and notes are fine in git. The index of the repository is read here; git itself is not run.

    DIRC version count, then for each file 62 bytes and its path: the last 12 bits before the path are its length
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

from yiku.files.vault import content_of

NEVER = ("yiku.db", "yiku.db-wal", "key")  # what is asked for
LARGEST_BYTES = 256 * 1024 * 1024  # of an index


def tracked(root: Path) -> list[str]:
    """Those of the home's files that a repository around it tracks, and should not."""
    for folder in (root, *root.parents):
        index = _index(folder)
        if index is not None:
            below = root.relative_to(folder)
            return [name for name in NEVER if _holds(index, (below / name).as_posix())]
    return []


def _index(folder: Path) -> bytes | None:
    """The index of the repository that a folder is the root of; None where it is of none, or it cannot be read."""
    place = folder / ".git"
    try:
        if place.is_file():  # a worktree, or a submodule: a file that says where
            place = folder / place.read_text(encoding="utf-8").removeprefix("gitdir:").strip()
        return content_of(place / "index", at_most=LARGEST_BYTES)
    except (OSError, ValueError):
        return b"" if place.is_dir() else None


def _holds(index: bytes, path: str) -> bool:
    """Whether an index has a path. In version 4 paths are shortened by what they share with the one before."""
    if len(index) < 12 or index[:4] != b"DIRC":
        return False
    version = struct.unpack(">I", index[4:8])[0]
    name = path.encode(errors="surrogateescape")
    if version >= 4:
        return any(True for _ in _places(index, name.rpartition(b"/")[2] + b"\0"))
    length = min(len(name), 0xFFF)
    for place in _places(index, name + b"\0"):
        flags = {struct.unpack(">H", index[place - back : place - back + 2])[0] & 0xFFF for back in (2, 4)}
        if length in flags:
            return True
    return False


def _places(index: bytes, needle: bytes) -> Iterator[int]:
    place = index.find(needle)
    while place >= 0:
        yield place
        place = index.find(needle, place + 1)
