"""Prose is plain English: a person is "they", English quotes are straight, in comments, docstrings, pages and the changelog."""

import ast
import io
import re
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCES = sorted(
    path for folder in ("src", "scripts", "bench") for path in (ROOT / folder).rglob("*.py") if path.stem != "compiled"
)
PAGES = sorted([*(ROOT / "docs").rglob("*.md"), ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md"])
PERSON = re.compile(r"\b(?:himself|[Hh]is|[Hh]e|him)\b")
QUOTED = re.compile(r"`[^`]*`|\"[^\"]*\"|“[^”]*”")  # an example may speak of anybody
# Pages whose examples tell of one person in particular.
TELLS_OF_ONE = {"CHANGELOG.md", "0022-home-wide-verbs.md"}


def prose_of(path: Path) -> str:
    """Comments and docstrings of a module, without what is quoted in them."""
    text = path.read_text("utf-8")
    said = [token.string for token in tokenize.generate_tokens(io.StringIO(text).readline) if token.type == tokenize.COMMENT]
    nodes = (node for node in ast.walk(ast.parse(text)) if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)))
    return QUOTED.sub("", "\n".join([*said, *(ast.get_docstring(node) or "" for node in nodes)]))


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_module_speaks_of_nobody_as_he(path):
    """Nor does it quote with guillemets."""
    prose = prose_of(path)

    assert [] == re.findall("«[^»]*»", prose)
    assert [] == re.findall(r".{0,40}\b(?:himself|[Hh]is|[Hh]e|him)\b.{0,20}", prose)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_page_speaks_of_nobody_as_he(path):
    """Nor does it quote with guillemets."""
    prose = QUOTED.sub("", path.read_text("utf-8"))

    assert [] == re.findall("«[^»]*»", prose)
    assert path.name in TELLS_OF_ONE or [] == [match[0] for match in PERSON.finditer(prose)]
