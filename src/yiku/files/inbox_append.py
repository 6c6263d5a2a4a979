"""
Append hook events to the inbox file, durably and with few imports, so that the hook process starts fast.

    inbox/events.jsonl             events that wait to be recorded, a line each; of another scope `events-<crc32 of its name>.jsonl`
    inbox/events~<16 hex>.jsonl    the same, where the file before was locked for too long
    inbox/reserve                  1 MiB held back for a full disk

A line is a JSON object that ends with `crc`, the CRC-32 in hexadecimal of all bytes before `,"crc":`, and holds the payload of the
hook as it came, with spaces for line breaks. A line gets its time and is written under a lock of its file, so that times rise in
a file, and is flushed. What a killed writer left of a line ends with the line break that the next one writes first.
"""

from __future__ import annotations

import errno
import fcntl
import os
import time
from binascii import crc32, hexlify

TYPE_CHECKING = False  # without typing, which takes longer to load than this takes
if TYPE_CHECKING:
    from collections.abc import Callable

FOLDER, RESERVE, ENDING = "inbox", "reserve", ".jsonl"
RESERVE_BYTES = 1 << 20
LOCK_TRIES, LOCK_STEP_S = 12, 0.0025  # others hold the lock for the time of a flush
REOPENED = 5  # times, while the file is being taken away for reading
_BREAKS = bytes.maketrans(b"\n\r\0", b"   ")
_FLAGS = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


def append(home: str, payload: bytes, *, hook: str, agent: str, scope: str | None = None) -> None:
    """Append an event; it is on the disk when this returns. Raises OSError."""
    folder = _open_folder(home)
    try:

        def entry() -> bytes:
            return line(payload, hook=hook, agent=agent, scope=scope)

        try:
            _append(folder, name(scope), entry)
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT) or not _release(folder):
                raise
            _append(folder, name(scope), entry)
        else:
            _reserve(folder)
    finally:
        os.close(folder)


def hold_back(home: str) -> None:
    """Make the inbox with the space that it holds back for a full disk, where they are not there."""
    try:
        folder = _open_folder(home)
    except OSError:
        return
    try:
        _reserve(folder)
    finally:
        os.close(folder)


def line(payload: bytes, *, hook: str, agent: str, scope: str | None) -> bytes:
    """An event as a line, with its line break."""
    head = f'{{"yiku":1,"id":"{hexlify(os.urandom(8)).decode()}","at":{time.time_ns() // 1_000},"hook":{_quoted(hook)}'
    head += f',"agent":{_quoted(agent)}' + (f',"scope":{_quoted(scope)}' if scope else "") + ',"event":'
    body = head.encode() + (payload.translate(_BREAKS).strip() or b"null")
    return body + b',"crc":"%08x"}\n' % crc32(body)


def name(scope: str | None, unique: str = "") -> str:
    """The file of a scope; of the home's own without one."""
    return f"events{f'-{crc32(scope.encode()):08x}' if scope else ''}{unique}{ENDING}"


def _quoted(text: str) -> str:
    """A text in JSON, in ASCII."""
    units = text.encode("utf-16-be", "replace")
    codes = (units[at] << 8 | units[at + 1] for at in range(0, len(units), 2))
    return '"' + "".join(chr(code) if 31 < code < 127 and code not in (34, 92) else f"\\u{code:04x}" for code in codes) + '"'


def _open_folder(home: str) -> int:
    try:
        root = os.open(home, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except FileNotFoundError:
        os.makedirs(home, mode=0o700, exist_ok=True)
        root = os.open(home, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        return os.open(FOLDER, flags, dir_fd=root)
    except FileNotFoundError:
        try:  # noqa: SIM105  (contextlib takes longer to load than this takes)
            os.mkdir(FOLDER, 0o700, dir_fd=root)
        except FileExistsError:  # another hook was first
            pass
        os.fsync(root)
        return os.open(FOLDER, flags, dir_fd=root)
    finally:
        os.close(root)


def _append(folder: int, file: str, entry: Callable[[], bytes]) -> None:
    """Append under the lock of the file; where it is held for too long, or is no plain file, to a file of its own."""
    for _ in range(REOPENED):
        try:
            descriptor = os.open(file, _FLAGS, 0o600, dir_fd=folder)
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EROFS):
                raise
            break
        try:
            if not _lock(descriptor):
                break
            if _is_named(descriptor, file, folder):  # else a reader has taken it away meanwhile
                _write(descriptor, folder, entry())
                return
        finally:
            os.close(descriptor)
    unique = f"{file.removesuffix(ENDING)}~{hexlify(os.urandom(8)).decode()}{ENDING}"
    descriptor = os.open(unique, _FLAGS | os.O_EXCL, 0o600, dir_fd=folder)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        _write(descriptor, folder, entry())
    finally:
        os.close(descriptor)


def _lock(descriptor: int) -> bool:
    for again in range(LOCK_TRIES):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            time.sleep(LOCK_STEP_S * (1 + again % 3))
    return False


def _is_named(descriptor: int, file: str, folder: int) -> bool:
    here = os.fstat(descriptor)
    try:
        there = os.stat(file, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return (here.st_dev, here.st_ino) == (there.st_dev, there.st_ino)


def _write(descriptor: int, folder: int, entry: bytes) -> None:
    """All of a line, flushed, or nothing of it."""
    size = os.fstat(descriptor).st_size
    torn = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
    rest = memoryview(b"\n" + entry if torn else entry)
    try:
        while rest:
            rest = rest[os.write(descriptor, rest) :]
        os.fsync(descriptor)
        if not size:
            os.fsync(folder)
    except OSError:
        os.ftruncate(descriptor, size)
        raise


def _reserve(folder: int) -> None:
    """Hold space back for a full disk, once; without it where there is none."""
    try:
        descriptor = os.open(RESERVE, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600, dir_fd=folder)
    except OSError:
        return
    try:
        os.posix_fallocate(descriptor, 0, RESERVE_BYTES)
    except (OSError, AttributeError):  # macOS has no such call
        os.unlink(RESERVE, dir_fd=folder)
    finally:
        os.close(descriptor)


def _release(folder: int) -> bool:
    try:
        held = os.stat(RESERVE, dir_fd=folder, follow_symlinks=False).st_size
        os.unlink(RESERVE, dir_fd=folder)
    except OSError:
        return False
    return held > 0
