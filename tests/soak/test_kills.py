"""R1: a process is killed at a random moment, again and again; R17: at each operation of a creation."""

import os
import random
import signal
from collections import Counter

from faults.disk import failing
from integrity import check, open_and_check
from workers import SPAWN, clocked, killed_after

from yiku.types import Turn

LONGEST_LIFE_S = 0.1  # after opening: up to some fifty acknowledged calls
CHECK_EACH = 10  # kills; the texts are compared after every one


def test_R1_nothing_acknowledged_is_lost_or_doubled_by_a_kill(tmp_path, seed, count):
    """After each kill the home opens, and every acknowledged text is there just once, whole, under its id."""
    chance, acknowledged, home = random.Random(seed), {}, tmp_path / "home"
    clocked(home).close()
    kills = count(100, 1_000, "kills")
    for i in range(kills):
        for what, id, text in killed_after(chance.uniform(0.001, LONGEST_LIFE_S), home, chance.randrange(10**9)):
            acknowledged[id] = (what, text)
        with clocked(home) as memory:
            for id, (what, text) in acknowledged.items():
                found = memory.get(id)
                assert text == found.content
                assert (what != "memory") == isinstance(found, Turn)
            everything = memory.timeline(limit=10_000)
        said = Counter(item.content for item in everything if isinstance(item, Turn))
        wanted = {text: 2 if what == "pair" else 1 for what, text in acknowledged.values() if what != "memory"}
        assert wanted == {text: said[text] for text in wanted}
        assert all(number in (1, 2) for number in said.values()), "a turn was doubled"
        if i % CHECK_EACH == 0 or i == kills - 1:
            check(home / "yiku.db")
        if len(everything) > 1_500:  # a fresh home now and then, so that each round stays cheap
            acknowledged, home = {}, tmp_path / f"home{i}"
            clocked(home).close()


def test_R1_R17_a_creation_killed_at_any_operation_is_finished_by_the_next(tmp_path):
    """A first opening is killed before its first disk operation, its second, …: the next opening never fails."""
    process = SPAWN.Process(target=kill_creations, args=(tmp_path,))
    process.start()
    process.join()

    assert 0 == process.exitcode
    assert int((tmp_path / "operations").read_text()) > 100


def kill_creations(folder) -> None:
    """One child an operation; between them this process has no connection open, so it may fork."""
    n = 0
    while True:
        n += 1
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
    (folder / "operations").write_text(str(n - 1))
