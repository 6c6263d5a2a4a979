"""R6: a write-ahead log that is reset repeatedly under writers, and one that readers keep from being reset."""

import random
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import apsw
import pytest
from faults.power import in_memory
from integrity import check
from workers import READY, clocked, together

ROUND_S = 6.0  # on SQLite 3.40.1 without our gate, one round in seven lost rows
MB = 1024 * 1024
TURN = "说 " + "灯笼 lantern " * 20
READERS, READ_S = 4, 0.05


def write(home: Path, who: str, until: float) -> int:
    """Record turns until then; how many were acknowledged."""
    done = 0
    with clocked(home) as memory:
        while time.monotonic() < until:
            memory.record_turn("user", f"{who} 说 {done}", session=who)
            done += 1
    return done


def write_little(home: Path, who: str, until: float) -> int:
    """The same, with a checkpoint at each commit or two."""
    apsw.connection_hooks.append(lambda connection: connection.wal_autocheckpoint(8))
    return write(home, who, until)


def come_and_go(home: Path, who: str, until: float) -> int:
    """Open, record, close: each close moves the whole log into the database and empties it."""
    done = 0
    while time.monotonic() < until:
        with clocked(home) as memory:
            memory.record_turn("user", f"{who} 说 {done}", session=who)
            done += 1
    return done


def checkpoint(home: Path, who: str, until: float) -> int:
    """Another program, which knows nothing of our gate: checkpoints of every sort."""
    modes = [apsw.SQLITE_CHECKPOINT_PASSIVE, apsw.SQLITE_CHECKPOINT_RESTART, apsw.SQLITE_CHECKPOINT_TRUNCATE]
    chance = random.Random(who)
    while time.monotonic() < until:
        connection = apsw.Connection(str(home / "yiku.db"), flags=apsw.SQLITE_OPEN_READWRITE)
        for _ in range(20):
            with suppress(apsw.BusyError):  # somebody reads or writes
                connection.wal_checkpoint(mode=chance.choice(modes))
            time.sleep(0.003)
        connection.close()
    return 0


WORK = {"w1": write, "w2": write, "small 小": write_little, "door 门": come_and_go, "other": checkpoint}


def worked(home: Path, who: str, seconds: float) -> int:
    return WORK[who](home, who, time.monotonic() + seconds)


def test_R6_a_log_that_is_reset_under_writers_loses_nothing(tmp_path, count, figure):
    """Two writers beside three processes that checkpoint, one of them outside our gate: 0 corrupt, 0 lost, 0 doubled."""
    total = 0
    for i in range(count(5, 100, f"rounds of {ROUND_S:g} s")):
        with in_memory(tmp_path) as folder:  # where a commit takes no time there are most of them
            home = folder / "home"
            clocked(home).close()
            results = together(worked, [(home, who, ROUND_S) for who in WORK])
            assert [] == [repr(result) for result in results if isinstance(result, BaseException)]
            wanted = {who: (done, done) for who, done in zip(WORK, results, strict=True) if done}
            assert wanted == whole(home)
            if i == 0:
                check(home / "yiku.db")
        total += sum(results)
    figure("acknowledged commits", total)


def whole(home: Path) -> dict[str, tuple[int, int]]:
    """The file is sound and each index agrees; of each session, how many turns and how many different texts."""
    connection = apsw.Connection(str(home / "yiku.db"), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        assert [("ok",)] == connection.execute("pragma integrity_check").fetchall()
        for name in ("turn", "tool", "memory"):
            connection.execute(f"insert into {name}_index ({name}_index) values ('integrity-check')")
        texts = "select s.id, count(*), count(distinct content) from conversation_turns t join sessions s on s.n = t.session_n group by 1"
        return {session: (turns, different) for session, turns, different in connection.execute(texts)}
    finally:
        connection.close()


# ------------------------------------------------------------------ readers that keep the log from being reset


def read(home: Path, begin: Any, stop: Any, pause_s: float) -> None:
    """Read transactions, one after another."""
    connection = apsw.Connection(str(home / "yiku.db"), flags=apsw.SQLITE_OPEN_READWRITE)
    begin.wait()
    time.sleep(pause_s)
    while not stop.is_set():
        connection.execute("begin; select count(*) from scopes").fetchall()
        time.sleep(READ_S)
        connection.execute("commit")
    connection.close()


@pytest.fixture
def quick_home(tmp_path: Path) -> Iterator[Path]:
    with in_memory(tmp_path) as folder:
        yield folder / "home"


def size(home: Path) -> int:
    return (home / "yiku.db-wal").stat().st_size


def test_R6_the_log_stays_small_under_readers_that_overlap(quick_home, count, figure):
    """Four readers of 50 ms, of which one is always reading, while thousands of turns are recorded: at most 64 MB."""
    home, commits, largest = quick_home, count(5_000, 20_000, "commits"), 0
    clocked(home).close()
    begin, stop = READY.Barrier(READERS + 1), READY.Event()
    readers = [READY.Process(target=read, args=(home, begin, stop, k * READ_S / READERS)) for k in range(READERS)]
    for reader in readers:
        reader.start()
    begin.wait()
    try:
        with clocked(home) as memory:
            for i in range(commits):
                memory.record_turn("user", f"{i} {TURN}", session=f"s{i % 100}")
                largest = max(largest, size(home)) if i % 50 == 0 else largest
    finally:
        stop.set()
        for reader in readers:
            reader.join()
    figure("WAL under overlapping readers", largest / MB, "MB", most=64)


def test_R6_the_log_shrinks_when_a_long_reader_ends(quick_home, count, figure):
    """A read transaction that stays open lets the log grow; a few commits after its end the log is small again."""
    home, commits = quick_home, count(1_000, 5_000, "commits")
    with clocked(home) as memory:
        memory.record_turn("user", "早 morning")
        reader = apsw.Connection(str(home / "yiku.db"), flags=apsw.SQLITE_OPEN_READWRITE)
        reader.execute("begin; select count(*) from scopes").fetchall()
        for i in range(commits):
            memory.record_turn("user", f"{i} {TURN}", session=f"s{i % 100}")
        grown = size(home)
        reader.execute("commit")
        for i in range(100):
            memory.record_turn("user", f"{i} after 之后")
        shrunk = size(home)
        reader.close()
    figure("WAL with a long reader", grown / MB, "MB", least=20)
    figure("after it", shrunk / MB, "MB", most=20)
