"""The README in both languages: short, the same, and true."""

import re
from pathlib import Path

import pytest
from pages import ROOT, blocks, comparable, run_python, run_shell

READMES = {"en": ROOT / "README.md", "zh": ROOT / "README.zh.md"}


@pytest.mark.parametrize("readme", READMES.values(), ids=READMES)
def test_the_python_of_the_readme_runs_and_prints_what_it_says(readme, home):
    """Whoever pastes the Python of a README gets the output below it."""
    said = {block.line: block.output for block in blocks(readme)}
    printed = run_python(readme)

    assert printed
    assert [comparable(said[line], home) for line, _ in printed] == [comparable(out, home) for _, out in printed]


def test_the_shell_of_the_readme_runs_and_prints_what_it_says(home):
    """Whoever pastes the commands of the README gets the output below them; the Chinese one has the same."""
    said = {block.line: block.output for block in blocks(READMES["en"])}
    printed = run_shell(READMES["en"], home)

    assert printed
    assert [comparable(said[line], home) for line, _ in printed] == [comparable(out, home) for _, out in printed]


def test_both_readmes_have_the_same_blocks():
    """A reader of either language types the same and sees the same."""
    english, chinese = ([(block.language, block.text) for block in blocks(readme)] for readme in READMES.values())

    assert english
    assert english == chinese


def test_both_readmes_have_the_same_parts_and_links():
    """A heading, row or link that one of them has, the other has too."""
    english, chinese = map(outline, READMES.values())

    assert english == chinese


def outline(readme: Path) -> list[str]:
    """The marks of headings, rows and items, and where the links lead; not to the other language, which differs."""
    text = re.sub(r"^```.*?^```$", "", readme.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    marks = re.findall(r"^#+ |^\||^- |\]\([^)]+\)", text, re.MULTILINE)
    return [mark for mark in marks if "README" not in mark]


@pytest.mark.parametrize("readme", READMES.values(), ids=READMES)
def test_the_readme_opens_with_what_this_is_and_two_commands(readme):
    """Three lines say what it is; then come the two commands, then ten lines of Python and ten of shell."""
    text = readme.read_text(encoding="utf-8")
    first = text.split("\n\n")[1]
    lengths = {block.language: block.text.count("\n") for block in blocks(readme) if block.language in ("python", "sh")}

    assert 3 == first.count("\n") + 1
    assert 0 < text.find("`make demo`") < text.find("`make test`") < text.find("```python") < text.find("```sh")
    assert {"python": 10, "sh": 10} == lengths
