"""
Read and write the note about its holder in a lock file, and test whether the lock is held.

A role is a kernel lock on a file that is never deleted. Who holds it may say so in the file; the lock alone decides. What
stands there is for people, holds no text of theirs, and need not outlive the machine: it is not flushed.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

MOST_BYTES = 4_096


def is_held(path: Path) -> bool:
    """Whether somebody holds a lock, in this process or another. It is taken for a moment where nobody does."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def content(path: Path) -> str:
    """What stands in the file of a lock; nothing where it cannot be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return ""
    try:
        return os.read(descriptor, MOST_BYTES).decode(errors="replace")
    finally:
        os.close(descriptor)


def tell(path: Path, text: str) -> None:
    """Say something in the file of a lock that one holds. Raises OSError."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        os.truncate(descriptor, 0)
        os.write(descriptor, text.encode()[:MOST_BYTES])
    finally:
        os.close(descriptor)
