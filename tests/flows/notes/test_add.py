"""`index_document` and `index_skill`: indexed at once, copied into the vault if outside."""

import os

import pytest

from yiku import Memory
from yiku.errors import InvalidInput


def test_a_document_outside_the_vault_is_copied_and_indexed(memory, home, tmp_path):
    """A file and a folder; the original stays."""
    (tmp_path / "notes/deep").mkdir(parents=True)
    (tmp_path / "plan.md").write_text("# Plan 计划\n\nPlant the quince.\n")
    (tmp_path / "notes/deep/a.md").write_text("The badger digs.")
    (tmp_path / "notes/b.txt").write_text("獾在挖洞。")
    (tmp_path / "notes/c.png").write_bytes(b"no text")

    assert ("documents/plan.md",) == memory.notes.index_document(tmp_path / "plan.md").added
    assert {"skills/notes/b.txt", "skills/notes/deep/a.md"} == {*memory.notes.index_skill(str(tmp_path / "notes")).added}
    assert "# Plan 计划\n\nPlant the quince.\n" == (home / "documents/plan.md").read_text() == (tmp_path / "plan.md").read_text()
    assert 1 == memory.notes.index_document(tmp_path / "plan.md").unchanged


def test_a_file_in_the_vault_is_indexed_where_it_lies(memory, home):
    (home / "documents").mkdir()
    (home / "documents/a.md").write_text("one")

    assert ("documents/a.md",) == memory.notes.index_document(home / "documents/a.md").added
    (home / "documents/a.md").write_text("two")
    assert ("documents/a.md",) == memory.notes.index_document(home / "documents").changed


def test_a_copy_takes_no_other_files_place(memory, home, tmp_path):
    """A person may have edited what is there."""
    (home / "documents").mkdir()
    (home / "documents/plan.md").write_text("edited by hand")
    (tmp_path / "plan.md").write_text("another plan")

    with pytest.raises(InvalidInput, match="there already"):
        memory.notes.index_document(tmp_path / "plan.md")
    assert "edited by hand" == (home / "documents/plan.md").read_text()


def test_a_name_in_another_encoding_is_named_and_the_rest_indexed(memory, home, tmp_path):
    """Nothing is copied under it; in the vault, too, it stops no other file."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / os.fsdecode(b"th\xe9.md")).write_text("quince")
    (tmp_path / "notes" / "茶.md").write_text("乌龙茶")

    for place in (tmp_path / "notes", home / "documents"):
        done = memory.notes.index_document(place)
        assert ["its name is not UTF-8: rename it"] == [*done.failed.values()]
        assert 1 == len(done.added) + done.unchanged
        (home / "documents" / os.fsdecode(b"th\xe9.md")).write_text("quince")
    assert ["茶.md"] == [path.name for path in (home / "documents/notes").iterdir()]


@pytest.mark.parametrize("path", ["", 3, None, "nowhere.md", "a\0b", "picture.png"])
def test_what_is_no_document_is_refused(memory, tmp_path, path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "picture.png").write_bytes(b"x")

    with pytest.raises(InvalidInput, match="path"):
        memory.notes.index_document(path)


def test_in_a_home_that_lies_behind_a_link(memory, home, tmp_path):
    """As /var does on a Mac: the link is above the home, not in it."""
    (tmp_path / "plan.md").write_text("Plant the quince. 种木瓜。\n")
    (tmp_path / "linked").symlink_to(home.parent)
    with Memory(tmp_path / "linked" / home.name) as other:
        assert ("documents/plan.md",) == other.notes.index_document(tmp_path / "plan.md").added
