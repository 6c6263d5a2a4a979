"""
Lock for model threads that a forked child never inherits as held.

Loading takes seconds. If the process forks meanwhile, the loading thread does not exist in the child, so nobody there would
release the lock.
"""

from __future__ import annotations

import os
import threading
import weakref


class Guarded:
    """Base class of models with a fork-safe lock."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        _EVERY.add(self)

    def start_over(self) -> None:
        """Replace the lock in a forked child."""
        self._lock = threading.Lock()


def _in_a_child() -> None:
    for guarded in list(_EVERY):
        guarded.start_over()


_EVERY = weakref.WeakSet[Guarded]()
os.register_at_fork(after_in_child=_in_a_child)
