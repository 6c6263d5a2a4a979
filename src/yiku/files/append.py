"""
Append to and move files that may be open in an editor, losing no text of either side.

A file is added to at its end, in one piece and flushed. Editors replace a file by another of its name when they save: what went
into the old one meanwhile is added once more to the new one. A file is moved to a name that nobody else has, which is taken
first; what somebody has open goes on being the same file there. For what is added further up see pages.py.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from yiku.errors import InvalidInput, StoreError
from yiku.files.vault import as_page_error, open_folder

LARGEST_BYTES = 64 * 1024 * 1024  # of a file that is added to
AGAIN = 5  # times, when the file is replaced meanwhile
_FLAGS = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


def append(path: Path, add: Callable[[str], str], *, below: Path) -> str:
    """
    Add to the end of a file, which is made where it is missing; all of it is on the disk when this returns. What it holds now.

    add:   what follows the text that is there, with \\n as line end
    below: a folder above the file; the folders from there down are made where they are missing, and none may be a link
    Raises InvalidInput for what is no text file, and StoreError where it cannot be written.
    """
    try:
        with open_folder(below, *path.parent.relative_to(below).parts) as folder:
            for _ in range(AGAIN):
                descriptor = os.open(path.name, _FLAGS, 0o600, dir_fd=folder)
                try:
                    text = _add(descriptor, path, add)
                    os.fsync(folder)
                    if _is_still(descriptor, path.name, folder):
                        return text
                finally:
                    os.close(descriptor)
    except OSError as error:
        raise as_page_error(error, path) from error
    raise StoreError(f"{path} is being replaced all the time")


def move_aside(path: Path, target: Path, *, below: Path) -> Path | None:
    """
    Move a file to another folder under a name that is free: the target's, or that with a number. The path it has now.

    Where a file of the same content lies there already the copy goes, and the answer is that file; None where there is no file.
    """
    try:
        with (
            open_folder(below, *path.parent.relative_to(below).parts) as source,
            open_folder(below, *target.parent.relative_to(below).parts) as folder,
        ):
            if not stat.S_ISREG(os.stat(path.name, dir_fd=source, follow_symlinks=False).st_mode):
                return None
            name = _reserve_name(target.name, folder)
            os.rename(path.name, name, src_dir_fd=source, dst_dir_fd=folder)
            for known in _versions(target.name, name):
                if _content(known, folder) == _content(name, folder):
                    os.unlink(name, dir_fd=folder)
                    name = known
                    break
            os.fsync(folder)
            os.fsync(source)
            return target.with_name(name)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise as_page_error(error, path) from error


def _add(descriptor: int, path: Path, add: Callable[[str], str]) -> str:
    before = os.fstat(descriptor)
    text = _decode(_whole(descriptor, path), path)
    more = add(text.replace("\r\n", "\n"))
    more = more.replace("\n", "\r\n") if "\r\n" in text else more
    rest = more.encode()
    try:
        while rest:
            rest = rest[os.write(descriptor, rest) :]
        os.fsync(descriptor)
    except OSError:
        with suppress(OSError):  # a full disk: what was begun goes, unless somebody else has added to the file since
            if os.fstat(descriptor).st_size == before.st_size + len(more.encode()) - len(rest):
                os.ftruncate(descriptor, before.st_size)
        raise
    return text + more


def _whole(descriptor: int, path: Path) -> bytes:
    about = os.fstat(descriptor)
    if not stat.S_ISREG(about.st_mode):
        raise InvalidInput(f"{path} is not a file")
    if about.st_size > LARGEST_BYTES:
        raise InvalidInput(f"{path} has over {LARGEST_BYTES:,} bytes")
    return os.pread(descriptor, about.st_size, 0)


def _decode(held: bytes, path: Path) -> str:
    try:
        return held.decode()
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path} is not UTF-8 at byte {error.start:,}: nothing can be added to it") from error


def _is_still(descriptor: int, name: str, folder: int) -> bool:
    """Whether a name means the file that is open."""
    with suppress(FileNotFoundError):
        here, there = os.fstat(descriptor), os.stat(name, dir_fd=folder, follow_symlinks=False)
        return (here.st_dev, here.st_ino) == (there.st_dev, there.st_ino)
    return False


def _reserve_name(name: str, folder: int) -> str:
    """A name that is taken now by an empty file of ours, so that nobody's file is replaced by the one that comes."""
    for number in range(1, 10_000):
        tried = _numbered(name, number)
        with suppress(FileExistsError):
            os.close(os.open(tried, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600, dir_fd=folder))
            return tried
        about = os.stat(tried, dir_fd=folder, follow_symlinks=False)
        if stat.S_ISREG(about.st_mode) and not about.st_size:  # taken by a move that was cut off
            return tried
    raise OSError(errno.EEXIST, "no name is free", name)


def _versions(name: str, taken: str) -> list[str]:
    """The names that were not free, before the one that was."""
    names: list[str] = []
    while (one := _numbered(name, len(names) + 1)) != taken:
        names.append(one)
    return names


def _numbered(name: str, number: int) -> str:
    stem, dot, suffix = name.rpartition(".")
    return name if number == 1 else f"{stem}-{number}{dot}{suffix}"


def _content(name: str, folder: int) -> bytes:
    with open(os.open(name, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder), "rb") as file:
        return file.read()
