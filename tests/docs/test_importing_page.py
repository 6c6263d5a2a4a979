"""The pages on importing, in both languages: their examples run, and print what they say."""

import pytest
from pages import ROOT, blocks, comparable, run_shell

from yiku.interfaces.importers.formats import FORMATS


@pytest.mark.parametrize("name", ["importing.md", "importing.zh.md"])
def test_the_examples_run_and_print_what_they_say(home, name):
    """From top to bottom in one shell; each output stands below its block."""
    page = ROOT / "docs" / name
    said = {block.line: block.output for block in blocks(page)}
    printed = run_shell(page, home)

    assert len(printed) > 1
    for line, out in printed:
        assert comparable(said[line] or "", home) == comparable(out, home), f"docs/{name}:{line}"


@pytest.mark.parametrize("name", ["importing.md", "importing.zh.md"])
def test_every_format_has_its_row(name):
    """The table lists the formats that the command knows."""
    text = (ROOT / "docs" / name).read_text(encoding="utf-8")

    assert {*FORMATS} == {line.split("`")[1] for line in text.splitlines() if line.startswith("| `")}
