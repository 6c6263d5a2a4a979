"""Measure and compare CPU time, which load on the machine does not stretch."""

import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


class TookTooLong(AssertionError):
    """What was called did not return within its CPU time."""


@contextmanager
def within(seconds: float, what: str = "it") -> Iterator[None]:
    """Stop whatever is inside after so many seconds of CPU, a regular expression that backtracks too; for the main thread."""

    def stop(*_: Any) -> None:
        raise TookTooLong(f"{what} took more than {seconds:g} s of CPU")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def taken(call: Callable[[], object]) -> float:
    """The seconds of CPU that a call takes in this thread."""
    start = time.thread_time()
    call()
    return time.thread_time() - start


def calls(call: Callable[[], object]) -> int:
    """How many functions a call runs through in this thread: the same on a busy machine."""
    count = 0

    def counted(frame: object, event: str, given: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(counted)
    try:
        call()
    finally:
        sys.setprofile(None)
    return count
