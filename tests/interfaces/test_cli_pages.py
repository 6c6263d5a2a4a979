"""The commands `publish` and `edit`."""

import re

import commands
import pytest

from yiku import Memory


def run(home, *words, **environment):
    return commands.run(*words, YIKU_HOME=home, **environment)


@pytest.fixture
def filled_home(home):
    """A home with two statements, published."""
    Memory(home, owner="user:mei").close()
    run(home, "remember", "I live in Oslo.")
    run(home, "remember", "我喜欢喝茶。")
    run(home, "publish")
    return home


def script(tmp_path, line):
    """An editor that runs one line of shell on the file."""
    path = tmp_path / "editor"
    path.write_text(f"#!/bin/sh\n{line}\n")
    path.chmod(0o755)
    return str(path)


def id_of(home, text):
    return next(row["id"] for row in run(home, "list", "--json").json["memories"] if text in row["content"])


@pytest.mark.spec("S4-90", "S4-13")
def test_a_line_that_a_person_edits_changes_the_answer(filled_home):
    page = filled_home / "MEMORY.md"
    page.write_text(page.read_text().replace("Oslo", "Bergen"))

    assert "edits that were not read yet: yiku publish" in " ".join(run(filled_home, "status").out.split())
    done = run(filled_home, "publish")
    assert "written MEMORY.md: 2 statements" in done.out
    assert "  corrected: I live in Bergen." in done.out
    assert "Bergen" in run(filled_home, "recall", "where do I live?").out.splitlines()[0]
    operation = done.out.rsplit("yiku undo ", 1)[1].split()[0]
    run(filled_home, "undo", operation)
    assert "Oslo" in run(filled_home, "recall", "where do I live?").out.splitlines()[0]


def test_a_sync_says_how_its_edits_are_taken_back(filled_home):
    """As publishing does; without edits there is nothing to take back."""
    page = filled_home / "MEMORY.md"
    run(filled_home, "sync")
    assert "undo" not in run(filled_home, "sync").out
    page.write_text(page.read_text().replace("喝茶", "喝咖啡").replace("Oslo", "Bergen"))
    done = run(filled_home, "sync")
    run(filled_home, "undo", re.search(r"yiku undo (\d+) takes these edits back", done.out)[1])

    assert {"I live in Oslo.", "我喜欢喝茶。"} == {row["content"] for row in run(filled_home, "list", "--json").json["memories"]}


def test_the_json_has_a_report_of_each_page(filled_home):
    done = run(filled_home, "publish", "--json").json

    assert {"yiku", "verb", "pages", "operations"} == {*done}
    assert [(page["path"], page["action"], page["shown"]) for page in done["pages"]] == [
        ("MEMORY.md", "unchanged", 2),
        ("USER.md", "unchanged", 2),
    ]


def test_the_json_has_what_an_edit_changed(filled_home):
    """Of publish, and of a sync with its pages and files; of a memory only what is no number of the store."""
    page, document = filled_home / "MEMORY.md", filled_home / "documents" / "设计.md"
    page.write_text(page.read_text().replace("Oslo", "Bergen"))
    published = run(filled_home, "publish", "--json").json["pages"]
    assert [["I live in Bergen."], []] == [one["changed"] for one in published]

    document.parent.mkdir(exist_ok=True)
    document.write_text("设计\n")
    assert {"added": ["documents/设计.md"], "changed": []}.items() <= run(filled_home, "index", document, "--json").json[
        "sync"
    ].items()
    document.write_text("新的设计\n")
    page.write_text(page.read_text().replace("喝茶", "喝咖啡"))
    synced = run(filled_home, "sync", "--json").json["sync"]
    assert "documents/设计.md" in synced["changed"]
    assert ["我喜欢喝咖啡。"] == synced["pages"][0]["changed"]
    memory = run(filled_home, "list", "--json").json["memories"][0]
    assert {"n", "content_hash", "changed", "place", "slot"}.isdisjoint(memory)


def test_a_page_that_is_held_says_what_to_do(filled_home):
    (filled_home / "MEMORY.md").write_text("")
    done = run(filled_home, "publish")

    assert (done.code, "held MEMORY.md has lost its managed region" in done.out) == (1, True)
    assert run(filled_home, "publish", "--keep", "memory").code == 0
    assert "Oslo" in (filled_home / "MEMORY.md").read_text()
    assert run(filled_home, "publish", "--keep", "both").code == 2


def test_a_memory_is_edited_in_the_editor(filled_home, tmp_path):
    """The newer of its versions, whichever is named; nothing of the text stays behind."""
    id = id_of(filled_home, "Oslo")
    before = {path.name for path in filled_home.iterdir()}
    done = run(filled_home, "edit", id[-8:], EDITOR=script(tmp_path, 'sed -i s/Oslo/Rome/ "$1"'))

    assert (done.code, done.out) == (0, "updated  I live in Rome.\n")
    assert "Rome" in run(filled_home, "recall", "where do I live?").out.splitlines()[0]
    run(filled_home, "edit", id, VISUAL=script(tmp_path, 'sed -i s/Rome/卑尔根/ "$1"'), EDITOR="false")
    assert "卑尔根" in run(filled_home, "get", id_of(filled_home, "卑尔根")).out
    assert {path.name for path in filled_home.iterdir()} == before


@pytest.mark.parametrize("line", ["exit 0", ': > "$1"', 'printf "\\n\\n" > "$1"'])
def test_a_text_that_was_not_changed_changes_nothing(filled_home, tmp_path, line):
    done = run(filled_home, "edit", id_of(filled_home, "Oslo"), EDITOR=script(tmp_path, line))

    assert (done.code, done.out) == (0, "unchanged\n")
    assert run(filled_home, "history", id_of(filled_home, "Oslo"), "--json").json["versions"][0]["content"] == "I live in Oslo."


@pytest.mark.parametrize(
    ("editor", "why"), [("false", "ended with 1"), ("/nowhere/editor", "cannot be started"), ("'", "cannot be started")]
)
def test_an_editor_that_fails_changes_nothing(filled_home, editor, why):
    done = run(filled_home, "edit", id_of(filled_home, "Oslo"), EDITOR=editor)

    assert (done.code, why in done.err) == (2, True)
    assert not [path for path in filled_home.iterdir() if path.name.startswith(".edit")]
