"""Streams that are closed, full or read by nobody: no traceback, and what was done is said where it can be."""

import os
import subprocess
from pathlib import Path

import commands
import pytest
from commands import COLD, Started

from yiku import Memory
from yiku.interfaces.cli import call
from yiku.interfaces.cli.app import VERBS

CLOSED = "import os, sys\nos.close({number})\nsys.{name} = None\nfrom yiku.__main__ import main\nmain()"
TURNS = '{"role": "user", "content": "早上好"}\n'


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A home with something for each verb to find, and a file to import and to attach."""
    folder = tmp_path_factory.mktemp("streams")
    with Memory(folder / "home", owner="user:mei") as memory:
        memory.record_turn("user", "I live in Oslo. 我喜欢乌龙茶。", session="s1")
        memory.remember("The deadline is Friday.", subject="Lantern", predicate="deadline", object="Friday")
        memory.sessions.attach(folder / "turns.jsonl", session="s1")
        memory.admin.consolidate()
        memory.forget(memory.remember("Ann likes rain.").memory.id)
        memory.admin.backup()
    (folder / "turns.jsonl").write_text(TURNS, encoding="utf-8")
    return folder


@pytest.fixture
def place(made, tmp_path):
    """A copy of that home."""
    subprocess.run(["cp", "-a", made / "home", tmp_path / "home"], check=True)
    return tmp_path / "home"


def lines(made: Path, home: Path) -> dict[str, list[str]]:
    """A call of each verb that has an answer."""
    with Memory(home) as memory:
        one, turn = memory.get_all()[0].id, memory.search_traces()[0].id
        file = memory.sessions.attachments()[0].id
        gone = memory.get_all(where={"state": "archived"})[0].id
        copy = memory.admin.backups()[0].name
        operation = str(memory.admin.journal(limit=1)[0].transaction)
    (page := made / "page.md").write_text("# Tea\n\nGreen, no sugar. 绿茶，不加糖。\n")
    given = {
        "record": ["hello"],
        "remember": ["I like tea."],
        "update": [one, "It is Monday."],
        "feedback": [one, "used"],
        "forget": [one],
        "erase": [turn, "--yes"],
        "restore": [gone],
        "undo": [operation],
        "import": ["jsonl", str(made / "turns.jsonl")],
        "recall": ["Oslo"],
        "context": ["Oslo"],
        "explain": ["Oslo"],
        "get": [one],
        "history": [one],
        "why": [one],
        "confirm": [one],
        "sql": ["select content from memories"],
        "reject": [one],
        "end": ["s1"],
        "messages": ["s1"],
        "compress": [str(made / "turns.jsonl"), "--session", "s1"],
        "attach": [str(made / "turns.jsonl"), "--session", "s1"],
        "scratchpad": ["--add-step", "call Ann"],
        "describe": [file, "--description", "a list"],
        "restore-backup": [copy, "--yes"],
        "export": ["-"],
        "completion": ["bash"],
        "demo": ["--home", str(home.parent / "demo")],
        "embed": ["--help"],  # without a model it has no answer
        "edit": [one],
        "index": [str(page)],
        "note": ["tea 茶"],
        "promote": ["tea 茶"],
        "watch": ["--help"],  # it ends when it is asked to
        "mcp": ["--help"],  # so does this
        "install": ["codex", "--dry-run"],
        "uninstall": ["codex", "--dry-run"],
    }
    return {verb: [verb, *given.get(verb, [])] for verb in VERBS}


def ran(words: list[str], home: Path, folder: Path, *, full: int | None = None, closed: int | None = None) -> tuple[int, str]:
    """The exit code and stderr of a command, one of whose streams is full or closed."""
    program = None
    if closed is not None:
        program = CLOSED.format(number=closed, name=("stdin", "stdout", "stderr")[closed])
    with (folder / "out").open("w+b") as out, (folder / "err").open("w+b") as err, open(os.devnull, "rb") as nothing:
        streams = [nothing.fileno(), out.fileno(), err.fileno()]
        with open("/dev/full", "wb") as none_left:
            if full is not None:
                streams[full] = none_left.fileno()
            code = Started(
                words, streams, commands.plain({"YIKU_HOME": home, "YIKU_SEARCH": "words", "EDITOR": "true"}), program=program
            ).wait()
        err.seek(0)
        return code, err.read().decode()


def verbs_without_a_reader(calls: dict[str, list[str]], place: Path, folder: Path) -> None:
    """Each of these verbs with a full and with a closed stdout, on a copy of the home of its own."""
    for verb, words in calls.items():
        for k, lost in enumerate(({"full": 1}, {"closed": 1})):
            home = folder / f"{verb}-{k}"
            subprocess.run(["cp", "-a", place, home], check=True)
            shape = ["--json"] if verb != "export" and (k or verb not in call.CHANGING) else []
            code, printed = ran([*words, *shape], home, folder, **lost)

            assert "Traceback" not in printed and "Exception ignored" not in printed, (verb, printed)
            if "--help" not in words:
                assert "could not be written" in printed, (verb, printed)
                done = verb in call.CHANGING and words != ["export", "-"]
                assert (call.UNWRITTEN if done else call.CANNOT) == code, (verb, lost, printed)


def test_every_verb_says_that_its_answer_was_lost(made, place, tmp_path, some):
    """With a full or a closed stdout a verb ends with one message; a change that was made has an exit code of its own."""
    verbs_without_a_reader(dict(some([*lines(made, place).items()], 4)), place, tmp_path)


@pytest.mark.parametrize("lost", [{"full": 1}, {"closed": 1}], ids=["full", "closed"])
def test_a_turn_whose_answer_was_lost_is_told_as_recorded(place, tmp_path, lost):
    """It is on the disk, stderr shows it, and says that asking again would store it twice."""
    code, printed = ran(["record", "We moved to Rome. 我们搬家了。", "--session", "s9"], place, tmp_path, **lost)

    assert call.UNWRITTEN == code
    assert printed.startswith("recorded turn · #")
    assert "running this again would make it twice" in printed
    with Memory(place) as memory:
        assert ["We moved to Rome. 我们搬家了。"] == [turn.content for turn in memory.search_traces(session="s9")]


def test_what_was_refused_is_not_told_as_done(place, tmp_path):
    """A statement that stays out ends with 1, whether or not its answer can be read."""
    with Memory(place) as memory:
        memory.admin.erase(memory.get_all(where={"predicate": "deadline"})[0].id)
    code, printed = ran(["remember", "The deadline is Friday."], place, tmp_path, full=1)

    assert (1, "refused") == (code, printed[:7])
    assert "twice" not in printed


def test_a_dry_run_whose_answer_was_lost_did_nothing(place, tmp_path):
    """It ends with 1: nothing was to be done but to answer."""
    code, printed = ran(["remember", "I like tea.", "--dry-run"], place, tmp_path, full=1)

    assert 1 == code
    assert "twice" not in printed


def test_a_closed_stdin_is_an_input_that_cannot_be_taken(place, tmp_path):
    """A verb that should read its text from there says so; one that reads nothing does not notice."""
    assert (2, "yiku: content cannot be read from stdin: it is closed") == (
        (done := ran(["record", "-"], place, tmp_path, closed=0))[0],
        done[1].partition("\n")[0],
    )
    assert (0, "") == ran(["record", "hello"], place, tmp_path, closed=0)


@pytest.mark.parametrize("lost", [{"full": 2}, {"closed": 2}], ids=["full", "closed"])
def test_without_stderr_the_answer_is_given_all_the_same(place, tmp_path, lost):
    """Notes and errors have nowhere to go, and change neither the answer nor the exit code."""
    assert 0 == ran(["record", "the key is ghp_abcdefghijklmnopqrstuvwxyz0123456789"], place, tmp_path, **lost)[0]
    assert "recorded" in (tmp_path / "out").read_text(encoding="utf-8")
    assert 1 == ran(["get", "ffff"], place, tmp_path, **lost)[0]


@pytest.mark.long
def test_a_process_with_three_closed_streams_keeps_what_it_is_told(place):
    """From a cold start: no file of the home takes the place of a stream that was closed."""
    command = ["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", *COLD, "record", "closed 全关", "--session", "s9"]
    code = subprocess.run(command, env=commands.plain({"YIKU_HOME": str(place)}), check=False).returncode

    assert call.UNWRITTEN == code
    with Memory(place) as memory:
        assert ["closed 全关"] == [turn.content for turn in memory.search_traces(session="s9")]
        assert () == memory.admin.check().problems
