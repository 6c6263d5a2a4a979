"""Random histories of MEMORY.md and USER.md with two writers, a program and a person."""

import random

import histories
import pytest
import sampling


@pytest.mark.spec("S4-13", "S4-14", "S4-90", "T-30")
@pytest.mark.parametrize("number", range(6))
def test_both_sides_agree_whatever_happened_to_the_files(home, clock, number):
    """After each sync; no word of the person is lost, and no memory is lost or changed by a file that went back in time."""
    seed = random.Random(f"{sampling.SEED} {number}").randrange(10**9)

    assert histories.play(home, clock, seed, steps=25) > 0
