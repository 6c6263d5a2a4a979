"""Backups: making, restoring, and moving a home to another machine."""

import os
import shutil
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import apsw
import pytest
from integrity import check, open_and_check
from schemas import to_schema_1

from yiku import Memory, restore_backup
from yiku.errors import Damaged, ForeignStore, InvalidInput, NotFound, StoreMismatch
from yiku.flows.home import backup as flow

LONG = "灯笼 Lantern " * 8_000  # over 64 KiB: goes into a blob


def texts(memory: Memory) -> list[str]:
    return sorted(row.content for row in memory.get_all())


def name_of(made: object) -> str:
    return Path(made.path).name


def altered(path: Path) -> None:
    """One bit in the middle of the file is another."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    path.write_bytes(content)


# ------------------------------------------------------------------ making one


def test_a_backup_says_what_it_holds_and_was_read_back(memory, home):
    """Its path, size, turns, memories and last change; the file is only its owner's."""
    memory.record_turn("user", LONG)
    memory.remember("我住在 Oslo。")
    made = memory.admin.backup()

    assert (1, 1, 3, True, ()) == (made.turns, made.memories, made.changes, made.verified, made.left_out)
    assert made.bytes == Path(made.path).stat().st_size
    assert home / "backups" == Path(made.path).parent
    assert 0o600 == stat.S_IMODE(os.stat(made.path).st_mode)
    assert [name_of(made)] == [one.name for one in memory.admin.backups()]


def test_two_backups_of_one_instant_have_two_names_and_the_newer_sorts_last(memory):
    """The clock stands still, and nothing is written over."""
    made = [name_of(memory.admin.backup()) for _ in range(3)]

    assert sorted(set(made)) == made
    assert made[::-1] == [one.name for one in memory.admin.backups()]


def test_a_backup_of_a_damaged_store_is_not_kept(home, clock):
    """A row that is not what was written is found, and no file is left that looks like a backup."""
    with Memory(home, owner="user:mei", clock=clock) as memory:
        memory.record_turn("user", "hello 你好")
        connection = apsw.Connection(str(home / "yiku.db"))
        connection.execute("update conversation_turns set content = 'altered'")
        connection.close()

        with pytest.raises(Damaged):
            memory.admin.backup()
    assert [] == [*(home / "backups").iterdir()]


def test_a_missing_blob_is_told(memory, home):
    """A backup is the database; what it names in blobs/ and is not there, it says."""
    memory.record_turn("user", LONG)
    memory.record_turn("assistant", "ok", tool_results=[{"content": LONG + "结果"}])
    blobs = sorted((home / "blobs").glob("*/*.z"))
    for blob in blobs:
        blob.unlink()

    assert sorted(f"blob {blob.stem}" for blob in blobs) == [*memory.admin.backup().left_out]


def test_a_nightly_backup_is_made_once_in_twenty_hours_and_seven_are_kept(memory, clock, home):
    """Others than nightly ones are never taken away."""
    by_hand = name_of(memory.admin.backup())
    made = []
    for _ in range(10):
        made.append(name_of(memory.admin.backup(nightly=True)))
        assert memory.admin.backup(nightly=True) is None
        clock.advance(hours=21)

    assert sorted([by_hand, *made[-7:]]) == sorted(os.listdir(home / "backups"))


def test_a_clock_that_was_wrong_neither_stops_the_backups_nor_takes_the_new_one(memory, clock, home):
    """Seven nightly ones of next year do not count as made today, and the one of today is kept."""
    clock.advance(days=365)
    for _ in range(7):
        memory.admin.backup(nightly=True)
        clock.advance(hours=21)
    clock.advance(days=-400)
    made = memory.admin.backup(nightly=True)

    assert name_of(made) in os.listdir(home / "backups")
    assert 7 == len(os.listdir(home / "backups"))


def test_no_nightly_backups_where_they_are_off(home, clock):
    """`backups = "off"` in the settings; asked for by hand it is made."""
    with Memory(home, owner="user:mei", clock=clock, backups="off") as memory:
        assert memory.admin.backup(nightly=True) is None
        assert memory.admin.backup() is not None


def test_status_can_say_that_the_last_backup_is_old(memory, clock):
    """Nothing while it is young; after some days a line that says what to do."""
    memory.admin.backup()
    assert flow.overdue(memory._handle) is None
    clock.advance(days=9)

    assert "the last backup is 9 days old: run `yiku backup`" == flow.overdue(memory._handle)


def test_what_a_killed_backup_left_goes_with_the_next(memory, home):
    """Half a copy under its temporary name is no backup, and does not stay."""
    (home / "backups").mkdir()
    (home / "backups" / ".yiku-x.db.0a1b").write_bytes(b"half")
    (home / "backups" / ".restoring-0a1b").mkdir()
    memory.admin.backup()

    assert 1 == len(os.listdir(home / "backups"))


# ------------------------------------------------------------------ going back


def test_restoring_brings_back_exactly_what_was_there(memory, home):
    """Turns, memories, history and journal are those of the backup; a row of the journal says from where."""
    memory.record([{"role": "user", "content": "我搬家了 moved", "session": "s"}])
    memory.remember("I live in Bergen.")
    made, before = memory.admin.backup(), memory.admin.journal()
    memory.remember("我住在 Oslo。")
    memory.forget(session="s")
    restored = memory.admin.restore_backup(name_of(made))

    assert ["I live in Bergen."] == texts(memory)
    assert ["我搬家了 moved"] == [turn.content for turn in memory.search_traces(session="s")]
    first, *rest = memory.admin.journal()
    assert before == rest
    assert ("restore backup", f"from {name_of(made)}") == (first.operation, first.reason)
    assert restored.operation == first.number


def test_restoring_can_be_taken_back(memory):
    """What was there before is a backup itself."""
    memory.remember("I live in Bergen.")
    made = memory.admin.backup()
    memory.remember("我住在 Oslo。")
    restored = memory.admin.restore_backup(name_of(made))
    memory.admin.restore_backup(restored.kept)

    assert ["我住在 Oslo。"] == texts(memory)
    assert ["I live in Bergen.", "我住在 Oslo。"] == [row.content for row in memory.history("I live in")]


def test_no_number_is_given_twice_after_restoring(home, clock):
    """Rows, scopes, tags and changes that come after a restored backup have numbers behind those that were lost."""
    with Memory(home, owner="user:mei", clock=clock) as memory:
        memory.record_turn("user", "one 一")
        memory.remember("Ann likes tea", tags=["茶"])
        made = memory.admin.backup()
        lost = [memory.record_turn("user", f"lost {i}", session=f"s{i}").n for i in range(5)]
        lost_memory = memory.remember("Bo likes coffee 咖啡", tags=["drinks"]).memory
        with Memory(home, scope="user:bo") as other:
            other.record_turn("user", "the scope is lost too")
        numbers = given(home)
        memory.admin.restore_backup(name_of(made))

        assert numbers == {table: number for table, number in given(home).items() if table != "changes"} | {
            "changes": numbers["changes"]
        }
        assert given(home)["changes"] == numbers["changes"] + 1
        assert memory.record_turn("user", "new 新").n > max(lost)
        assert memory.remember("Cy likes milk").memory.n > lost_memory.n
        with Memory(home, scope="user:bo") as other:
            assert other.record_turn("user", "again").n
    check(home / "yiku.db")


def given(home: Path) -> dict[str, int]:
    connection = apsw.Connection(str(home / "yiku.db"))
    try:
        return dict(connection.execute("select name, seq from sqlite_sequence").fetchall())
    finally:
        connection.close()


def test_another_open_memory_goes_on_with_what_was_restored(home, clock):
    """It sees the restored content at its next call, writes into it, and nothing of the two is mixed."""
    with Memory(home, owner="user:mei", clock=clock) as one, Memory(home, clock=clock) as other:
        other.remember("I live in Bergen.")
        made = one.admin.backup()
        other.remember("我住在 Oslo。")
        one.admin.restore_backup(name_of(made))

        assert ["I live in Bergen."] == texts(other)
        other.remember("I moved to Rome")
        assert ["I moved to Rome"] == texts(one)
    open_and_check(home)


def test_a_dry_run_says_what_would_be_lost_and_changes_nothing(memory, home):
    """How many changes, turns and memories came since."""
    memory.remember("I live in Bergen.")
    made = memory.admin.backup()
    memory.remember("我住在 Oslo。")
    memory.record([{"role": "user", "content": text} for text in ("a", "二")])
    found = memory.admin.restore_backup(name_of(made), dry_run=True)

    assert (3, 2, 1, True, None) == (found.changes, found.turns, found.memories, found.dry_run, found.kept)
    assert ["我住在 Oslo。"] == texts(memory)
    assert [name_of(made)] == os.listdir(home / "backups")


def test_what_is_no_sound_backup_of_this_home_is_refused(memory, tmp_path, home, clock):
    """Damaged, another home's, not there, or a path: nothing has changed."""
    memory.remember("I live in Bergen.")
    made = Path(memory.admin.backup().path)
    with Memory(tmp_path / "other", owner="user:bo", clock=clock) as other:
        foreign = Path(other.admin.backup().path)
    (home / "backups" / "foreign.db").write_bytes(foreign.read_bytes())
    altered(made)

    for name, error in [(made.name, Damaged), ("foreign", ForeignStore), ("no-such", NotFound), ("../yiku.db", NotFound)]:
        with pytest.raises(error):
            memory.admin.restore_backup(name)
    assert ["I live in Bergen."] == texts(memory)


def test_a_backup_of_the_schema_before_comes_back_in_todays(home, clock):
    """Its rows get their digests, and its journal its chain, before it goes live."""
    with Memory(home, owner="user:mei", clock=clock) as memory:
        memory.remember("我住在 Oslo。")
        made = Path(memory.admin.backup().path)
        connection = apsw.Connection(str(made))
        to_schema_1(connection)
        connection.close()
        memory.remember("I moved to Rome")
        memory.admin.restore_backup(made.name)

        assert ["我住在 Oslo。"] == texts(memory)
    open_and_check(home)


def test_blobs_that_are_not_there_any_more_are_named(memory, home):
    """The row comes back with its excerpt; what is missing is told."""
    memory.record_turn("user", LONG)
    made = memory.admin.backup()
    (blob,) = (home / "blobs").glob("*/*.z")
    blob.unlink()

    assert (f"blob {blob.stem}",) == memory.admin.restore_backup(name_of(made)).missing


def test_what_was_erased_since_does_not_come_back(memory, home):
    """Neither the statement nor its words are in the store after going back to a backup in which they were."""
    memory.remember("I live in Bergen.")
    gone = memory.remember("The vault code is 芝麻开门 sesame").memory
    made = Path(memory.admin.backup().path)
    before = made.read_bytes()
    memory.admin.erase(gone.id)
    made.write_bytes(before)  # as if it had been brought back from another disk
    memory.admin.restore_backup(made.name)

    assert ["I live in Bergen."] == texts(memory)
    assert 0 == len(memory.recall("vault code sesame 芝麻开门"))


# ------------------------------------------------------------------ a home that does not open


@pytest.mark.parametrize("harm", ["garbage", "header", "gone", "emptied", "older", "foreign"])
def test_a_home_that_does_not_open_is_restored_from_outside(home, tmp_path, clock, harm):
    """Its file is kept under damaged/, no number is given twice, and the home opens, whole."""
    with Memory(home, owner="user:mei", clock=clock) as memory:
        memory.remember("我住在 Oslo。")
        made = memory.admin.backup()
    database = home / "yiku.db"
    older = database.read_bytes()
    with Memory(home, clock=clock) as memory:
        memory.remember("I moved to Rome")
        last = memory.admin.journal()[0].number
    with Memory(tmp_path / "other", owner="user:bo") as other:
        other.record_turn("user", "of another home")
    content = database.read_bytes()
    harms = {
        "garbage": "garbage 垃圾 ".encode() * 500,
        "header": b"\0" * 200 + content[200:],
        "gone": None,
        "emptied": b"",
        "older": older,
        "foreign": (tmp_path / "other" / "yiku.db").read_bytes(),
    }
    database.unlink()
    if harms[harm] is not None:
        database.write_bytes(harms[harm])
    with pytest.raises((Damaged, ForeignStore, StoreMismatch)):
        Memory(home)

    dry = restore_backup(home, name_of(made), dry_run=True)
    assert dry.changes is None or harm == "header"
    restored = restore_backup(home, name_of(made))
    with Memory(home, clock=clock) as memory:
        assert ["我住在 Oslo。"] == texts(memory)
        assert memory.admin.journal()[0].number > last
        memory.remember("I live in Bergen.")
    open_and_check(home)
    if harms[harm] is not None:
        assert harms[harm] == (home / restored.aside / "yiku.db").read_bytes()


def test_the_log_of_a_damaged_database_goes_aside_with_it(home, tmp_path, clock):
    """It would be taken for that of the restored file, and put its pages into it."""
    with Memory(home, owner="user:mei", clock=clock) as memory:
        memory.remember("我住在 Oslo。")
        made = memory.admin.backup()
    crashed = tmp_path / "crashed"
    with Memory(home, clock=clock) as memory:
        memory.remember("I moved to Rome")
        shutil.copytree(home, crashed)
    (crashed / "yiku.db").write_bytes(b"garbage " * 500)
    assert (crashed / "yiku.db-wal").stat().st_size
    restored = restore_backup(crashed, name_of(made))

    assert restored.aside
    assert (crashed / restored.aside / "yiku.db-wal").stat().st_size
    open_and_check(crashed)
    with Memory(crashed) as there:
        assert ["我住在 Oslo。"] == texts(there)


# ------------------------------------------------------------------ moving


def test_a_home_moves_to_another_place_with_all_it_has(memory, tmp_path, home):
    """Memories, long contents, settings, key: it opens there as it was, and the old one goes on."""
    turn = memory.record_turn("user", LONG)
    memory.remember("我住在 Oslo。")
    (home / "notes").mkdir()
    (home / "notes" / "今天.md").write_text("# 今天")
    (home / "link").symlink_to("/")
    made = memory.admin.backup(tmp_path / "stick" / "yiku")
    memory.remember("I moved to Rome")

    assert ("link",) == made.left_out
    moved = tmp_path / "stick" / "yiku"
    assert not (moved / "backups").exists()
    assert (home / "key").read_text() == (moved / "key").read_text()
    assert "# 今天" == (moved / "notes" / "今天.md").read_text()
    with Memory(moved, create=False) as there:
        assert "user:mei" == there.scope
        assert ["我住在 Oslo。"] == texts(there)
        assert LONG == there.admin.blob(turn.blob)
    open_and_check(moved)
    modes = {stat.S_IMODE(path.stat().st_mode) for path in moved.rglob("*") if path.is_file()}
    assert {0o600} == modes


def test_a_home_moves_with_its_hidden_files(memory, tmp_path, home, monkeypatch):
    """So a note that was removed here stays removed there, and an edited original updates its copy. What is being written stays."""
    vault = tmp_path / "茶"
    for place in (vault, home / ".obsidian"):
        place.mkdir()
        (place / "Tea 茶.md").write_text("Oolong. 乌龙茶。")
    (vault / "Gone.md").write_text("removed here")
    (home / ".obsidian" / "lock").touch()
    (home / ".notes.md.0123456789ab").write_text("half of")
    memory.notes.index_document(vault, update=True)
    (home / "documents/茶/Gone.md").unlink()
    real = flow.shutil.copyfile

    def vanishing(path, *given, **more):
        if Path(path).name == "lock":
            Path(path).unlink()
        return real(path, *given, **more)

    monkeypatch.setattr(flow.shutil, "copyfile", vanishing)
    made = memory.admin.backup(tmp_path / "moved")

    assert (".obsidian/lock",) == made.left_out
    assert "乌龙茶" in (tmp_path / "moved/.obsidian/Tea 茶.md").read_text()
    assert not [*(tmp_path / "moved").glob(".notes*")]
    (vault / "Tea 茶.md").write_text("Sencha. 煎茶。")
    with Memory(tmp_path / "moved", create=False) as there:
        done = there.notes.index_document(vault, update=True)
        assert (("documents/茶/Tea 茶.md",), (), ["documents/茶/Gone.md"]) == (done.changed, done.added, [*done.failed])


def test_a_home_is_not_moved_onto_something(memory, tmp_path, home):
    """A folder that holds a file, a file, a link, a folder in the home: refused, and nothing is written."""
    full, file, link, empty = (tmp_path / name for name in ("full", "file", "link", "empty"))
    full.mkdir()
    (full / "here").touch()
    file.touch()
    empty.mkdir()
    link.symlink_to(empty)

    for target in (full, file, link, home / "inside"):
        with pytest.raises(InvalidInput):
            memory.admin.backup(target)
    assert [] == [*empty.iterdir()]
    assert memory.admin.backup(empty).verified


def test_the_time_of_a_backup_is_that_of_its_name():
    """So a copied file keeps it."""
    at = flow._made_at(Path("nightly-20260301T081500.000007Z.db"))

    assert datetime(2026, 3, 1, 8, 15, 0, 7, tzinfo=UTC) == at
    assert timedelta(0) == at.utcoffset()


@pytest.mark.long
def test_a_store_of_many_pages_is_copied_with_all_its_checksums(memory):
    """More than SQLite keeps in the cache of a copy by itself: the backup is sound, and what it holds comes back."""
    memory.record([{"role": "user", "content": f"turn {i} 第{i}句 " + "x" * 3_500} for i in range(700)])
    memory.recall("第77句")
    made = memory.admin.backup()
    memory.record_turn("user", "said after 之后")
    memory.admin.restore_backup(Path(made.path).name)

    assert made.bytes > 2_100_000, "more than the 2 MB of that cache"
    assert 700 == memory.admin.stats().turns
    assert () == memory.admin.check("deep").problems
