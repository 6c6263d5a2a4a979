"""
Keep a 1 MiB file that is emptied when the disk is full, so that forgetting and erasing still work.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

RESERVE_BYTES = 1 << 20  # enough pages for forgetting


class Reserve:
    """The file `reserve`: space held back for a full disk."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def size(self) -> int:
        """Return the bytes reserved."""
        try:
            return self.path.stat().st_size
        except OSError:
            return 0

    def keep(self) -> None:
        """Reserve the space if the disk has room; `yiku status` tells when there is none."""
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
        """Release the space; return whether there was any."""
        released = self.size()
        with suppress(OSError):
            os.truncate(self.path, 0)
        return released > 0
