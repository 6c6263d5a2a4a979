"""
What other processes do in tests: each function runs in a fresh interpreter, none shares anything but the home.

`together` starts several at once, lets them go at the same moment, and gives back what each returned. A
child says what was acknowledged through a pipe, after the call returned; so a killed child has told the truth.
"""

import multiprocessing
import os
import random
import signal
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

SPAWN = multiprocessing.get_context("spawn")
START = datetime(2026, 3, 2, tzinfo=UTC)
PATIENCE_S = 300.0


def together(target: Callable[..., Any], tasks: Sequence[tuple[Any, ...]]) -> list[Any]:
    """Run the target once a task, each in its own process, all from the same moment; what they return, or the error."""
    barrier = SPAWN.Barrier(len(tasks))
    pairs = [SPAWN.Pipe(duplex=False) for _ in tasks]
    processes = [
        SPAWN.Process(target=_run, args=(target, task, barrier, tell)) for task, (_, tell) in zip(tasks, pairs, strict=True)
    ]
    for process in processes:
        process.start()
    results = []
    for hear, tell in pairs:
        tell.close()
        results.append(hear.recv() if hear.poll(PATIENCE_S) else TimeoutError("a worker did not answer"))
    for process in processes:
        process.join()
    return results


def _run(target: Callable[..., Any], task: tuple[Any, ...], barrier: Any, tell: Connection) -> None:
    import yiku.memory  # noqa: F401 - before the barrier, so that all start at the same moment

    barrier.wait(PATIENCE_S)
    try:
        tell.send(target(*task))
    except Exception as error:
        tell.send(error)


def clocked(home: Path, **settings: Any) -> Any:
    from yiku import Memory

    return Memory(home, owner="user:mei", **settings)


# ------------------------------------------------------------------ what they do


def create(home: Path, text: str) -> str:
    """Open a home that may not be there, and record one turn."""
    with clocked(home) as memory:
        return memory.record_turn("user", text).id


def give_values(home: Path, first: int, count: int, spread: bool) -> list[str]:
    """Give one slot different values, each said at its own time, or all at the same."""
    done = []
    with clocked(home) as memory:
        for i in range(first, first + count):
            said_at = START + timedelta(minutes=i) if spread else START
            done.append(memory.remember(f"I live in Town{i}镇", said_at=said_at).memory.content)
    return done


def say(home: Path, text: str, who: str, times: int = 1) -> list[str]:
    """Remember one text."""
    with clocked(home) as memory:
        return [type(memory.remember(text, speaker=who)).__name__ for _ in range(times)]


def record_many(home: Path, who: str, count: int) -> list[str]:
    """Record turns one by one; their ids."""
    with clocked(home) as memory:
        return [memory.record_turn("user", f"{who} 说 {i}", session=f"s-{who}").id for i in range(count)]


def chatter(home: Path, seed: int, tell: Connection) -> None:
    """Until killed: record, remember, update, forget; each text goes into the pipe after its call returned."""
    chance = random.Random(seed)
    with clocked(home) as memory:
        tell.send(("open", "", ""))
        for i in range(100_000):
            text = f"{seed}-{i} {chance.choice(['Oslo', '北京', 'tea 茶', 'python-3.12'])} {'字' * chance.randrange(1, 40)}"
            match chance.randrange(5):
                case 0 | 1:
                    done = ("turn", memory.record_turn("user", text, session=f"s{chance.randrange(3)}").id, text)
                case 2:
                    done = ("memory", memory.remember(text).memory.id, text)
                case 3:
                    done = ("memory", memory.remember(f"I live in {text}").memory.id, f"I live in {text}")
                case _:
                    key = f"{seed}-{i}"
                    ids = memory.record(
                        [{"role": "user", "content": text}, {"role": "user", "content": text}], idempotency_key=key
                    ).ids
                    done = ("pair", ids[0], text)
            tell.send(done)


def killed_after(delay_s: float, home: Path, seed: int) -> list[tuple[str, str, str]]:
    """Let `chatter` work, kill it without warning so long after its start; what it had acknowledged."""
    hear, tell = SPAWN.Pipe(duplex=False)
    process = SPAWN.Process(target=chatter, args=(home, seed, tell))
    process.start()
    tell.close()
    return _heard_until_killed(process.pid, hear, delay_s, process.join)


def _heard_until_killed(pid: int, hear: Connection, delay_s: float, join: Callable[[], object]) -> list[tuple[str, str, str]]:
    heard, deadline = [], None
    while True:
        wait = PATIENCE_S if deadline is None else max(0.0, deadline - time.monotonic())
        try:
            if not hear.poll(wait):
                break
            heard.append(hear.recv())
        except EOFError:
            break
        deadline = deadline or time.monotonic() + delay_s  # from the opening on
    os.kill(pid, signal.SIGKILL)
    join()
    try:
        while hear.poll(0):
            heard.append(hear.recv())  # sent before the kill: acknowledged
    except (EOFError, OSError):
        pass
    return [item for item in heard if item[0] != "open"]
