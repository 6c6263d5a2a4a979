"""R9, R10: small disks filled by our own writing, and media removed while reading, at random."""

import contextlib
import random
from pathlib import Path

from faults.smalldisk import KINDS, MiB, Space, in_little_space, on_a_disk, remount
from faults.test_failing_disk import LONG, opened, prepared
from faults.test_read_only import last_words, reads_and_refuses
from integrity import check

from yiku import Memory
from yiku.errors import StorageFull

SMALLEST_BYTES, LARGEST_BYTES = 4 * MiB, 7 * MiB
MOST_CALLS = 5_000
FULL_ENOUGH = 30  # calls refused in a row


def test_R9_disks_that_fill_up_lose_nothing(tmp_path, seed, count, figure):
    """Whatever their size and whatever fills them: refused by name, all acknowledged kept, forgotten on request, usable again."""
    chance, kept, forgotten = random.Random(seed), 0, 0
    for i in range(count(2, 50, "disks filled")):
        size = chance.randrange(SMALLEST_BYTES, LARGEST_BYTES)
        folder = tmp_path / f"{i}"
        folder.mkdir()
        result = in_little_space(KINDS[0], size, folder, filled_by_chance, chance.randrange(10**9))
        kept, forgotten = kept + result[0], forgotten + result[1]
    figure("acknowledged on them and kept", kept, least=1)
    figure("forgotten on full ones", forgotten, least=1)


def filled_by_chance(space: Space, seed: int) -> tuple[int, int]:
    """Fill a disk with what the library writes, twice; how much was acknowledged, and how much was forgotten on it."""
    chance, home, kept = random.Random(seed), space.folder / "home", {}
    with opened(home) as memory:
        prepared(memory)
        write_until_full(memory, chance, kept)
        gone = forgotten_on_a_full_disk(memory, chance, kept)
        there(memory, kept)
    with contextlib.suppress(StorageFull), opened(home) as memory:
        write_until_full(memory, chance, kept)
        there(memory, kept)
    check(home / "yiku.db")
    return len(kept), gone


def write_until_full(memory: Memory, chance: random.Random, kept: dict[str, str]) -> None:
    """Short turns, long ones, statements; what was acknowledged is noted. Ends when nothing more is taken."""
    refused = 0
    for i in range(MOST_CALLS):
        text = f"{len(kept)}-{i} {chance.choice(['Oslo', '北京', '茶 😀'])} {'字' * int(min(20_000, chance.paretovariate(0.4)))}"[
            :20_000
        ]
        try:
            if chance.random() < 0.1:
                turn = memory.record_turn("user", LONG + text)
                kept[turn.id] = turn.content
            elif chance.random() < 0.3:
                kept[memory.remember(text[:2_000]).memory.id] = text[:2_000].strip()
            else:
                kept[memory.record_turn("user", text).id] = text
            refused = 0
        except StorageFull:
            refused += 1
        if refused == FULL_ENOUGH:
            return
    raise AssertionError("the disk never was full")


def forgotten_on_a_full_disk(memory: Memory, chance: random.Random, kept: dict[str, str]) -> int:
    """Ten of what was acknowledged are forgotten, though nothing more can be written."""
    chosen = chance.sample(sorted(kept), 10)
    for id in chosen:
        memory.forget(id)
    return len(chosen)


def there(memory: Memory, kept: dict[str, str]) -> None:
    """Everything acknowledged is what it was, the forgotten too: soft forgetting keeps it for `restore`."""
    assert kept == {id: memory.get(id).content for id in kept}
    assert memory.recall("Oslo 北京 茶").hits


def test_R10_media_that_become_read_only_are_read_on(seed, count):
    """A home is written, its disk is made read-only and writable again: it answers and refuses each time, and loses nothing."""
    on_a_disk(32 * MiB, now_and_then_read_only, seed, count(3, 50, "times made read-only"))


def now_and_then_read_only(folder: Path, seed: int, times: int) -> None:
    chance, home, kept = random.Random(seed), folder / "home", {}
    with opened(home) as memory:
        prepared(memory)
        memory.record_turn("user", LONG)
    for i in range(times):
        with opened(home) as memory:
            for k in range(chance.randrange(1, 20)):
                turn = memory.record_turn("user", f"{i}-{k} 说 said")
                kept[turn.id] = turn.content
        if chance.random() < 0.5:  # the log holds something then
            last_words(home)
        remount(folder, read_only=True)
        reads_and_refuses(home)
        remount(folder, read_only=False)
        with opened(home) as memory:
            there(memory, kept)
    check(home / "yiku.db")
