"""The data set of bench/people matches its README: sizes, types, evidence."""

import json
from collections import Counter
from pathlib import Path

import pytest

FILE = Path(__file__).parents[2] / "bench" / "people" / "people.json"
CASES = json.loads(FILE.read_text(encoding="utf-8"))
both = pytest.mark.parametrize("case", CASES, ids=lambda case: case["lang"])


def turns(case: dict) -> list[dict]:
    return [turn for session in case["sessions"] for turn in session["turns"]]


def test_it_is_two_pairs_in_two_languages() -> None:
    """One case in each language, with the numbers of sessions and turns that its README says."""
    sizes = {case["lang"]: (len(case["sessions"]), len(turns(case))) for case in CASES}

    assert {"en": (25, 343), "zh": (25, 315)} == sizes
    assert {12, 13, 14, 15} == {len(session["turns"]) for case in CASES for session in case["sessions"]}


@both
def test_two_people_talk_and_no_assistant(case) -> None:
    """Each session is between the same two, each of whom says something; sessions and turns follow in time."""
    [one, two] = {turn["speaker"] for turn in turns(case)}
    times = [turn["datetime"] for turn in turns(case)]

    assert {"user"} == {turn["role"] for turn in turns(case)}
    assert all({one, two} == {turn["speaker"] for turn in session["turns"]} for session in case["sessions"])
    assert sorted(set(times)) == times


@both
def test_questions_have_their_evidence(case) -> None:
    """The questions of each type are as many as the README says; each names turns of the case, or is to be abstained from."""
    questions, ids = case["questions"], [turn["id"] for turn in turns(case)]

    assert {"single": 35, "several": 12, "time": 13, "none": 10} == Counter(question["type"] for question in questions)
    assert len(questions) == len({question["text"] for question in questions})
    assert len(ids) == len(set(ids))
    for question in questions:
        assert set(question["gold_turns"]) <= set(ids)
        assert {id.partition(":")[0] for id in question["gold_turns"]} == set(question["gold_sessions"])
        assert question["abstain"] == (question["type"] == "none") == (not question["gold_turns"])
    assert all(len(question["gold_turns"]) > 1 for question in questions if question["type"] == "several")
