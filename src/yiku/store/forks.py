"""
Fork guard: `fork` waits until no thread is inside SQLite.

A child gets SQLite as it is at that moment: a mutex that another thread holds, or the write that it has under way, is
held in the child for ever, and whoever asks there waits for it. In the child each gate lets go of the parent's lock.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

FORK_WAITS_S = 1.0  # a call may itself wait for another process


class Inherited(Protocol):
    """State that a forked child must not keep using."""

    def start_over(self) -> None:
        """Reset it in the child."""


class _Calls:
    """Call depth of each thread inside SQLite."""

    def __init__(self, depths: dict[int, int]) -> None:
        self.depths = depths
        self.forking: list[int] = []  # the threads that are about to
        self.changed = threading.Condition(threading.Lock())

    def move(self, to: int) -> int:
        """Set this thread's depth, waiting for a fork in progress on entry; return the previous depth."""
        me = threading.get_ident()
        with self.changed:
            before = self.depths.get(me, 0)
            if to and not before:
                self.changed.wait_for(lambda: not self.forking or me in self.forking)
            if to:
                self.depths[me] = to
            else:
                self.depths.pop(me, None)
                if self.forking:
                    self.changed.notify_all()
        return before

    def stop(self) -> None:
        me = threading.get_ident()
        with self.changed:
            self.forking.append(me)
            self.changed.wait_for(lambda: self.depths.keys() <= {*self.forking}, FORK_WAITS_S)

    def resume(self) -> None:
        with self.changed:
            self.forking.remove(threading.get_ident())
            self.changed.notify_all()


_CALLS = _Calls({})
GATES = weakref.WeakSet[Inherited]()  # of this process


@contextmanager
def inside() -> Iterator[None]:
    """Mark this thread as inside SQLite; re-entrant."""
    before = _CALLS.depths.get(threading.get_ident(), 0)
    _CALLS.move(before + 1)
    try:
        yield
    finally:
        _CALLS.move(before)


@contextmanager
def outside() -> Iterator[None]:
    """Mark this thread as outside SQLite while it waits for something else."""
    before = _CALLS.move(0)
    try:
        yield
    finally:
        _CALLS.move(before)


def _before_a_fork() -> None:
    _CALLS.stop()


def _in_the_parent() -> None:
    _CALLS.resume()


def _in_a_child() -> None:
    """Release the parent's locks in a forked child: its copies of descriptors would outlive the parent."""
    global _CALLS  # noqa: PLW0603 - the lock of the old one may be held by a thread that is no more
    me = threading.get_ident()
    _CALLS = _Calls({me: depth} if (depth := _CALLS.depths.get(me)) else {})
    for gate in list(GATES):
        gate.start_over()


os.register_at_fork(before=_before_a_fork, after_in_parent=_in_the_parent, after_in_child=_in_a_child)
