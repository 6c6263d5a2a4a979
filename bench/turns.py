"""
Benchmark of recording real turns: `python bench/turns.py FILE … [--turns N]`

The user's turns of the given files (bench/datasets.py), drawn evenly over them, go through `record_turn` with learning on, in one
home a language, as a host would send them. Printed are the median, the 95th and 99th percentile and the slowest, in CPU
milliseconds; with --bound the run fails where one is slower.
"""

import argparse
import random
import sys
import tempfile
import time
from pathlib import Path

from datasets import Case, read

from yiku import Memory

WARM = (
    "I live in Oslo, my sister Ann likes tea.",
    "我住在上海，我妈喜欢喝绿茶。",
    "just kidding",
    "开玩笑的",
    "from now on be brief",
)


def turns(cases: list[Case], at_most: int) -> list[tuple[str, str, str]]:
    """Language, session and text of the users' turns: as many runs of ten turns as are needed, drawn by a fixed seed."""
    every = [
        [
            (case.language, f"{case.id}/{session.id}", turn.text)
            for turn in session.turns
            if turn.role == "user" and turn.text.strip()
        ]
        for case in cases
        for session in case.sessions
    ]
    random.Random(15).shuffle(every)
    return [turn for session in every for turn in session[:10]][:at_most]


def cost_s(memory: Memory, session: str, text: str) -> float:
    """The CPU seconds of one `record_turn`."""
    start = time.thread_time()
    memory.record_turn("user", text, session=session[-200:])
    return time.thread_time() - start


def main() -> None:
    """Record, and print what it took."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1] if __doc__ else "")
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--turns", type=int, default=2_000)
    parser.add_argument("--bound", type=float, help="milliseconds of CPU that no turn may take")
    given = parser.parse_args()
    share = -(-given.turns // len(given.files))
    drawn = [turn for path in given.files for turn in turns(read(path), share)][: given.turns]
    took: list[tuple[float, str]] = []
    with tempfile.TemporaryDirectory() as folder:
        for language in sorted({language for language, _, _ in drawn}):
            with Memory(Path(folder) / language, owner="user:bench", durability="fast") as memory:
                for text in WARM:  # the patterns of both languages are compiled once a process
                    memory.record_turn("user", text)
                took += [(cost_s(memory, session, text), text) for said, session, text in drawn if said == language]
    took.sort()
    marks = {"median": len(took) // 2, "p95": len(took) * 95 // 100, "p99": len(took) * 99 // 100, "slowest": len(took) - 1}
    print(f"{len(took):,} turns:", ", ".join(f"{name} {1000 * took[place][0]:.1f} ms" for name, place in marks.items()))
    for seconds, text in took[:-6:-1]:
        print(f"  {1000 * seconds:6.1f} ms  {len(text):6,} characters  {' '.join(text.split())[:80]}")
    if given.bound is not None and 1000 * took[-1][0] > given.bound:
        sys.exit(f"the slowest took more than {given.bound:g} ms")


if __name__ == "__main__":
    main()
