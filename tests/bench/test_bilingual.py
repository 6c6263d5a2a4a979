"""The bilingual data set of bench/bilingual matches its README: sizes, languages, labels."""

import json
import re
from collections import Counter
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

from yiku.rules.text import analyze

FILE = Path(__file__).parents[2] / "bench" / "bilingual" / "bilingual.json"
[CASE] = json.loads(FILE.read_text(encoding="utf-8"))
SESSIONS, QUESTIONS = CASE["sessions"], CASE["questions"]
TURNS = {turn["id"]: turn for session in SESSIONS for turn in session["turns"]}
SESSION_OF = {turn["id"]: session["id"] for session in SESSIONS for turn in session["turns"]}
TYPES = {"number": 24, "fact": 21, "event": 18, "person": 16, "plan": 14, "preference": 14, "place": 13, "work": 11}
TYPES |= {"file": 10, "correction": 9}


def language(text: str) -> str:
    """The language that most of a text is in: a Chinese character counts as much as a Latin word."""
    return "zh" if len(re.findall(r"[\u4e00-\u9fff]", text)) > len(re.findall(r"[A-Za-z]+", text)) else "en"


def shared(question: dict[str, Any], sort: Literal["words", "characters"] = "words") -> set[str]:
    """What a question and its evidence have in common: stems and pairs of Chinese characters, or single characters."""
    evidence = {token for gold in question["gold_turns"] for token in getattr(analyze.tokens(TURNS[gold]["text"]), sort)}
    return evidence & set(getattr(analyze.question(question["text"]), sort))


def test_it_is_sixty_short_sessions_and_a_hundred_and_fifty_questions() -> None:
    """Sixty sessions of six or eight turns, user and assistant by turns; each id and each question stands there once."""
    ids = [item["id"] for item in [*SESSIONS, *QUESTIONS]] + [turn["id"] for session in SESSIONS for turn in session["turns"]]

    assert (60, 150) == (len(SESSIONS), len(QUESTIONS))
    assert [] == [identifier for identifier, count in Counter(ids).items() if count > 1]
    assert len(QUESTIONS) == len({question["text"] for question in QUESTIONS})
    assert {6, 8} == {len(session["turns"]) for session in SESSIONS}
    for session in SESSIONS:
        assert ["user", "assistant"] * (len(session["turns"]) // 2) == [turn["role"] for turn in session["turns"]]


def test_a_third_shares_words_a_third_shares_none_and_a_third_crosses_languages() -> None:
    """Half of each third is asked in English and half in Chinese."""
    thirds = Counter(
        (meta["question_lang"], meta["memory_lang"], None if meta["crossing"] else meta["shared_word"])
        for meta in (question["meta"] for question in QUESTIONS)
    )

    within = {(lang, lang, shared): 25 for lang in ("en", "zh") for shared in (True, False)}
    assert within | {("en", "zh", None): 25, ("zh", "en", None): 25} == thirds


def test_what_is_said_to_share_no_word_shares_none() -> None:
    """No stem and no pair of characters lies in both; where languages cross, about half lean on a name or a number."""
    wrong = [(q["id"], shared(q)) for q in QUESTIONS if bool(shared(q)) != q["meta"]["shared_word"]]
    crossing = Counter(q["meta"]["shared_word"] for q in QUESTIONS if q["meta"]["crossing"])

    assert [] == wrong
    assert {True: 22, False: 28} == crossing


def test_the_languages_are_as_marked() -> None:
    """A question, and each turn of its evidence, is mostly in the language that its marks name."""
    for question in QUESTIONS:
        meta = question["meta"]
        assert meta["question_lang"] == language(question["text"]), question["id"]
        assert {meta["memory_lang"]} == {language(TURNS[gold]["text"]) for gold in question["gold_turns"]}, question["id"]
        assert meta["crossing"] == (meta["question_lang"] != meta["memory_lang"]), question["id"]


def test_every_question_has_its_evidence() -> None:
    """The gold turns are there, in the gold sessions; each question has an answer, and none is to be abstained from."""
    for question in QUESTIONS:
        assert question["gold_turns"], question["id"]
        assert question["gold_sessions"] == sorted({SESSION_OF[gold] for gold in question["gold_turns"]}), question["id"]
        assert question["answer"].strip(), question["id"]
        assert question["abstain"] is False, question["id"]


def test_all_ten_types_are_asked_for() -> None:
    """As often as the README says."""
    types = Counter(question["type"] for question in QUESTIONS)

    assert TYPES == types


def test_the_other_counts_of_the_readme_are_right() -> None:
    """Sessions by language, turns of the user, questions with one and two gold turns, and those that have a twin."""
    spoken = Counter(frozenset(language(turn["text"]) for turn in session["turns"]) for session in SESSIONS)
    within = {gold for question in QUESTIONS if not question["meta"]["crossing"] for gold in question["gold_turns"]}
    twins = [question for question in QUESTIONS if question["meta"]["crossing"] and within.issuperset(question["gold_turns"])]

    assert {frozenset({"zh"}): 26, frozenset({"en"}): 25, frozenset({"en", "zh"}): 9} == spoken
    assert (374, 187) == (len(TURNS), sum(turn["role"] == "user" for turn in TURNS.values()))
    assert {1: 139, 2: 11} == Counter(len(question["gold_turns"]) for question in QUESTIONS)
    assert 36 == len(twins)


def test_few_paraphrases_share_even_a_character() -> None:
    """Of the 25 Chinese questions without a common word, 8 have a single character in common with their evidence."""
    asked = [q for q in QUESTIONS if {"crossing": False, "question_lang": "zh", "shared_word": False}.items() <= q["meta"].items()]
    sharing = [q["id"] for q in asked if shared(q, "characters")]

    assert (25, 8) == (len(asked), len(sharing))


def test_time_goes_forward_and_nothing_is_asked_before_it_is_said() -> None:
    """Sessions, turns and questions ascend, each with its offset; a session begins with its first turn."""
    said = [datetime.fromisoformat(turn["datetime"]) for session in SESSIONS for turn in session["turns"]]
    asked = [datetime.fromisoformat(question["datetime"]) for question in QUESTIONS]

    assert all(before < after for times in (said, asked) for before, after in pairwise(times))
    assert all(time.utcoffset() is not None for time in [*said, *asked])
    assert [session["datetime"] for session in SESSIONS] == [session["turns"][0]["datetime"] for session in SESSIONS]
    for question, time in zip(QUESTIONS, asked, strict=True):
        assert all(datetime.fromisoformat(TURNS[gold]["datetime"]) < time for gold in question["gold_turns"]), question["id"]


def test_a_change_of_one_turn_is_a_change_of_one_line() -> None:
    """Each turn and each question has a line of its own."""
    lines = FILE.read_text(encoding="utf-8").splitlines()
    texts = [line.count('"text": ') for line in lines if '"text": ' in line]

    assert [1] * (len(TURNS) + len(QUESTIONS)) == texts
