"""
Read a page that both people and Yiku edit, and replace it only if it is unchanged since.

A page is written whole under a temporary name in its folder and flushed; the file that has the name is read once more just
before the rename. If somebody replaced or changed it meanwhile, their version stays, and the caller reads again.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from yiku.errors import InvalidInput, StoreError
from yiku.files.notes import LARGEST_BYTES
from yiku.files.vault import as_page_error, content_of, create_whole, open_folder, temporary_file

PERSONA = "identity/personas/user_custom.md"  # which the night writes
AGAIN = 5  # times, when somebody saves the page meanwhile
BOM = "\ufeff"


class Seen(NamedTuple):
    """A page as it was read: its bytes and its text. None in the place of one that is not there."""

    content: bytes
    text: str


def read(path: Path, *, below: Path) -> Seen | None:
    """
    A page; None where there is none. Raises InvalidInput for what is not a file of UTF-8 text: a link, a folder, another encoding.

    below: a folder above it; no link on the way from there is followed
    """
    try:
        content = _content(path, below)
    except OSError as error:
        if error.errno == errno.EFBIG:
            raise InvalidInput(f"{path} has over {LARGEST_BYTES >> 20} MiB") from error
        raise as_page_error(error, path) from error
    if content is None:
        return None
    try:
        return Seen(content, content.decode())
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path.name} is not UTF-8 at byte {error.start:,}: save it as UTF-8") from error


def replace(path: Path, text: str, seen: Seen | None, *, below: Path) -> bool:
    """
    The page holds this text; on the disk when this returns. False, and nothing is written, where it is not as it was seen.

    Its permissions stay as they are; a new page is its owner's alone.
    Raises InvalidInput as `read` does, and StoreError where it cannot be written.
    """
    content = text.encode()
    try:
        with open_folder(below, *path.parent.relative_to(below).parts) as folder:
            if seen is None:
                if not create_whole(folder, path.name, content) and not _create(folder, path.name, content):
                    return False
            elif not _replace_by_rename(folder, path.name, content, seen.content):
                return False
            os.fsync(folder)
            return True
    except OSError as error:
        raise as_page_error(error, path) from error


def rewrite(path: Path, change: Callable[[str], str], *, below: Path) -> str:
    """
    Change a page, which is made where it is missing; it is on the disk when this returns. What it holds now.

    change: from the text that is there to the one that takes its place, with \\n as line end; it is asked again where
            somebody wrote to the page meanwhile. Where nothing changes nothing is written
    Raises InvalidInput as `read` does, and StoreError where it cannot be written.
    """
    for _ in range(AGAIN):
        seen = read(path, below=below)
        text = seen.text if seen else ""
        new = change(text.replace("\r\n", "\n"))
        new = new.replace("\n", "\r\n") if "\r\n" in text else new
        if new == text or replace(path, new, seen, below=below):
            return new
    raise StoreError(f"{path} is being written to all the time")


def _replace_by_rename(folder: int, name: str, content: bytes, seen: bytes) -> bool:
    """A temporary file takes the name, unless what has the name changed since it was seen."""
    try:
        mode = stat.S_IMODE(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        return False
    with temporary_file(folder, name, content, mode) as temporary, suppress(FileNotFoundError):
        if content_of(Path(name), at_most=LARGEST_BYTES, below=folder) == seen:
            os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
            return True
    return False


def _create(folder: int, name: str, content: bytes) -> bool:
    """Create a file on a file system without unnamed files; False if the name was taken first."""
    with temporary_file(folder, name, content) as temporary, suppress(FileExistsError):
        os.link(temporary, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
        return True
    return False


def _content(path: Path, below: Path) -> bytes | None:
    folder = below
    for name in path.parent.relative_to(below).parts:  # without making any of them
        folder = folder / name
        if folder.is_symlink():
            raise OSError(errno.ELOOP, "is a link", str(folder))
    try:
        return content_of(path, at_most=LARGEST_BYTES)
    except FileNotFoundError:
        return None
