"""files/append.py: appending to and moving files that an editor has open, with no text lost."""

import os
import resource
import threading
from pathlib import Path

import pytest

from yiku.errors import InvalidInput, StoreError
from yiku.files.append import append, move_aside


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


def line(text: str) -> str:
    return "new 新\n"


def test_a_file_that_is_not_there(home: Path) -> None:
    """It is made with its folder, and nobody else may read either."""
    assert "new 新\n" == append(home / "memory" / "a.md", line, below=home)
    assert "new 新\nnew 新\n" == append(home / "memory" / "a.md", line, below=home)
    assert 0o600 == (home / "memory" / "a.md").stat().st_mode & 0o777
    assert 0o700 == (home / "memory").stat().st_mode & 0o777


def test_the_line_ends_of_the_file(home: Path) -> None:
    """A file with the line ends of Windows keeps them, and who adds to it sees plain ones."""
    (home / "a.md").write_bytes(b"one\r\ntwo\r\n")
    seen = []
    append(home / "a.md", lambda text: seen.append(text) or "three\n", below=home)

    assert ["one\ntwo\n"] == seen
    assert b"one\r\ntwo\r\nthree\r\n" == (home / "a.md").read_bytes()


@pytest.mark.parametrize("content", ["\ufeffa 字\n".encode("utf-16"), "中文\n".encode("gb18030"), b"\xff"])
def test_what_is_not_utf_8(home: Path, content: bytes) -> None:
    """Nothing is added to a file that is not UTF-8: it would be neither then."""
    (home / "a.md").write_bytes(content)

    with pytest.raises(InvalidInput, match="UTF-8"):
        append(home / "a.md", line, below=home)
    assert content == (home / "a.md").read_bytes()


def test_links_and_strangers(home: Path, tmp_path: Path) -> None:
    """Nothing is written through a link, of a file or of a folder, nor into a pipe."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "a.md").write_text("theirs")
    (home / "a.md").symlink_to(tmp_path / "outside" / "a.md")
    (home / "folder").symlink_to(tmp_path / "outside")
    os.mkfifo(home / "pipe.md")

    for path in (home / "a.md", home / "folder" / "a.md", home / "pipe.md"):
        with pytest.raises((InvalidInput, StoreError)):
            append(path, line, below=home)
    assert [None, None] == [move_aside(home / name, home / "archive" / name, below=home) for name in ("a.md", "pipe.md")]
    with pytest.raises(InvalidInput):
        move_aside(home / "folder" / "a.md", home / "archive" / "a.md", below=home)
    assert "theirs" == (tmp_path / "outside" / "a.md").read_text()


def test_an_editor_replaces_the_file_meanwhile(home: Path) -> None:
    """What went into a file that was replaced by then is added to the one that took its place."""
    (home / "a.md").write_text("one\n")

    def saved_meanwhile(text: str) -> str:
        if text == "one\n":
            (home / "draft").write_text("one, edited\n")
            os.replace(home / "draft", home / "a.md")
        return "two\n"

    assert "one, edited\ntwo\n" == append(home / "a.md", saved_meanwhile, below=home)
    assert "one, edited\ntwo\n" == (home / "a.md").read_text()


def test_a_full_disk(home: Path) -> None:
    """What could be written of it goes again: the file is as it was."""
    (home / "a.md").write_text("one\n")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    import signal

    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        with pytest.raises(StoreError):
            append(home / "a.md", lambda text: "x" * 1_000, below=home)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)

    assert "one\n" == (home / "a.md").read_text()


def test_many_at_once(home: Path) -> None:
    """Each of many that add at the same time is in the file, whole."""

    def add(who: int) -> None:
        for i in range(50):
            append(home / "a.md", lambda text, i=i: f"{who} {i} 字字字\n", below=home)

    threads = [threading.Thread(target=add, args=(who,)) for who in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(f"{who} {i} 字字字" for who in range(4) for i in range(50)) == sorted((home / "a.md").read_text().splitlines())


# ------------------------------------------------------------------ moved away


def test_moved_to_a_name_that_is_free(home: Path) -> None:
    """Nobody's file is replaced; what is there already with the same content is not kept twice."""
    (home / "archive").mkdir()
    for content, name in [("a", "day.md"), ("b", "day-2.md"), ("a", "day.md"), ("c", "day-3.md"), ("b", "day-2.md")]:
        (home / "day.md").write_text(content)
        assert home / "archive" / name == move_aside(home / "day.md", home / "archive" / "day.md", below=home)
        assert not (home / "day.md").exists()

    assert {"day.md": "a", "day-2.md": "b", "day-3.md": "c"} == {p.name: p.read_text() for p in (home / "archive").iterdir()}
    assert move_aside(home / "day.md", home / "archive" / "day.md", below=home) is None


def test_a_move_that_was_cut_off(home: Path) -> None:
    """A name that was taken and never filled is used by the next."""
    (home / "archive").mkdir()
    (home / "archive" / "day.md").touch()
    (home / "day.md").write_text("a")

    assert home / "archive" / "day.md" == move_aside(home / "day.md", home / "archive" / "day.md", below=home)


def test_somebody_has_it_open(home: Path) -> None:
    """What is written to a file after it was moved is in it where it lies now."""
    with (home / "day.md").open("w") as file:
        file.write("one\n")
        file.flush()
        moved = move_aside(home / "day.md", home / "archive" / "day.md", below=home)
        file.write("two\n")

    assert moved is not None and "one\ntwo\n" == moved.read_text()
