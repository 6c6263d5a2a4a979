"""
Answer hooks from a running process over a Unix socket in the home, so that a hook need not load Yiku.

    hook    one line `EVENT LENGTH SCOPE`, then so many bytes of its payload; no scope is the home's own
    server  `+` and what the hook prints; `-` where it serves another scope, or cannot look

One process of a home answers, the one that holds locks/hooks.lock; others try again until it is free.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import SimpleQueue

from yiku.errors import YikuError
from yiku.interfaces.hooks import recalled
from yiku.interfaces.hooks.capture import LOCK, SOCKET, socket_address
from yiku.memory import Memory
from yiku.types import Context

AGAIN_S = 5.0  # until a process that does not answer, because another does, tries again
REQUEST_BYTES, LINE_BYTES = 64 << 20, 1_000
TIMEOUT_S = 2.0  # for a hook to send its payload
BINDING = "hooks.new"  # what the socket is called until nobody else may open it
COUNT_S = 1.0  # that closing waits for counts

logger = logging.getLogger("yiku.hooks")


class Answering:
    """A thread that answers the hooks of a memory's home until it is closed."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._ended = threading.Event()
        self._socket: socket.socket | None = None
        self._shown: SimpleQueue[Context | None] = SimpleQueue()
        self._counter = threading.Thread(target=self._count, name="yiku-hooks-count", daemon=True)
        self._counter.start()
        self._thread = threading.Thread(target=self._run, name="yiku-hooks", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Answer no more."""
        self._ended.set()
        if (listening := self._socket) is not None:
            with suppress(OSError):
                listening.shutdown(socket.SHUT_RDWR)
        self._thread.join(1.0)
        self._shown.put(None)
        self._counter.join(COUNT_S)

    def _run(self) -> None:
        self._load()
        while not self._ended.is_set():
            try:
                with _listening(Path(self._memory.settings.home)) as listening:
                    self._socket = listening
                    self._answer(listening)
            except BlockingIOError:  # another process has the role
                pass
            except OSError as error:
                if not self._ended.is_set():
                    logger.warning("hooks are not answered from here: %s", error)
            self._socket = None
            self._ended.wait(AGAIN_S)

    def _answer(self, listening: socket.socket) -> None:
        while not self._ended.is_set():
            connection, _ = listening.accept()
            with connection:
                connection.settimeout(TIMEOUT_S)
                try:
                    event, payload, scope = _request(connection)
                except (OSError, ValueError):
                    continue
                text, shown = self._text(event, payload, scope)
                try:
                    connection.sendall(text.encode())
                except OSError:  # the hook waited no longer: what was brought in is not there
                    with suppress(YikuError):
                        recalled.undelivered(self._memory, payload)
                    continue
            if shown is not None:
                self._shown.put(shown)

    def _text(self, event: str, payload: bytes, scope: str) -> tuple[str, Context | None]:
        """What is sent for an event, and what it shows."""
        if scope != self._memory.scope if scope else not serves_home(self._memory):
            return "-", None
        try:
            text, shown = recalled.printed_and_shown(self._memory, event, payload)
        except Exception as error:  # its words may be those of a prompt
            logger.warning("a prompt got no memories: %s", type(error).__name__)
            return "-", None
        return f"+{text}", shown

    def _count(self) -> None:
        """Count what was shown, behind the answers: who writes may have to wait for others."""
        while (shown := self._shown.get()) is not None:
            with suppress(YikuError):  # an answer is worth more than its count
                self._memory.retrieved(shown)

    def _load(self) -> None:
        """Load what is needed for an answer before the first one is due."""
        try:
            reranks = self._memory.settings.rerank != "off"  # then nothing may be found: it would be sent to the endpoint
            self._memory.recall("warm up", limit=1, as_of="1970-01-02" if reranks else None)
        except Exception as error:
            logger.warning("hooks may wait for their first answer: %s", type(error).__name__)


def serves_home(memory: Memory) -> bool:
    """Whether a memory is opened on the scope of its home's settings."""
    return memory.settings.origins.get("scope", "default") in ("default", "yiku.toml")


def _request(connection: socket.socket) -> tuple[str, bytes, str]:
    with connection.makefile("rb") as stream:
        event, length, scope = [*stream.readline(LINE_BYTES).decode("utf-8").strip().split(" ", 2), "", ""][:3]
        size = int(length)
        if not 0 <= size <= REQUEST_BYTES:
            raise ValueError("no request of a hook")
        return event, stream.read(size), scope


@contextmanager
def _listening(home: Path) -> Iterator[socket.socket]:
    """The socket of a home. Raises BlockingIOError while another process has it."""
    import fcntl

    lock = os.open(home / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    folder = os.open((home / SOCKET).parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        name = Path(SOCKET).name
        for left in (name, BINDING):
            with suppress(FileNotFoundError):
                os.unlink(left, dir_fd=folder)
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
            listening.bind(socket_address(str(home), folder, BINDING))
            os.chmod(BINDING, 0o600, dir_fd=folder)
            listening.listen(16)
            os.rename(BINDING, name, src_dir_fd=folder, dst_dir_fd=folder)  # under its name it is private, and answers
            try:
                yield listening
            finally:
                with suppress(OSError):
                    os.unlink(name, dir_fd=folder)
    finally:
        os.close(folder)
        os.close(lock)
