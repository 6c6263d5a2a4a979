"""Erasing from notes: the sentence leaves the file, index, vectors and backups, and nothing else does."""

from pathlib import Path

import pytest
from embedders import Hashed

from yiku import Memory
from yiku.files import pages
from yiku.types import Place

SECRET = "Ann's locker code is 4711 violet."
SECRETS = {"en": SECRET, "zh": "小雨的储物柜密码是四七一一紫罗兰。"}


def write(home, path, text):
    file = home / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def notes_of(memory):
    store = memory._handle.store
    return [note for scope in memory._handle.own() for note in store.notes.after(scope, 0, 1000)]


@pytest.mark.parametrize("language", SECRETS)
def test_the_sentence_is_cut_out_of_the_file(memory, home, language):
    """And the receipt names file and line; the rest of the file stays as it was, and nothing is found anywhere."""
    secret = SECRETS[language]
    memory.admin.backup()
    file = write(home, "documents/codes.md", f"# Codes 密码\n\nBefore. {secret} After 之后.\n\n- {secret}\n- Another item 另一项\n")
    memory.notes.sync()
    memory.admin.backup()
    done = memory.admin.erase(memory.remember(secret).memory.id)

    assert "# Codes 密码\n\nBefore. After 之后.\n\n- Another item 另一项\n" == file.read_text()
    assert {"documents/codes.md:3", "documents/codes.md:5"} <= {place.name for place in done.places}
    assert done.clean, [place for place in done.places if place.found]
    assert not any(secret in note.text for note in notes_of(memory))
    assert not [path for path in home.rglob("*") if path.is_file() and secret.encode() in path.read_bytes()]
    memory.notes.sync()
    assert ["Another item"] == [word for note in notes_of(memory) for word in ("Another item",) if word in note.text]
    assert not memory.admin.check("deep").problems


def test_notes_are_kept_when_that_is_asked_for(memory, home):
    """The file stays as it is, and the receipt lists it, and is not clean."""
    file = write(home, "memory/2026-11-20.md", f"{SECRET}\n")
    memory.notes.sync()
    done = memory.admin.erase(memory.remember(SECRET).memory.id, keep_notes=True)

    assert f"{SECRET}\n" == file.read_text()
    assert ["memory/2026-11-20.md:1"] == [one.name for one in done.kept if isinstance(one, Place)]
    assert not done.clean


def test_a_dry_run_lists_the_lines_and_changes_nothing(memory, home):
    file = write(home, "MEMORY.md", f"a\n\n{SECRET}\n")
    listed = memory.admin.erase(memory.remember(SECRET).memory.id, dry_run=True)

    assert [("MEMORY.md:3", "would be cut out")] == [(one.name, one.done) for one in listed.places]
    assert f"a\n\n{SECRET}\n" == file.read_text()


def test_a_file_that_no_sync_has_seen_is_cut_too(memory, home):
    file = write(home, "documents/new.md", f"x\r\n{SECRET} Y.\r\n")
    memory.admin.erase(memory.remember(SECRET).memory.id)

    assert b"x\r\nY.\r\n" == file.read_bytes()


def test_the_vectors_of_a_passage_go(home):
    with Memory(home, owner="user:mei", embedder=Hashed()) as memory:
        write(home, "documents/a.md", f"{SECRET}\n")
        write(home, "documents/b.md", "The pond froze over.\n")
        memory.notes.sync()
        memory.admin.embed()
        done = memory.admin.erase(memory.remember(SECRET).memory.id)

        assert done.clean
        assert ["documents/b.md"] == [hit.item.path for hit in memory.recall("violet locker pond", types=["note"])]


def test_a_whole_scope_leaves_the_files_and_empties_their_index(memory, home):
    """They are the person's own; they can be indexed again."""
    file = write(home, "documents/a.md", "The pond froze over.\n")
    memory.notes.sync()
    memory.record_turn("user", "Hello there 你好")
    memory.admin.erase(everything=True, confirm=memory.scope)

    assert "The pond froze over.\n" == file.read_text()
    assert not notes_of(memory)
    assert not memory.admin.check("deep").problems
    assert 1 == len(memory.notes.sync().added)


def test_a_backup_that_is_put_back_has_no_index_of_what_was_erased(memory, home):
    """Its own index is emptied; the next sync makes it from the files."""
    write(home, "documents/a.md", f"{SECRET} The rest.\n")
    memory.notes.sync()
    backup = memory.admin.backup()
    memory.admin.erase(memory.remember(SECRET).memory.id)
    memory.admin.restore_backup(Path(backup.path).name)
    memory.notes.sync()

    assert ["The rest."] == [note.text for note in notes_of(memory)]
    assert not memory.admin.check("deep").problems


def test_the_managed_region_is_left_to_publishing(memory, home):
    """The line of the region goes whole, with its id; what a person wrote around it loses only the sentence."""
    memory.remember(SECRET)
    memory.notes.publish()
    page = home / "MEMORY.md"
    page.write_text(f"Mine. {SECRET} Yes.\n\n{page.read_text()}")
    memory.notes.sync()
    memory.admin.erase(memory.get_all()[0].id)

    assert "4711" not in page.read_text() and page.read_text().startswith("Mine. Yes.\n")
    assert memory.get_all() == []
    memory.notes.publish()
    assert page.read_text().startswith("Mine. Yes.\n") and memory.get_all() == []


def test_a_page_that_is_saved_all_the_time_is_not_said_to_be_cut(memory, home, monkeypatch):
    """Somebody saves it between each look and the write: the receipt says so, is not clean, and `resume` does it later."""
    kept = memory.remember("I live in Oslo. 我住在奥斯陆。").memory
    memory.notes.publish()
    page = home / "MEMORY.md"
    replace, times = pages.replace, iter(range(1_000))

    def saved_meanwhile(path, text, seen, *, below):
        page.write_text(f"{page.read_text()}More {next(times)}.\n")
        return replace(path, text, seen, below=below)

    monkeypatch.setattr(pages, "replace", saved_meanwhile)
    done = memory.admin.erase(kept.id)
    monkeypatch.undo()

    assert "Oslo" in page.read_text()
    assert [True] == [one.unfinished for one in done.places if one.name == "MEMORY.md" and one.done.startswith("not cut")]
    assert not done.clean
    assert memory.admin.erase(resume=True)
    assert "Oslo" not in page.read_text()
