"""A value that is computed once for each object, and whose computing nobody inherits as locked."""

import os
import threading
import time

from yiku.rules.text.once import once


class Slow:
    """Whose value takes as long as one lets it."""

    def __init__(self) -> None:
        self.asked, self.let_go, self.times = threading.Event(), threading.Event(), 0

    @once
    def value(self) -> int:
        """How often it was computed."""
        self.asked.set()
        self.let_go.wait()
        self.times += 1
        return self.times


def test_it_is_computed_once_and_says_what_it_is():
    """For each object by itself."""
    first, second = Slow(), Slow()
    for one in (first, second):
        one.let_go.set()

    assert [1, 1, 1] == [first.value, first.value, second.value]
    assert "How often it was computed." == Slow.value.__doc__


def test_a_child_computes_it_though_a_thread_of_its_parent_was_computing_one():
    """As a lock that was held when it was forked would be held in the child for ever."""
    slow, quick = Slow(), Slow()
    thread = threading.Thread(target=lambda: slow.value)
    thread.start()
    slow.asked.wait()
    quick.let_go.set()
    if (child := os.fork()) == 0:
        os._exit(quick.value)
    until = time.monotonic() + 20
    while (ended := os.waitpid(child, os.WNOHANG))[0] == 0 and time.monotonic() < until:
        time.sleep(0.01)
    slow.let_go.set()
    thread.join()
    if not ended[0]:
        os.kill(child, 9)
        os.waitpid(child, 0)

    assert 1 == os.waitstatus_to_exitcode(ended[1])
