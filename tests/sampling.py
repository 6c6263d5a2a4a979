"""
Sample long test tables in fast runs, from a start drawn for each state of the code; YIKU_WHOLE=1 takes all.

One commit draws the same wherever it is tested, so that what is red is red for everybody; the next one draws others.
The run prints its seed at the end; YIKU_SEED takes another, and YIKU_SEED=new one drawn anew. A function that is shared with the soak
takes a `Choice`: here that is the fixture `some`, there one that takes more, or all.
"""

import hashlib
import os
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

SEEDS = 10**6


def seed_of(root: Path) -> int:
    """The seed of one state of the code: of what lies in `src` and `tests`, whatever else a folder has."""
    digest = hashlib.sha256()
    for file in sorted(file for folder in ("src", "tests") for file in (root / folder).rglob("*.py")):
        digest.update(file.read_bytes())
    return int.from_bytes(digest.digest()[:8], "big") % SEEDS


def _seed(given: str | None) -> int:
    if given == "new":
        return random.SystemRandom().randrange(SEEDS)
    return int(given) if given else seed_of(Path(__file__).parents[1])


SEED = _seed(os.environ.get("YIKU_SEED"))
os.environ["YIKU_SEED"] = str(SEED)  # the workers of a run inherit it
Choice = Callable[[Sequence[Any], int], list[Any]]
TABLE = 4  # cases of one test that a fast run takes at most
LONG = 3  # a fast run takes one in so many of the tests that are marked as long


def drawn_for(test: str) -> Choice:
    """How one test chooses: at most so many, evenly spread over all that there are."""
    chance = random.Random(f"{SEED} {test}")

    def some(items: Sequence[Any], at_most: int) -> list[Any]:
        step = -(-len(items) // at_most) or 1
        return [*items][chance.randrange(min(step, len(items) or 1)) :: step]

    return some


def of_tables(items: Sequence[pytest.Item]) -> set[pytest.Item]:
    """The tests of a fast run: of those with many cases and of the long ones a sample; all cases where they prove different rows."""
    tables: dict[str, list[pytest.Item]] = {}
    for item in items:
        tables.setdefault(item.nodeid.partition("[")[0], []).append(item)
    kept: set[pytest.Item] = set()
    for name, cases in tables.items():
        if cases[0].get_closest_marker("long") and random.Random(f"{SEED} long {name}").randrange(LONG):
            continue
        rows = {tuple(row for mark in case.iter_markers("spec") for row in mark.args) for case in cases}
        kept.update(drawn_for(name)(cases, TABLE) if len(rows) == 1 else cases)
    return kept
