"""
How long the soak is, and from which seed: `make soak-short`, `make soak`.

YIKU_SOAK       short (default) or long
YIKU_SOAK_SEED  a seed that an earlier run printed, to run the same again
"""

import os
import random

import pytest

LONG = os.environ.get("YIKU_SOAK") == "long"


@pytest.fixture
def seed(request) -> int:
    """Drawn anew each time and printed with the test's name, or as YIKU_SOAK_SEED says."""
    found = int(os.environ.get("YIKU_SOAK_SEED") or random.SystemRandom().randrange(10**9))
    print(f"\n{request.node.name}: YIKU_SOAK_SEED={found}")
    return found


@pytest.fixture
def count():
    """`count(100, 1000)`: how often, short or long; printed."""

    def chosen(short: int, long: int, what: str = "rounds") -> int:
        number = long if LONG else short
        print(f"  {number:,} {what}")
        return number

    return chosen
