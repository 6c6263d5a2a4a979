"""
Cost of learning without a model: CPU and wall time per call, and the model jobs it would queue.

    python bench/learning_costs.py             a home of 10,000 turns; --turns for another size

Rows S3-239 to S3-241: each user message (the document: one model call, about 500 ms, asynchronous), a compression
(no call, about 10 ms), the end of a session (one to three calls, about 3 s, asynchronous). The calls to a model are
counted by the tests of these rows, over a real local server: at most one a message, none to compress, two at the end.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from corpus import Corpus
from rich.console import Console
from rich.table import Table

from yiku import Memory

SAID = (
    "I moved from Bergen to {name} last month, and the commute is shorter now",
    "我下周三要去{name}出差，帮我记一下",
    "From now on always answer in short sentences, {name}",
    "Can you look at the failing build of {name}? The second step times out again",
    "我妹妹对{name}过敏，点菜的时候注意",
    "Thanks, that helped. The deadline of {name} is on 14 May",
)
MESSAGES = 40  # of a session that is compressed
ROUNDS = 12


def timed(call: Callable[[], object]) -> tuple[float, float]:
    """CPU and wall milliseconds of one call."""
    cpu, wall = time.process_time(), time.perf_counter()
    call()
    return 1000 * (time.process_time() - cpu), 1000 * (time.perf_counter() - wall)


def measured(home: Path, turns: int) -> dict[str, list[tuple[float, float]]]:
    """Each call so often as ROUNDS says, in a home of so many turns."""
    found: dict[str, list[tuple[float, float]]] = {}
    corpus = Corpus()
    words = [corpus.random.choice(corpus.names) for _ in range(ROUNDS * MESSAGES)]
    with Memory(home, owner="user:bench", durability="fast", search="words") as memory:
        batch = corpus.turns(turns)
        for start in range(0, len(batch), 2_000):
            memory.record(batch[start : start + 2_000])
        memory.learn()
    for learn in ("off", "at_once"):
        with Memory(home, owner="user:bench", durability="fast", search="words", learn=learn) as memory:
            for n in range(ROUNDS * len(SAID)):
                text = SAID[n % len(SAID)].format(name=words[n])
                cost = timed(lambda text=text, session=learn: memory.record_turn("user", text, session=session))
                found.setdefault(f"a user's message, learn = {learn}", []).append(cost)
    with Memory(home, owner="user:bench", durability="fast", search="words") as memory:
        for n in range(ROUNDS):
            session = f"compressed {n}"
            messages = [
                {"role": "user" if k % 2 == 0 else "assistant", "content": SAID[k % len(SAID)].format(name=words[n * MESSAGES + k])}
                for k in range(MESSAGES)
            ]
            cost = timed(lambda m=messages, s=session: memory.sessions.compressing(m, session=s))
            found.setdefault(f"a compression of {MESSAGES} messages", []).append(cost)
            recorded = [{**message, "session": f"ended {n}"} for message in messages]
            memory.record(recorded)
            cost = timed(lambda s=f"ended {n}": memory.sessions.end(s))
            found.setdefault(f"the end of a session of {MESSAGES} messages", []).append(cost)
    return found


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--turns", type=int, default=10_000, help="in the home before (10000)")
    turns = options.parse_args().turns
    table = Table(title=f"milliseconds, in a home of {turns:,} turns", box=None)
    for name in ("", "CPU p50", "CPU p95", "wall p50", "wall p95"):
        table.add_column(name, justify="left" if not name else "right")
    with tempfile.TemporaryDirectory(prefix="yiku-learning-") as folder:
        for name, costs in measured(Path(folder) / "home", turns).items():
            cells = []
            for values in zip(*costs, strict=True):
                cells += [statistics.median(values), statistics.quantiles(values, n=20)[-1]]
            table.add_row(name, *(f"{cell:.1f}" for cell in cells))
    Console().print(table)


if __name__ == "__main__":
    main()
