"""
Run background threads of a memory: each repeats one task until the memory is closed.

`status` reports its last problem. Code that a host passes in may raise anything: the thread then ends with its traceback,
and another one takes over later.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable

from yiku.errors import Closed
from yiku.flows.common.handle import Handle

NIGHT = "yiku-night"  # the name of the thread that runs the nights
AFTER_TROUBLE_S = 30.0  # before something that failed is tried again


class Worker:
    """
    A thread of a memory.

    name: of the thread; look: does what there is to do, and gives how many seconds later it is worth to look again
    """

    def __init__(self, handle: Handle, name: str, look: Callable[[Worker], float]) -> None:
        self.handle = handle
        self.name = name
        self.trouble: str | None = None
        self._look = look
        self._ended = threading.Event()
        self._start(0.0)
        _EVERY.add(self)

    def _start(self, after_s: float) -> None:
        self._thread = threading.Thread(target=self._run, args=(after_s,), name=self.name, daemon=True)
        self._thread.start()

    def _run(self, after_s: float) -> None:
        try:
            while not self._ended.wait(after_s):
                after_s = self._look(self)
        except Closed:  # the memory, meanwhile: there is nothing left to look after
            self._ended.set()
        except BaseException as error:
            self.trouble = f"{type(error).__name__}: {error}"
            if not self._ended.is_set():
                self._start(AFTER_TROUBLE_S)
            raise

    def end(self) -> None:
        """Look no more."""
        self._ended.set()

    def ended(self) -> bool:
        """Whether it is to end: what takes long asks now and then."""
        return self._ended.is_set()

    def works(self) -> bool:
        """Whether its thread is there: not in a forked child."""
        return self._thread.is_alive()

    def stop(self, within_s: float) -> bool:
        """End it, and whether it ended in time."""
        self._ended.set()
        self._thread.join(within_s)
        return not self.works()


_EVERY = weakref.WeakSet[Worker]()


def _workers(handle: Handle, name: str) -> list[Worker]:
    return [worker for worker in list(_EVERY) if worker.handle is handle and worker.name == name]


def works(handle: Handle, name: str) -> bool:
    """Whether this memory has such a thread."""
    return any(worker.works() for worker in _workers(handle, name))


def trouble(handle: Handle, name: str) -> str | None:
    """What keeps such a thread of this memory from working, where it has one."""
    return next((worker.trouble for worker in _workers(handle, name)), None)
