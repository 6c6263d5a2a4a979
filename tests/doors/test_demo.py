"""The demonstration: every answer right, and a home that the next commands work on."""

import json
import shlex
from pathlib import Path

import pytest
from commands import COLD, run

from yiku.doors.cli.demo import MATERIAL

LINES = {
    name: [json.loads(line) for line in (MATERIAL / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]
    for name in ("conversation", "remember", "questions")
}


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """One run of the demonstration, for a script."""
    home = tmp_path_factory.mktemp("demo") / "a home"
    ran = run("demo", "--home", str(home), "--json")
    assert "" == ran.err
    return ran.code, ran.json


def test_every_answer_is_right(shown):
    """All questions are answered from the conversation, and the exit code says so."""
    code, data = shown

    assert [] == [asked["question"] for asked in data["questions"] if not asked["right"]]
    assert (0, len(LINES["questions"])) == (code, data["right"])
    assert all(asked["hits"][0]["sources"] for asked in data["questions"])


def test_a_wrong_answer_would_be_noticed():
    """The check compares with what is expected: an outdated first hit, or a missing part, is wrong."""
    from types import SimpleNamespace

    from yiku.doors.cli.demo import Asked

    question = {"expect": ["Oslo"], "not_first": "Bergen"}

    def right(*texts: str) -> bool:
        return Asked(question, tuple(SimpleNamespace(text=text) for text in texts), 1.0).right

    assert right("I live in Oslo.")
    assert not right("I live in Bergen.", "I live in Oslo.")
    assert not right("Nothing of the kind.")
    assert not right()


def test_the_material_is_what_it_says():
    """About 80 turns of six sessions over two months, a dozen statements, two dozen questions, in both languages."""
    turns, questions = LINES["conversation"], LINES["questions"]
    chinese = [one for one in questions if not one["question"].isascii()]

    assert (86, 6) == (len(turns), len({turn["session"] for turn in turns}))
    assert [*turns] == sorted(turns, key=lambda turn: turn["said_at"])
    assert {"user"} == {turns[one["after_turn"]]["role"] for one in LINES["remember"]}
    assert (24, 12, 12) == (len(questions), len(chinese), sum(one["from"] == "conversation" for one in questions))
    assert any(turn.get("tool_calls") for turn in turns)


def test_the_home_that_it_leaves(shown):
    """Each of the commands that it proposes works on the home as it stands, and finds something."""
    _, data = shown

    for command in data["next"]:
        words = shlex.split(command)
        done = run(*words[3:])
        assert (COLD, 0, "") == (words[:3], done.code, done.err), command
        assert done.out


def test_the_history_of_the_corrected_fact(shown):
    """The home was Bergen until the move, and the glimpse of a slip changed nothing."""
    _, data = shown

    assert [("Bergen", "2026-04-11"), ("Oslo", None)] == [
        (one["object"], one["valid_to"] and one["valid_to"][:10]) for one in data["history"]
    ]


def test_what_it_prints_fits_a_narrow_terminal(tmp_path):
    """A person sees questions, answers, sources and dates in lines of at most 80 cells."""
    from rich.cells import cell_len

    ran = run("demo", COLUMNS="80", TMPDIR=tmp_path)

    assert 0 == ran.code
    assert " 1 ✓ Where do I live?\n     I live in Oslo.\n     memory · Mei · 2026-04-11-oslo · 2026-04-11 15:30 · " in ran.out
    assert "✗" not in ran.out
    assert "24 of 24 answers right" in ran.out
    body = ran.out.partition("\nNow you\n")[0].splitlines()
    assert [] == [line for line in body if cell_len(line) > 80 and str(tmp_path) not in line]
    assert 1 == len([*tmp_path.glob("yiku-demo-*")])


def test_it_makes_its_own_home_anew(shown):
    """The folder of an earlier demonstration is taken again."""
    _, data = shown
    again = run("demo", "--home", data["home"], "--json")

    assert (0, 24) == (again.code, again.json["right"])


@pytest.mark.parametrize("name", ["yiku.toml", "thesis.txt"])
def test_it_touches_nothing_of_anybody_else(tmp_path, name):
    """A folder that holds something is refused and left as it is: another home, or other files."""
    (tmp_path / name).write_text('owner = "user:ann"\n')
    ran = run("demo", "--home", str(tmp_path))

    assert (2, "") == (ran.code, ran.out)
    assert "holds something already" in " ".join(ran.err.split())
    assert [name] == [path.name for path in Path(tmp_path).iterdir()]
