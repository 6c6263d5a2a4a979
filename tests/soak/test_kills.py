"""R1: processes killed at random moments, again and again; R17: at each operation of creating a home."""

import itertools
import os
import random
import signal
import time
from collections import Counter
from pathlib import Path

from faults.disk import failing
from integrity import check, open_and_check
from soak.conftest import RELEASE
from workers import LONG, READY, Told, clocked, killed_after

from yiku import Memory
from yiku.types import Turn

MOST_CALLS = 12  # acknowledged before the kill, which comes a moment later
LONGEST_MOMENT_S = 0.01  # some two calls
CHECK_EACH = 10  # kills; every text is compared then, and after the others what is new and a part of the old
OLD_ONES = 40
FRESH_AFTER = 3_000  # items: then another home, so that each round stays cheap
REOPEN_MS = 1_000  # p99, the promise
OPERATIONS_OF_A_FILE = 8  # folder, temporary, flush, rename, flush of the folder, and some of the transaction's


def test_R1_nothing_acknowledged_is_lost_or_doubled_by_a_kill(tmp_path, seed, count, figure):
    """After each kill the home opens, and every acknowledged text is there just once, whole, under its id."""
    chance, home, acknowledged, reopened, total = random.Random(seed), tmp_path / "home", [], [], 0
    clocked(home).close()
    kills = count(300, 1_000, "kills", release=10_000)
    for i in range(kills):
        write_ = killed_after(chance.randrange(MOST_CALLS), chance.uniform(0, LONGEST_MOMENT_S), home, chance.randrange(10**9))
        with reopening(home, reopened) as memory:
            there(memory, [*write_, *chance.sample(acknowledged, min(OLD_ONES, len(acknowledged)))])
        acknowledged, total = acknowledged + write_, total + len(write_)
        if i % CHECK_EACH == 0 or i == kills - 1 or len(acknowledged) > FRESH_AFTER:
            with clocked(home) as memory:
                there(memory, acknowledged)
                once(memory, acknowledged)
            check(home / "yiku.db")
            assert [] == temporary(home)
        if len(acknowledged) > FRESH_AFTER:
            acknowledged, home = [], tmp_path / f"home{i}"
            clocked(home).close()

    figure("acknowledged and compared", total, least=kills)
    figure("reopen p99", p99(reopened), "ms", most=REOPEN_MS)


def test_R1_a_large_store_opens_quickly_after_a_kill(tmp_path, seed, count, figure):
    """With many turns in it and a log left by the dead: open, first answer, nothing missing."""
    chance, home, reopened = random.Random(seed), tmp_path / "home", []
    turns = count(5_000, 100_000, "turns in the store")
    with clocked(home) as memory:
        for first in range(0, turns, 1_000):
            memory.record([{"role": "user", "content": f"turn {n} 第{n}句 about 奥斯陆 Oslo"} for n in range(first, first + 1_000)])
    acknowledged: list[Told] = []
    for _ in range(count(10, 100, "kills of it")):
        acknowledged += killed_after(
            chance.randrange(MOST_CALLS), chance.uniform(0, LONGEST_MOMENT_S), home, chance.randrange(10**9)
        )
        with reopening(home, reopened) as memory:
            there(memory, acknowledged)
            assert turns <= memory.admin.stats().turns
    check(home / "yiku.db")
    figure("reopen p99, large store", p99(reopened), "ms", most=REOPEN_MS)


def reopening(home: Path, taken_s: list[float]) -> Memory:
    """The home, opened and asked something; how long that took is added to the list."""
    before = time.monotonic()
    memory = clocked(home)
    memory.recall("Oslo 北京", limit=1)
    taken_s.append(time.monotonic() - before)
    return memory


def p99(taken_s: list[float]) -> float:
    return 1000 * sorted(taken_s)[int(0.99 * (len(taken_s) - 1))]


def there(memory: Memory, acknowledged: list[Told]) -> None:
    """Each acknowledged item is what it was said to be."""
    for write_ in acknowledged:
        found = memory.get(write_.id)
        assert write_.text == found.content
        assert (write_.what != "memory") == isinstance(found, Turn)
        assert not write_.state or write_.state == found.state


def once(memory: Memory, acknowledged: list[Told]) -> None:
    """No turn is there twice that was said once, and none that was said twice is there but once."""
    said = Counter(item.content for item in memory.timeline(limit=10_000) if isinstance(item, Turn))
    wanted = {write_.text: 2 if write_.what == "pair" else 1 for write_ in acknowledged if write_.what != "memory"}
    assert wanted == {text: said[text] for text in wanted}
    assert all(number in (1, 2) for number in said.values()), "a turn was doubled"


def temporary(home: Path) -> list[Path]:
    """Files that somebody began to write and that never got their name."""
    return [path for path in home.rglob(".*") if path.is_file() and path.name != ".gitignore"]


def test_R1_R17_a_creation_killed_at_any_operation_is_finished_by_the_next(tmp_path, seed, figure):
    """A first opening is killed before its first disk operation, its second, …: the next opening never fails."""
    each = 1 if RELEASE else 3
    process = READY.Process(target=kill_creations, args=(tmp_path, 1 + seed % each, each))
    process.start()
    process.join()

    assert 0 == process.exitcode
    figure(
        f"kills before {'each' if RELEASE else 'each third'} operation of a creation", len([*tmp_path.glob("home*")]) - 1, least=30
    )


def test_R1_a_file_half_written_at_the_kill_does_not_stay(tmp_path):
    """Killed at any operation of storing a long turn: the next caller finds no leaving of it, and stores the same."""
    process = READY.Process(target=kill_long_turns, args=(tmp_path,))
    process.start()
    process.join()

    assert 0 == process.exitcode


def kill_long_turns(folder: Path) -> None:
    """One child an operation, as below, until the file has its name and the database's own work begins."""
    for n in range(1, OPERATIONS_OF_A_FILE + 1):
        home = folder / f"home{n}"
        clocked(home).close()
        child = os.fork()
        if child == 0:
            with failing(folder) as disk, clocked(home) as memory:
                disk.arm(n, None)
                memory.record_turn("user", LONG)
                os._exit(0)
        assert -signal.SIGKILL == os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        with clocked(home) as memory:
            assert LONG == memory.admin.blob(memory.record_turn("user", LONG).blob)
        assert [] == temporary(home), f"after a kill before operation {n}"


def kill_creations(folder: Path, first: int, each: int) -> None:
    """One child an operation; between them this process has no connection open, so it may fork."""
    for n in itertools.count(first, each):
        home = folder / f"home{n}"
        child = os.fork()
        if child == 0:
            with failing(folder) as disk:
                disk.arm(n, None)
                with clocked(home) as memory:
                    memory.record_turn("user", "你好 first words")
                os._exit(0)
        ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        with clocked(home) as memory:
            memory.remember("I live in 奥斯陆 Oslo")
        open_and_check(home)
        if ended == 0:
            break
        assert ended == -signal.SIGKILL, ended
