"""Threads of a memory: how they end."""

import threading

from yiku.errors import Closed
from yiku.flows.common.background import Worker


def test_a_thread_whose_memory_was_closed_meanwhile_ends_without_a_word(memory, monkeypatch):
    """It may be in the middle of something when the memory is closed: that is no error of anybody's, and no other thread follows."""
    said, looked = [], threading.Event()
    monkeypatch.setattr(threading, "excepthook", said.append)

    def look(worker):
        looked.set()
        raise Closed

    worker = Worker(memory._handle, "a test", look)

    assert looked.wait(10)
    assert worker.stop(10)
    assert ([], None) == (said, worker.trouble)
