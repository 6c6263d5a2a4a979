"""
`OpenHome`, the memory behind an MCP server: open on first use, retry on failure, count retrievals, answer hooks.

A server that cannot open its home still answers: each call says what is wrong and what to do, and works again once it is mended.
"""

from __future__ import annotations

import logging
import os
import threading
from contextlib import suppress
from queue import SimpleQueue
from typing import TYPE_CHECKING

from yiku.errors import Closed, KeptOut, YikuError
from yiku.interfaces.tools import Answer, Tools

if TYPE_CHECKING:
    from yiku.interfaces.hooks.serve import Answering
    from yiku.memory import Memory

BUSY_S = 5.0  # that a call waits for another process, where no setting says otherwise; hosts give up after 30 or 60

logger = logging.getLogger("yiku.mcp")


class OpenHome:
    """A home that is opened when it is first needed. Safe to use from several threads."""

    def __init__(self, home: str | None, scope: str | None) -> None:
        self._home, self._scope = home, scope
        self._memory: Memory | None = None
        self._lock = threading.Lock()
        self._closed = False
        self._shown: SimpleQueue[Answer | None] = SimpleQueue()
        self._reporter: threading.Thread | None = None
        self._answering: Answering | None = None

    def memory(self) -> Memory:
        """Return the memory, opening it if it is not open. Raises whatever keeps it from opening."""
        with self._lock:
            if self._closed:
                raise Closed
            if self._memory is None:
                self._memory = self._open()
                self._reporter = threading.Thread(target=self._report, args=(self._memory,), name="yiku-mcp-report", daemon=True)
                self._reporter.start()
                self._answering = _answering(self._memory)
            return self._memory

    def _open(self) -> Memory:
        from yiku import settings
        from yiku.memory import Memory

        resolved = settings.load(settings.home(self._home), {})
        busy = BUSY_S if resolved.origins["busy_timeout_s"] == "default" else resolved.busy_timeout_s
        memory = Memory(self._home, scope=self._scope, background=True, busy_timeout_s=busy)
        if memory.created:
            logger.warning("made a new home in %s, owner %s", memory.settings.home, memory.settings.owner)
        return memory

    def admit(self) -> None:
        """Refuse to store anything while the server runs in a folder that is kept out. Raises KeptOut."""
        from yiku import settings

        with suppress(FileNotFoundError):  # a folder that was removed has no name
            if switch := settings.switched_off(self.memory().settings, os.getcwd()):
                raise KeptOut(f"{switch} excludes this folder")

    def shown(self, answer: Answer) -> None:
        """Count what an answer showed, later and in another thread: nobody waits for it."""
        if answer.shown:
            self._shown.put(answer)

    def _report(self, memory: Memory) -> None:
        while (answer := self._shown.get()) is not None:
            try:
                Tools.shown(memory, answer)
            except YikuError as error:
                logger.warning("what was shown could not be counted: %s", type(error).__name__)

    def close(self) -> None:
        """Count what is left to count, and close the memory."""
        with self._lock:
            self._closed = True
            if self._memory is None:
                return
            self._shown.put(None)
            if self._reporter is not None:
                self._reporter.join(BUSY_S)
            if self._answering is not None:
                self._answering.close()
            self._memory.close()


def _answering(memory: Memory) -> Answering:
    """Answer the hooks of agents from here, too: what it needs is loaded with the memory."""
    from yiku.interfaces.hooks.serve import Answering

    return Answering(memory)
