"""The set of bench/languages matches its README: sizes, and which questions share a word with their answer."""

import re
from collections import Counter
from pathlib import Path

import datasets
import pytest

from yiku.rules.text import analyze

FOLDER = Path(__file__).parents[2] / "bench" / "languages"
LANGUAGES = ("ar", "de", "en", "ja", "zh")
FEW = 3  # statements with a word that points to one of them
FUNCTION_WORDS = {"ich", "mich", "في", "إلى"}
SCRIPTS = {"ar": "[\u0600-\u06ff]", "de": "[A-Za-zÄÖÜäöüß]", "en": "[A-Za-z]", "ja": "[\u3040-\u30ff\u4e00-\u9fff]"}
SCRIPTS |= {"zh": "[\u4e00-\u9fff]"}
HIRAGANA = re.compile("[\u3040-\u309f]+")


def case(language: str) -> datasets.Case:
    (found,) = datasets.read(FOLDER / f"{language}.json")
    return found


def test_there_is_a_file_for_each_language() -> None:
    """And no other."""
    assert [*LANGUAGES] == sorted(path.stem for path in FOLDER.glob("*.json"))


@pytest.mark.parametrize("language", LANGUAGES)
def test_it_is_forty_statements_and_forty_questions(language: str) -> None:
    """Ten sessions of four turns of the user; each statement is the answer to one question; all is in the language."""
    found = case(language)
    texts = [*(turn.text for turn in found.turns), *(question.text for question in found.questions)]

    assert [4] * 10 == [len(session.turns) for session in found.sessions]
    assert {"user"} == {turn.role for turn in found.turns}
    assert sorted(turn.id for turn in found.turns) == sorted(id for question in found.questions for id in question.gold_turns)
    assert 80 == len({*texts})
    letters = [re.findall(r"[^\W\d_]", text) for text in texts]
    assert [] == [text for text, some in zip(texts, letters, strict=True) if not re.search(SCRIPTS[language], "".join(some))]
    assert {"a shared word": 20, "no shared word": 20} == Counter(question.type for question in found.questions)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_question_shares_a_word_with_its_answer_or_none(language: str) -> None:
    """As its type says, by the analyzer: one that points to the statement, or none but a function word."""
    found = case(language)
    words = {turn.id: {*analyze.tokens(turn.text).words} for turn in found.turns}
    spread = Counter(word for some in words.values() for word in some)
    wrong = []
    for question in found.questions:
        (gold,) = question.gold_turns
        shared = {word for word in analyze.question(question.text).words if word in words[gold] and not HIRAGANA.fullmatch(word)}
        shared -= FUNCTION_WORDS
        pointing = {word for word in shared if spread[word] <= FEW}
        if shared if question.type == "no shared word" else not pointing:
            wrong.append((question.id, shared))

    assert [] == wrong
