"""Online copies of the database: one snapshot, verified before it gets its name."""

import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path

import apsw
import pytest

from yiku import Memory
from yiku.errors import Damaged, Stale
from yiku.store import copy, pages


@pytest.fixture
def database(home: Path) -> Path:
    """A store with rows in both languages."""
    with Memory(home, owner="user:mei") as memory:
        memory.record([{"role": "user", "content": f"第 {i} turn 灯笼"} for i in range(20)], session="s")
        memory.remember("Mei lives in 奥斯陆 Oslo.")
    return home / "yiku.db"


def connected(database: Path) -> apsw.Connection:
    pages.enabled()
    return apsw.Connection(str(database))


def test_a_verified_copy_says_what_it_holds(database, tmp_path):
    """Whose it is, the last number and the count of turns, memories and changes; only its owner may read it."""
    copied = copy.copy_verified(connected(database), tmp_path / "copy.db", nullcontext())

    assert {"conversation_turns": (20, 20), "memories": (1, 1), "changes": (3, 3)} == copied.rows
    assert copied == copy.read_all(tmp_path / "copy.db")
    assert 0o600 == stat.S_IMODE((tmp_path / "copy.db").stat().st_mode)


@pytest.mark.parametrize("table", ["conversation_turns", "memories"])
def test_a_row_that_is_not_what_was_written_keeps_the_copy_from_its_name(database, tmp_path, table):
    """A content that was changed behind the digest is found while reading back, and nothing is left under any name."""
    connection = connected(database)
    connection.execute(f"update {table} set content = 'altered 改' where n = 1")

    with pytest.raises(Damaged, match=f"row 1 of {table}"):
        copy.copy_verified(connection, tmp_path / "folder" / "copy.db", nullcontext())
    assert [] == [*(tmp_path / "folder").iterdir()]


def test_a_row_that_is_erased_while_the_copy_is_made_keeps_it_from_its_name(database, tmp_path):
    """What was erased between the copying and the naming would come back with the copy, so the copy is made again."""
    connection = connected(database)

    @contextmanager
    def alone():
        connection.execute("delete from conversation_turns where n = 7")
        yield

    with pytest.raises(Stale):
        copy.copy_verified(connection, tmp_path / "folder" / "copy.db", alone())
    assert [] == [*(tmp_path / "folder").iterdir()]


def test_a_copy_that_is_not_sound_says_what_is_wrong(database, tmp_path):
    """The first thing that SQLite finds stands in the error, and nothing is left under any name."""
    connection = pages.without_verification(connected(database))
    root = connection.execute("select rootpage from sqlite_schema where name = 'memories'").fetchone()[0]
    size = connection.pragma("page_size")
    with database.open("r+b") as file:
        file.seek((root - 1) * size + 4)
        file.write(b"\x09")  # cells, of which there is one
    connection.pragma("shrink_memory")

    with pytest.raises(Damaged, match=rf"(?s)the copy of .*yiku\.db: .*page {root} "):
        copy.copy_over(connection, tmp_path / "folder" / "copy.db")
    assert [] == [*(tmp_path / "folder").iterdir()]


@pytest.mark.parametrize("offset", [40, 5_000, 60_000])
def test_a_flipped_byte_in_a_copy_is_found(database, tmp_path, offset):
    """Wherever it lies: in the header, in a row, in the index."""
    path = tmp_path / "copy.db"
    copy.copy_verified(connected(database), path, nullcontext())
    content = bytearray(path.read_bytes())
    content[offset] ^= 1
    path.write_bytes(content)

    with pytest.raises(Damaged):
        copy.read_all(path)


@pytest.mark.long
def test_a_store_that_does_not_fit_into_the_cache_is_copied_whole(home, tmp_path):
    """Pages that are written before the first one carry checksums too: 3 MB, and a cache of 2."""
    with Memory(home, owner="user:mei") as memory:
        memory.record([{"role": "user", "content": f"{i} 灯笼 " + "x" * 40_000} for i in range(80)])

    assert [] == copy.page_errors(copy.copy_over(connected(home / "yiku.db"), tmp_path / "copy.db"))


@pytest.fixture
def large(tmp_path: Path) -> Iterator[apsw.Connection]:
    """A store of some 24 MB with checksums, whose connection keeps 1 MB of it in memory."""
    pages.enabled()
    with closing(apsw.Connection(str(tmp_path / "large.db"))) as connection:
        pages.reserve_space(connection)
        connection.execute("create table rows (text)")
        connection.executemany("insert into rows values (hex(randomblob(?)))", [(500_000,) for _ in range(24)])
        connection.pragma("cache_size", -1024)
        connection.pragma("shrink_memory")
        yield connection


def test_a_copy_takes_the_same_memory_whatever_the_size(large, tmp_path):
    """Pages leave the cache while it is made, and each has its checksum: one flipped bit is found."""
    before = apsw.status(apsw.SQLITE_STATUS_MEMORY_USED, True)[0]
    path = copy.copy_over(large, tmp_path / "copy.db")
    most = apsw.status(apsw.SQLITE_STATUS_MEMORY_USED)[1]
    flipped = bytearray(path.read_bytes())
    flipped[15 << 20 | 100] ^= 1

    assert len(flipped) > 20 << 20
    assert most - before < 10 << 20
    with closing(copy.open_copy(path)) as copied:
        assert pages.has_checksums(copied)
    path.write_bytes(flipped)
    assert copy.page_errors(path)
