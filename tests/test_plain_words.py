"""Prose and names are plain English: forbidden words, straight quotes, "they" for a person."""

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
# Private words that had a name in the field, by what is written instead (docs/style.md).
RETIRED = {
    "alone": "exclusive, only",
    "anew": "again, renumbered",
    "apart": "distance, separate",
    "begin_anew": "reset",
    "behind": "after, following, the place itself",
    "beside": "side file, baseline, adjacent",
    "go_on": "resume, resume_numbering",
    "goes": "erased",
    "hasten": "shorten_busy_timeout",
    "heard": "visible",
    "likeness": "similarity",
    "offshoots": "derived records",
    "put_back": "restore",
    "scour": "verify",
    "surely": "always_score",
    "take_out": "delete",
    "told": "fields, statement, reply",
    "unspaced": "is_cjk",
}
RETIRED_PROSE = re.compile(r"\b(?:drawers?|offshoots?|scour(?:ed|s)?|likeness|the house|walks? of|goes home)\b")
# Retired words are still names in the rules that read language.
READERS = ("finding", "learning", "lexicon", "statements")
NAMED = [path for path in SOURCES if not any(path.is_relative_to(ROOT / "src/yiku/rules" / name) for name in READERS)]
OUTSIDE = [path for path in NAMED if not path.is_relative_to(ROOT / "src/yiku/rules")]
TESTS = sorted(
    path for path in (ROOT / "tests").rglob("*.py") if not {"find", "learn"} & {*path.parts} and path.stem != "test_statements"
)
# What begins so is no sentence by itself.
FRAGMENT = re.compile(r"(?:The same\b|And\b|Of (?:a|an|the)\b|Whom\b|Without a\b)")


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


def defined_in(path: Path) -> set[str]:
    """The names of functions, classes, parameters, fields and variables that a module defines."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        match node:
            case ast.FunctionDef() | ast.ClassDef():
                names.add(node.name)
            case ast.arg():
                names.add(node.arg)
            case ast.Name(ctx=ast.Store()):
                names.add(node.id)
    return names


@pytest.mark.parametrize("path", NAMED, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_retired_word_names_nothing(path):
    """A name is the field's word, so that a reader finds it by searching for that."""
    assert {} == {name: RETIRED[name] for name in defined_in(path) & {*RETIRED}}
    assert [] == RETIRED_PROSE.findall(prose_of(path))


def test_a_value_in_a_test_is_named_by_what_it_is():
    """`told` and `behind` were names of statements, outcomes, reports, texts and places alike."""
    tests = [path for path in TESTS if re.search(r"\b(?:told|behind)\b", path.read_text("utf-8"))]

    assert len(tests) > 20
    assert {} == {path.name: names for path in tests if (names := defined_in(path) & {"told", "behind"})}


@pytest.mark.parametrize("path", OUTSIDE, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_docstring_stands_by_itself(path):
    """The first line of each docstring can be read without what stands around it."""
    nodes = [
        node
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
    ]
    lines = [(ast.get_docstring(node) or "").partition("\n")[0] for node in nodes]

    assert [] == [line for line in lines if FRAGMENT.match(line)]
