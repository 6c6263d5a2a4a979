"""
Words of languages are only in the TOML files of rules/lexicon and in model prompts.

Outside of it no string of the rules and flows has a Chinese character, and no pattern and no list of words is made of words
of the lexicon; what a person is told when something is wrong is a sentence, and none of these. A pattern has at most
LONGEST characters as compiled: more is a list of words in disguise. Which signs end a sentence is known to rules/text alone.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import patterns
import pytest

from yiku.rules.lexicon import built_in, lists
from yiku.rules.privacy import announced
from yiku.rules.text.lazy import Lazy

PACKAGE = Path(__file__).resolve().parent.parent / "src" / "yiku"
LEXICON = PACKAGE / "rules" / "lexicon"
LONGEST = 200  # characters of a pattern
SHORT = 2  # letters; shorter words are in too many strings that are none
FEW = 3  # of a tuple, that have names which are words, too: "place", "name", "person"

LEFT = {"rules/text/words.py"}  # its pattern names the scripts without spaces three times, and no word
# Names that programs gave: a file's ending, a field, a mark in a prompt. None is read as a word.
NAMES = {
    "flows/common/checks.py": "fields of a filter",
    "flows/home/import_trust.py": "fields of a memory",
    "flows/home/export.py": "fields of an export",
    "flows/home/export_lines.py": "fields of an export",
    "flows/keep/update.py": "fields of a memory",
    "rules/sessions/agent_events.py": "fields and events of coding agents",
    "rules/sessions/attachments.py": "types of files",
    "rules/sessions/episodes.py": "parameters of tools, endings of files",
    "rules/privacy/erasure.py": "fields of a memory",
    "rules/learning/entities.py": "endings of files",
    "rules/sessions/messages.py": "fields and types of messages of chat APIs",
    "rules/privacy/credentials.py": "forms of issuers, with examples",
    "rules/privacy/quoting.py": "marks by which prompts are cut",
    "rules/text/blocks.py": "words of programming languages",
    "rules/values/time_words.py": "names of classes and lists",
}
COMPILED = "rules/text/compiled.py"  # written by `make lexicon` from the TOML files

RANGE = re.compile(r".-.", re.DOTALL)  # the ends of a range of characters are no words
ALTERNATIVE = re.compile(r"(?<![\w\\-])[a-z]+(?![\w*+?{-])")
CHINESE = re.compile("[\u3400-\u9fff]")


def modules() -> list[Path]:
    every = [path for floor in ("rules", "flows") for path in sorted((PACKAGE / floor).rglob("*.py"))]
    return [path for path in every if LEXICON not in path.parents]


def name_of(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def strings(tree: ast.AST) -> Iterator[tuple[ast.Constant, bool]]:
    """The strings of a module and whether each is split into words; no docstrings."""
    literals = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    split = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "split" and not node.args
        for part in ast.walk(node.func.value)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in literals:
            yield node, id(node) in split


def chinese(tree: ast.AST) -> list[str]:
    """The strings of a module that have Chinese characters, but for the ends of ranges."""
    return [f"{node.lineno}: {node.value[:60]!r}" for node, _ in strings(tree) if CHINESE.search(RANGE.sub("", node.value))]


def words(tree: ast.AST) -> list[str]:
    """What of a module's strings is made of words of the lexicon: alternatives of patterns, and lists."""
    known, found = set(built_in().words).union(*built_in().lists.values()), []
    for node, is_split in strings(tree):
        text = node.value
        listed = text.split() if is_split else ALTERNATIVE.findall(text) if "|" in text else []
        literals = [word for word in listed if len(word) > SHORT and word in known]
        if len(literals) > 1:
            found.append(f"{node.lineno}: {' '.join(literals)[:60]}")
    for node in ast.walk(tree):
        if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
            literals = [each.value for each in node.elts if isinstance(each, ast.Constant) and each.value in built_in().words]
            if len(literals) > FEW:
                found.append(f"{node.lineno}: {literals[:4]}")
    return found


@pytest.mark.parametrize(
    ("code", "count"),
    [
        ('x = re.compile("因为|所以")', 1),
        ('x = re.compile(r"\\b(?:because|therefore)\\b")', 1),
        ('WORDS = "because since therefore".split()', 1),
        ('WORDS = ("because", "since", "therefore", "hence")', 1),
        ('LETTERS = "\u3400-\u9fff"', 0),
        ('raise ValueError("not a time, because it has no date")', 0),
        ('"""我因为 or because."""', 0),
        ('x = record["session"]', 0),
    ],
)
def test_a_word_of_a_language_is_noticed(code, count):
    """In a pattern, a list, or Chinese anywhere; not in a message, a docstring, a range of characters, the name of a field."""
    assert count == len(chinese(ast.parse(code)) + words(ast.parse(code)))


def trees() -> dict[str, ast.AST]:
    return {name_of(path): ast.parse(path.read_text("utf-8")) for path in modules()}


def test_no_module_has_a_chinese_character():
    """Not even in what is shown to people: that is in labels.toml, in each language."""
    found = {name: what for name, tree in trees().items() if name not in LEFT and (what := chinese(tree))}

    assert {COMPILED} == set(found), found


def test_no_module_knows_a_word_of_a_language():
    """A third language is a folder of TOML files: no line of code has a word of one."""
    found = {name: what for name, tree in trees().items() if name not in LEFT and name != COMPILED and (what := words(tree))}

    assert set(NAMES) == set(found), found


def is_alternation(pattern: str) -> bool:
    """Whether a pattern is a plain alternation of literal words, between edges of words or not."""
    if pattern == r"(?!)":  # of a list without words
        return True
    inside = re.sub(r"\(\?<?!\[[^\]]*\]\)", "", pattern)
    return not re.search(r"(?<!\\)[\[*+?{^$]", inside.replace("(?:", "("))


def compiled() -> Iterator[tuple[str, re.Pattern[str]]]:
    """The compiled patterns of rules and flows and the module of each; also those that are compiled when they are needed."""
    for module in patterns.modules():
        if module.__name__.startswith(("yiku.rules.", "yiku.flows.")):
            name = f"{module.__name__.removeprefix('yiku.').replace('.', '/')}.py"
            held = (pattern for value in [*vars(module).values()] for pattern in held_by(value))
            for pattern in (*held, *(pattern for place in (patterns._called, patterns._made) for _, pattern in place(module))):
                yield name, pattern
    for chinese in (False, True):
        yield from (
            ("rules/privacy/announced.py", each) for one in announced.ANNOUNCING for _, each in announced._patterns(one, chinese)
        )


def held_by(value: object) -> Iterator[re.Pattern[str]]:
    """The compiled patterns in a value, however deep."""
    if isinstance(value, Lazy):
        value = value.compiled()
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, dict):
        yield from (pattern for each in value.values() for pattern in held_by(each))
    elif isinstance(value, (tuple, list)):
        yield from (pattern for each in value for pattern in held_by(each))


def test_a_list_of_words_is_told_from_a_pattern():
    """However long: what `lists.looked_for` compiles is a list."""
    assert all(is_alternation(lists.looked_for(name).pattern) for name in built_in().lists)
    assert not is_alternation(r"(?:cat|dog)s?")


def test_no_pattern_is_longer_than_a_person_reads():
    """As compiled, with all its parts; a plain alternation of words is a list."""
    long = {
        f"{name}: {pattern.pattern[:60]!r}"
        for name, pattern in compiled()
        if len(pattern.pattern) > LONGEST and not is_alternation(str(pattern.pattern)) and name not in LEFT
    }

    assert set() == long


def test_what_is_left_of_other_homes_is_there():
    """A module that is gone, or has no word and no long pattern any more, leaves the list of exceptions."""
    said = {name for name, tree in trees().items() if chinese(tree) or words(tree)}
    long = {name for name, pattern in compiled() if len(pattern.pattern) > LONGEST and not is_alternation(str(pattern.pattern))}

    assert LEFT == LEFT & (said | long)
