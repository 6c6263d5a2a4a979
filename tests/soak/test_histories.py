"""R20: random histories of MEMORY.md and USER.md with two writers, a program and a person."""

import random
import shutil

import histories
from conftest import Clock


def test_R20_both_sides_agree_after_any_history(tmp_path, seed, count):
    """Saves of five editors, renames, deletes, checkouts of older states, restored backups: no word and no memory is lost."""
    chance = random.Random(seed)
    sentences = 0
    for number in range(count(30, 300, "histories")):
        home = tmp_path / f"{number}"
        sentences += histories.play(home, Clock(), chance.randrange(10**9), steps=40)
        shutil.rmtree(home)
    assert sentences > 0
