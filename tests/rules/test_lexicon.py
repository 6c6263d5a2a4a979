"""The lexicon: compiled files are up to date, and each predicate reads its examples and no counter-examples."""

import ast
import importlib.util
import re
import tomllib
from pathlib import Path

import pytest

from yiku.rules.lexicon import Gap, build, built_in, lists
from yiku.rules.statements.clause import Mood, Tense
from yiku.rules.statements.read import read
from yiku.rules.text.blocks import Kind

ROOT = Path(__file__).parents[2]
LEXICON = ROOT / "src" / "yiku" / "rules" / "lexicon"
LANGUAGES = ("en", "zh")
SHORT = 2  # letters; shorter words are in too many strings that are none
CUES = {"corrects", "changes", "ends", "retracts", "remembers"}
RULES = {"asked to remember", "rule for a task", "amended", "short_term", "long_term", "date", "time", "name"}  # of a draft
NAMES = CUES | RULES | {"close", "yes", "place_", "contact"}
EXCEPTIONS = {
    "text/compiled.py": "written by `make lexicon`",
    "text/analyze.py": "the name of a stemmer",
    "text/blocks.py": "words of programming languages",
    "learning/entities.py": "endings of files",
    "learning/extraction.py": "fields of the schema of a reply",
    "learning/grounding.py": "fields of a reply, and reasons",
    "learning/tools.py": "the sentence that says what a tool did",
    "statements/keys.py": "the subject of the owner",
    "learning/worth.py": "how a clause is said, a word for each",
    "learning/reread.py": "the reasons that a person is shown",
}


def tables(language, name):
    return tomllib.loads((LEXICON / language / f"{name}.toml").read_text("utf-8"))


def examples(column):
    """Language, predicate and example of a column of predicates.toml."""
    return [
        (language, name, example)
        for language in LANGUAGES
        for name, entry in tables(language, "predicates").items()
        for example in (entry[column].items() if column == "reads" else entry[column])
    ]


def test_the_compiled_words_are_those_of_the_files():
    """`make lexicon` was run after the last change."""
    spec = importlib.util.spec_from_file_location("compile_lexicon", ROOT / "scripts" / "compile_lexicon.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)

    for path, text in script.written().items():
        assert path.read_text("utf-8") == text, path.name


def test_both_languages_have_the_same_files_and_predicates():
    """What one can say, the other can."""
    assert [path.name for path in sorted((LEXICON / "en").iterdir())] == [path.name for path in sorted((LEXICON / "zh").iterdir())]
    assert set(tables("en", "predicates")) == set(tables("zh", "predicates"))
    for name in ("persons", "moods", "changes", "times"):
        assert {key: set(entry) for key, entry in tables("en", name).items()} == {
            key: set(entry) for key, entry in tables("zh", name).items()
        }, name
    for table, entry in tables("en", "clock").items():
        if table not in ("number", "holiday"):  # each names those that it has words for
            assert set(entry) == set(tables("zh", "clock")[table]), table


def names_of_the_data():
    """What sorts, fields and moods are called: names that code and tables share, and no words that are read."""
    lexicon = built_in()
    gaps = {part.sort for each in lexicon.templates.values() for one in each for part in one.parts if isinstance(part, Gap)}
    sorts = {sort for entry in lexicon.words.values() for sort in entry.sorts} | {
        each.takes for each in lexicon.predicates.values()
    }
    moods = {str(each) for kind in (Mood, Tense, Kind) for each in kind}
    return NAMES | gaps | sorts | moods | set(lexicon.lists) | set(lexicon.endings) | set(lexicon.attributes.values())


@pytest.mark.parametrize("room", ["text", "statements", "learning"])
def test_no_module_knows_a_word_of_a_language(room):
    """No string has a Chinese character or a word of the lexicon: a third language is a folder."""
    lexicon, names, found = built_in(), names_of_the_data(), set()
    for path in sorted((LEXICON.parent / room).glob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        described = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # docstrings
        for node in ast.walk(tree):
            if (
                not isinstance(node, ast.Constant)
                or not isinstance(node.value, str)
                or id(node) in described
                or node.value in names
            ):
                continue
            words = [word for word in re.findall("[a-z]+", node.value.lower()) if len(word) > SHORT and word in lexicon.words]
            if words or re.search("[\u3400-\u9fff]", node.value):
                found.add(f"{room}/{path.name}")

    assert {name for name in EXCEPTIONS if name.startswith(f"{room}/")} == found


def test_no_word_of_the_data_is_a_pattern():
    """Words and templates only: what a regular expression is made of has no place here."""
    for language in LANGUAGES:
        for path in (LEXICON / language).glob("*.toml"):
            text = path.read_text("utf-8")
            assert not [sign for sign in (".*", "\\\\b", "(?", "\\\\w", ".+", "[a-z]") if sign in text], path.name


@pytest.mark.parametrize(("language", "name", "example"), examples("reads"), ids=str)
def test_a_template_reads_its_example(language, name, example):
    text, value = example
    slots = [(slot.predicate, text[slot.value.start : slot.value.end]) for clause in read(text) for slot in clause.slots]

    assert (name, value) in slots


@pytest.mark.parametrize(("language", "name", "text"), examples("leaves"), ids=str)
def test_a_template_leaves_what_only_looks_like_it(language, name, text):
    assert name not in {slot.predicate for clause in read(text) for slot in clause.slots}


def test_a_gap_of_no_known_sort_is_refused():
    """A template that could never match is named when the lexicon is built, with its gap."""
    language = {name: tables("en", name) for name in ("persons", "moods", "changes", "functions", "values", "predicates")}
    language["predicates"]["diet"]["says"] = ["(went) {value:end}"]

    with pytest.raises(ValueError, match=r"diet: .*: end is no sort"):
        build.lexicon([language])


def test_the_lexicon_is_made_once():
    assert built_in() is built_in()


def test_words_are_looked_for_whole_and_inside_a_run():
    """Video is found as a word; 视频 wherever it stands."""
    assert lists.has("which video is it", "asking.video")
    assert not lists.has("a videographer", "asking.video")
    assert lists.has("这视频是谁的", "asking.video")
    assert {"video", "视频"} <= lists.words("asking.video")
