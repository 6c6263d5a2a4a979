"""
Scan, classify and read the Markdown and text files of the vault, identity files too, without following links.

    MEMORY.md  USER.md  memory/2026-11-23.md  memory/archive/…  documents/…  skills/…
    identity/…: who the agent is; never indexed. identity/compiled/: derived from it

Markdown and plain text, in folders of any depth. Names that begin with a dot, and links, are passed over: each step of a path goes
from the descriptor of the folder before it, so whatever is put into the place of a folder, nothing is read outside the vault.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from yiku.types import NoteSource

NOT_UTF_8 = "its name is not UTF-8: rename it"
PAGES = ("MEMORY.md", "USER.md")
FOLDERS: dict[str, NoteSource] = {"memory": "memory", "documents": "document", "skills": "skill"}
IDENTITY = "identity"
COMPILED = "identity/compiled"
ENDINGS = (".md", ".markdown", ".txt")
LARGEST_BYTES = 8 << 20  # of a file that is indexed
DEEPEST = 40  # folders inside each other
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW
_FILE = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK  # a pipe would make us wait for ever
_DAY = re.compile(r"memory/(?:archive/(?:[^/]+/)*)?(\d{4}-\d\d-\d\d)[^/]*")


class Seen(NamedTuple):
    """A file from outside: its path below the vault, and what tells whether it is the same as before."""

    path: str
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int


def source_of(path: str) -> NoteSource | None:
    """Return the kind of a vault file by its path; None if it is not indexed."""
    parts = path.split("/")
    if path in PAGES:
        return "memory"
    if (
        parts[0] not in FOLDERS
        or len(parts) < 2
        or any(part.startswith(".") for part in parts)
        or not parts[-1].lower().endswith(ENDINGS)
    ):
        return None
    if parts[0] == "memory":
        return "archive" if parts[1] == "archive" and len(parts) > 2 else "daily" if day_of(path) else "memory"
    return FOLDERS[parts[0]]


def is_identity(path: str) -> bool:
    """Whether a path is a file on the agent's identity that a person wrote, or that the night keeps for them."""
    return path.startswith(f"{IDENTITY}/") and not is_compiled(path)


def is_compiled(path: str) -> bool:
    """Whether a path is a compiled summary, which can be made again."""
    return path.startswith(f"{COMPILED}/")


def day_of(path: str) -> str | None:
    """The day of a log, by its name: "2026-11-23"."""
    found = _DAY.fullmatch(path)
    return found[1] if found else None


def is_utf_8(path: str) -> bool:
    """Whether a path can be kept: for a name in another encoding a database has no place."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def scan(root: Path) -> Iterator[Seen | str]:
    """Every file of a vault that is indexed, by folders; of what cannot be looked at or named its path alone."""
    try:
        folder = os.open(root, _FOLDER)
    except OSError:
        return
    try:
        for name in PAGES:
            with suppress(FileNotFoundError):
                yield from _file(name, os.stat(name, dir_fd=folder, follow_symlinks=False))
        for name in FOLDERS:
            yield from _below(folder, name, name, DEEPEST)
    finally:
        os.close(folder)


def scan_identity(root: Path) -> Iterator[Seen | str]:
    """Every file of the agent's identity but compiled summaries, as `scan` gives them."""
    try:
        folder = os.open(root, _FOLDER)
    except OSError:
        return
    try:
        yield from _below(folder, IDENTITY, IDENTITY, DEEPEST)
    finally:
        os.close(folder)


def _below(above: int, name: str, path: str, deeper: int) -> Iterator[Seen | str]:
    """The files of a folder and of those in it, without following a link."""
    try:
        folder = os.open(name, _FOLDER, dir_fd=above)
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.ELOOP, errno.ENOTDIR):
            yield path
        return
    try:
        with os.scandir(folder) as found:
            entries = sorted((entry for entry in found if not entry.name.startswith(".")), key=lambda entry: entry.name)
        for entry in entries:
            inside = f"{path}/{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                if deeper:
                    yield from _below(folder, entry.name, inside, deeper - 1)
                else:
                    yield inside
            elif source_of(inside) or is_identity(inside):
                with suppress(FileNotFoundError):
                    yield from _file(inside, entry.stat(follow_symlinks=False))
    finally:
        os.close(folder)


def _file(path: str, info: os.stat_result) -> Iterator[Seen | str]:
    if stat.S_ISREG(info.st_mode):
        yield Seen(path, info.st_size, info.st_mtime_ns, info.st_ctime_ns, info.st_ino) if is_utf_8(path) else path


def read(root: Path, path: str) -> tuple[Seen, bytes | None]:
    """
    A file and what it holds, both of one moment, or None for what is larger than LARGEST_BYTES.

    Raises FileNotFoundError where it is not there, and OSError for a link, for what is not a file, and for an unreadable file.
    """
    *folders, name = path.split("/")
    folder = os.open(root, _FOLDER)
    try:
        for part in folders:
            above, folder = folder, os.open(part, _FOLDER, dir_fd=folder)
            os.close(above)
        descriptor = os.open(name, _FILE, dir_fd=folder)
    finally:
        os.close(folder)
    with os.fdopen(descriptor, "rb") as file:
        info = os.fstat(descriptor)
        if not stat.S_ISREG(info.st_mode):
            raise OSError(errno.EINVAL, "is not a file", path)
        seen = Seen(path, info.st_size, info.st_mtime_ns, info.st_ctime_ns, info.st_ino)
        if info.st_size > LARGEST_BYTES:
            return seen, None
        content = file.read(LARGEST_BYTES + 1)
    return seen, content if len(content) <= LARGEST_BYTES else None
