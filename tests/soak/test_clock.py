"""R25: clocks that jump at random, again and again."""

import random

from faults.test_clock import jumped_at_random

JUMPS = 6


def test_R25_no_sequence_of_jumps_changes_the_order_or_loses_anything(tmp_path, seed, count):
    """Each sequence in a home of its own: turns and versions in the order of telling, ids unique, the store whole."""
    chance = random.Random(seed)
    for i in range(count(2, 1_000, "sequences of six jumps")):
        jumped_at_random(tmp_path / f"home{i}", chance, JUMPS)
