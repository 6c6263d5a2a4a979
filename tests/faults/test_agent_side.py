"""
The agent works on whatever happens to the home: its hooks end well, its server answers, and what was captured arrives later.

Each fault is met by whole processes as an agent starts them: the hooks of a turn, the MCP server over stdio, and `yiku status`.
"""

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

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


def served(home: Path) -> dict[str, str]:
    """What the server answers to each call, in a process of its own; an error with a mark in front."""
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": CLIENT},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    ]
    messages += [
        {"jsonrpc": "2.0", "id": 3 + place, "method": "tools/call", "params": {"name": name, "arguments": given}}
        for place, (name, given) in enumerate(CALLS)
    ]
    with subprocess.Popen(
        [sys.executable, "-m", "yiku", "mcp", "--home", str(home)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("".join(f"{json.dumps(message)}\n" for message in messages).encode())
        process.stdin.flush()
        answers = [json.loads(process.stdout.readline()) for _ in range(2 + len(CALLS))]
        rest, told = process.communicate(timeout=WITHIN_S)
        assert (b"", 0) == (rest, process.returncode)
    assert "Traceback" not in told.decode(), told.decode()
    by_id = {answer["id"]: answer["result"] for answer in answers}
    assert by_id[2]["tools"]
    found = {}
    for place, (name, _) in enumerate(CALLS):
        text = by_id[3 + place]["content"][0]["text"]
        assert "Traceback" not in text
        found[name] = f"! {text}" if by_id[3 + place].get("isError") else text
    return found


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
        assert "yiku repair" in answers["memory_search"] and "yiku repair" in said
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
def test_without_a_home_all_is_captured(known):
    """The hooks make an inbox, and the home that is made there records it."""
    shutil.rmtree(known)
    assert "" == a_turn(known, "one")
    served(known)
    with Memory(known) as memory:
        memory.remember(FACT)
    arrives(known, "one")
