"""The command `demo`: every answer right, learned statements shown, and a usable home left behind."""

import json
import shlex
from collections import Counter
from pathlib import Path

import pytest
from commands import COLD, run
from models.server import says, serving

from yiku.interfaces.cli.demo import MATERIAL

LINES = {
    name: [json.loads(line) for line in (MATERIAL / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]
    for name in ("conversation", "remember", "questions", "shown")
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

    from yiku.interfaces.cli.demo import Asked

    question = {"expect": ["Oslo"], "not_first": "Bergen"}

    def right(*texts: str) -> bool:
        return Asked(question, tuple(SimpleNamespace(text=text) for text in texts), 1.0).right

    assert right("I live in Oslo.")
    assert not right("I live in Bergen.", "I live in Oslo.")
    assert not right("Nothing of the kind.")
    assert not right()


def test_the_material_is_what_it_says():
    """A hundred turns of seven sessions over three months, a few statements, two dozen questions, in both languages."""
    turns, questions = LINES["conversation"], LINES["questions"]
    chinese = [one for one in questions if not one["question"].isascii()]

    assert (99, 7) == (len(turns), len({turn["session"] for turn in turns}))
    assert [*turns] == sorted(turns, key=lambda turn: turn["said_at"])
    assert {"user"} == {turns[one["after_turn"]]["role"] for one in LINES["remember"]}
    assert (24, 12) == (len(questions), len(chinese))
    assert {"remember": 6, "learned": 6, "conversation": 12} == Counter(one["from"] for one in questions)
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
    """The home was Bergen until the move, a joke was taken back, and the glimpse of a slip changed nothing."""
    _, data = shown

    assert [("Bergen", "2026-04-11", "active"), ("Oslo", None, "active"), ("Tromsø", None, "archived")] == [
        (one["object"], one["valid_to"] and one["valid_to"][:10], one["state"]) for one in data["history"]
    ]


def test_what_was_learned_without_being_told(shown):
    """A preference, a rule, facts of both languages; each under the session that it was said in, and none twice."""
    _, data = shown
    learned = [
        (one["session"], one["memory"]["kind"], one["memory"]["content"]) for one in data["statements"] if one["word"] == "learned"
    ]

    for session, kind, words in [
        ("2026-03-02-setup", "preference", "I prefer short answers with the code first"),
        ("2026-03-14-birthday", "fact", "My sister is allergic to peanuts"),
        ("2026-04-22-newjob", "fact", "我对青霉素过敏"),
        ("2026-05-18-export", "rule", "always write the tests first"),
    ]:
        assert 1 == sum(words in content for where, what, content in learned if (where, what) == (session, kind)), words
    assert len(learned) == len({content for _, _, content in learned})
    assert ["I live in Tromsø now"] == [one["memory"]["content"][:20] for one in data["statements"] if one["word"] == "taken back"]


def test_a_night_and_one_of_its_decisions_undone(shown):
    """The report of its night names what ended; the decision that is taken back has its memory active again."""
    _, data = shown
    actions = {item["action"] for item in data["night"]["items"]}

    assert "expired" in actions
    assert "电梯停到周日" in data["night"]["page"]
    assert data["undone"]["memory"]["live"]
    assert data["undone"]["command"].startswith(f"yiku undo {data['night']['run'][-8:]} ")


def test_a_compression_an_episode_and_the_scratchpad(shown):
    """What left a context is told of in an episode; a session is one with its steps; the scratchpad names what was done last."""
    _, data = shown

    assert (0, 10, "context_compress") == (
        data["compressed"]["recorded"], data["compressed"]["known"], data["compressed"]["episode"]["source"],
    )  # fmt: skip
    assert ("success", ["bash", "edit_file"], None) == (data["episode"]["outcome"], data["episode"]["tools_used"], data["model"])
    assert [False, True] == [node["success"] for node in data["episode"]["action_nodes"]]
    assert [True] == [line.startswith("- 2026-05-18: ") for line in data["scratchpad"].splitlines() if "src/export/pdf.py" in line]


def test_a_model_reads_the_conversation_where_one_is_set(tmp_path):
    """It is asked for what may hold more and for each episode; what it says and what it came to is told, and no answer is spoiled."""
    found = '[{"type": "fact", "content": "Mei has a nephew called Oskar.", "evidence": "My nephew Oskar turns six"}]'
    episode = '{"summary": "They mended the page numbers.", "outcome": "success"}'
    with serving() as server:
        server.always = lambda asked: says(episode if "decisions" in asked["messages"][0]["content"] else found)
        ran = run("demo", "--json", TMPDIR=tmp_path, YIKU_CHAT_URL=server.url, YIKU_CHAT_MODEL="a-model")

    assert (0, "a-model", 0) == (ran.code, ran.json["model"]["model"], ran.json["model"]["waiting"])
    assert ran.json["model"]["jobs"] > 20
    assert 1 == len([*tmp_path.glob("yiku-demo-*")])  # where no home is named
    assert 1 == sum("nephew called Oskar" in one["memory"]["content"] for one in ran.json["statements"])
    assert ("They mended the page numbers.", "a-model") == (ran.json["episode"]["summary"], ran.json["episode"]["method"])


@pytest.mark.parametrize("columns", [60, 80])
def test_what_it_prints_fits_two_screens(shown, columns):
    """Sixty narrow lines: statements, corrections, questions in both languages, a joke, MEMORY.md, what to try; the folder is taken again."""
    from rich.cells import cell_len

    home = shown[1]["home"]
    ran = run("demo", "--home", home, COLUMNS=str(columns))
    body, heading, _ = ran.out.partition("\nNow you: ")

    assert (0, "\nNow you: ") == (ran.code, heading)
    assert ran.out.count("\n") <= 60
    assert [] == [line for line in body.splitlines() if cell_len(line) > columns]
    assert "  ✓ Where did I live before Oslo?\n      I live in Bergen" in body
    assert "  ✓ 我对什么药过敏？\n      我对青霉素过敏。  2026-04-22\n" in body
    assert "✗" not in body
    assert "- I live in Oslo now. #" in body and "→ I live in Dramm" in body
    assert "24 of 24 questions answered right" in body
    assert 1 == body.count("At night it tidies itself")
    for part in ("(was 2026-05-15)", "(was Bergen)", "taken back", "→ I live in Oslo"):
        assert part[: columns - 42] in body


def test_the_statements_that_it_shows_were_learned(shown):
    """Each that is to be shown to a stranger is there, whole in itself, and was learned from the conversation."""
    learned = [(one["session"], one["memory"]["content"]) for one in shown[1]["statements"] if one["word"] == "learned"]

    for one in LINES["shown"]:
        assert 1 == sum(session == one["session"] and content.startswith(one["begins"]) for session, content in learned), one
    assert {True, False} == {one["begins"].isascii() for one in LINES["shown"]}
    assert {True, False} == {one["question"].isascii() for one in LINES["questions"] if one.get("shown")}


@pytest.mark.parametrize("name", ["yiku.toml", "thesis.txt"])
def test_it_touches_nothing_of_anybody_else(tmp_path, name):
    """A folder that holds something is refused and left as it is: another home, or other files."""
    (tmp_path / name).write_text('owner = "user:ann"\n')
    ran = run("demo", "--home", str(tmp_path))

    assert (2, "") == (ran.code, ran.out)
    assert "is not empty" in " ".join(ran.err.split())
    assert [name] == [path.name for path in Path(tmp_path).iterdir()]
