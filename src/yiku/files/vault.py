"""
`Home`: paths, creation and key of Yiku's home folder; write files atomically and durably; convert OS errors.

    yiku.toml   settings of this home, with its owner        yiku.db   the store
    store.id    which store, and how far it came             key       32 random bytes in hex, never exported
    erasures/   a file for each erasure, hashes and ids      damaged/  what `yiku repair` put aside
    reserve     1 MiB held back for a full disk              backups/  verified copies of the store
    blobs/      long contents by hash                        locks/    kernel locks, never deleted
    transcripts/  what was said, a file a session; derived
    inbox/      what hooks captured, until it is recorded
    copies/     what was made of this home for other programs, or copied when it was brought in; an erasure removes from here

What is made first is an empty yiku.db, and the key comes after it: so where there is a key and no yiku.db, it was lost.

Folders are 0700 and files 0600. A file is written under a temporary name in the same folder, flushed,
renamed over its name, and the folder is flushed.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import pwd
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from yiku.errors import InvalidInput, ReadOnly, StorageFull, StoreError, YikuError

KEY_BYTES = 32
LONGEST_PATH = 4_096  # characters, as Linux has it
FILES = ("yiku.db", "yiku.db-wal", "yiku.db-shm", "yiku.db-journal", "yiku.toml", "key", "store.id", "reserve", "paused")
IGNORE_FILE = ".gitignore"
IGNORE = "\n".join(  # a database in git is torn, grows with each commit, and goes back in time; `transcripts/` and summaries of every scope
    (
        "# What git should not keep of this home. MEMORY.md, USER.md and notes are yours to commit.",
        *"/yiku.db* /key /store.id /reserve /paused /erased /erasures/ /vectors/ /backups/ /blobs/ /inbox/ /locks/ /damaged/".split(),
        *"/agents.json /copies/ /reports/ /scopes/*/reports/ transcripts/ identity/compiled/".split(),
        "",
    )
)
SMALL_BYTES = 1024 * 1024  # of a file that is read whole: settings, a key


class Home:
    """The paths of a home."""

    def __init__(self, root: str | os.PathLike[str], origin: str = "argument") -> None:
        if not isinstance(root, (str, os.PathLike)) or not isinstance(text := os.fspath(root), str) or not text.strip():
            raise InvalidInput("home must be the path of a folder")
        if len(text) > LONGEST_PATH or "\0" in text:
            raise InvalidInput(f"home must be a path of at most {LONGEST_PATH:,} characters without NUL")
        try:
            os.fsencode(text)
            self.root = expand_home(text).absolute()
        except (UnicodeEncodeError, RuntimeError) as error:
            raise InvalidInput(f"home is not a valid path on this machine: {error}") from error
        self.origin = origin  # where its path came from, for `yiku config`
        self.database = self.root / "yiku.db"
        self.settings = self.root / "yiku.toml"
        self.key_file = self.root / "key"
        self.blobs = self.root / "blobs"
        self.erasures = self.root / "erasures"
        self.erased = self.root / "erased"  # what earlier versions had in its place
        self.backups = self.root / "backups"
        self.transcripts = self.root / "transcripts"
        self.inbox = self.root / "inbox"
        self.vectors = self.root / "vectors" / "vectors.db"
        self.locks = self.root / "locks"
        self.write_lock = self.locks / "write.lock"

    def vault_of(self, scope: int) -> Path:
        """Return the folder of the Markdown files of a scope other than the owner's, by its number."""
        return self.root / "scopes" / str(scope)

    def exists(self) -> bool:
        """Tell whether this is a home."""
        try:
            return self.settings.exists() or _bytes(self.database) > 0
        except OSError as error:  # a name that is too long for the file system, say
            raise InvalidInput(f"home is not a valid path on this machine: {error.strerror}") from error

    def lost(self) -> str | None:
        """Describe what remains of a home without its database; None if it is there, or was never created."""
        remains = [path.name for path in (self.root / "store.id", self.root / "reserve", self.erased) if _bytes(path)]
        remains += [
            f"{folder.name}/" for folder in (self.backups, self.erasures, self.root / "damaged") if any(folder.glob("[!.]*"))
        ]
        remains += ["blobs/"] if any(self.blobs.glob("*/*.z")) else []
        remains += ["transcripts/"] if any(self.transcripts.glob("[!.]*")) else []
        key = os.path.lexists(self.key_file)
        missing = not os.path.lexists(self.database)  # looked at last: who makes a home now makes it before all of these
        if missing and key:
            remains.insert(0, "key")
        if not remains or (_bytes(self.database) and not missing):
            return None
        return f"{self.database} is {'not there' if missing else 'empty'}, and {', '.join(remains)} of this home remain"

    def make(self, settings: str) -> bool:
        """Create folders and settings file; return whether the home was new."""
        try:
            new = [folder for folder in (self.root, *self.root.parents) if not folder.exists()]
            self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
            for folder in new:
                flush_folder(folder.parent)  # else a power cut could take the whole home
            self.prepare()
        except (FileExistsError, NotADirectoryError) as error:
            raise InvalidInput(f"{self.root} is a file, not a folder") from error
        except OSError as error:
            raise as_store_error(error, self.root) from error
        if self.settings.exists():
            return False
        try:
            os.close(os.open(self.database, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        except FileExistsError:
            pass
        except OSError as error:
            raise as_store_error(error, self.database) from error
        write_atomically(self.settings, settings.encode())
        self.ignore()
        return True

    def ignore(self) -> None:
        """Tell git what it should not keep of this home, unless somebody has told it already."""
        if not os.path.lexists(self.root / IGNORE_FILE):
            write_atomically(self.root / IGNORE_FILE, IGNORE.encode())

    def key(self) -> bytes:
        """
        Return the key for journal digests and seals.

        Made when it is missing; a home that can only be read and has none gets by without. Raises StoreError when it
        cannot be read.
        """
        try:
            if not os.path.lexists(self.key_file):
                with _lock_folder(self.root):
                    if not os.path.lexists(self.key_file):
                        write_atomically(self.key_file, secrets.token_hex(KEY_BYTES).encode())
            key = bytes.fromhex(content_of(self.key_file).decode("ascii"))
        except ReadOnly:
            return b""
        except (OSError, ValueError) as error:
            raise StoreError(f"the key in {self.key_file} cannot be read: {error}") from error
        if len(key) != KEY_BYTES:
            raise StoreError(f"{self.key_file} must hold {KEY_BYTES} bytes in hex")
        return key

    def prepare(self) -> None:
        """
        Create the folders of a home where they are missing.

        Raises InvalidInput for what is not ours in a home: a link that leads out of it, a pipe that would make SQLite wait for ever.
        """
        for name in FILES:
            with contextlib.suppress(OSError):
                if not stat.S_ISREG((self.root / name).lstat().st_mode):
                    raise InvalidInput(f"{self.root / name} is not a regular file, as every part of a home must be")
        for folder in (self.blobs, self.locks, self.vectors.parent, self.erasures, self.transcripts, self.inbox):
            if folder.is_symlink():
                raise InvalidInput(f"{folder} is a link; what belongs to a home lies in it")
        for folder in (self.blobs, self.locks):
            if folder.is_dir():
                continue
            try:
                folder.mkdir(mode=0o700, exist_ok=True)  # another process may be making it
            except FileExistsError as error:
                raise InvalidInput(f"{folder} is a file, not a folder") from error
            except OSError as error:
                if error.errno not in (errno.EROFS, errno.EACCES, errno.EPERM):  # a home that can only be read
                    raise as_store_error(error, folder) from error


def expand_home(text: str) -> Path:
    """Expand ~. An empty HOME counts as none. Raises RuntimeError if the user's folder is unknown."""
    if text != "~" and not text.startswith("~/"):
        return Path(text).expanduser()
    try:
        return Path(os.environ.get("HOME") or pwd.getpwuid(os.getuid()).pw_dir) / text[2:]
    except KeyError as error:
        raise RuntimeError("HOME is not set, and this user has no folder") from error


@contextlib.contextmanager
def _lock_folder(folder: Path) -> Iterator[None]:
    """Lock a folder against others that create files in it."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise as_store_error(error, folder) from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def write_atomically(path: Path, content: bytes, *, below: Path | None = None) -> None:
    """
    Replace a file's content, whole or not at all, and durable on return: two flushes.

    below: a folder above the file; the folders from there down are made where they are missing, and none may be a link
    """
    names = path.parent.relative_to(below).parts if below else ()
    try:
        with open_folder(below or path.parent, *names) as folder:
            if not create_whole(folder, path.name, content):
                _replace(folder, path.name, content)
            os.fsync(folder)
    except OSError as error:
        raise as_store_error(error, path) from error


def delete(path: Path, *, below: Path) -> None:
    """Delete a file, durably; no folder on the way from `below` may be a link. One that is not there is no error."""
    try:
        with open_folder(below, *path.parent.relative_to(below).parts) as folder:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path.name, dir_fd=folder)
            os.fsync(folder)
    except OSError as error:
        raise as_store_error(error, path) from error


def create_whole(folder: int, name: str, content: bytes) -> bool:
    """Create a file that gets its name once complete; False if unsupported or the name is taken."""
    try:
        descriptor = os.open(".", os.O_WRONLY | os.O_TMPFILE | os.O_CLOEXEC, 0o600, dir_fd=folder)
    except (OSError, AttributeError):  # not on every file system, nor on macOS
        return False
    with os.fdopen(descriptor, "wb") as file:
        write_flushed(file, content)
        try:
            os.link(f"/proc/self/fd/{descriptor}", name, dst_dir_fd=folder, follow_symlinks=True)
        except OSError:
            return False
    return True


def _replace(folder: int, name: str, content: bytes) -> None:
    with temporary_file(folder, name, content) as temporary:
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)


@contextlib.contextmanager
def temporary_file(folder: int, name: str, content: bytes, mode: int = 0o600) -> Iterator[str]:
    """Write a file under a temporary name beside `name`, flushed; whatever still has that name afterwards is removed."""
    temporary = f".{name}.{secrets.token_hex(6)}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        with os.fdopen(os.open(temporary, flags, 0o600, dir_fd=folder), "wb") as file:
            os.fchmod(file.fileno(), mode)
            write_flushed(file, content)
        yield temporary
    finally:
        with contextlib.suppress(OSError):
            os.unlink(temporary, dir_fd=folder)


def write_flushed(file: BinaryIO, content: bytes) -> None:
    """All of it is on the disk."""
    file.write(content)
    file.flush()
    os.fsync(file.fileno())


@contextlib.contextmanager
def open_folder(root: Path, *names: str) -> Iterator[int]:
    """
    Open a folder below a root, creating it if missing; return the descriptor.

    Each step goes from the descriptor of the one before, and no link is followed: whatever is put into the
    place of a folder meanwhile, what is done through the descriptor stays below the root.
    """
    folder = os.open(root, _FOLDER)
    try:
        for name in names:
            above, folder = folder, _below(folder, name)
            os.close(above)
        yield folder
    finally:
        os.close(folder)


_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


def _below(folder: int, name: str) -> int:
    try:
        return os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=folder)
    except FileNotFoundError:
        with contextlib.suppress(FileExistsError):  # another process was first
            os.mkdir(name, 0o700, dir_fd=folder)
        os.fsync(folder)  # else a power cut could take the new folder, and with it what is flushed in it
        return os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=folder)


def content_of(path: Path, *, at_most: int = SMALL_BYTES, below: int | None = None) -> bytes:
    """
    Read a file of a home. Raises OSError for links, pipes and other special files.

    below: the descriptor of a folder, from which the path is taken
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=below)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "is not a file", str(path))
        content = file.read(at_most + 1)
    if len(content) > at_most:
        raise OSError(errno.EFBIG, f"has over {at_most:,} bytes", str(path))
    return content


def _bytes(path: Path) -> int:
    """Return the size of a file; 0 if it does not exist."""
    try:
        return path.lstat().st_size
    except (FileNotFoundError, NotADirectoryError):
        return 0


def flush_folder(folder: Path) -> None:
    """Flush the names in a folder to the disk."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def as_store_error(error: OSError, path: Path) -> StoreError:
    """Convert the error of a failed write to Yiku's."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return StorageFull(str(path))
    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        return ReadOnly(str(path))
    return StoreError(f"{path}: {error.strerror or error}")


def as_page_error(error: OSError, path: Path) -> YikuError:
    """Convert the error of reading or writing a file that people edit, who may have put a link or a folder there."""
    match error.errno:
        case errno.ELOOP | errno.ENOTDIR:
            return InvalidInput(f"{path} is a link, or lies behind one; notes lie in the home itself")
        case errno.EISDIR | errno.EINVAL:
            return InvalidInput(f"{path} is not a file")
    return as_store_error(error, path)
