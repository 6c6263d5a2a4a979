"""
The home: where each thing lies, and how a file is written so that it is whole or not there.

    yiku.toml   settings of this home, with its owner        yiku.db   the store
    blobs/      long contents by hash                        locks/    kernel locks, never deleted

Folders are 0700 and files 0600. A file is written under a temporary name in the same folder, flushed,
renamed over its name, and the folder is flushed.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from pathlib import Path

from yiku.errors import InvalidInput, ReadOnly, StorageFull, StoreError

LONGEST_PATH = 4_096  # characters, as Linux has it


class Home:
    """The paths of a home."""

    def __init__(self, root: str | os.PathLike[str], origin: str = "argument") -> None:
        if not isinstance(root, (str, os.PathLike)) or not isinstance(text := os.fspath(root), str) or not text.strip():
            raise InvalidInput("home must be the path of a folder")
        if len(text) > LONGEST_PATH or "\0" in text:
            raise InvalidInput(f"home must be a path of at most {LONGEST_PATH:,} characters without NUL")
        try:
            os.fsencode(text)
            self.root = Path(text).expanduser().absolute()
        except (UnicodeEncodeError, RuntimeError) as error:
            raise InvalidInput(f"home is no path on this machine: {error}") from error
        self.origin = origin  # where its path came from, for `yiku config`
        self.database = self.root / "yiku.db"
        self.settings = self.root / "yiku.toml"
        self.blobs = self.root / "blobs"
        self.locks = self.root / "locks"
        self.write_lock = self.locks / "write.lock"

    def exists(self) -> bool:
        """Whether somebody made this a home."""
        try:
            return self.settings.exists() or self.database.exists()
        except OSError as error:  # a name that is too long for the file system, say
            raise InvalidInput(f"home is no path on this machine: {error.strerror}") from error

    def make(self, settings: str) -> bool:
        """Make the folders and, if there is none, the settings file; whether it was new."""
        try:
            self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.prepare()
        except (FileExistsError, NotADirectoryError) as error:
            raise InvalidInput(f"{self.root} is a file, not a folder") from error
        except OSError as error:
            raise written(error, self.root) from error
        if self.settings.exists():
            return False
        write_atomically(self.settings, settings.encode())
        return True

    def prepare(self) -> None:
        """Make the folders that a home needs, where they are missing and can be made."""
        for folder in (self.blobs, self.locks):
            if folder.is_dir():
                continue
            try:
                folder.mkdir(mode=0o700, exist_ok=True)  # another process may be making it
            except FileExistsError as error:
                raise InvalidInput(f"{folder} is a file, not a folder") from error
            except OSError as error:
                if error.errno not in (errno.EROFS, errno.EACCES, errno.EPERM):  # a home that can only be read
                    raise written(error, folder) from error


def write_atomically(path: Path, content: bytes) -> None:
    """The file has this content, or what it had before; on the disk when this returns. Two flushes."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            temporary.rename(path)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise
        flush_folder(path.parent)
    except OSError as error:
        raise written(error, path) from error


def flush_folder(folder: Path) -> None:
    """Make the names in a folder durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def written(error: OSError, path: Path) -> StoreError:
    """The error of a failed write as ours."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return StorageFull(str(path))
    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        return ReadOnly(str(path))
    return StoreError(f"{path}: {error.strerror or error}")
