"""The command `embed`: with an endpoint, without, on a terminal, interrupted."""

import os
import pty
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import commands
import pytest
from commands import Ran, Started
from models.server import Answer, Server, error, serving

from yiku import Memory

SPOKEN = ["I live in Oslo 🏔️", "我妹妹对青霉素过敏。", "The metro is near, 地铁很近."]


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as server:
        yield server


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home in which three turns wait for a model."""
    with Memory(tmp_path / "home", owner="user:mei") as memory:
        memory.record([{"role": "user", "content": text} for text in SPOKEN], session="s1")
    return tmp_path / "home"


def api(server: Server, **more: str) -> dict[str, str]:
    return {"YIKU_EMBED_URL": server.url, "YIKU_EMBED_MODEL": "a-model", **more}


def run(home: Path, *words: str, **environment: str) -> Ran:
    return commands.run(*words, YIKU_HOME=home, **environment)


def test_embed_says_how_many_and_status_that_nothing_waits(home, server):
    """Before, status tells how many wait and what to call; after, that all is well; a second call has nothing to do."""
    before = run(home, "status", **api(server))
    first = run(home, "embed", **api(server))
    after = run(home, "status", **api(server))
    second = run(home, "embed", **api(server))

    assert "! 3 turns, statements and notes are found by words only: yiku embed" in before.out
    assert "to embed 3" in before.out
    assert (0, "") == (first.code, first.err)
    assert first.out.startswith("embedded 3 turns, statements and notes with api 127.0.0.1:")
    assert "to embed" not in after.out
    assert second.out.startswith("embedded 0 turns, statements and notes")


def test_embed_in_json(home, server):
    """One object: the space, how many were done, wait and were refused, as numbers."""
    found = run(home, "embed", "--json", **api(server)).json

    assert ("embed", {"space", "done", "waiting", "failed", "compared"}) == (found["verb"], {*found["embed"]})
    assert (3, 0, 0) == tuple(found["embed"][name] for name in ("done", "waiting", "failed"))


def test_no_time_at_all_leaves_everything_for_the_next_call(home, server):
    """With --seconds 0 nothing is asked, and what waits is counted."""
    ran = run(home, "embed", "--seconds", "0", **api(server))

    assert "  3 pending: run it again" in ran.out.splitlines()
    assert [] == server.asked


def test_without_a_model_it_says_how_to_get_one(home):
    """No model, and nothing else is wrong: exit code 1, and the two ways out; words find as before."""
    ran = run(home, "embed", YIKU_SEARCH="words")

    assert (1, "") == (ran.code, ran.out)
    assert "search = words" in ran.err
    assert SPOKEN[2] in run(home, "recall", "地铁", YIKU_SEARCH="words").out


def test_a_refused_key_is_an_error_without_the_key(home, server):
    """401 ends the call at once with 1; the message says which key, and does not hold it. Nothing is lost."""
    server.always = lambda asked: error(401)
    ran = run(home, "embed", **api(server, YIKU_EMBED_KEY="sk-secret-9876"))
    server.always = lambda asked: Answer()

    assert 1 == ran.code
    assert "refuses the key in embed_key (401)" in ran.err
    assert "9876" not in ran.out + ran.err
    assert run(home, "embed", **api(server)).out.startswith("embedded 3 ")


def test_what_the_model_refuses_is_counted(home, server):
    """The others are embedded; the one is named as a number each time, and the call does not fail."""
    server.always = lambda asked: error(400, "content") if any("青霉素" in text for text in asked["input"]) else Answer()

    outputs = [run(home, "embed", **api(server)).out.splitlines() for _ in range(4)]

    assert outputs[0][0].startswith("embedded 1 turn, statement or note with ")
    assert outputs[0][1:] == ["  2 pending: run it again"]  # it, and the short turn that is embedded behind it
    assert outputs[3][1:] == ["  2 are found by words only: the model refuses them"]


def test_recall_on_the_command_line_says_what_is_missing(home, server):
    """The line is a note on stderr; the answer stands on stdout as ever."""
    ran = run(home, "recall", "地铁", **api(server))

    assert SPOKEN[2] in ran.out
    assert 1 == ran.err.count("searched by words: nothing is embedded yet; yiku embed makes vectors")


def shown(home: Path, server: Server, then=lambda started: None) -> tuple[int, str]:
    """The exit code of `yiku embed` on a terminal, and all that it showed."""
    ours, theirs = pty.openpty()
    environment = commands.plain({"YIKU_HOME": home, "TERM": "xterm", **api(server)})
    started = Started(["embed"], [theirs, theirs, theirs], environment)
    os.close(theirs)
    then(started)
    printed = b""
    while True:
        try:
            piece = os.read(ours, 65_536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        printed += piece
    os.close(ours)
    return started.wait(), printed.decode()


def test_a_terminal_shows_a_bar(home, server):
    """Somebody who watches sees how many of how many, and no bar is left in the end."""
    server.always = lambda asked: Answer(delay_s=0.3)
    code, printed = shown(home, server)

    assert 0 == code
    assert "3/3" in printed
    assert "embedded 3 turns, statements and notes" in printed.replace("\x1b[32m", "").replace("\x1b[0m", "")


def test_ctrl_c_keeps_what_was_done(tmp_path, server):
    """Interrupted in the middle: exit code 130, and the next call does the rest and no more."""
    home = tmp_path / "home"
    with Memory(home, owner="user:mei") as memory:
        memory.record([{"role": "user", "content": f"turn {n} 第{n}句"} for n in range(300)], session="s1")
    answered = []

    def slow(asked: dict) -> Answer:
        answered.append(len(asked["input"]))
        return Answer(delay_s=0.0 if len(answered) < 7 else 60.0)

    server.always = slow

    def interrupt(started: Started) -> None:
        while len(answered) < 7:
            time.sleep(0.02)
        os.kill(started.pid, signal.SIGINT)

    code, _ = shown(home, server, interrupt)
    server.always = lambda asked: Answer()
    rest = run(home, "embed", "--json", **api(server)).json["embed"]

    assert 130 == code
    assert 0 < rest["done"] < 300
    assert 0 == rest["waiting"]
