"""
The agent works on whatever happens to the home: its hooks end well, its server answers, and what was captured arrives later.

Each fault is met by whole processes as an agent starts them: the hooks of a turn, the MCP server over stdio, and `yiku status`.
"""

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import apsw
import pytest
from faults.damage import PAGE, pages_of, write
from faults.smalldisk import MiB, Space, on_a_disk, remount
from hooking import run

from yiku import Memory, repair

QUESTION = "On which port does the staging server listen? 测试服务器监听哪个端口？"
FACT = "The staging server listens on port 4321. 测试服务器监听 4321 端口。"
WITHIN_S = 60
SOON_S = 25  # on a busy machine; it waits some seconds for others at most
CLIENT = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
CALLS = [
    ("memory_search", {"query": QUESTION}),
    ("memory_add", {"text": "The lamp is in the north room."}),
    ("memory_timeline", {}),
    ("memory_status", {}),
]


def made(home: Path) -> None:
    """A home that knows something."""
    with Memory(home, owner="user:mei", search="words") as memory:
        memory.remember(FACT)
        memory.remember("Always write tests first. 先写测试。", kind="rule")
        for number in range(200):
            memory.record_turn("user", f"第 {number} turn 轮 {'字' * 100}", session="before")


def a_turn(home: Path, name: str, *, brings: bool | None = None) -> str:
    """
    The hooks of one turn of an agent; what they said on stderr.

    brings: whether what memory knows comes into the prompt
    """
    said = ""
    for event, given in (
        ("start", {"source": "startup"}),
        ("prompt", {"prompt": QUESTION}),
        ("tool", {"tool_name": "Read", "tool_input": {"path": f"{name}/茶.md"}, "tool_response": f"{name} tea 茶"}),
        ("reply", {"last_assistant_message": f"{name}: on port 4321. 4321 端口。"}),
        ("compress", {"trigger": "auto"}),
        ("end", {"reason": "exit"}),
    ):
        done = run(home, event, {"session_id": name, "hook_event_name": "UserPromptSubmit", **given})
        assert 0 == done.returncode
        if event == "prompt" and brings is not None:
            assert brings == (b"4321" in done.stdout), done
        if done.stdout:
            assert {"hookSpecificOutput"} == {*json.loads(done.stdout)}
        said += done.stderr.decode()
    assert "Traceback" not in said
    return said


@contextmanager
def running(home: Path) -> Iterator[Callable[..., str]]:
    """A server in a process of its own, and how to call its tools: what one answers, an error with a mark in front."""
    with subprocess.Popen(
        [sys.executable, "-m", "yiku", "mcp", "--home", str(home)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        hear, tell, number = process.stdout, process.stdin, count(1)

        def ask(method: str, **given: Any) -> Any:
            id = next(number)
            tell.write(f"{json.dumps({'jsonrpc': '2.0', 'id': id, 'method': method, 'params': given})}\n".encode())
            tell.flush()
            answer = json.loads(hear.readline())
            assert id == answer["id"]
            return answer["result"]

        def call(name: str, **given: Any) -> str:
            result = ask("tools/call", name=name, arguments=given)
            text: str = result["content"][0]["text"]
            assert "Traceback" not in text
            return f"! {text}" if result.get("isError") else text

        ask("initialize", **CLIENT)
        tell.write(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
        assert ask("tools/list")["tools"]
        yield call
        rest, stderr = process.communicate(timeout=WITHIN_S)
        assert (b"", 0) == (rest, process.returncode)
    assert "Traceback" not in stderr.decode(), stderr.decode()


def served(home: Path) -> dict[str, str]:
    """What a server that is started now answers to each call."""
    with running(home) as call:
        return {name: call(name, **given) for name, given in CALLS}


def status(home: Path) -> str:
    """What `yiku status` says, on one line, in a few seconds."""
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "yiku", "status", "--home", str(home)], capture_output=True, timeout=WITHIN_S, check=False
    )
    text = (done.stdout + done.stderr).decode()
    assert "Traceback" not in text, text
    assert time.monotonic() - began < SOON_S
    return " ".join(text.split())


def arrives(home: Path, *names: str) -> None:
    """Each turn that hooks captured is recorded once."""
    with Memory(home, search="words") as memory:
        memory.admin.ingest()
        assert 0 == memory.admin.ingest().events
        for name in names:
            said = memory.sessions.messages(name, limit=50).messages
            assert ["user", "assistant", "tool", "assistant"] == [turn["role"] for turn in said]
            assert QUESTION == said[0]["content"]
        assert "4321" in memory.recall(QUESTION).text


@pytest.fixture
def known(tmp_path: Path) -> Path:
    made(tmp_path / "home")
    return tmp_path / "home"


# ------------------------------------------------------------------ locked


@contextmanager
def held(home: Path, *, alone: bool) -> Iterator[None]:
    """A program that knows nothing of ours writes and does not end; `alone`: nobody else may even read."""
    connection = apsw.Connection(str(home / "yiku.db"))
    try:
        if alone:
            connection.execute("pragma locking_mode = exclusive")
        connection.execute("begin exclusive")
        connection.execute("select count(*) from memories").fetchall()
        yield
        connection.execute("rollback")
    finally:
        connection.close()


@pytest.mark.long
def test_while_another_process_writes_all_is_captured_and_found(known):
    """Nothing is stored meanwhile, and status says what waits and why."""
    with held(known, alone=False):
        assert "" == a_turn(known, "one", brings=True)
        answers = served(known)
        assert "4321" in answers["memory_search"]
        assert answers["memory_add"].startswith("! ") and "another process is writing" in answers["memory_add"]
        said = status(known)
        assert "events to record 6" in said and "captured waits in inbox/" in said and "all is well" not in said
    arrives(known, "one")
    assert "captured waits" not in status(known)


@pytest.mark.long
def test_while_another_process_keeps_the_database_to_itself_all_is_captured(known):
    """Each call is answered with what to do; status says that somebody writes."""
    with held(known, alone=True):
        assert "no memories: StoreBusy" in a_turn(known, "one", brings=False)
        assert {"! "} == {text[:2] for text in served(known).values()}
        assert "Another process is writing" in status(known)
    arrives(known, "one")


# ------------------------------------------------------------------ full, read-only


def on_a_full_disk(folder: Path) -> None:
    space, home = Space(folder), folder / "home"
    made(home)
    served(home)  # as an agent starts it: the inbox holds space back
    space.fill()
    assert "not captured" not in a_turn(home, "one", brings=True)
    assert "4321" in served(home)["memory_search"]  # what was held back may have room for more than the events
    said = status(home)
    assert "the disk is nearly full" in said
    assert ("events to record" in said) == ("captured waits in inbox/" in said)
    space.fill()
    while "not captured" not in a_turn(home, "too much"):  # what was held back is used up: it is said
        space.fill()
    space.free()
    arrives(home, "one")


@pytest.mark.long
def test_on_a_full_disk_a_turn_is_captured_from_what_is_held_back():
    """Though nothing had been captured before; searching works, and status tells of the disk."""
    on_a_disk(12 * MiB, on_a_full_disk)


def on_a_read_only_disk(folder: Path) -> None:
    home = folder / "home"
    made(home)
    a_turn(home, "one")
    remount(folder, read_only=True)
    assert 6 == a_turn(home, "two", brings=True).count("not captured")
    answers = served(home)
    assert "4321" in answers["memory_search"] and "cannot be written" in answers["memory_add"]
    assert "read-only" in answers["memory_status"] and "the store is read-only" in status(home)
    remount(folder, read_only=False)
    arrives(home, "one")


@pytest.mark.long
def test_a_home_that_cannot_be_written_answers_and_says_so():
    """What was captured before arrives later; what cannot be captured is said by each hook."""
    on_a_disk(12 * MiB, on_a_read_only_disk)


# ------------------------------------------------------------------ damaged, gone


@pytest.mark.long
@pytest.mark.parametrize("table", ["memories", "conversation_turns", "sqlite_schema"])
def test_with_a_damaged_page_all_is_captured(known, table):
    """The agent is told to tell its user; after `repair` what was captured arrives."""
    with Memory(known) as memory:
        memory.admin.backup()
    page = pages_of(known / "yiku.db")[table][0]
    write(known / "yiku.db", (page - 1) * PAGE, b"\x5a" * PAGE)
    a_turn(known, "one")
    answers = served(known)
    said = status(known)
    if table != "conversation_turns":  # of which other pages are read here
        assert "yiku repair" in answers["memory_search"] and f"yiku --home {known} repair" in said
    repair(known)
    arrives(known, "one")


@pytest.mark.long
def test_without_its_database_all_is_captured(known):
    """No new one is made in its place; once the file is back, what was captured arrives."""
    kept = (known / "yiku.db").rename(known.parent / "kept.db")
    assert "" == a_turn(known, "one", brings=False)
    assert all("yiku.db is not there" in text for text in served(known).values())
    assert "is not there" in status(known) and not (known / "yiku.db").exists()
    kept.rename(known / "yiku.db")
    arrives(known, "one")


@pytest.mark.long
def test_a_server_that_runs_takes_no_other_database_for_its_own(known):
    """Another home's is put in the place of its own: each call says so, and what hooks capture waits until the right one is back."""
    made(other := known.parent / "other")
    with running(known) as call:
        assert "4321" in call("memory_search", query=QUESTION)
        kept = (known / "yiku.db").rename(known.parent / "kept.db")
        shutil.copy(other / "yiku.db", known / "yiku.db")
        a_turn(known, "one")
        for name, given in CALLS:
            assert "was replaced" in call(name, **given) or "another home" in call(name, **given), name
        time.sleep(2.5)  # in which a server would have recorded them
    assert "another home" in status(known)
    for suffix in ("", "-wal", "-shm"):
        (known / f"yiku.db{suffix}").unlink(missing_ok=True)
    kept.rename(known / "yiku.db")
    arrives(known, "one")


@pytest.mark.long
def test_without_a_home_all_is_captured(known):
    """The hooks make an inbox, and the home that is made there records it."""
    shutil.rmtree(known)
    assert "" == a_turn(known, "one")
    served(known)
    with Memory(known) as memory:
        memory.remember(FACT)
    arrives(known, "one")
