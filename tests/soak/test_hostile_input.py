"""R23 with fuzzed texts, R24 with every operation of the disk, S14 with many swaps: the counts of tests/faults and tests/files."""

import random

import integrity
import pytest
from faults.hostile import mutated
from faults.test_hostile_input import ASKING, LONGEST_CALL_S, WAYS, asked, carried
from faults.test_typed_errors import VERBS, call_on_unreadable_disks, template  # noqa: F401 - a fixture
from files.test_paths import swapped_while_writing

from yiku import Memory

EACH = 3  # ways in and verbs that answer, drawn anew for each text
FRESH = 250  # texts a home


def test_R23_no_fuzzed_text_crashes_hangs_or_is_altered(tmp_path, seed, count):
    """Each is kept exactly or refused with a typed error, answered within a second, and the store stays whole."""
    chance, taken = random.Random(seed), 0
    texts = count(500, 10_000, "fuzzed texts")
    for first in range(0, texts, FRESH):
        home = tmp_path / f"home{first}"
        with Memory(home, owner="user:mei", durability="fast") as memory:
            memory.record_turn("user", "I like tea in Oslo. 我在奥斯陆喝茶。")
            for _ in range(first, min(first + FRESH, texts)):
                text = mutated(chance)
                taken += sum(carried(memory, way, text) for way in chance.sample(WAYS, EACH))
                asked(memory, text, chance.sample([*ASKING], EACH))
        integrity.check(home / "yiku.db")
    print(f"  {taken:,} kept exactly, {texts * EACH - taken:,} refused, none over {LONGEST_CALL_S:g} s")
    assert taken > texts


@pytest.mark.parametrize("level", ["blobs", "blobs/ab"])
def test_R23_no_swapped_link_catches_a_byte(tmp_path, count, level):
    """A folder of the home becomes a link and a folder again, while we write: nothing lies outside, nothing is lost."""
    swapped_while_writing(tmp_path, level, count(1_000, 10_000, "swaps"))


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # SQLite may fail again while it cleans up
@pytest.mark.parametrize("verb", VERBS)
def test_R24_every_operation_under_a_verb_may_fail(template, tmp_path, count, verb):  # noqa: F811 - the fixture
    """Each read, write and flush of it in turn: a StoreError from the verb, and nothing half done."""
    failed = call_on_unreadable_disks(template, tmp_path / "home", verb, count(25, 10_000, f"operations at most under {verb}"))
    print(f"  {failed:,} failed")
    assert failed > 1
