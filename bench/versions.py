"""
Compare the speed of checkouts in one run: the same turns, questions and calls through the public API of each, in turns.

    git worktree add ../before v0.1.0
    python bench/versions.py ../before . --talk longmemeval_s.json --talk lifebench_zh.json.xz

Each round measures one checkout after the other, each in a process of its own, with 10,000 turns in scopes of 1,000 and as
one scope. Printed are medians of the rounds, CPU time, and the last checkout as a share of the first.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import peers
from rich.console import Console
from rich.table import Table

SIZE, SCOPE_TURNS, BATCH = 10_000, 1_000, 500
CALLS, STARTS, VERSIONS = 60, 3, 300
OWNER = "user:bench"
FIRST = f"""
import json, sys, time
from yiku import Memory
since = time.process_time()
Memory(sys.argv[1], scope="bench:0", owner="{OWNER}", create=False).recall(sys.argv[2])
print(json.dumps(1000 * (time.process_time() - since)))
"""


def milliseconds(call: Callable[[], object]) -> float:
    start = time.process_time()
    call()
    return 1000 * (time.process_time() - start)


def spread(name: str, calls: Iterable[Callable[[], object]]) -> Iterator[tuple[str, float]]:
    """The median of the calls, and the one that 95 of 100 stay under."""
    taken = peers.timed(calls)
    yield f"{name}, ms", taken.cpu_p50
    yield f"{name}, p95", taken.cpu_p95


def measured(folder: Path, work: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """Each figure of the checkout that this process imports, with its name."""
    from yiku import Memory

    turns, asked, said = work["turns"], work["questions"], iter(work["said"])
    megabytes = sum(len(turn["content"].encode()) for turn in turns) / 1e6
    for kind, step in (("scopes of 1,000", SCOPE_TURNS), ("one scope of 10,000", SIZE)):
        home, taken = folder / str(step), 0.0
        for start in range(0, SIZE, step):
            with Memory(home, scope=f"bench:{start // step}", owner=OWNER) as memory:
                batches = [turns[at : at + BATCH] for at in range(start, start + step, BATCH)]
                taken += milliseconds(lambda memory=memory, batches=batches: [memory.record(batch) for batch in batches])
        yield f"record, {kind}, MB/s", 1000 * megabytes / taken
        with Memory(home, scope="bench:0", owner=OWNER) as memory:
            for language, questions in asked.items():
                for question in questions[:3]:
                    memory.recall(question)
                yield from spread(f"recall, {kind}, {language}", [lambda q=q: memory.recall(q) for q in questions])  # type: ignore[misc]
            mixed = [question for pair in zip(*asked.values(), strict=False) for question in pair]
            memory.context(mixed[0])
            yield from spread(f"context, {kind}", [lambda q=q: memory.context(q, max_tokens=700) for q in mixed])  # type: ignore[misc]
            yield from spread(f"timeline of 50, {kind}", [lambda: memory.timeline(limit=50)] * 10)
            yield from spread(f"status, {kind}", [memory.status] * 10)
        yield f"first answer, {kind}, ms", statistics.median(first_answer(home, asked["english"][0]) for _ in range(STARTS))
    home = folder / str(SCOPE_TURNS)
    for name, learn in (("record_turn without learning", "off"), ("record_turn with learning", "at_once")):
        with Memory(home, scope="bench:1", owner=OWNER, learn=learn) as memory:
            memory.record_turn(**next(said))
            yield from spread(name, [lambda turn=turn: memory.record_turn(**turn) for turn in islice(said, CALLS)])  # type: ignore[misc]
    with Memory(home, scope="bench:2", owner=OWNER) as memory:
        for n in range(VERSIONS):
            last = memory.remember(
                f"Visitor Zero lives in Town{n}.", subject="visitor zero", predicate="lives in", object=f"Town{n}"
            )
        id = getattr(last, "memory", last).id
        yield f"erase of {VERSIONS} versions, ms", milliseconds(lambda: memory.admin.erase(id))
    yield "`yiku recall`, whole process, ms", statistics.median(whole_process(home, asked["english"][0]) for _ in range(STARTS))


def first_answer(home: Path, question: str) -> float:
    """Opening and the first answer, with modules loaded."""
    command = [sys.executable, "-c", FIRST, str(home), question]
    found: float = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return found


def whole_process(home: Path, question: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-m", "yiku", "--home", str(home), "--scope", "bench:0", "recall", question],
        check=True,
        capture_output=True,
        env=os.environ | {"YIKU_OWNER": OWNER},
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def rounds(checkouts: Sequence[Path], work: Path, count: int, folder: Path) -> list[dict[str, list[float]]]:
    """The figures of each checkout, by name, one of each round; the checkouts take turns."""
    found: list[dict[str, list[float]]] = [{} for _ in checkouts]
    for turn in range(count):
        for place, checkout in enumerate(checkouts):
            with tempfile.TemporaryDirectory(dir=folder) as homes:
                command = [sys.executable, __file__, "--of", homes, str(work)]
                env = os.environ | {"PYTHONPATH": str(checkout.resolve() / "src")}
                env.pop("PYTHONDONTWRITEBYTECODE", None)
                printed = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=env).stdout
            for name, value in json.loads(printed):
                found[place].setdefault(name, []).append(value)
            print(f"round {turn + 1} of {count}: {checkout}", file=sys.stderr)
    return found


def show(checkouts: Sequence[Path], found: Sequence[Mapping[str, Sequence[float]]]) -> None:
    table = Table("CPU", *(commit(checkout) for checkout in checkouts), "last / first", box=None)
    for name in found[-1]:
        values = [statistics.median(figures[name]) for figures in found]
        table.add_row(name, *(f"{value:,.2f}" for value in values), f"{values[-1] / values[0]:.2f}")
    Console(width=120).print(table)


def commit(checkout: Path) -> str:
    command = ["git", "-C", str(checkout), "describe", "--always", "--dirty=+"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip() or str(checkout)


def main() -> None:
    if sys.argv[1:2] == ["--of"]:
        print(json.dumps([*measured(Path(sys.argv[2]), json.loads(Path(sys.argv[3]).read_text()))]))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkouts", nargs="+", type=Path, metavar="CHECKOUT")
    parser.add_argument(
        "--talk", action="append", required=True, metavar="FILE", help="real turns with their questions (datasets.py)"
    )
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="of all checkouts (%(default)s)")
    given = parser.parse_args()
    from talk import Talk  # with the checkout of this file; a measured one may be too old for it

    talk = Talk(given.talk)
    said = [turn for turn in talk.turns(20 * CALLS, first=SIZE) if turn["role"] == "user"]
    work = {"turns": talk.turns(SIZE), "questions": talk.questions(CALLS), "said": said}
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / "work.json"
        written.write_text(json.dumps(work, default=lambda time: time.isoformat()))
        show(given.checkouts, rounds(given.checkouts, written, given.rounds, Path(folder)))


if __name__ == "__main__":
    main()
