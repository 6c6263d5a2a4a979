"""
Growth benchmark: cost of each verb as scope, store, versions, session or number of scopes grow.

A row is a verb and what grows; its figures are milliseconds of CPU at three sizes, and the power of the size with which the
last step grew: 0 is flat, 1 in proportion, 2 the square. Nothing may grow faster than in proportion.
"""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from yiku import Memory

SIZES = (100, 1_000, 10_000)  # turns of a scope or a store
FEW = (10, 100, 1_000)  # versions of a slot, turns of a session, scopes
CALLS = 5  # of which the least counts
BATCH = 500
OWNER = "user:bench"
SLOT = {"subject": "billing service", "predicate": "version"}
NOTICED_MS = 0.2  # a step that is shorter says nothing of growth

Turns = Callable[[int], list[dict[str, Any]]]


@dataclass(frozen=True)
class Row:
    verb: str
    grows: str
    sizes: Sequence[int]
    ms: Sequence[float]

    @property
    def power(self) -> float:
        """The growth exponent of the last step; 0 is constant."""
        before, after = (max(value, NOTICED_MS) for value in self.ms[-2:])
        return max(0.0, math.log(after / before) / math.log(self.sizes[-1] / self.sizes[-2]))


def rows(folder: Path, turns: Turns, questions: Sequence[str]) -> Iterator[Row]:
    """Every row of the table."""
    yield from _by_scope(folder, turns, questions)
    yield from _by_store(folder, turns, questions)
    yield from _by_files(folder, questions)
    yield from _by_versions(folder)
    yield from _by_session(folder, turns, questions)
    yield from _by_scopes(folder, questions)


def opened(home: Path, scope: str = OWNER) -> Memory:
    return Memory(home, scope=scope, owner=OWNER, durability="fast", search="words")


def filled(memory: Memory, turns: Sequence[dict[str, Any]]) -> None:
    for start in range(0, len(turns), BATCH):
        memory.record(turns[start : start + BATCH])


def least_ms(call: Callable[[], object], calls: int = CALLS) -> float:
    """The least CPU of some calls."""
    found = []
    for _ in range(calls):
        start = time.process_time()
        call()
        found.append(1000 * (time.process_time() - start))
    return min(found)


def looks(memory: Memory, questions: Sequence[str]) -> dict[str, float]:
    """Verbs that look or add a little."""
    ends = iter([turn.id[-8:] for turn in memory.timeline(limit=CALLS + 1)])
    memory.recall(questions[0])
    return {
        "recall": least_ms(lambda: [memory.recall(question) for question in questions]) / len(questions),
        "context": least_ms(lambda: [memory.context(question) for question in questions]) / len(questions),
        "timeline": least_ms(lambda: memory.timeline(limit=50)),
        "get by short id": least_ms(lambda: memory.get(next(ends))),
        "status": least_ms(memory.status),
        "record_turn": least_ms(lambda: memory.record_turn("user", "We met at the harbour. 我们在港口见面。", session="now")),
    }


def table(grows: str, sizes: Sequence[int], found: Sequence[dict[str, float]]) -> Iterator[Row]:
    yield from (Row(verb, grows, sizes, [each[verb] for each in found]) for verb in found[0])


def _by_scope(folder: Path, turns: Turns, questions: Sequence[str]) -> Iterator[Row]:
    found = []
    for size in SIZES:
        with opened(folder / f"scope-{size}") as memory:
            filled(memory, turns(size))
            memory.learn()
            last = memory.timeline(limit=1)[0]
            versions = [
                memory.remember(f"The billing service runs on version {n}.0.", **SLOT, object=f"{n}.0").memory for n in range(10)
            ]
            erased = {
                "erase of a turn": least_ms(lambda last=last: memory.admin.erase(last.id), 1),
                "erase of ten versions": least_ms(lambda versions=versions: memory.admin.erase(versions[-1].id), 1),
            }
            found.append(looks(memory, questions) | erased)
    yield from table("turns of the scope", SIZES, found)


def _by_store(folder: Path, turns: Turns, questions: Sequence[str]) -> Iterator[Row]:
    found, said = [], turns(SIZES[0])
    for size in SIZES:
        home = folder / f"store-{size}"
        with opened(home) as memory:
            filled(memory, said)
            memory.learn()
        with opened(home, "user:others") as others:
            filled(others, turns(size))
        with opened(home) as memory:
            found.append(looks(memory, questions))
    yield from table("turns of the store, scope of 100", SIZES, found)


def _by_files(folder: Path, questions: Sequence[str]) -> Iterator[Row]:
    found = []
    for size in SIZES:
        home = folder / f"files-{size}"
        with opened(home) as memory:
            for number in range(size):
                file = home / "documents" / f"{number // 10}" / f"{number}.md"
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(f"# Note {number}\n\nThe harbour opens at seven, boat {number}. 港口七点开门。\n", encoding="utf-8")
            first = least_ms(memory.notes.sync, 1)
            file.write_text("changed 改了", encoding="utf-8")
            found.append(
                {
                    "first sync": first,
                    "sync of one change": least_ms(memory.notes.sync, 1),
                    "recall": least_ms(lambda: [memory.recall(question) for question in questions]) / len(questions),
                    "status": least_ms(memory.status),
                }
            )
    yield from table("files of the vault", SIZES, found)


def _by_versions(folder: Path) -> Iterator[Row]:
    found = []
    for size in FEW:
        with opened(folder / f"versions-{size}") as memory:
            memories = [
                memory.remember(f"The billing service runs on version {i}.0.", **SLOT, object=f"{i}.0").memory for i in range(size)
            ]
            found.append(
                {
                    "recall": least_ms(lambda: memory.recall("which version does the billing service run on?")),
                    "history": least_ms(lambda memories=memories: memory.history(memories[-1].id)),
                    "forget": least_ms(lambda memories=memories: memory.forget(memories[-1].id), 1),
                    "erase": least_ms(lambda memories=memories: memory.admin.erase(memories[-1].id), 1),
                }
            )
    yield from table("versions of a slot", FEW, found)


def _by_session(folder: Path, turns: Turns, questions: Sequence[str]) -> Iterator[Row]:
    found = []
    for size in FEW:
        with opened(folder / f"session-{size}") as memory:
            filled(memory, [{**turn, "session": "long"} for turn in turns(size)])
            memory.learn()
            found.append(
                {
                    "recall": least_ms(lambda: [memory.recall(question) for question in questions]) / len(questions),
                    "sessions.end": least_ms(lambda: memory.sessions.end("long"), 1),
                }
            )
        found[-1]["record_turn and close"] = least_ms(lambda size=size: _add_and_close(folder / f"session-{size}"))
    yield from table("turns of a session", FEW, found)


def _add_and_close(home: Path) -> None:
    """A turn, and its line in a transcript that is as long as its session."""
    with opened(home) as memory:
        memory.record_turn("user", "We met at the harbour. 我们在港口见面。", session="long")


def _by_scopes(folder: Path, questions: Sequence[str]) -> Iterator[Row]:
    found = []
    for size in FEW:
        home = folder / f"scopes-{size}"
        for place in range(size):
            with opened(home, f"user:n{place}") as memory:
                memory.record_turn("user", "We met at the harbour. 我们在港口见面。", session="s")
        with opened(home, "user:n0") as memory:
            found.append({"recall": least_ms(lambda: memory.recall(questions[0])), "status": least_ms(memory.status)})
    yield from table("scopes", FEW, found)
