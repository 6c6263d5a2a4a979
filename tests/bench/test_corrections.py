"""bench/corrections.py: how it counts right and marked answers, and that undecided ones do not count."""

import json
import subprocess
import sys
from pathlib import Path

import corrections
import pytest

RUNNER = Path(corrections.__file__)


def case(**changed):
    stated = {
        "id": "one",
        "kind": "change-cue",
        "said": [
            {"at": "2026-03-01T09:00", "text": "My parking spot is C03.", "session": "a"},
            {"at": "2026-03-02T09:00", "text": "My parking spot is D11 now.", "session": "b"},
        ],
        "ask": {"at": "2026-03-20T09:00", "text": "Which parking spot is mine?"},
        "first": [1],
        "answer": [["d11"]],
        "outdated": [{"turn": 0, "words": "c03"}],
        "holds": [],
        "retires": [[1, 0]],
    }
    return stated | changed


def test_the_answer_that_holds_must_come_first(tmp_path):
    """The newer spot is right, and wanted the other way round it is wrong."""
    right = corrections.judged(case(), tmp_path / "right", model=False)
    wrong = corrections.judged(case(first=[0], answer=[["c03"]], outdated=[], retires=[]), tmp_path / "wrong", model=False)

    assert (True, True, (1, 1)) == (right.first, right.found, right.retired)
    assert (False, True) == (wrong.first, any("first:" in line for line in wrong.why))


def test_an_answer_must_show_its_words(tmp_path):
    """The right turn is not enough where what is asked for does not stand in it."""
    assert not corrections.judged(case(answer=[["e99"]]), tmp_path / "home", model=False).first


def test_what_holds_and_is_shown_is_counted(tmp_path):
    """Each shown turn that holds counts once, and none of these is marked."""
    said = [*case()["said"], {"at": "2026-03-03T09:00", "text": "我的工位号是 4711。", "session": "c"}]
    asked = {"at": "2026-03-20T09:00", "text": "我的工位号是多少？"}
    judged = corrections.judged(
        case(said=said, ask=asked, first=[2], answer=[["4711"]], outdated=[], holds=[2], retires=[]), tmp_path / "home", model=False
    )

    assert (True, (1, 1)) == (judged.first, judged.spared)


def test_each_case_has_one_question_and_each_question_a_case():
    """All sets of bench/conflicts are asked for, each answer stands where it is looked for."""
    cases = [*corrections.known([])]
    missing = [
        one["id"]
        for one in cases
        for turn in one["first"]
        if not all(any(word in one["said"][turn]["text"].casefold() for word in group) for group in one["answer"])
    ]

    assert (1_890, 1_890) == (len(cases), len({one["id"] for one in cases}))
    assert [] == missing


@pytest.mark.parametrize("given", [["--set", "none"], []], ids=["no case of that set", "a file"])
def test_the_report_names_kinds_and_sums(tmp_path, given):
    """A line a kind, and the sums; of nothing only the heading."""
    path = tmp_path / "cases.jsonl"
    path.write_text(json.dumps(case()) + "\n", "utf-8")
    printed = subprocess.run([sys.executable, RUNNER, *(given or [path])], capture_output=True, text=True, check=True).stdout

    assert printed.startswith("kind ")
    assert bool(given) is ("change-cue" not in printed)
