"""
R24 after the commit: `record` succeeds whatever fails in the learning or rereading that follows.

An error behind the commit would have the caller tell it twice. So what cannot be learned now waits for `learn`, and
`status` and the log say why.
"""

import shutil
from datetime import timedelta
from itertools import count
from pathlib import Path

import pytest
from faults.disk import BROKEN
from faults.test_failing_disk import NOW, opened, prepared
from faults.test_typed_errors import unreadable

from yiku import Memory
from yiku.errors import StoreError

SAID = "I moved to Bergen, and I like green tea. 我的妹妹叫小安。"
OLD = "I live in Oslo. 我在北京工作。"


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    """A home that knows some things that a turn could change."""
    home = tmp_path_factory.mktemp("put off") / "home"
    with opened(home) as memory:
        prepared(memory)
        memory.record_turn("user", OLD)
    return home


def reopened(home: Path) -> Memory:
    """The home a day later."""
    ticks = count()
    return Memory(home, clock=lambda: NOW + timedelta(days=1, seconds=next(ticks)))


def taught(home: Path) -> set[str]:
    with reopened(home) as memory:
        return {one.content for one in memory.get_all()}


def operations(template: Path, home: Path) -> int:
    """How many operations of the disk a turn needs that is learned from."""
    with unreadable(home) as disk:
        shutil.copytree(template, home)
        with reopened(home) as memory:
            disk.arm(0, None)
            memory.record_turn("user", SAID, session="new")
            return len(disk.seen)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # SQLite may fail again while it cleans up
@pytest.mark.long
def test_R24_a_turn_that_was_stored_is_answered(template, tmp_path, some, caplog):
    """Whichever operation fails: an error means that nothing was stored; an answer that it was, and what it did not teach waits."""
    expected_home, put_off = tmp_path / "expected", 0
    total = operations(template, expected_home)
    expected = taught(expected_home)
    assert expected - taught(template), "the turn teaches something"
    with unreadable(tmp_path / "home") as disk:
        for n in sorted({total, *some(range(1, total + 1), 12)}):
            shutil.rmtree(tmp_path / "home", ignore_errors=True)
            shutil.copytree(template, tmp_path / "home")
            with reopened(tmp_path / "home") as memory:
                disk.arm(n, BROKEN)
                try:
                    answered = memory.record_turn("user", SAID, session="new").content
                except StoreError:
                    answered = None
                finally:
                    disk.disarm()
                assert disk.fired
                stored = [turn.content for turn in memory.search_traces(session="new")]
                assert ([answered] if answered else []) == stored, f"operation {n} of {total}: {disk.fired}"
                troubles = [line for line in memory.status().troubles if "could not be learned from" in line]
                if answered and {one.content for one in memory.get_all()} != expected:
                    put_off += 1
                    assert 1 == len(troubles), f"operation {n} of {total}: {disk.fired}"
                    assert "yiku learn" in troubles[0] and "could not be learned from" in caplog.text
                    assert memory.learn().turns > 0
                    assert expected == {one.content for one in memory.get_all()}
                    assert not [line for line in memory.status().troubles if "could not be learned from" in line]
    assert put_off > 0, "no operation failed behind the commit"
