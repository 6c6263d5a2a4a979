"""Blobs: long contents, compressed, named by their hash, and verified when read."""

import stat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yiku.errors import Damaged, NotFound
from yiku.files import blobs

LONG = "首" + "日志 log\n" * 20_000 + "尾"


@pytest.mark.parametrize(
    ("text", "long"), [("x" * 65_536, False), ("x" * 65_537, True), ("字" * 21_845, False), ("字" * 21_846, True), ("", False)]
)
def test_what_is_long_is_told_by_its_bytes(text, long):
    """Up to 64 KiB of UTF-8 are not."""
    assert long == blobs.is_long(text)


def test_a_blob_comes_back_whole(tmp_path):
    """To the character; the same text is one file, compressed, for its owner alone."""
    name = blobs.put(tmp_path, LONG)
    path = tmp_path / name[:2] / f"{name}.z"

    assert (LONG, name) == (blobs.get(tmp_path, name), blobs.put(tmp_path, LONG))
    assert [path] == [*tmp_path.glob("*/*")]
    assert 0o600 == stat.S_IMODE(path.stat().st_mode)
    assert path.stat().st_size == blobs.size(tmp_path) < 10_000


@given(text=st.text(st.characters(exclude_categories=["Cs"]), max_size=300))
def test_any_text_comes_back(tmp_path_factory, text):
    """Whatever the characters."""
    folder = tmp_path_factory.mktemp("blobs")

    assert text == blobs.get(folder, blobs.put(folder, text))


def test_an_excerpt_has_both_ends(tmp_path):
    """Head, tail, and a line that says how much is left out."""
    excerpt = blobs.excerpt(LONG)
    head, line, tail = excerpt[: blobs.HEAD_CHARS], excerpt[blobs.HEAD_CHARS : -blobs.TAIL_CHARS], excerpt[-blobs.TAIL_CHARS :]

    assert (LONG[: blobs.HEAD_CHARS], LONG[-blobs.TAIL_CHARS :]) == (head, tail)
    assert f"\n[… {len(LONG) - blobs.HEAD_CHARS - blobs.TAIL_CHARS:,} characters in the blob …]\n" == line


@pytest.mark.parametrize("name", ["", "x", "0" * 64, "../" * 5 + "etc/passwd", "0" * 63 + "/", "A" * 64, "0" * 64 + "\n"])
def test_an_unknown_blob_is_not_found(tmp_path, name):
    """A name that is none of ours reaches no file."""
    with pytest.raises(NotFound):
        blobs.get(tmp_path, name)


DAMAGE = {
    "emptied": lambda content: b"",
    "cut": lambda content: content[:-10],
    "zeroed": lambda content: b"\0" * len(content),
    "flipped": lambda content: content[:50] + bytes([content[50] ^ 1]) + content[51:],
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_blob_is_noticed(tmp_path, damage):
    """Cut, overwritten or with a flipped byte: never a text that nobody said."""
    name = blobs.put(tmp_path, LONG)
    path = tmp_path / name[:2] / f"{name}.z"
    path.write_bytes(DAMAGE[damage](path.read_bytes()))
    with pytest.raises(Damaged, match=name):
        blobs.get(tmp_path, name)


def test_a_blob_under_another_s_name_is_damaged(tmp_path):
    """The name is checked against the content."""
    one, other = blobs.put(tmp_path, LONG), blobs.put(tmp_path, "short")
    (tmp_path / one[:2] / f"{one}.z").write_bytes((tmp_path / other[:2] / f"{other}.z").read_bytes())
    with pytest.raises(Damaged, match=one):
        blobs.get(tmp_path, one)


def test_no_folder_is_empty(tmp_path):
    """Nothing was ever put aside."""
    assert 0 == blobs.size(tmp_path / "none")
