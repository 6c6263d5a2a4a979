"""R3: power cuts at random moments of many histories."""

from random import Random
from typing import Any

from faults.power import in_memory
from faults.test_power_cut import FAST, KINDS, LOST_AT_MOST_S, Cut, cuts, lived

EACH = 20  # images of a life and kind


def test_R3_full_loses_no_acknowledged_call(tmp_path, seed, count, figure):
    """Through one handle or two in turn: 0 calls lost, no row wrong, every home opens."""
    found = cut_all(tmp_path, Random(seed), count(60, 2_000, "drop and as many torn images, full"))
    figure("calls lost", sum(cut.lost for cut in found), most=0)


def test_R3_fast_loses_the_last_second_at_most(tmp_path, seed, count, figure):
    """What is there is all that was acknowledged up to a moment within a second before the cut."""
    found = cut_all(tmp_path, Random(seed), count(60, 500, "drop and as many torn images, fast"), **FAST)
    figure("images that lost calls", sum(cut.lost > 0 for cut in found))
    figure("the oldest before the cut", max(cut.age_s for cut in found), "s", most=LOST_AT_MOST_S)


def cut_all(tmp_path, chance: Random, images: int, **how: Any) -> list[Cut]:
    found: list[Cut] = []
    for i in range(images // EACH):
        with in_memory(tmp_path) as folder:
            life = lived(folder, seed=chance.randrange(10**9), handles=1 + i % 2, calls=40, **how)
            for kind in KINDS:
                found += cuts(life, kind, chance, folder, EACH)
    return found
