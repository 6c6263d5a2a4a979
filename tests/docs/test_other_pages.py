"""The pages on async programs and on other libraries: examples run, and every other library's verb is mapped to one of ours."""

import re
from pathlib import Path

import pytest
from pages import ROOT, blocks, comparable, run_python

from yiku import Memory, other_names
from yiku.admin import Admin
from yiku.interfaces.cli import app
from yiku.notes import Notes
from yiku.prompt import Prompts
from yiku.sessions import Sessions

PAGES = ["async.md", "from/other-libraries.md", "from/memory-system.md"]
PLACES = {"": Memory, "admin.": Admin, "sessions.": Sessions, "notes.": Notes, "prompts.": Prompts}
VERBS = {f"{place}{verb}" for place, kind in PLACES.items() for verb in vars(kind) if not verb.startswith("_")}


@pytest.mark.parametrize("name", PAGES)
def test_the_examples_run_and_print_what_they_say(home, name):
    """From top to bottom; each output stands below its block."""
    page: Path = ROOT / "docs" / name
    said = {block.line: block.output for block in blocks(page)}
    printed = run_python(page)

    assert len(printed) > 2
    for line, out in printed:
        assert comparable(said[line] or "", home) == comparable(out, home), f"{name}:{line}"


def test_every_verb_that_the_tables_name_is_one():
    """What stands in the right column of docs/from/other-libraries.md, before a bracket, is a verb of ours."""
    text = (ROOT / "docs" / "from" / "other-libraries.md").read_text(encoding="utf-8")
    right = [row.rsplit(" | ", 1)[1] for row in text.splitlines() if row.startswith("| ") and " | " in row]
    named = {name for cell in right for name in re.findall(r"`([a-z_.]+)\(", cell)}

    assert len(named) > 12
    assert set() == named - VERBS


def test_every_hint_names_a_verb_that_there_is():
    """In Python and on the command line, and no name of ours is taken for another's."""
    assert set() == {verb for verb, _ in other_names.OTHER_NAMES.values()} - VERBS - {"scope"}
    assert set() == {*other_names.OTHER_NAMES} & {verb for verb in VERBS if "." not in verb} - {"scope"}
    assert set() == {*other_names.COMMANDS.values()} - {*app.VERBS}


@pytest.mark.parametrize(
    ("name", "hint"),
    [("search", "`recall`"), ("add", "`remember`"), ("delete", "`forget`"), ("undo", "`admin.undo`"), ("recalls", "`recall`")],
)
def test_a_verb_of_another_library_says_which_it_is_here(home, name, hint):
    """An AttributeError, as for any name; `hasattr` and copies still say no."""
    with Memory(home / "m") as memory:
        with pytest.raises(AttributeError, match=re.escape(hint)):
            getattr(memory, name)
        assert not hasattr(memory, name)
        assert not hasattr(memory, "__deepcopy__")
        with pytest.raises(AttributeError, match=r"Memory has no 'xyzzy'$"):
            getattr(memory, "xyzzy")  # noqa: B009
