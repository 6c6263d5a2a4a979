"""
The column file of a large scope: equal to its rows, and never used when they have changed.

Its places: `vectors/N.columns`, and `N.columns.new` while it is written. No backup of a home and no export has it; an
erasure removes all of them; a check does not need it; a repair removes it.
"""

import os
import stat
from pathlib import Path

import pytest

from yiku import Memory, check
from yiku.store import column_file
from yiku.store.columns import FILED_FROM

PUT = {
    "link": lambda path, other: path.symlink_to(other),
    "pipe": lambda path, other: os.mkfifo(path),
    "folder": lambda path, other: path.mkdir(),
}
NAMES = ["安", 'O"Neil, Ann', None, "李雷", "安"]


@pytest.fixture(autouse=True)
def few_are_many(monkeypatch):
    """A file is made of a handful of turns."""
    monkeypatch.setattr("yiku.store.columns.FILED_FROM", 3)


@pytest.fixture
def filed(memory: Memory, home: Path) -> Path:
    """The file of a scope in which five turns were said, one of them long ago."""
    for i, name in enumerate(NAMES):
        at = {"said_at": "2020-01-01T00:00:00Z"} if i == 2 else {}
        memory.record_turn("user" if i % 2 else "assistant", f"{i} said 说", session=f"s{i}", speaker=name, **at)
    memory._handle.store.upkeep.merge()
    (path,) = (home / "vectors").iterdir()
    return path


def seen(memory: Memory) -> tuple[list[tuple], bool]:
    """Every column as somebody sees it who asks first, and whether the rows were read for it."""
    store, read = memory._handle.store, []
    store._columns.start_over()
    connection = store._database.connection()
    connection.set_exec_trace(lambda cursor, sql, bound: read.append(sql) or True)
    found = store.columns(memory._handle.own())
    connection.set_exec_trace(None)
    names = [*found.names, None]
    columns = (found.ns, found.sessions, found.said_at, found.user, found.speakers)
    rows = [(*row, names[row[-1]]) for row in zip(*(column.tolist() for column in columns), strict=True)]
    return [(*row[:4], row[-1]) for row in rows], any("turns_by_time" in sql for sql in read)


def by_rows(memory: Memory, filed: Path) -> list[tuple]:
    """The same where there is no file."""
    aside = filed.rename(filed.with_name("aside"))
    found, read = seen(memory)
    aside.rename(filed)
    assert read
    return found


def test_the_file_says_what_the_rows_say(memory: Memory, filed: Path):
    """Numbers, sessions, times, roles and names in both scripts are those of the rows, which are not read; it is for its owner alone."""
    assert (by_rows(memory, filed), False) == seen(memory)
    assert NAMES == [row[-1] for row in seen(memory)[0]]
    assert 0o600 == stat.S_IMODE(filed.stat().st_mode)


def test_what_came_since_is_there_too(memory: Memory, filed: Path):
    """Turns behind the file are read from their rows, with names of their own; at the next night the file has them."""
    memory.record_turn("user", "six 六", session="s1", speaker="韩梅梅")
    before = filed.read_bytes()
    found, read = seen(memory)

    assert (6, "韩梅梅", False) == (len(found), found[-1][-1], read)
    assert by_rows(memory, filed) == found
    memory._handle.store.upkeep.merge()
    assert before != filed.read_bytes()
    assert (found, False) == seen(memory)


def test_a_file_that_is_up_to_date_is_not_written_again(memory: Memory, filed: Path):
    """A night in which nothing was said changes nothing."""
    before = filed.stat()
    memory._handle.store.upkeep.merge()

    assert before == filed.stat()


def test_a_small_scope_has_no_file(memory: Memory, home: Path, monkeypatch):
    """Only what takes long to read is kept twice."""
    monkeypatch.setattr("yiku.store.columns.FILED_FROM", FILED_FROM)
    memory.record_turn("user", "one 一")
    memory._handle.store.upkeep.merge()

    assert [] == [*home.rglob("*.columns*")]


@pytest.mark.parametrize("elsewhere", [False, True])
def test_an_erasure_removes_the_file(memory: Memory, filed: Path, home: Path, elsewhere: bool):
    """The name of somebody whose turn was erased stands in no such file, whoever erased it and whatever was left half-written."""
    filed.with_name("1.columns.new").write_text("李雷")
    if elsewhere:
        with Memory(home, owner="user:mei") as other:
            receipt = other.admin.erase(session="s3")
    else:
        receipt = memory.admin.erase(session="s3")

    assert receipt.clean
    assert [] == [*home.rglob("*.columns*")]
    assert [1, 2, 3, 5] == [row[0] for row in seen(memory)[0]]


def test_a_file_from_before_an_erasure_says_nothing(memory: Memory, filed: Path, home: Path):
    """One that was put back by hand is not taken, and goes when an erasure is finished later."""
    content = filed.read_bytes()
    memory.admin.erase(session="s3")
    filed.write_bytes(content)

    found, read = seen(memory)

    assert ([1, 2, 3, 5], True) == ([row[0] for row in found], read)
    memory._handle.store.erasures.scrub()
    assert not filed.exists()


def test_a_backup_that_is_put_back_is_not_answered_by_the_file(memory: Memory, filed: Path):
    """What was said after a backup is not in the columns once the backup was put back, nor what is said then under the file's name."""
    name = memory.admin.backup().path.rpartition("/")[2]
    memory.record_turn("user", "six 六", session="s1", speaker="韩梅梅")
    memory._handle.store.upkeep.merge()
    memory.admin.restore_backup(name)
    found, read = seen(memory)
    assert ([1, 2, 3, 4, 5], True) == ([row[0] for row in found], read)
    memory.record_turn("user", "another six 另一个六", session="s1", speaker="Bo")

    assert (by_rows(memory, filed), "Bo") == (seen(memory)[0], seen(memory)[0][-1][-1])


def test_numbers_that_are_given_again_are_not_answered_by_the_file(memory: Memory, filed: Path, home: Path, monkeypatch):
    """A file whose newest number another turn has, as where an older copy of the database was accepted, is not taken."""
    of, columns = column_file.open_mapped(filed.parent, memory._handle.store.store_id, memory._handle.own()[0])
    column_file.write(
        filed.parent, column_file.BuiltFrom(of.store, of.scope, of.erasure, of.upto, "the id of another turn"), columns
    )

    assert seen(memory)[1]


@pytest.mark.parametrize("at", ["head", "ns", "sessions", "said_at", "user", "speakers", "short", "long", "empty"])
def test_a_damaged_file_is_no_answer(memory: Memory, filed: Path, at: str):
    """A flipped byte anywhere, one too few or too many: the rows are read, and the next night makes the file anew."""
    expected, content = by_rows(memory, filed), bytearray(filed.read_bytes())
    head = content.index(b"\n") + 1
    layout = {name: start for name, start, _ in column_file._layout(head, len(NAMES))} | {"head": head // 2}
    if at in layout:
        content[layout[at]] ^= 1
    filed.write_bytes({"short": content[:-1], "long": content + b"\0", "empty": b""}.get(at, content))

    assert (expected, True) == seen(memory)
    memory._handle.store.upkeep.merge()
    assert (expected, False) == seen(memory)


@pytest.mark.parametrize("head", [b"[]\n", b"1\n", b"{}\n", b"\xff\n", b'{"of": {}, "count": 1, "names": [], "format": 1}\n'])
def test_a_head_that_says_something_else_is_no_answer(memory: Memory, filed: Path, head: bytes):
    """Whatever stands in the first line, nobody fails over it."""
    filed.write_bytes(head + bytes(1_000))

    assert seen(memory)[1]


@pytest.mark.parametrize("put", [*PUT.values()], ids=[*PUT])
def test_what_is_put_in_its_place_is_not_read(memory: Memory, filed: Path, tmp_path: Path, put):
    """A link, a pipe or a folder under its name is no file of ours: nobody waits for it, and nothing outside is read."""
    other = tmp_path / "outside"
    filed.rename(other)
    put(filed, other)

    assert seen(memory)[1]


def test_no_copy_of_a_home_has_the_file(memory: Memory, filed: Path, home: Path, tmp_path: Path):
    """A backup of the home to another folder and an export leave it here; `yiku check` finds nothing wrong without it."""
    memory.admin.backup(to=str(tmp_path / "copy"))
    memory.admin.export(str(tmp_path / "all.jsonl"))

    assert [] == [*(tmp_path / "copy").rglob("*.columns*")]
    assert filed.name not in (tmp_path / "all.jsonl").read_text(encoding="utf-8")
    filed.write_bytes(b"")
    assert () == check(home, depth="deep").problems
