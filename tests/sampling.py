"""
What the fast tests take of what the soak takes whole: every so many, from a start that each run draws anew.

The run prints its seed at the end; with YIKU_SEED it takes the same again. A function that is shared with the soak
takes a `Choice`: here that is the fixture `some`, there one that takes more, or all.
"""

import os
import random
from collections.abc import Callable, Sequence
from typing import Any

SEED = int(os.environ.setdefault("YIKU_SEED", str(random.SystemRandom().randrange(10**6))))  # the workers of a run inherit it
Choice = Callable[[Sequence[Any], int], list[Any]]


def drawn_for(test: str) -> Choice:
    """How one test chooses: at most so many, evenly spread over all that there are."""
    chance = random.Random(f"{SEED} {test}")

    def some(items: Sequence[Any], at_most: int) -> list[Any]:
        step = -(-len(items) // at_most) or 1
        return [*items][chance.randrange(min(step, len(items) or 1)) :: step]

    return some
