"""The command `erase`: plan, confirmation, receipt, JSON."""

import os
import pty
from pathlib import Path

import commands
import pytest


def yiku(home: Path, *words: str) -> commands.Ran:
    return commands.run(*words, YIKU_HOME=home, YIKU_LEARN="off")


def typed(home: Path, answer: str, *words: str) -> tuple[int, str]:
    """The same on a terminal, where somebody types an answer; the exit code and all that was shown."""
    ours, theirs = pty.openpty()
    started = commands.Started(words, [theirs] * 3, commands.plain({"YIKU_HOME": home, "TERM": "dumb"}))
    os.close(theirs)
    os.write(ours, f"{answer}\n".encode())
    shown = b""
    try:
        while part := os.read(ours, 1 << 16):
            shown += part
    except OSError:  # the other side was closed
        pass
    os.close(ours)
    return started.wait(), shown.decode()


@pytest.fixture
def recorded(home):
    """A home in which a secret was told; its id."""
    yiku(home, "record", "It rained. My locker code is 4711 for qzvbnntk. 我住在奥斯陆", "--session", "s1")
    done = yiku(home, "remember", "My locker code is 4711 for qzvbnntk", "--json")
    return done.json["memory"]["id"]


def test_a_receipt_is_printed(home, recorded):
    """Each place, what was done, how much was looked through; exit code 0, and it stays out until it is meant."""
    done = yiku(home, "erase", recorded, "--yes")

    assert (0, "") == (done.code, done.err)
    for line in (
        "1 memory, sentences of 1 turn",
        "yiku.db",
        "WAL emptied",
        "none was found",
        "out of reach: copies outside this home",
    ):
        assert line in done.out
    again = yiku(home, "remember", "My locker code is 4711 for qzvbnntk")
    assert (1, True) == (again.code, again.out.startswith("refused  erased on"))
    assert 0 == yiku(home, "remember", "My locker code is 4711 for qzvbnntk", "--despite-erasure").code


def test_nothing_goes_unless_somebody_says_so(home, recorded):
    """Without a terminal and --yes it is refused; --dry-run lists; a person may say no, and must type the scope's name."""
    assert 2 == yiku(home, "erase", recorded).code
    assert 2 == yiku(home, "forget", "--hard", recorded).code
    listed = yiku(home, "erase", recorded, "--dry-run").out
    assert ("would erase  My locker code" in listed, "redacts  It rained. [erased] 我住在奥斯陆" in listed) == (True, True)
    assert 0 != typed(home, "n", "erase", recorded)[0]
    assert 0 != typed(home, "user:somebody", "erase", "--everything")[0]
    assert 0 == yiku(home, "get", recorded).code
    scope = yiku(home, "status", "--json").json["status"]["scope"]
    code, shown = typed(home, scope, "erase", "--everything")
    assert (0, True) == (code, "none was found" in shown)
    assert 1 == yiku(home, "get", recorded).code


def test_what_grew_out_of_a_session_is_named(home):
    """Before it goes, in the receipt, and counted; `undo` of an end says that an episode goes too."""
    yiku(home, "record", "请修复登录 fix the login of qzvbnntk", "--session", "s1")
    yiku(home, "attach", "/tmp/qzvbnntk.png", "--session", "s1")
    yiku(home, "scratchpad", "--add-step", "tell qzvbnntk")
    yiku(home, "end", "s1")
    stats, grown = yiku(home, "stats").out.split(), "1 episode, 1 attachment, lines of the scratchpad"
    listed = yiku(home, "erase", "--session", "s1", "--dry-run")

    assert ["1", "1", "0"] == [stats[stats.index(name) + 1] for name in ("episodes", "attachments", "queue")]
    assert "would erase  qzvbnntk.png" in listed.out and "redacts  the scratchpad" in listed.out
    assert grown in yiku(home, "erase", "--session", "s1").err
    done = yiku(home, "erase", "--session", "s1", "--yes", "--json")
    assert (3, True) == (len(done.json["records"]), done.json["clean"])
    yiku(home, "record", "one more 再来一个", "--session", "s2")
    yiku(home, "end", "s2")
    recorded = next(row for row in yiku(home, "journal", "--json").json["changes"] if row["table"] == "episodes")
    assert "1 episode or other record" in yiku(home, "undo", str(recorded["transaction"])).out


def test_what_is_still_found_is_named(home, recorded):
    """A note that somebody laid there: named with the words, exit code 1; as JSON the same, with ids and no text of what went."""
    (home / "notes.md").write_text("qzvbnntk")
    done = yiku(home, "forget", "--hard", "--since", "2020-01-01", "--yes", "--json")
    answer = done.json

    assert (1, False, [recorded]) == (done.code, answer["clean"], answer["memories"])
    assert ["notes.md"] == [place["name"] for place in answer["places"] if place["found"]]
    assert "qzvbnntk" in next(place["found"] for place in answer["places"] if place["found"])
    assert "locker" not in done.out
    assert 2 == yiku(home, "erase", "--resume", "--session", "s1").code
    assert 2 == yiku(home, "forget", "--hard", "--session", "s1", "--reason", "x", "--yes").code
