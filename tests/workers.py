"""
Functions that tests run in other processes, which share only the home.

`together` starts several at once, lets them go at the same moment, and gives back what each returned. A
child says what was acknowledged through a pipe, after the call returned; so a killed child has told the truth.

The children come from a server that has imported Yiku and opened nothing: they start in a hundredth of the
time of a new interpreter, and still share no connection, lock or descriptor of a home.
"""

import contextlib
import multiprocessing
import os
import pkgutil
import random
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import yiku

READY = multiprocessing.get_context("forkserver")
FLOORS = [module.name for module in pkgutil.walk_packages(yiku.__path__, "yiku.") if "__main__" not in module.name]
READY.set_forkserver_preload([*FLOORS, "numpy", "pytest"])  # what a child runs is often a function of a test
START = datetime(2026, 3, 2, tzinfo=UTC)
PATIENCE_S = 300.0


def together(target: Callable[..., Any], tasks: Sequence[tuple[Any, ...]]) -> list[Any]:
    """Run the target once a task, each in its own process, all from the same moment; what they return, or the error."""
    barrier = READY.Barrier(len(tasks))
    pairs = [READY.Pipe(duplex=False) for _ in tasks]
    processes = [
        READY.Process(target=_run, args=(target, task, barrier, tell)) for task, (_, tell) in zip(tasks, pairs, strict=True)
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


@dataclass(frozen=True)
class Timed:
    """What a writer that counts its time came to: the ids, its longest wait for one call, its first and last moment."""

    ids: list[str]
    longest_s: float
    began: float  # on the clock that all processes share
    ended: float


def add_timed(home: Path, who: str, count: int, durability: str) -> Timed:
    """Record turns one by one, with a look at the clock around each."""
    ids, longest = [], 0.0
    with clocked(home, durability=durability) as memory:
        began = before = time.monotonic()
        for i in range(count):
            ids.append(memory.record_turn("user", f"{who} 说 {i} 你好 hello", session=f"s-{who}").id)
            now = time.monotonic()
            longest, before = max(longest, now - before), now
    return Timed(ids, longest, began, before)


# ------------------------------------------------------------------ what is killed


@dataclass(frozen=True)
class Told:
    """What a child had acknowledged: an item with this text and, once the call returned, in this state."""

    what: str  # turn, pair (two turns of one text), memory
    id: str
    text: str
    state: str = ""  # what `get` says of a memory that was forgotten, or had been and came back


PLACES = ["Oslo", "北京", "tea 茶", "python-3.12", "Zoë 😀", "ＡＢＣ，你好"]
LONG = "灯笼 Lantern " * 8_000  # over 64 KiB: goes into a blob


def chatter(home: Path, seed: int, tell: Connection) -> None:
    """
    Until killed: every verb that writes, each acknowledged through the pipe after its call returned.

    One child in three moves its log into the database all the time, one in three often; each closes and
    opens now and then. So the kill meets checkpoints, closings and openings as well.
    """
    import apsw

    chance = random.Random(seed)
    pages = chance.choice([8, 100, 1_000])
    apsw.connection_hooks.append(lambda connection: connection.wal_autocheckpoint(pages))
    for life in range(100_000):
        with clocked(home) as memory:
            if life == 0:
                tell.send(None)
            for i in range(chance.randrange(1, 40)):
                for statement in said(
                    memory, chance, f"{seed}-{life}-{i} {chance.choice(PLACES)} {'字' * chance.randrange(1, 40)}"
                ):
                    tell.send(statement)


def said(memory: Any, chance: random.Random, text: str) -> Iterator[Told]:
    """One thing that a caller may do; no text is said twice, but in a pair."""
    match chance.randrange(12):
        case 0 | 1 | 2:
            yield Told("turn", memory.record_turn("user", text, session=f"s{chance.randrange(3)}").id, text)
        case 3:
            twice = [{"role": "user", "content": text}] * 2
            yield Told("pair", memory.record(twice, idempotency_key=text).ids[0], text)
        case 4:
            from yiku.types import TurnRecord

            memory.admin.import_([TurnRecord(1, {"role": "user", "content": text, "external_id": text})], source="jsonl")
            turn = next(turn for turn in memory.search_traces(text.partition(" ")[0], limit=100) if turn.content == text)
            yield Told("turn", turn.id, text)
        case 5 | 6:
            yield Told("memory", memory.remember(text, tags=["茶", text[:8]]).memory.id, text, "active")
        case 7:
            yield Told("memory", memory.remember(f"I live in {text}").memory.id, f"I live in {text}", "active")
        case 8:
            old = memory.remember(text).memory
            memory.feedback(old.id, "used")
            yield Told("memory", memory.update(old.id, f"{text} anew 新").id, f"{text} anew 新", "active")
        case 9:
            kept = memory.remember(text).memory
            memory.forget(kept.id)
            yield Told("memory", kept.id, text, "archived")
        case 10:
            kept = memory.remember(text).memory
            memory.admin.undo(memory.forget(kept.id).operation)
            memory.forget(kept.id)
            memory.restore(kept.id)
            yield Told("memory", kept.id, text, "active")
        case _:
            if chance.random() < 0.3:  # dear: a file of its own
                text += LONG
                turn = memory.record_turn("user", text)
                yield Told("turn", turn.id, turn.content)


def killed_after(calls: int, delay_s: float, home: Path, seed: int) -> list[Told]:
    """Let `chatter` work, kill it without warning so long after so many acknowledged calls; what it had acknowledged."""
    hear, tell = READY.Pipe(duplex=False)
    process = READY.Process(target=chatter, args=(home, seed, tell))
    process.start()
    tell.close()
    statement = []
    with contextlib.suppress(EOFError):
        for _ in range(calls + 1):  # the first says that it is open
            statement.append(hear.recv())
        time.sleep(delay_s)
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    with contextlib.suppress(EOFError, OSError):
        while hear.poll(0):
            statement.append(hear.recv())  # sent before the kill: acknowledged
    return statement[1:]
