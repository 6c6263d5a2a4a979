"""
Interrupted erasures: killed or failing at each disk operation, a full disk, concurrent readers.

Either nothing was erased, or the rows are gone and the erasure is shown as unfinished; then `resume` ends it. However it
went, what is not meant is there, and the store is whole.
"""

import shutil
import subprocess
import sys
from contextlib import suppress
from itertools import count
from pathlib import Path

import apsw
import canaries
import integrity
import pytest
from faults.disk import BROKEN, FULL, failing
from faults.smalldisk import KINDS, MiB, Space, in_little_space
from workers import READY

from yiku import Memory
from yiku.errors import NotFound, StoreError, YikuError
from yiku.flows.erase import erase

WORD, HAN = "zqvblorptinx", "𩺙𨏏𢝫𤍚"
LONG = "The lantern burns. 灯笼亮着。\n" * 1_050  # twice it is a text that becomes a blob


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a secret in a statement, in a long turn and in a backup; and with something else."""
    home = tmp_path_factory.mktemp("erasure") / "home"
    prepared(home)
    return home


def prepared(home: Path) -> None:
    with Memory(home, owner="user:mei", names=["Mei"]) as memory:
        turn = memory.record_turn("user", f"It rained. My word is {WORD} {HAN}. Bye.", session="s1")
        memory.remember(f"My word is {WORD} {HAN}.", source=turn.id)
        memory.record_turn("user", f"{LONG}My word is {WORD} {HAN}.\n{LONG}", session="s1")
        memory.remember("I live in Oslo. 我住在奥斯陆。")
        memory.admin.backup()


def statement(memory: Memory) -> str | None:
    """The id of the secret statement, if it is there."""
    return next((one.id for one in memory.get_all() if WORD in one.content), None)


def erased(home: Path) -> str:
    """Erase the secret; what came of it."""
    try:
        with Memory(home) as memory:
            done = memory.admin.erase(statement(memory))
            return "clean" if done.clean else "unfinished"
    except YikuError as error:
        return type(error).__name__


def killed_at(home: Path, n: int) -> bool:
    """Erase in a process that is killed at the n-th operation on the disk; whether it was."""
    child = READY.Process(target=_erase_on, args=(home, n))
    child.start()
    child.join()
    return child.exitcode != 0


def _erase_on(home: Path, n: int) -> None:
    with failing(home) as disk:
        disk.arm(n, None)
        erased(home)


def finished(home: Path) -> None:
    """What any process may find afterwards, and what it makes of it: all of the secret, or nothing of it."""
    with Memory(home) as memory:
        unfinished = any("erasure" in trouble for trouble in memory.status().troubles)
        if (id := statement(memory)) is not None:
            assert not unfinished
            assert WORD in memory.search_traces(WORD)[-1].content
            assert memory.admin.erase(id).clean
        elif unfinished:
            assert erase.erase(memory._handle, resume=True).clean
        with pytest.raises(NotFound):
            erase.erase(memory._handle, resume=True)
        assert ["I live in Oslo. 我住在奥斯陆。"] == [one.content for one in memory.get_all()]
        assert "It rained. [已抹去] Bye." == memory.search_traces("rained")[0].content
    assert [] == canaries.sung(home, [WORD, HAN])
    integrity.check(home / "yiku.db")


def operations(before: Path, tmp_path: Path) -> int:
    """How many there are in an erasure."""
    home = Path(shutil.copytree(before, tmp_path / "whole"))
    with failing(home) as disk:
        disk.arm(0, FULL)
        assert "clean" == erased(home)
        return len(disk.seen)


@pytest.fixture(scope="module")
def every(before: Path, tmp_path_factory: pytest.TempPathFactory) -> range:
    """The operations of an erasure."""
    return range(1, operations(before, tmp_path_factory.mktemp("every")) + 1)


@pytest.mark.spec("T-39")
def test_a_kill_leaves_all_of_it_or_nothing(before, tmp_path, every, some):
    """Killed at an operation (a few here, each in the soak), and opened again."""
    for n in some(every, 2):
        home = Path(shutil.copytree(before, tmp_path / f"killed-{n}"))
        assert killed_at(home, n)
        finished(home)
        shutil.rmtree(home)


@pytest.mark.parametrize("failure", [FULL, BROKEN])
@pytest.mark.long
def test_a_failing_operation_is_told_or_made_good(before, tmp_path, failure, every, some):
    """An operation fails (any of them here, each in the soak): an error or a place that is not done, never `clean` while a byte is left."""
    for n in some(every, 1):
        home = Path(shutil.copytree(before, tmp_path / f"failed-{n}"))
        with failing(home) as disk:
            disk.arm(n, failure)
            outcome = erased(home)
        if outcome == "clean":
            assert [] == canaries.sung(home, [WORD, HAN]), f"{disk.fired} failed"
        finished(home)
        shutil.rmtree(home)


def test_an_index_keeps_nothing_of_an_interrupted_rewriting(before, tmp_path):
    """Each seventh operation fails while the file is written anew; the database agrees with itself at any time."""
    with failing(tmp_path) as disk:
        for n in count(1, 7):
            home = Path(shutil.copytree(before, tmp_path / f"failed-{n}"))
            with Memory(home) as memory:
                disk.arm(n, BROKEN)
                with suppress(YikuError):
                    memory._handle.store.erasures.scrub(rewrite=True)
                disk.disarm()
            integrity.check(home / "yiku.db")
            shutil.rmtree(home)
            if not disk.fired:
                break
    assert n > 100


def test_after_a_failed_erasure_of_many_the_next_leaves_nothing(tmp_path):
    """The index overwrites what is deleted, also after an erasure that had told it not to was rolled back."""
    home = tmp_path / "home"
    with failing(home) as disk, Memory(home, owner="user:mei") as memory:
        memory.record([{"role": "user", "content": f"turn {i} 第{i}", "session": "many"} for i in range(300)])
        one = memory.record_turn("user", f"My word is {WORD}. {HAN}", session="few")
        disk.arm(1, BROKEN, for_good=True)
        with pytest.raises(StoreError):
            memory.admin.erase(session="many")
        disk.disarm()
        assert memory.admin.erase(one.id).clean
        assert [] == canaries.sung(home, [WORD, HAN])
        assert 301 == memory.admin.stats().turns


@pytest.mark.long
def test_who_reads_keeps_the_wal_and_the_receipt_says_so(before, tmp_path):
    """While another reads an old snapshot the WAL cannot be emptied: not clean, unfinished; when he lets go, the next erasure empties it."""
    home = Path(shutil.copytree(before, tmp_path / "home"))
    reader = apsw.Connection(str(home / "yiku.db"))
    reader.execute("begin")
    reader.execute("select count(*) from changes").fetchall()
    with Memory(home) as memory:
        other = memory.record_turn("user", "Something else. 别的")
        done = memory.admin.erase(statement(memory))
        assert not done.clean
        assert any("WAL" in place.done for place in done.places)
        assert any("erasure" in trouble for trouble in memory.status().troubles)
        reader.execute("rollback")
        memory.admin.erase(other.id)
        assert [] == canaries.sung(home, [WORD, HAN])
        assert erase.erase(memory._handle, resume=True).clean
        assert not any("erasure" in trouble for trouble in memory.status().troubles)
    reader.close()


@pytest.mark.long
def test_looking_through_the_file_drops_no_lock(before, tmp_path):
    """R7: the live database is looked through while others of this process have it open; afterwards their locks still hold."""
    home = Path(shutil.copytree(before, tmp_path / "home"))
    probe = f"""import fcntl, os
try:
    fcntl.lockf(os.open({str(home / "yiku.db")!r}, os.O_RDWR), fcntl.LOCK_EX | fcntl.LOCK_NB, 510, 0x40000002)
    print("free")
except OSError:
    print("held")"""
    with Memory(home) as memory, Memory(home, scope="user:tom") as other:
        other.status()
        memory.admin.erase(statement(memory))

        assert "held" == subprocess.check_output([sys.executable, "-c", probe], text=True).strip()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.long
def test_on_a_full_disk_the_rows_go(tmp_path, kind):
    """With the reserve the rows are erased; the backup, for whose copy there is no room, is named; with room again it is finished."""
    in_little_space(kind, 12 * MiB, tmp_path, a_full_disk)


def a_full_disk(space: Space) -> None:
    home = space.folder / "home"
    prepared(home)
    with Memory(home) as memory:
        memory.record([{"role": "user", "content": f"hello {i} 你好 " + "tea " * 120, "session": "s9"} for i in range(600)])
        id = statement(memory)
        memory.admin.backup()
        space.fill()
        done = memory.admin.erase(id)
        assert not done.clean
        assert any("not done" in place.done for place in done.places)
        assert statement(memory) is None
    space.free()
    finished(home)
