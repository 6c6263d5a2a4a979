"""
Benchmark of what a night costs: CPU time, memory, and how long a search takes meanwhile.

    python bench/night_costs.py                         10,000 statements
    python bench/night_costs.py --statements 100000     its peak of memory, beside that of 10,000
    python bench/night_costs.py --only nights           without the searches

Half of the statements are those of the year of night.py, and half are sentences of an invented vocabulary with real endings
(corpus.py), in two languages. All are told by `remember`; then comes the first night, which examines all of them, fifty more
statements and their night, and a night with nothing to do. Each night runs in a process of its own, so that its peak of memory
is its own. Searches are asked while the first night runs in another process, and while it runs in a thread of the same process, as
`Memory(background=True)` does; before and after both, which together is what is usual, so that another load of the machine counts on
both sides. Each waits a little for the next, as people do.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import re
import resource
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from itertools import cycle
from pathlib import Path
from typing import Any

import night
from corpus import Corpus

from yiku import Memory
from yiku.flows.night import schedule
from yiku.rules.deciding import conflict
from yiku.rules.deciding.slots import index_tokens
from yiku.types import AddMemory, Memories

NEW = 50  # statements of an ordinary day
AIMS = {"new": 2.0, "full": 60.0}  # CPU seconds, at AIMED_AT statements
AIMED_AT = 10_000
SLOWER = 2.0  # how much longer a search may take while a night runs, at 95 of 100
QUESTIONS, ASKED = 40, 200  # different ones, and how many before and after
PAUSE_S = 0.02  # between two searches
TOLD, BATCH = 20_000, 500  # statements that are told one by one; written in one transaction
WORDS = (5, 12)  # of a generated sentence
NEW_SHARE = 0.2  # of the new statements that say an old one again
SEARCHED = ("usual", "process", "thread")
PROCESSES = multiprocessing.get_context("spawn")


@dataclass(slots=True)
class Cost:
    """What one night took: CPU and wall seconds, MB of memory before it and at its peak, decisions by action."""

    cpu_s: float
    wall_s: float
    before_mb: float
    peak_mb: float
    decisions: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Search:
    """How long searches took, in milliseconds at 50 and 95 of 100: on the clock, and of CPU."""

    asked: int
    wall_p50: float
    wall_p95: float
    cpu_p50: float
    cpu_p95: float


# ------------------------------------------------------------------ a home


def statements(seed: int, count: int) -> list[str]:
    """So many sentences in two languages, in an order of chance; some say another one again."""
    chance, corpus = random.Random(seed), Corpus(seed)
    year = [one.text for one in night.story(seed, count // 2)]
    texts = chance.sample(year, count // 2)
    texts += [_sentence(chance, turn["content"]) for turn in corpus.turns(count - len(texts))]
    chance.shuffle(texts)
    return texts


def _sentence(chance: random.Random, talk: str) -> str:
    """The beginning of a generated turn."""
    length = chance.randint(*WORDS)
    if talk[0].isascii():
        return " ".join(talk.split()[:length]).rstrip(".") + "."
    return talk.split("，", maxsplit=1)[0].rstrip("。") + "。"


def opened(home: Path, day: int) -> Memory:
    now = night.BEGIN + timedelta(days=day)
    return Memory(home, owner=night.OWNER, names=night.NAMES, clock=lambda: now, durability="fast", search="words")


def fill(home: Path, texts: Sequence[str], day: int = 0) -> None:
    """Tell all statements; of very many the rest is written to the store as it would be told, without asking what it does."""
    with opened(home, day) as memory:
        for text in texts[:TOLD]:
            memory.remember(text)
        if len(texts) > TOLD:
            _write(memory, [*dict.fromkeys(texts[TOLD:])])


def _write(memory: Memory, texts: Sequence[str]) -> None:
    handle = memory._handle
    one = memory.remember("The first of many. 许多之中的第一条。").memory
    known = {row.content for row in handle.store.memories(handle.own(), Memories())}
    for batch in batched([text for text in texts if text not in known], BATCH):
        rows = []
        for text in batch:
            id = handle.new_id()
            rows.append(replace(one, n=0, id=id, line=id, content=text, content_hash=conflict.text_hash(text, None)))
        changes = [AddMemory(row, index_tokens(row)) for row in rows]
        handle.store.apply(handle.writes(), changes, handle.cause("remember"))


def batched(items: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    yield from (items[start : start + size] for start in range(0, len(items), size))


# ------------------------------------------------------------------ nights


def run(home: Path, day: int) -> Cost:
    """Run a night in a process of its own."""
    line, theirs = PROCESSES.Pipe()
    child = PROCESSES.Process(target=_night, args=(home, day, theirs))
    child.start()
    cost: Cost = line.recv()
    child.join()
    return cost


def _night(home: Path, day: int, line: Any) -> None:
    with opened(home, day) as memory:
        memory.recall("Where do I live?")  # what any process has loaded
        before, wall, cpu = _peak_mb(), time.perf_counter(), time.process_time()
        done = memory.admin.consolidate()
        cpu_s, wall_s = time.process_time() - cpu, time.perf_counter() - wall
        cost = Cost(round(cpu_s, 3), round(wall_s, 3), round(before, 1), round(_peak_mb(), 1), dict(done.counts), [*done.notes])
    if line is not None:
        line.send(cost)


def _nicely(home: Path, day: int) -> None:
    """As cron or systemd starts it by the lines of `yiku schedule`."""
    os.nice(schedule.NICE)
    _night(home, day, None)


def _peak_mb() -> float:
    """The most memory that this process held; what Linux counts in ru_maxrss begins with that of the parent."""
    status = Path("/proc/self/status")
    if status.exists():
        return float(re.search(r"VmHWM:\s*(\d+)", status.read_text())[1]) * 1024 / 1e6  # type: ignore[index]
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6  # bytes on macOS


def nights(home: Path, texts: Sequence[str], seed: int) -> dict[str, Cost]:
    """The first night of a home, one after fifty new statements, and one with nothing to do."""
    chance = random.Random(seed)
    costs = {"full": run(home, 1)}
    new = statements(seed + 1, 4 * NEW)[:NEW]
    fill(home, [_again(chance.choice(texts)) if chance.random() < NEW_SHARE else text for text in new], 2)
    costs["new"] = run(home, 3)
    costs["nothing"] = run(home, 4)
    return costs


def _again(text: str) -> str:
    """A statement in another spelling, where the year has one for it."""
    return text.replace(" stands", " - stands").replace("号", " 号 ")


# ------------------------------------------------------------------ searches


def questions(texts: Sequence[str], seed: int) -> list[str]:
    """Questions of a few words of some statements, half of them Chinese."""
    corpus = Corpus(seed)
    return [one for mix in ("english", "chinese") for one in corpus.questions(mix, list(texts), QUESTIONS // 2)]


def asked(memory: Memory, asking: Sequence[str], until: Callable[[int], bool]) -> list[tuple[float, float]]:
    """Ask one question after the other until it is enough; return milliseconds on the clock and of CPU of each."""
    took: list[tuple[float, float]] = []
    for question in cycle(asking):
        if until(len(took)):
            break
        time.sleep(PAUSE_S)
        wall, cpu = time.perf_counter(), time.thread_time()
        memory.recall(question)
        took.append(((time.perf_counter() - wall) * 1000, (time.thread_time() - cpu) * 1000))
    return took


def search(took: Sequence[tuple[float, float]]) -> Search:
    wall, cpu = (sorted(times) for times in zip(*took, strict=True)) if took else ([0.0], [0.0])
    return Search(len(took), *(round(_at(times, share), 2) for times in (wall, cpu) for share in (0.5, 0.95)))


def _at(times: Sequence[float], share: float) -> float:
    return times[min(len(times) - 1, int(share * len(times)))]


def _is_over(memory: Memory) -> bool:
    own = memory._handle.own()
    return any(run.finished_at is not None for run in memory._handle.store.nights.runs(own[0], limit=1))


def searches(home: Path, folder: Path, asking: Sequence[str]) -> dict[str, Search]:
    """Search before, during and after the first night of a home; of two copies, one night is another process's."""
    found = dict[str, list[tuple[float, float]]](usual=[])
    for where in ("process", "thread"):
        copy = Path(shutil.copytree(home, folder / where))
        with opened(copy, 1) as memory:
            for question in asking:
                memory.recall(question)
            found["usual"] += asked(memory, asking, lambda count: count >= ASKED)
            if where == "process":
                child = PROCESSES.Process(target=_nicely, args=(copy, 1))
                child.start()
                found[where] = asked(memory, asking, lambda _, child=child: not child.is_alive())  # type: ignore[misc]
                child.join()
            else:
                worker = schedule.in_background(memory._handle)
                found[where] = asked(memory, asking, lambda _, memory=memory: _is_over(memory))  # type: ignore[misc]
                worker.stop(60)
            found["usual"] += asked(memory, asking, lambda count: count >= ASKED)
        shutil.rmtree(copy)
    return {name: search(took) for name, took in found.items()}


# ------------------------------------------------------------------ what is told


def lines(count: int, costs: dict[str, Cost], found: dict[str, Search]) -> Iterator[str]:
    """Yield the figures, with the aim behind each that has one."""
    for name, cost in costs.items():
        aim = f" (aim {AIMS[name]:g})" if count == AIMED_AT and name in AIMS else ""
        what = {"full": "first night", "new": f"{NEW} new", "nothing": "nothing new"}[name]
        memory = f"peak {cost.peak_mb:.0f} MB, {cost.before_mb:.0f} before"
        yield f"{count:,}, {what}: {cost.cpu_s:.2f} s of CPU{aim}, {cost.wall_s:.2f} s; {memory}; {cost.decisions or 'no decision'}"
        yield from (f"  note: {note}" for note in cost.notes)
    usual = found.get("usual")
    for name in SEARCHED:
        if usual is not None and (one := found.get(name)) is not None:
            ratio = "" if name == "usual" else f", {one.wall_p95 / usual.wall_p95:.2f} times the usual p95"
            yield (
                f"search, {name}: p50 {one.wall_p50:.1f} ms, p95 {one.wall_p95:.1f} ms{ratio};"
                f" CPU p50 {one.cpu_p50:.1f}, p95 {one.cpu_p95:.1f} ms; {one.asked} asked"
            )


def measure(folder: Path, count: int, seed: int, only: str | None = None) -> tuple[dict[str, Cost], dict[str, Search]]:
    """Make a home of so many statements, and measure."""
    texts, home = statements(seed, count), folder / "home"
    fill(home, texts)
    found = searches(home, folder, questions(texts, seed)) if only in (None, "searches") else {}
    costs = nights(home, texts, seed) if only in (None, "nights") else {}
    return costs, found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.strip().partition("\n")[0] if __doc__ else None)
    parser.add_argument("--statements", type=int, default=AIMED_AT)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=("nights", "searches"))
    parser.add_argument("--folder", help="where homes are made and removed again")
    parser.add_argument("--json", type=Path, help="append the figures to this file")
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="yiku-night-costs-", dir=given.folder))
    began = os.getloadavg()
    try:
        costs, found = measure(folder, given.statements, given.seed, given.only)
    finally:
        shutil.rmtree(folder)
    for line in lines(given.statements, costs, found):
        print(line)
    print(f"load {began[0]:.1f} at the beginning, {os.getloadavg()[0]:.1f} at the end, {os.cpu_count()} cores")
    if given.json:
        figures = {"costs": {name: asdict(one) for name, one in costs.items()}, "search": {k: asdict(v) for k, v in found.items()}}
        about = {
            "at": datetime.now().astimezone().isoformat(timespec="seconds"),
            "statements": given.statements,
            "seed": given.seed,
        }
        with given.json.open("a", encoding="utf-8") as file:
            file.write(json.dumps({**about, **figures}) + "\n")


if __name__ == "__main__":
    main()
