"""
R10: read-only media, as a mount and by permissions.

Everything that reads answers, everything that writes is ReadOnly, nothing hangs, and no file changes: not one
byte, name or time. A home whose last writer died is read with what lies in its log, or plainly refused.
"""

import contextlib
import hashlib
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from faults.smalldisk import MiB, on_a_disk, remount
from faults.test_failing_disk import FLOWS, LONG, opened, prepared
from powers import read_only
from workers import READY

from yiku import Memory
from yiku.errors import ReadOnly

DISK_BYTES = 16 * MiB
WRITING = [flow for flow in FLOWS if flow.name != "context"]  # it answers, and then counts: see below


def home_with_all(folder: Path) -> Path:
    """A home with something of each sort in it, whose last writer has closed it."""
    home = folder / "home"
    with opened(home) as memory:
        prepared(memory)
        memory.record_turn("user", LONG)
    return home


def files_of(home: Path) -> dict[str, tuple[int, int, str]]:
    """Every file and folder: mode, time of its last change, what is in it."""
    return {
        str(path.relative_to(home)): (
            path.stat().st_mode,
            path.stat().st_mtime_ns,
            hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "",
        )
        for path in sorted(home.rglob("*"))
    }


def reads_and_refuses(home: Path) -> None:
    """The whole of R10, on a home that cannot be written here."""
    before = files_of(home)
    with opened(home, busy_timeout_s=2.0) as memory:
        everything_answers(memory)
        for flow in WRITING:
            assert refuses(flow.act, memory), f"{flow.name} was not refused"
    assert before == files_of(home)


def refuses(call: Callable[[Memory], object], memory: Memory) -> bool:
    try:
        call(memory)
    except ReadOnly:
        return True
    return False


def everything_answers(memory: Memory) -> None:
    """Each verb that reads, in both languages."""
    assert "Oslo" in memory.recall("where do I live? 我住在哪里？").text
    assert "Oslo" in memory.context("我住在哪里？").text
    assert memory.explain("茶 tea").explanation.terms
    (oslo,) = [row for row in memory.get_all() if "Oslo" in row.content]
    assert oslo == memory.get(oslo.id)
    assert ["I live in Bergen.", "我住在 Oslo。"] == [version.content for version in memory.history(oslo.id)]
    assert memory.about("Ann")
    assert "我搬到了 Oslo 😀" in [turn.content for turn in memory.search_traces(session="s")]
    (long,) = [turn for turn in memory.search_traces(limit=100) if turn.blob]
    assert LONG == memory.admin.blob(long.blob)
    assert memory.timeline()
    assert memory.admin.journal()
    assert 3 <= memory.admin.stats().turns
    assert [trouble for trouble in memory.status().troubles if "read-only" in trouble]


# ------------------------------------------------------------------ a disk mounted read-only


@pytest.mark.parametrize("died", [False, True], ids=["closed before", "its writer died"])
def test_R10_a_home_on_read_only_media_answers_and_keeps_its_hands_off(died):
    """Mounted read-only: all that reads works, all that writes is ReadOnly, no file changes; writable again, all works."""
    on_a_disk(DISK_BYTES, on_read_only_media, died)


def on_read_only_media(folder: Path, died: bool) -> None:
    home = home_with_all(folder)
    if died:
        last_words(home)
    remount(folder, read_only=True)
    reads_and_refuses(home)
    remount(folder, read_only=False)
    with opened(home) as memory:
        memory.remember("现在 it can be written")
        assert not died or memory.search_traces("last words 遗言")


def last_words(home: Path) -> None:
    """A writer that says something and is killed, so that it lies in the log alone."""
    process = READY.Process(target=say_and_die, args=(home,))
    process.start()
    process.join()
    assert -signal.SIGKILL == process.exitcode
    assert (home / "yiku.db-wal").stat().st_size


def say_and_die(home: Path) -> None:
    memory = opened(home)
    memory.record_turn("user", "last words 遗言", session="end")
    os.kill(os.getpid(), signal.SIGKILL)


# ------------------------------------------------------------------ permissions taken away


def test_R10_a_home_without_the_right_to_write_answers_and_keeps_its_hands_off(tmp_path):
    """The same where files and folders are only readable."""
    home = home_with_all(tmp_path)
    with read_only(tmp_path):
        reads_and_refuses(home)


def test_R10_the_log_of_a_dead_writer_is_never_passed_over(tmp_path):
    """Without the right to write and without SQLite's shared index: its words are read, or the home is refused by name."""
    home = home_with_all(tmp_path)
    last_words(home)
    (home / "yiku.db-shm").unlink()
    with read_only(tmp_path):
        before = files_of(home)
        with contextlib.suppress(ReadOnly), opened(home) as memory:
            assert memory.search_traces("last words 遗言")
        assert before == files_of(home)
