"""Undoing a night of a random history: every exported field is as before, except what somebody changed since."""

import sampling
import undone_nights


def test_random_nights_are_undone(tmp_path):
    """Four histories, by the seed; the soak has two hundred."""
    for number in range(4):
        undone_nights.check(tmp_path / str(number), sampling.SEED + number, days=4)
