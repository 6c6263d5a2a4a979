"""bench/speed.py and bench/growth.py: reading real conversations from files, and the growth table."""

import json

import growth
from talk import Talk


def a_file(folder, language, turns):
    """A file of our own format with one case."""
    said = [{"id": f"t{i}", "role": "user", "speaker": None, "text": f"{language} {i}", "datetime": None} for i in range(turns)]
    gold = {"gold_turns": ["t0"], "gold_sessions": ["s"], "abstain": False}
    asked = [{"id": f"q{i}", "type": "a", "text": f"what {i}?", "datetime": "2026-01-02", **gold} for i in range(9)]
    case = {"id": language, "dataset": "x", "lang": language, "questions": asked}
    sessions = [{"id": "s", "datetime": "2026-01-01", "turns": said}]
    path = folder / f"{language}.json"
    path.write_text(json.dumps([case | {"sessions": sessions}]), encoding="utf-8")
    return str(path)


def test_two_languages_take_turns_and_begin_again(tmp_path):
    """A dozen of each; the shorter file begins again under other names of sessions, and no turn stands twice under one."""
    talk = Talk([a_file(tmp_path, "en", 40), a_file(tmp_path, "zh", 15)])
    turns = talk.turns(96)

    assert ["en"] * 12 + ["zh"] * 12 + ["en"] * 12 == [turn["content"][:2] for turn in turns[:36]]
    assert 96 == len({(turn["session"], turn["content"]) for turn in turns})
    assert turns[10:20] == talk.turns(10, first=10)
    assert {"english": 3, "chinese": 3} == {sort: len(asked) for sort, asked in talk.questions(3).items()}


def test_growth_is_the_power_of_the_last_step():
    """Flat is 0, in proportion 1, the square 2; what is too short to be measured is flat."""
    rows = ([1.0, 5.0, 5.0], [1.0, 5.0, 50.0], [1.0, 5.0, 500.0], [0.01, 0.02, 0.19])

    assert [0.0, 1.0, 2.0, 0.0] == [round(growth.Row("a verb", "turns", (1, 10, 100), ms).power, 6) for ms in rows]
