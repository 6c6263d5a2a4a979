"""
Run the command line in tests: each command in its own process, forked from one with Yiku imported.

A new interpreter spends a third of a second on importing what a verb needs; a fork has it already. The child
has its own streams, folder and environment, runs the real entry, and ends as any process does. The one thing it
does not show is a start from nothing: what tests that starts COLD, and says so.

    run        a command to its end: exit code, what it wrote
    Started    one whose streams are the caller's: a terminal, a closed pipe, a call that is interrupted
    on_path    a folder with an executable `yiku` and a `python`, for scripts
"""

import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import yiku
from commands import client

COLD = [sys.executable, "-m", "yiku"]
MODULE = Path(yiku.__file__).with_name("__main__.py")  # as a program that is called by `python -m` knows itself
HERE = Path(__file__).parent
Word = str | bytes | Path


@dataclass(frozen=True)
class Ran:
    """What a command came to: its exit code (below zero the signal that ended it), what it wrote."""

    code: int
    out: str
    err: str

    @cached_property
    def json(self) -> dict[str, Any]:
        """The one object on the one line that --json prints."""
        assert self.out.count("\n") == 1
        return json.loads(self.out)


def run(
    *words: Word,
    stdin: bytes = b"",
    cwd: Path | None = None,
    umask: int | None = None,
    program: str | None = None,
    **environment: Word,
) -> Ran:
    """
    Run `yiku` with these words, in an environment without settings of ours but those that are given.

    program: a program in Python to be run in its place, with the words as its arguments
    """
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        given.write(stdin)
        given.seek(0)
        streams = [stream.fileno() for stream in (given, out, err)]
        code = Started(words, streams, plain(environment), cwd=cwd, umask=umask, program=program).wait()
        for stream in (out, err):
            stream.seek(0)
        return Ran(code, out.read().decode(), err.read().decode())


def plain(more: Mapping[str, Word]) -> dict[str, Word]:
    """Our environment, with nothing in it that changes what a command says, and with more."""
    ours = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR") and name[:5] != "YIKU_"}
    return {**ours, **more}


class Started:
    """A command at work on three streams of the caller's: stdin, stdout, stderr."""

    def __init__(
        self,
        words: Sequence[Word],
        streams: Sequence[int],
        environment: Mapping[str, Word],
        *,
        cwd: Path | None = None,
        umask: int | None = None,
        program: str | None = None,
    ) -> None:
        os.umask(now := os.umask(0))
        request = (
            [os.fsencode(word) for word in (MODULE, *words)],
            {os.fsencode(name): os.fsencode(value) for name, value in environment.items()},
            os.fsencode(cwd or os.getcwd()),
            now if umask is None else umask,
            program,
        )
        self._connection = client.asked(_server()[2], request, streams)
        self.pid = client.number(self._connection)

    def wait(self) -> int:
        """Its exit code; below zero the signal that ended it."""
        with closing(self._connection):
            return client.number(self._connection)


def on_path(folder: Path) -> Path:
    """The folder, with a `yiku` in it that does what the installed one does, and the `python` that runs the tests."""
    folder.mkdir()
    ask = [sys.executable, "-IS", str(HERE / "client.py"), _server()[2]]
    for name, program in (("yiku", f'{shlex.join(ask)} "$0"'), ("python", f"{shlex.quote(sys.executable)} -S")):
        (folder / name).write_text(f'#!/bin/sh\nexec {program} "$@"\n', encoding="utf-8")
        (folder / name).chmod(0o755)
    return folder


# ------------------------------------------------------------------ the server


@cache
def _server() -> tuple[subprocess.Popen[bytes], tempfile.TemporaryDirectory[str], str]:
    """The process, its folder and the address at which it listens; started when the first command asks."""
    folder = tempfile.TemporaryDirectory(prefix="yiku-commands-")  # short: the address of a socket may have 104 bytes
    command = [sys.executable, str(HERE / "server.py"), address := f"{folder.name}/socket"]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}  # a pool of threads does not survive a fork
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
    with process.stdout as announced:
        assert announced.readline(), "the server of commands did not start"
    return process, folder, address


def stop() -> None:
    """End the server, if there is one, and wait for it."""
    if _server.cache_info().currsize:
        process, folder, _ = _server()
        process.stdin.close()
        process.wait()
        folder.cleanup()
        _server.cache_clear()
