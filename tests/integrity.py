"""
Check that a store is intact, after a crash, a race, a failed write or a random history.

What must be true of every file that Yiku leaves behind is written in store/check.py, which `yiku check` runs
too; here it is run as deep as it goes, on one moment of the database alone. tests/store/test_check.py breaks
each of these points and sees it found.
"""

from pathlib import Path

import apsw

from yiku import Memory
from yiku.flows.home.doctor import WORDS
from yiku.store.check import Findings, check_connection


def check(path: Path | str) -> None:
    """Raise AssertionError unless the database agrees with itself in every point."""
    look = Findings(key_of(Path(path)))
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        connection.set_busy_timeout(10_000)
        check_connection(look, connection, "deep", WORDS)
    finally:
        connection.close()
    assert not look.problems, look.problems


def open_and_check(home: Path | str, **settings: object) -> None:
    """The home opens, answers, closes, and its store is whole."""
    with Memory(home, create=False, **settings) as memory:
        memory.recall("where do I live? 我住在哪里？")
        memory.status()
    check(Path(home) / "yiku.db")


def key_of(database: Path) -> bytes:
    """The key of a home; a store that was opened without one has none."""
    key = database.with_name("key")
    return bytes.fromhex(key.read_text()) if key.exists() else b""
