"""
R12: a database that is gone, emptied, older or of another home is noticed; harmless changes are not.

A mismatch is an error at each opening, from the library and the command line, and writes nothing. What a
person does every day (kill, copy, restore the whole folder) is none.
"""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import apsw
import commands
import pytest
from integrity import check as whole
from workers import READY, clocked

import yiku
from yiku import Memory
from yiku.errors import ForeignStore, StoreError, StoreMismatch
from yiku.store import copy

BESIDE = ("-wal", "-shm")


@pytest.fixture
def recorded_home(home: Path) -> Path:
    """A home that knows something, closed, with an older copy of its database and a backup beside it."""
    with clocked(home) as memory:
        memory.remember("I live in Bergen. 我住在卑尔根。")
    shutil.copy(home / "yiku.db", home.parent / "older.db")
    with clocked(home, learn="off") as memory:
        memory.record_turn("user", "我搬到了 Oslo 😀")
        connection = apsw.Connection(str(home / "yiku.db"))
        copy.copy_over(connection, home / "backups" / "20260301T000000Z.db")
        connection.close()
        memory.remember("小明喜欢绿茶 and tea")
    return home


def deleted(home: Path) -> None:
    for name in ("", *BESIDE):
        (home / f"yiku.db{name}").unlink(missing_ok=True)


def emptied(home: Path) -> None:
    deleted(home)
    (home / "yiku.db").touch()


def made_anew(home: Path) -> None:
    """Another program opened the path and made an empty database."""
    deleted(home)
    connection = apsw.Connection(str(home / "yiku.db"))
    connection.execute("create table x (y); drop table x")
    connection.close()


def set_back(home: Path) -> None:
    deleted(home)
    shutil.copy(home.parent / "older.db", home / "yiku.db")


def replaced(home: Path) -> None:
    """The database of another home."""
    with Memory(home.parent / "other", owner="user:bo") as memory:
        for i in range(9):
            memory.record_turn("user", f"Bo {i} 波")
    deleted(home)
    shutil.copy(home.parent / "other" / "yiku.db", home / "yiku.db")


def another_mark(home: Path) -> None:
    Memory(home.parent / "other", owner="user:bo").close()
    shutil.copy(home.parent / "other" / "store.id", home / "store.id")


def another_program(home: Path) -> None:
    deleted(home)
    connection = apsw.Connection(str(home / "yiku.db"))
    connection.execute("pragma application_id = 7; create table memories (x); insert into memories values (1)")
    connection.close()


def no_database(home: Path) -> None:
    deleted(home)
    (home / "yiku.db").write_text("not a database 不是数据库\n" * 300)


MISMATCHES: dict[str, tuple[Callable[[Path], None], type[StoreError]]] = {
    "deleted": (deleted, StoreMismatch),
    "emptied": (emptied, StoreMismatch),
    "made anew": (made_anew, StoreMismatch),
    "older": (set_back, StoreMismatch),
    "another home's": (replaced, StoreMismatch),
    "store.id of another": (another_mark, StoreMismatch),
    "another program's": (another_program, ForeignStore),
    "no database": (no_database, ForeignStore),
}


def files(home: Path) -> dict[str, bytes]:
    """What lies there, without what SQLite makes to read a database."""
    return {str(p.relative_to(home)): p.read_bytes() for p in home.rglob("*") if p.is_file() and not p.name.endswith(BESIDE)}


def ran(home: Path, *words: str) -> commands.Ran:
    return commands.run(*words, YIKU_HOME=home)


@pytest.mark.parametrize("what", MISMATCHES)
def test_R12_a_database_that_is_not_this_homes_is_refused_and_nothing_is_written(recorded_home, what):
    """At each opening, the second too: the error says which file and what to do, and every byte is as it was."""
    change, error = MISMATCHES[what]
    change(recorded_home)
    before = files(recorded_home)

    for _ in range(2):
        with pytest.raises(error, match=r"yiku\.db") as caught:
            Memory(recorded_home)
    assert "repair" in str(caught.value) or error is ForeignStore
    assert before == files(recorded_home)
    assert yiku.check(recorded_home, "quick").problems


def test_R12_the_command_line_says_so_too(recorded_home):
    """It ends with 1, names the file and the way out; `check` works all the same."""
    deleted(recorded_home)
    before = files(recorded_home)
    asked, checked = ran(recorded_home, "recall", "Oslo"), ran(recorded_home, "check")

    assert (1, 1) == (asked.code, checked.code)
    said, found = (" ".join(text.split()) for text in (asked.err, checked.out))  # lines break where the path ends
    assert "yiku.db is not there" in said and "yiku repair" in said
    assert "yiku.db is not there" in found
    assert before == files(recorded_home)


@pytest.mark.parametrize("what", ["deleted", "emptied", "made anew", "older", "another program's", "no database"])
def test_R12_repair_brings_the_newest_backup_back(recorded_home, what):
    """What the backup holds is there again; what it did not is named as lost; the file in its place is kept."""
    MISMATCHES[what][0](recorded_home)
    there = (recorded_home / "yiku.db").exists()
    repaired = yiku.repair(recorded_home)

    whole(recorded_home / "yiku.db")
    with Memory(recorded_home) as memory:
        assert "我搬到了 Oslo 😀" in [hit.text for hit in memory.recall("Oslo")]
        assert "I live in Bergen. 我住在卑尔根。" in [m.content for m in memory.get_all()]
        memory.remember("And on it goes 继续")
    assert any(lost.startswith("journal rows") for lost in repaired.lost)
    assert there == (repaired.kept is not None and (Path(repaired.kept) / "yiku.db").exists())


@pytest.mark.parametrize("what", ["another home's", "store.id of another"])
def test_R12_only_a_person_can_say_that_another_homes_database_is_right(recorded_home, what):
    """`repair` refuses it; `repair(accept=True)` takes it as it is, and keeps the mark that meant another."""
    MISMATCHES[what][0](recorded_home)
    with pytest.raises(StoreMismatch, match="accept"):
        yiku.repair(recorded_home)
    database = (recorded_home / "yiku.db").read_bytes()
    accepted = yiku.repair(recorded_home, accept=True)

    assert database == (recorded_home / "yiku.db").read_bytes() == (Path(str(accepted.kept)) / "yiku.db").read_bytes()
    with Memory(recorded_home) as memory:
        memory.remember("Its journal goes on with this home's key 继续")
    assert () == yiku.check(recorded_home).problems


def test_R12_an_older_or_emptied_database_can_be_accepted(recorded_home):
    """The older one as it is; where there is none, a new one begins."""
    set_back(recorded_home)
    yiku.repair(recorded_home, accept=True)
    with Memory(recorded_home) as memory:
        assert ["I live in Bergen. 我住在卑尔根。"] == [m.content for m in memory.get_all()]
    deleted(recorded_home)
    yiku.repair(recorded_home, accept=True)
    with Memory(recorded_home) as memory:
        assert [] == memory.get_all()


# ------------------------------------------------------------------ what is no mismatch


def killed(home: Path, durability: str) -> None:
    """A child that writes and dies without a word."""
    process = READY.Process(target=_write_and_die, args=(home, durability))
    process.start()
    process.join()


def _write_and_die(home: Path, durability: str) -> None:
    memory = clocked(home, durability=durability)
    for i in range(20):
        memory.record_turn("user", f"{i} 最后 last words")
    os._exit(9)


@pytest.mark.parametrize("durability", ["full", "fast"])
def test_R12_a_kill_is_no_mismatch(recorded_home, durability):
    """The mark never runs ahead of the database, with `fast` either."""
    for _ in range(3):
        killed(recorded_home, durability)
        with Memory(recorded_home) as memory:
            assert memory.recall("最后 last words")


def test_R12_copies_and_snapshots_of_the_whole_folder_are_no_mismatch(recorded_home, tmp_path):
    """A copied home, one put back from an older snapshot, one whose WAL was deleted after a clean end: each opens."""
    snapshot = shutil.copytree(recorded_home, tmp_path / "snapshot")
    killed(recorded_home, "full")
    after_a_kill = shutil.copytree(recorded_home, tmp_path / "killed")
    with Memory(recorded_home) as memory:
        memory.remember("and more 还有")
    for name in BESIDE:
        (recorded_home / f"yiku.db{name}").unlink(missing_ok=True)

    for home in (recorded_home, snapshot, after_a_kill):
        with Memory(home) as memory:
            assert memory.recall("Oslo")
        assert () == yiku.check(home).problems
    shutil.rmtree(recorded_home)
    shutil.copytree(snapshot, recorded_home)
    Memory(recorded_home).close()


def test_R12_a_home_without_a_mark_gets_one_and_is_no_mismatch(recorded_home):
    """As a home of an earlier Yiku, or one whose mark was lost: it opens, and `check` says what cannot be told."""
    (recorded_home / "store.id").unlink()

    assert any("store.id" in problem for problem in yiku.check(recorded_home).problems)
    with Memory(recorded_home) as memory:
        memory.remember("marked again 又有了")
    assert () == yiku.check(recorded_home).problems


# ------------------------------------------------------------------ the mark is gone with it


def lost(home: Path) -> None:
    """The database and its mark are gone, and what lies beside them is not."""
    deleted(home)
    (home / "store.id").unlink()


REMAINS: dict[str, Callable[[Path], None]] = {
    "all": lambda home: None,
    "a backup": lambda home: [(home / name).unlink() for name in ("key", "reserve", "yiku.toml")],
    "the key": lambda home: (shutil.rmtree(home / "backups"), (home / "reserve").unlink()),
    "the reserve, beside an emptied database": lambda home: (shutil.rmtree(home / "backups"), (home / "yiku.db").touch()),
}


@pytest.mark.parametrize("what", REMAINS)
def test_R12_a_home_whose_database_was_lost_with_its_mark_does_not_begin_anew(recorded_home, what):
    """What remains of it is named, in the library and on the command line; nothing is written, and `check` says the same."""
    lost(recorded_home)
    REMAINS[what](recorded_home)
    before = files(recorded_home)

    with pytest.raises(StoreMismatch, match=r"yiku\.db is (not there|empty), and .* remain") as caught:
        Memory(recorded_home)
    assert "yiku repair" in str(caught.value)
    for words in (["status"], ["record", "早"], ["remember", "I like tea."]):
        assert 1 == (done := ran(recorded_home, *words)).code
        assert "remain" in done.err and "yiku repair" in done.err
    assert 1 == ran(recorded_home, "check").code
    assert before == files(recorded_home)


def test_R12_a_lost_database_comes_back_from_the_backup(recorded_home):
    """`repair` puts the newest backup in its place, and the home goes on."""
    lost(recorded_home)
    repaired = yiku.repair(recorded_home)

    assert any("not there" in problem for problem in repaired.problems)
    with Memory(recorded_home) as memory:
        assert ["I live in Bergen. 我住在卑尔根。"] == [one.content for one in memory.get_all()]
        memory.remember("Ann likes tea. 安喜欢茶。")
    assert () == yiku.check(recorded_home).problems


def test_R12_a_lost_home_without_a_backup_begins_anew_only_when_that_is_said(recorded_home):
    """`repair` says that nothing is left; with `accept` the home is empty, and what was erased from it stays out."""
    with Memory(recorded_home) as memory:
        memory.admin.erase(memory.get_all(where={"content": {"contains": "绿茶"}})[0].id)
    lost(recorded_home)
    shutil.rmtree(recorded_home / "backups")

    with pytest.raises(StoreMismatch, match="--accept"):
        yiku.repair(recorded_home)
    assert yiku.repair(recorded_home, accept=True).problems
    with Memory(recorded_home) as memory:
        assert [] == memory.timeline()
        assert "refused" == type(memory.remember("小明喜欢绿茶 and tea")).__name__.lower()
    assert () == yiku.check(recorded_home).problems


def test_R17_a_home_that_was_only_begun_is_no_lost_one(home):
    """Settings and an empty database, and then a kill, before or behind the key: the next opening finishes what was begun."""
    for made in ([], ["key"]):
        shutil.rmtree(home, ignore_errors=True)
        Memory(home, owner="user:mei").close()
        for path in home.iterdir():
            if path.is_file() and path.name not in ("yiku.toml", *made):
                path.unlink()
        (home / "yiku.db").touch()
        with Memory(home) as memory:
            assert "user:mei" == memory.scope
