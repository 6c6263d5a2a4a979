"""Sentences are split in one place: no module outside rules/text names the marks that end one."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "src" / "yiku"
HOMES = (PACKAGE / "rules" / "text", PACKAGE / "rules" / "lexicon")  # the splitter, and words that are shown
# Readers of the words themselves, which rules/statements replaces predicate by predicate; they go, and this list with them.
LEFT: set[str] = set()

STOPS, ASKS, COMMAS = set(".。"), set("?!？！"), set(",，、:：")
WIDE = set("。！？")  # which mean nothing else
CLASS = re.compile(r"(?<!\\)\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)


def ends_sentences(text: str) -> bool:
    """
    Whether a string is a pattern with a class of the marks that end sentences, or is a list of them, or has a wide one.

    With a comma or colon among them a class cuts clauses, or is all punctuation; a narrow mark alone may mean much else.
    """
    lists = [text] if not any(map(str.isalnum, text)) and not {*"[(|*+\\"} & {*text} else []
    classes = CLASS.findall(text)
    if any(STOPS & {*one} and ASKS & {*one} and not COMMAS & {*one} for one in (*classes, *lists)):
        return True
    rest = CLASS.sub("", text) if any(COMMAS & {*one} for one in classes) else text
    return bool(WIDE & {*rest}) and not (COMMAS & {*rest} and not any(map(str.isalnum, rest)))


def strings(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The strings of a module and their lines, those between the fields of an f-string too; no docstrings."""
    literals = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in literals:
            yield node.lineno, node.value


def modules() -> list[Path]:
    found = [path for floor in ("rules", "flows") for path in sorted((PACKAGE / floor).rglob("*.py"))]
    return [path for path in found if not set(HOMES) & set(path.parents) and path.relative_to(PACKAGE).as_posix() not in LEFT]


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ('re.compile(r".*?(?:[.!?](?=\\s)|[。！？]|$)")', True),
        ('re.compile(r"[^.!?。！？\\n]*[.!?]+")', True),
        ('re.compile(rf"(?<=[。！!；;]){X}")', True),
        ('STOPS = ".!?。！？"', True),
        ('re.compile(r"[，。！？；;!?\\n]+")', False),
        ('re.compile(r"[?？]\\s*$")', True),
        ('said.endswith(("?", "？"))', True),
        ('said.rstrip(".")', False),
        ('"，。！~～"', False),
        ('"""Not [.!?], as a docstring says."""', False),
    ],
)
def test_a_second_splitter_is_noticed(code, found):
    """In a pattern, an f-string or a list of marks, in both languages; clauses and questions are something else."""
    assert found == any(ends_sentences(text) for _, text in strings(ast.parse(code)))


def test_no_module_but_the_splitter_names_the_marks_that_end_a_sentence():
    """Whoever needs sentences asks rules/text for them, so all of Yiku ends them at the same places."""
    found = [
        f"{path.relative_to(PACKAGE)}:{line}: {text[:60]}"
        for path in modules()
        for line, text in strings(ast.parse(path.read_text(encoding="utf-8")))
        if ends_sentences(text)
    ]

    assert len(modules()) > 100
    assert [] == found


def test_what_is_left_of_other_splitters_is_there():
    """A module that is gone, or names no marks any more, leaves the list of exceptions."""
    left = {
        name
        for name in LEFT
        if any(ends_sentences(text) for _, text in strings(ast.parse((PACKAGE / name).read_text(encoding="utf-8"))))
    }

    assert left == LEFT
