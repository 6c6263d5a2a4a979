"""
The fork guard: a fork waits until no thread of this process is inside SQLite.

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
    """What a child has from its parent and cannot go on with."""

    def start_over(self) -> None:
        """Let go of it in the child."""


class _Calls:
    """How deep each thread is inside."""

    def __init__(self, depths: dict[int, int]) -> None:
        self.depths = depths
        self.forking: list[int] = []  # the threads that are about to
        self.changed = threading.Condition(threading.Lock())

    def move(self, to: int) -> int:
        """Set this thread's depth, behind a fork where it comes in; what it was."""
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
    """While this thread is in SQLite; again in its own call, too."""
    before = _CALLS.depths.get(threading.get_ident(), 0)
    _CALLS.move(before + 1)
    try:
        yield
    finally:
        _CALLS.move(before)


@contextmanager
def outside() -> Iterator[None]:
    """While it waits for something else, in the middle of such a call."""
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
    """A forked child lets go of the parent's locks at once: its copy of a descriptor would hold them after the parent's death."""
    global _CALLS  # noqa: PLW0603 - the lock of the old one may be held by a thread that is no more
    me = threading.get_ident()
    _CALLS = _Calls({me: depth} if (depth := _CALLS.depths.get(me)) else {})
    for gate in list(GATES):
        gate.start_over()


os.register_at_fork(before=_before_a_fork, after_in_parent=_in_the_parent, after_in_child=_in_a_child)
