"""R11: copies of a home, damaged at random in every way; R12: repeated to reveal false alarms."""

import shutil
from collections import Counter
from pathlib import Path
from random import Random

from faults.damage import UNSEEN, WAYS, WAYS_OF_A_WAL, Sound, asked, made, silent, sound
from faults.test_damage import found_and_mended, right_answers
from faults.test_mismatch import killed
from flows.home.test_doctor import killed_repairs
from workers import clocked

import yiku

BATCH = 8  # homes that one process is asked about
MENDED_EACH = 5  # of the damaged homes one in so many is repaired, too: it is the dearest part


def test_R11_no_damage_is_silent(tmp_path, seed, count, figure):
    """No wrong or missing answer without a word, no hang, no crash; `check` finds each, `repair` makes it whole."""
    chance, homes = Random(seed), sound(tmp_path / "sound", rows=25)
    ways = [*WAYS, *WAYS_OF_A_WAL]
    number, misplaced = count(28, 1_000, "damaged copies"), Counter[str]()
    for first in range(0, number, BATCH):
        chosen = [ways[i % len(ways)] for i in range(first, min(number, first + BATCH))]
        misplaced += one_batch(tmp_path, homes, chosen, chance, first)

    figure("copies with a page that is sound, but another's or an old one", misplaced["done"])
    figure("of them with a silent answer (not promised)", misplaced["silent"])


def one_batch(folder: Path, homes: Sound, ways: list[str], chance: Random, first: int) -> Counter[str]:
    """Some copies; of those whose page is another's or an old one, how many there were, and how many a read did not notice."""
    copies = [made(way, homes, folder / f"home{i}", chance) for i, way in enumerate(ways)]
    misplaced = Counter[str]()
    for i, (way, home, found) in enumerate(zip(ways, copies, asked(copies, homes.ids), strict=True)):
        assert isinstance(found, dict), f"{way}: {found}"
        unnoticed = silent(found, right_answers(homes, way))
        if way in UNSEEN:
            misplaced.update(done=1, silent=bool(unnoticed))
        else:
            assert [] == unnoticed, f"{way}: {found[unnoticed[0]][:200]}"
        if (first + i) % MENDED_EACH == 0:
            found_and_mended(home, way)
        shutil.rmtree(home)
    return misplaced


def test_R11_a_repair_killed_at_any_operation_can_be_done_again(tmp_path, count, figure):
    """From its first to its last: what is there then is mended, with nothing less."""
    homes, every = sound(tmp_path / "sound", rows=18), count(4, 1, "operations of a repair from kill to kill")
    figure("kills of a repair", killed_repairs(homes, tmp_path, every=every), least=25 // every)


def test_R12_a_kill_is_never_taken_for_a_mismatch(tmp_path, count):
    """Killed again and again while it writes, with both durabilities: each opening takes the store for its own."""
    home = tmp_path / "home"
    clocked(home).close()
    for i in range(count(6, 200, "kills without a false alarm")):
        killed(home, "fast" if i % 2 else "full")
        with clocked(home) as memory:
            assert memory.recall("最后 last words", limit=1)
    assert () == yiku.check(home, "deep").problems
