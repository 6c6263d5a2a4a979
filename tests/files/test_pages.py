"""Replacing pages that people edit, too: no version is overwritten unseen."""

import os

import pytest

from yiku.errors import InvalidInput, StoreError
from yiku.files import pages


@pytest.fixture
def page(tmp_path):
    return tmp_path / "MEMORY.md"


def test_a_new_page_is_made_for_its_owner_alone(page):
    assert pages.read(page, below=page.parent) is None
    assert pages.replace(page, "记忆\n", None, below=page.parent)
    assert page.read_text() == "记忆\n"
    assert page.stat().st_mode & 0o777 == 0o600


def test_a_page_is_replaced_while_it_is_as_it_was_seen(page):
    page.write_bytes(b"one\r\ntwo\n")
    seen = pages.read(page, below=page.parent)

    assert seen.text == "one\r\ntwo\n"
    assert pages.replace(page, "three\n", seen, below=page.parent)
    assert page.read_text() == "three\n"
    assert [*page.parent.iterdir()] == [page]


@pytest.mark.spec("T-30")
@pytest.mark.parametrize("mtime_kept", [False, True])
def test_what_was_written_meanwhile_stays(page, mtime_kept):
    """In place or by a rename, whatever time the file says."""
    page.write_text("one\n")
    before = page.stat()
    seen = pages.read(page, below=page.parent)
    page.write_text("two\n")
    if mtime_kept:
        os.utime(page, ns=(before.st_atime_ns, before.st_mtime_ns))

    assert not pages.replace(page, "three\n", seen, below=page.parent)
    assert page.read_text() == "two\n"
    assert not pages.replace(page, "three\n", None, below=page.parent)
    page.unlink()
    assert not pages.replace(page, "three\n", seen, below=page.parent)
    assert [*page.parent.iterdir()] == []


def test_a_page_may_lie_in_folders_that_are_made(tmp_path):
    page = tmp_path / "scopes" / "2" / "MEMORY.md"

    assert pages.read(page, below=tmp_path) is None
    assert pages.replace(page, "a", None, below=tmp_path)
    assert page.parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("what", ["link", "folder", "folder that is a link", "another encoding", "pipe"])
def test_what_is_no_page_is_refused(tmp_path, what):
    page = tmp_path / "home" / "a" / "MEMORY.md"
    (tmp_path / "home").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "MEMORY.md").write_text("theirs")
    if what == "folder that is a link":
        page.parent.symlink_to(tmp_path / "elsewhere")
    else:
        page.parent.mkdir()
    match what:
        case "link":
            page.symlink_to(tmp_path / "elsewhere" / "MEMORY.md")
        case "folder":
            page.mkdir()
        case "another encoding":
            page.write_bytes("记忆".encode("gb18030"))
        case "pipe":
            os.mkfifo(page)

    with pytest.raises(InvalidInput, match=r"MEMORY\.md"):
        pages.read(page, below=tmp_path / "home")
    assert (tmp_path / "elsewhere" / "MEMORY.md").read_text() == "theirs"
    with pytest.raises(InvalidInput, match=r"MEMORY\.md"):
        pages.rewrite(page, lambda text: f"{text}more", below=tmp_path / "home")
    assert (tmp_path / "elsewhere" / "MEMORY.md").read_text() == "theirs"


def test_permissions_stay(page):
    """Who lets others read their page goes on doing so."""
    page.write_text("one\n")
    page.chmod(0o644)

    assert pages.replace(page, "two\n", pages.read(page, below=page.parent), below=page.parent)
    assert page.stat().st_mode & 0o777 == 0o644


# ------------------------------------------------------------------ rewritten


def test_rewritten(tmp_path):
    """The file holds what it is changed to, with the permissions and line ends that it had; nothing is left beside it."""
    assert "# a\n" == pages.rewrite(tmp_path / "a.md", lambda text: f"# a\n{text}", below=tmp_path)
    assert 0o600 == (tmp_path / "a.md").stat().st_mode & 0o777
    (tmp_path / "a.md").write_bytes("一\r\n二\r\n".encode())
    (tmp_path / "a.md").chmod(0o640)
    pages.rewrite(tmp_path / "a.md", lambda text: text.replace("一\n", "一\n半\n"), below=tmp_path)

    assert "一\r\n半\r\n二\r\n".encode() == (tmp_path / "a.md").read_bytes()
    assert 0o640 == (tmp_path / "a.md").stat().st_mode & 0o777
    assert ["a.md"] == os.listdir(tmp_path)


def test_rewritten_while_somebody_writes(tmp_path):
    """Where somebody saved the file meanwhile, theirs is what is changed."""
    (tmp_path / "a.md").write_text("one\n")

    def saved_meanwhile(text: str) -> str:
        if text == "one\n":
            (tmp_path / "a.md").write_text("one, edited\n")
        return f"zero\n{text}"

    assert "zero\none, edited\n" == pages.rewrite(tmp_path / "a.md", saved_meanwhile, below=tmp_path)
    with pytest.raises(StoreError, match="all the time"):
        pages.rewrite(tmp_path / "a.md", lambda text: (tmp_path / "a.md").write_text(f"{text}x") and "mine", below=tmp_path)
    assert ["a.md"] == os.listdir(tmp_path)


def test_nothing_changes(tmp_path):
    """Then nothing is written, and the file is the same one."""
    (tmp_path / "a.md").write_text("one\n")
    before = (tmp_path / "a.md").stat()
    pages.rewrite(tmp_path / "a.md", lambda text: text, below=tmp_path)

    assert (before.st_ino, before.st_mtime_ns) == ((tmp_path / "a.md").stat().st_ino, (tmp_path / "a.md").stat().st_mtime_ns)
