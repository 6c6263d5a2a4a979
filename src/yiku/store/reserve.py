"""
The reserve: a file of space held back beside the database, given up so that forgetting works on a full disk.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

RESERVE_BYTES = 1 << 20  # enough pages for forgetting


class Reserve:
    """The file `reserve`: space held back for the day when the disk is full, so that forgetting still works."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def size(self) -> int:
        """Bytes held back."""
        try:
            return self.path.stat().st_size
        except OSError:
            return 0

    def keep(self) -> None:
        """Hold the space back, unless today is that day; `yiku status` says when there is none."""
        if self.size():
            return
        try:
            descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError:
            return
        try:
            os.posix_fallocate(descriptor, 0, RESERVE_BYTES)
        except (OSError, AttributeError):  # the disk is full; or macOS, which has no such call
            with suppress(OSError):
                os.ftruncate(descriptor, 0)
        finally:
            os.close(descriptor)

    def release(self) -> bool:
        """Give the space up; whether there was some."""
        held = self.size()
        with suppress(OSError):
            os.truncate(self.path, 0)
        return held > 0
