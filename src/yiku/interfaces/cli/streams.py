"""
Make stdin, stdout and stderr safe to use when they are closed, full, or a pipe without a reader.

A closed descriptor is taken by the next file that is opened, and what is printed later would be written into that
file. So closed ones are given to the null device before anything else is opened, in the direction in which they
are not used: to read a closed stdin, or to write to a closed stdout, fails as it would have without us.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TextIO, cast

STDIN, STDOUT, STDERR = 0, 1, 2


class AnswerLost(Exception):
    """The answer could not be written to stdout; the argument says why."""


class NobodyReads(AnswerLost):
    """Stdout is a pipe whose reader has gone, such as `head`."""


def ensure() -> None:
    """Open all three streams; each takes the lowest free descriptor."""
    for number, flags in ((STDIN, os.O_WRONLY), (STDOUT, os.O_RDONLY), (STDERR, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, flags)
    sys.stdin = sys.stdin or _open(STDIN, "r")
    sys.stdout = sys.stdout or _open(STDOUT, "w")
    sys.stderr = sys.stderr or _open(STDERR, "w")


def _open(number: int, mode: str) -> TextIO:
    file = os.fdopen(number, mode, encoding="utf-8", errors="backslashreplace", closefd=False)
    return cast(TextIO, file)


@contextmanager
def answering() -> Iterator[None]:
    """Flush stdout on exit of the block. Raises AnswerLost."""
    try:
        yield
        sys.stdout.flush()
    except OSError as error:
        drop()
        raise (NobodyReads if isinstance(error, BrokenPipeError) else AnswerLost)(reason(error)) from None


def drop() -> None:
    """Discard pending and later output, which the interpreter would flush on exit."""
    with suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)


def say(text: str) -> None:
    """Print a line to stderr, if possible."""
    with suppress(OSError):
        sys.stdout.flush()
    with suppress(OSError):
        print(text, file=sys.stderr, flush=True)


def reason(error: OSError) -> str:
    """Return why a stream is unusable."""
    return "it is closed" if error.errno == errno.EBADF else error.strerror or str(error)
