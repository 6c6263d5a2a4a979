"""
Sample long test tables in fast runs, from a start drawn anew in each run; YIKU_WHOLE=1 takes all.

The run prints its seed at the end; with YIKU_SEED it takes the same again. A function that is shared with the soak
takes a `Choice`: here that is the fixture `some`, there one that takes more, or all.
"""

import os
import random
from collections.abc import Callable, Sequence
from typing import Any

import pytest

SEED = int(os.environ.setdefault("YIKU_SEED", str(random.SystemRandom().randrange(10**6))))  # the workers of a run inherit it
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
