"""Pages that people write, too: nobody's words are replaced by those of somebody who has not seen them."""

import os

import pytest

from yiku.errors import InvalidInput
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
