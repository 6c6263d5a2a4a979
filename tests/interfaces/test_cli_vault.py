"""The commands `note`, `promote`, `compact` and `watch`."""

import json
import os
import select
import signal
import time
from datetime import datetime, timedelta
from pathlib import Path

import commands
import pytest
from commands import Ran, Started

from yiku import Memory


@pytest.fixture
def home(tmp_path: Path) -> Path:
    Memory(tmp_path / "home", owner="user:mei").close()
    return tmp_path / "home"


def run(home: Path, *words: object, **more: object) -> Ran:
    return commands.run(*words, YIKU_HOME=home, YIKU_SEARCH="words", **more)


def test_note_and_promote(home: Path) -> None:
    """Each says where the note stands; what is there already is said to be."""
    noted = run(home, "note", "The harbour opens at seven. 港口七点开门。", "--metadata", '{"source": "chat"}')
    (log,) = (home / "memory").iterdir()
    first = run(home, "promote", "-", "--topic", "Boats 船", "--summary", "A boat", stdin=b"Ann's boat is called Zephyr.\n")
    again = run(home, "promote", "Ann's boat is called Zephyr.", "--topic", "boats 船", "--summary", "A boat", "--json")

    assert (0, f"noted memory/{log.name}:3\n", "") == (noted.code, noted.out, noted.err)
    assert '"source": "chat"' in log.read_text()
    assert "noted MEMORY.md:3\n" == first.out
    assert {"path": "MEMORY.md", "start_line": 3, "end_line": 5, "new": False} == again.json["note"]
    assert "memory/" in run(home, "recall", "港口几点开门？", "--type", "note").out
    assert "" == run(home, "note", "quiet", "--quiet").out


def test_what_is_no_note(home: Path) -> None:
    """Empty text and metadata that is no object are usage errors that write nothing; a folder that is off keeps it out."""
    for words in (
        ["note", ""],
        ["note", "x", "--metadata", "[1]"],
        ["note", "x", "--metadata", "{"],
        ["compact", "--strategy", "delete"],
    ):
        assert run(home, *words).code in (1, 2)
    (home.parent / ".yiku-off").touch()
    assert 1 == run(home, "note", "x", cwd=home.parent).code
    assert not (home / "memory").exists()


def test_compact(home: Path) -> None:
    """It lists what it moves, shows it first with --dry-run, and then has nothing to do."""
    day = datetime.now().astimezone().date() - timedelta(days=10)
    (home / "memory").mkdir()
    (home / "memory" / f"{day}.md").write_text("# Old 旧\n")
    line = f"  memory/{day}.md → memory/archive/{day}.md\n"

    assert f"would archive 1 log\n{line}" == run(home, "compact", "--dry-run").out
    assert f"archived 1 log\n{line}" == run(home, "compact").out
    assert "archived 0 logs\n" == run(home, "compact", "--days", "3").out
    assert {"archived": {}, "summarized": [], "kept": {}, "dry_run": False} == run(home, "compact", "--json").json["compacted"]


# ------------------------------------------------------------------ watch


class Watcher:
    """A `yiku watch` that runs, and the lines that it printed."""

    def __init__(self, home: Path, *words: str) -> None:
        self.reads, writes = os.pipe()
        self.errors, wrong = os.pipe()
        nothing = os.open(os.devnull, os.O_RDONLY)
        known = commands.plain({"YIKU_HOME": home, "YIKU_SEARCH": "words", "YIKU_WATCH_DEBOUNCE_S": "0.05"})
        self.started = Started(["watch", *words], [nothing, writes, wrong], known)
        for descriptor in (writes, wrong, nothing):
            os.close(descriptor)
        self.pending = b""

    def line(self, within_s: float = 60.0) -> str:
        """The next line on stdout."""
        until = time.monotonic() + within_s
        while b"\n" not in self.pending:
            assert select.select([self.reads], [], [], until - time.monotonic())[0], "it says nothing"
            more = os.read(self.reads, 1 << 16)
            assert more, os.read(self.errors, 1 << 16).decode()
            self.pending += more
        line, _, self.pending = self.pending.partition(b"\n")
        return line.decode()

    def noted(self) -> str:
        """What it says on stderr, by now."""
        assert select.select([self.errors], [], [], 60.0)[0]
        return os.read(self.errors, 1 << 16).decode()


@pytest.mark.spec("S4-87", "S4-84")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_watch(home: Path, number: signal.Signals) -> None:
    """It says what it follows, a line for each change, and ends in order when it is asked to."""
    watcher = Watcher(home)
    assert f"Watching {home}. Ctrl-C ends it.\n" == watcher.noted()
    (home / "documents").mkdir()
    (home / "documents" / "设计.md").write_text("# Design\n")
    assert watcher.line().endswith(" + documents/设计.md")
    (home / "documents" / "设计.md").write_text("# Design, changed\n")
    assert watcher.line().endswith(" ~ documents/设计.md")
    assert "notes" in run(home, "status").out
    (home / "documents" / "设计.md").unlink()
    assert watcher.line().endswith(" - documents/设计.md")
    (home / "documents" / "文.md").write_bytes("设计".encode("gbk"))
    assert " not indexed documents/文.md: not text" in watcher.line()
    (home / "documents" / "b.md").write_text("Design 设计\n")
    assert watcher.line().endswith(" + documents/b.md")

    os.kill(watcher.started.pid, number)
    assert 0 == watcher.started.wait()
    assert "watcher" not in run(home, "status").out


def test_watch_in_json(home: Path) -> None:
    """With --json each change is an object on a line."""
    watcher = Watcher(home, "--json")
    (home / "MEMORY.md").write_text("x\n")
    found = json.loads(watcher.line())
    os.kill(watcher.started.pid, signal.SIGTERM)

    assert (1, "watch", ["MEMORY.md"]) == (found["yiku"], found["verb"], found["sync"]["added"])
    assert 0 == watcher.started.wait()


def test_a_second_watcher_waits_for_its_turn(home: Path) -> None:
    """It says so; when the first one dies, `status` tells, and the second goes on."""
    first = Watcher(home)
    (home / "MEMORY.md").write_text("x\n")
    first.line()
    second = Watcher(home)
    notice = second.noted()
    while "waits for its turn" not in notice:
        notice += second.noted()
    os.kill(first.started.pid, signal.SIGKILL)
    first.started.wait()
    (home / "USER.md").write_text("y\n")

    assert second.line().endswith(" + USER.md") or "MEMORY.md" in second.line()
    os.kill(second.started.pid, signal.SIGTERM)
    assert 0 == second.started.wait()


def test_a_note_is_shown_by_its_id(home: Path) -> None:
    """What `yiku recall` shows of it opens it, with its file and lines; `status` and `stats` count notes."""
    assert ", no memories\n" in run(home, "status").out
    run(home, "promote", "Ann's boat is called Zephyr. 安的船。", "--topic", "Boats 船")
    id = run(home, "recall", "boat", "--type", "note", "--json").json["hits"][0]["id"]
    shown = run(home, "get", id[-8:])

    assert shown.out.startswith("## Boats 船\n\n- Ann's boat is called Zephyr. 安的船。\n\n")
    assert ["file     MEMORY.md:1-3", "heading  Boats 船", "source   memory"] == shown.out.splitlines()[-3:]
    assert ("note", "MEMORY.md") == tuple(run(home, "get", id, "--json").json["item"][name] for name in ("type", "path"))
    assert ", 1 note\n" in run(home, "status").out
    assert 1 == run(home, "stats", "--json").json["stats"]["notes"]
