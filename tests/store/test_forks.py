"""The fork guard: a fork waits until no thread is inside SQLite, at most a second."""

import os
import threading
import time
from pathlib import Path

from workers import READY, clocked

from yiku import check
from yiku.store import forks

FOR_LONG_S = 120.0  # what nobody waits for, however busy the machine is


def run(target: object, *args: object) -> int:
    process = READY.Process(target=target, args=args)
    process.start()
    process.join()
    return process.exitcode


def ended(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def fork_beside_a_call(call_s: float, patience_s: float) -> None:
    """A thread is inside for so long; the child says whether that had ended before it was made."""
    forks.FORK_WAITS_S = patience_s
    begun, done = threading.Event(), threading.Event()

    def call() -> None:
        with forks.inside():
            begun.set()
            time.sleep(call_s)
            done.set()

    threading.Thread(target=call, daemon=True).start()
    begun.wait()
    if (child := os.fork()) == 0:
        with forks.inside():  # the child has no thread but this one
            os._exit(0 if done.is_set() else 7)
    os._exit(ended(child))


def test_a_fork_waits_for_the_calls_of_other_threads() -> None:
    """The child is made when they have ended; one that takes long is not waited for."""
    assert 0 == run(fork_beside_a_call, 0.2, FOR_LONG_S)
    assert 7 == run(fork_beside_a_call, FOR_LONG_S, 0.2)


def fork_while_waiting_outside() -> None:
    """A thread waits for another process in the middle of a call."""
    forks.FORK_WAITS_S = FOR_LONG_S
    begun = threading.Event()

    def call() -> None:
        with forks.inside(), forks.outside():
            begun.set()
            time.sleep(FOR_LONG_S)

    threading.Thread(target=call, daemon=True).start()
    begun.wait()
    before = time.monotonic()
    if (child := os.fork()) == 0:
        os._exit(0)
    os._exit(ended(child) or time.monotonic() - before > FOR_LONG_S / 2)


def test_a_fork_does_not_wait_for_who_waits_himself() -> None:
    """For the gate, for instance: that thread is not in SQLite."""
    assert 0 == run(fork_while_waiting_outside)


def fork_beside_writers(home: Path) -> None:
    """Threads write and read through two handles; children write, read and close meanwhile."""
    first, second = clocked(home), clocked(home, durability="fast")
    over = threading.Event()

    def busy(memory: object, k: int) -> None:
        for i in range(10_000):
            if over.is_set():
                break
            memory.record_turn("user", f"I live in Town{k}x{i} 镇", session=f"s{i % 3}")
            memory.recall("where do I live?")

    threads = [threading.Thread(target=busy, args=(memory, k)) for k, memory in enumerate((first, second, first))]
    for thread in threads:
        thread.start()
    codes = []
    for n in range(8):
        if (child := os.fork()) == 0:
            threading.Timer(FOR_LONG_S, os._exit, [9]).start()
            first.record_turn("user", f"孩子 child {n}", session="child")
            second.recall("where do I live?")
            first.close()
            os._exit(0)
        codes.append(ended(child))
        time.sleep(0.02)
    over.set()
    for thread in threads:
        thread.join()
    first.close()
    second.close()
    os._exit(len([code for code in codes if code]))


def test_children_of_a_process_whose_threads_write_can_use_the_memory(tmp_path: Path) -> None:
    """None waits for ever for what a thread of its parent held, none is told that the store is busy, and nothing is lost."""
    home = tmp_path / "home"
    assert 0 == run(fork_beside_writers, home)

    with clocked(home) as memory:
        assert {f"孩子 child {n}" for n in range(8)} == {turn.content for turn in memory.search_traces(session="child")}
    assert () == check(home, "deep").problems
