"""Sessions of Codex, Gemini CLI and OpenCode, as real runs of these programs write them: what was typed, called and answered."""

import itertools
import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime

import pytest

from yiku import Memory
from yiku.errors import InvalidInput
from yiku.interfaces.importers import codex, formats, gemini_cli, opencode, run
from yiku.types import BadRecord, SkippedRecord, TurnRecord

SESSION = "01a20adb-e56d-7fc3-8782-42949626e051"
MS = 1_772_442_840_000


@pytest.fixture
def write(tmp_path):
    """Writes lines of JSON; their path."""
    numbers = itertools.count()

    def write(*lines, name="session.jsonl"):
        path = tmp_path / f"s{next(numbers)}" / name
        path.parent.mkdir()
        path.write_bytes(b"".join((line if isinstance(line, bytes) else json.dumps(line).encode()) + b"\n" for line in lines))
        return path

    return write


def turns(records):
    """The turns among records."""
    return [record.turn for record in records if isinstance(record, TurnRecord)]


def skipped(records):
    """What was skipped."""
    return [record.what for record in records if isinstance(record, SkippedRecord)]


# ------------------------------------------------------------------ Codex


def rollout(type_, payload, second=0):
    """A line of a session of Codex."""
    return {"timestamp": f"2026-03-02T09:14:{second:02}.000Z", "ordinal": second, "type": type_, "payload": payload}


def message(role, text, id=None, second=0):
    """A message in it."""
    part = {"type": "output_text" if role == "assistant" else "input_text", "text": text}
    return rollout("response_item", {"type": "message", "role": role, "content": [part]} | ({"id": id} if id else {}), second)


META = rollout("session_meta", {"id": SESSION, "cwd": "/home/ann/码头", "cli_version": "0.169.0", "git": {"branch": "main"}})


def test_a_session_of_codex_is_what_was_typed_called_and_answered(write):
    """Instructions, the environment, events and reasoning are counted; a call keeps its server, its arguments and its result."""
    call = {
        "type": "function_call",
        "id": "f",
        "name": "memory_get",
        "namespace": "mcp__notes",
        "arguments": '{"id": "茶"}',
        "call_id": "c",
    }
    lines = [
        META,
        message("developer", "Be terse.", "d"),
        message("user", "<environment_context>\n  <cwd>/w</cwd>\n</environment_context>", "e"),
        message("user", "# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>x</INSTRUCTIONS>", "i"),
        message("user", "部署改到周五 please", "u", 8),
        rollout("event_msg", {"type": "user_message", "message": "部署改到周五 please"}, 8),
        rollout("response_item", {"type": "reasoning", "summary": []}, 9),
        rollout("response_item", call, 10),
        rollout("response_item", {"type": "function_call_output", "call_id": "c", "output": "三种茶"}, 11),
        message("assistant", "好。", "a", 12),
        rollout("compacted", {"message": "They moved the deployment."}, 13),
    ]
    records = [*codex.read(write(*lines))]
    user, asked, answered, reply, summary = turns(records)

    assert {
        "role": "user",
        "content": "部署改到周五 please",
        "session": SESSION,
        "said_at": datetime(2026, 3, 2, 9, 14, 8, tzinfo=UTC),
        "agent": "codex",
        "project": "码头",
        "external_id": "u",
        "metadata": {"version": "0.169.0", "gitBranch": "main", "cwd": "/home/ann/码头"},
    } == user
    assert [{"id": "c", "name": "mcp__notes__memory_get", "input": {"id": "茶"}}] == asked["tool_calls"]
    assert ("tool", "三种茶", "c") == (
        answered["role"],
        answered["tool_results"][0]["content"],
        answered["tool_results"][0]["tool_use_id"],
    )
    assert ("assistant", "好。", answered["external_id"]) == (reply["role"], reply["content"], reply["parent"])
    assert ("system", "assistant", True) == (summary["role"], summary["origin"], summary["metadata"]["summary"])
    assert ["session_meta", "instructions", "instructions", "instructions", "event_msg", "thinking"] == skipped(records)


@pytest.mark.parametrize(
    ("output", "content", "failed"),
    [
        ("plain", "plain", False),
        ('{"output": "a.txt", "metadata": {"exit_code": 1}}', "a.txt", True),
        ({"content": "没有", "success": False}, "没有", True),
        (
            [{"type": "input_text", "text": "one"}, {"type": "input_image", "image_url": "data:image/png;base64,QQ=="}],
            "one\n[image image/png]",
            False,
        ),
    ],
)
def test_results_of_codex_have_several_shapes(write, output, content, failed):
    """A text, a text with an exit code, an object, parts; a shell call and one of a custom tool are calls, too."""
    shell = {"type": "local_shell_call", "call_id": "s", "action": {"command": ["ls"]}}
    custom = {"type": "custom_tool_call", "call_id": "p", "name": "apply_patch", "input": "*** Begin"}
    back = {"type": "custom_tool_call_output", "call_id": "p", "output": output}
    one, two, result = turns(codex.read(write(META, *(rollout("response_item", item) for item in (shell, custom, back)))))

    assert ("shell", {"command": ["ls"]}) == (one["tool_calls"][0]["name"], one["tool_calls"][0]["input"])
    assert {"input": "*** Begin"} == two["tool_calls"][0]["input"]
    assert (content, failed) == (result["tool_results"][0]["content"], result["tool_results"][0]["is_error"])


# ------------------------------------------------------------------ Gemini CLI

ABOUT = {
    "sessionId": "g1",
    "projectHash": "98c3",
    "startTime": "2026-03-02T09:14:00.000Z",
    "kind": "main",
    "directories": ["/home/ann/港口"],
}


def said(id, type_, content, second=0, **more):
    """A message of Gemini CLI."""
    return {"id": id, "timestamp": f"2026-03-02T09:14:{second:02}.000Z", "type": type_, "content": content} | more


def test_a_session_of_gemini_has_the_last_state_of_each_message(write):
    """What it writes again is taken once, with the calls that came later; its own context and what hooks wrote is cut out."""
    answer = {"functionResponse": {"id": "c", "name": "web", "response": {"output": "三种"}}}
    call = {"id": "c", "name": "web", "args": {"q": "茶"}, "result": [answer], "status": "success"}
    hooked = "<hook_context>&lt;memory&gt;</hook_context>\n\n几种茶？"
    lines = [
        ABOUT,
        {"$set": {"messages": [said("x", "user", [{"text": "<session_context>\nToday is Monday.\n</session_context>"}])]}},
        said("u", "user", [{"text": hooked}], 1),
        said("a", "gemini", "", 2),
        {"$set": {"lastUpdated": "2026-03-02T09:15:00.000Z"}},
        said("a", "gemini", "我看看", 2, toolCalls=[call], model="m-3", thoughts=[{"subject": "hm"}]),
        said("r", "user", [answer], 3),
        said("i", "info", "Update available", 4),
        said("b", "gemini", [{"text": "Three."}, {"text": "hidden", "thought": True}], 5),
    ]
    records = [*gemini_cli.read(write(*lines))]
    user, asked, result, reply = turns(records)

    assert ("几种茶？", "g1", "港口", "u") == (user["content"], user["session"], user["project"], user["external_id"])
    assert ("我看看", "m-3", {"q": "茶"}) == (asked["content"], asked["metadata"]["model"], asked["tool_calls"][0]["input"])
    assert ("tool", "三种", "a:results") == (result["role"], result["tool_results"][0]["content"], result["external_id"])
    assert reply["content"].startswith("Three.")
    assert {"an earlier state", "context", "info", "results of tools", "about the session"} == {*skipped(records)}


def test_what_was_taken_back_in_gemini_is_counted(write):
    """A rewind takes a message and all behind it back; the older form is one object with all messages."""
    lines = [ABOUT, said("u", "user", "first"), said("v", "user", "第二"), {"$rewindTo": "v"}, said("w", "user", "third")]
    old = ABOUT | {"messages": [said("u", "user", "旧的")]}

    assert ["first", "third"] == [turn["content"] for turn in turns(gemini_cli.read(write(*lines)))]
    assert ["旧的"] == [turn["content"] for turn in turns(gemini_cli.read(write(old, name="session-1.json")))]
    assert ["third"] == [turn["content"] for turn in turns(gemini_cli.read(write(*lines[:3], {"$rewindTo": "?"}, lines[4])))]


# ------------------------------------------------------------------ OpenCode


def parts(*given):
    """Parts of a message of OpenCode."""
    return [{"id": f"prt_{number}", **part} for number, part in enumerate(given)]


ASKED = parts(
    {"type": "text", "text": "几种茶？"},
    {"type": "text", "text": "Standing rules", "synthetic": True},
    {"type": "file", "filename": "图.png"},
)
STATE = {"status": "completed", "input": {"q": "茶"}, "output": "三种", "title": ""}
ANSWERED = parts(
    {"type": "step-start"},
    {"type": "reasoning", "text": "hm"},
    {"type": "tool", "tool": "web", "callID": "c", "state": STATE},
    {"type": "text", "text": "Three."},
)
MESSAGES = [
    ({"id": "msg_1", "role": "user", "time": {"created": MS}}, ASKED),
    ({"id": "msg_2", "role": "assistant", "time": {"created": MS + 1_000}, "modelID": "m-1"}, ANSWERED),
]


@pytest.fixture
def database(tmp_path):
    """A database as OpenCode has it."""
    path = tmp_path / "opencode.db"
    with closing(sqlite3.connect(path)) as made, made:
        made.execute("CREATE TABLE session (id text, parent_id text, directory text, title text, time_created integer)")
        made.execute("CREATE TABLE message (id text, session_id text, time_created integer, data text)")
        made.execute("CREATE TABLE part (id text, message_id text, session_id text, data text)")
        for session, parent in (("ses_1", None), ("ses_2", "ses_1")):
            made.execute("INSERT INTO session VALUES (?, ?, '/home/ann/港口', '茶', ?)", (session, parent, MS))
            for info, given in MESSAGES:
                id = f"{session}{info['id']}"
                data = json.dumps({key: value for key, value in info.items() if key != "id"})
                made.execute("INSERT INTO message VALUES (?, ?, ?, ?)", (id, session, info["time"]["created"], data))
                made.executemany("INSERT INTO part VALUES (?, ?, ?, ?)", [(p["id"], id, session, json.dumps(p)) for p in given])
        made.execute("INSERT INTO session VALUES ('ses_3', NULL, '/w', 'empty', 0)")
        made.execute("INSERT INTO message VALUES ('bad', 'ses_3', 0, 'no JSON')")
    return path


def test_the_database_of_opencode_is_read_and_left_alone(database):
    """Texts, calls, results and names of files; what was added to a prompt and reasoning stay out; a subagent's prompt is the agent's."""
    before = database.read_bytes()
    records = [*opencode.read(database)]
    user, reply, result, child, *_ = turns(records)

    assert ("几种茶？\n[file 图.png]", "ses_1", "港口", "ses_1msg_1") == (
        user["content"],
        user["session"],
        user["project"],
        user["external_id"],
    )
    assert datetime(2026, 3, 2, 9, 14, tzinfo=UTC) == user["said_at"]
    assert ("Three.", "web", {"q": "茶"}) == (reply["content"], reply["tool_calls"][0]["name"], reply["tool_calls"][0]["input"])
    assert ("tool", "三种", ["thinking"]) == (result["role"], result["tool_results"][0]["content"], reply["metadata"]["left_out"])
    assert ("assistant", None) == (child["origin"], user.get("origin"))
    assert ["message bad: role 'None' is not known"] == [record.why for record in records if isinstance(record, BadRecord)]
    assert before == database.read_bytes()
    assert ["opencode.db"] == [path.name for path in database.parent.iterdir()]


def test_an_export_of_opencode_says_the_same(write, database):
    """`opencode export` prints a session as JSON: the same turns under the same ids."""
    info = {"id": "ses_1", "directory": "/home/ann/港口", "title": "茶", "time": {"created": MS}}
    messages = [{"info": {**about, "id": f"ses_1{about['id']}"}, "parts": given} for about, given in MESSAGES]
    path = write({"info": info, "messages": messages}, name="session.json")

    assert turns(opencode.read(database))[:3] == turns(opencode.read(path))


def test_a_damaged_or_foreign_database_is_named(database, tmp_path):
    """What can be read comes in; a database of another program, and Yiku's own, is not opened."""
    raw = database.read_bytes()
    database.write_bytes(raw[:4_096] + b"\xff" * (len(raw) - 4_096))
    records = [*opencode.read(database)]
    assert isinstance(records[-1], BadRecord) and "opencode export" in records[-1].why
    with Memory(tmp_path / "home") as memory:
        memory.remember("I live in Oslo.")
        with pytest.raises(InvalidInput, match="not opened"):
            formats.find(tmp_path / "home" / "yiku.db")
        with pytest.raises(InvalidInput):
            formats.find(tmp_path / "home")


# ------------------------------------------------------------------ all three


def test_each_session_is_recognised_and_imported_once(write, database, tmp_path):
    """By what is in the file; the second run knows all of it."""
    write(META, message("user", "我喜欢乌龙茶。", "u"), name="rollout-1.jsonl")
    write(ABOUT, said("u", "user", "I live in Oslo."), name="session-1.jsonl")
    found = formats.find(tmp_path)

    assert ["codex", "gemini-cli", "opencode"] == sorted(format.name for format, _ in found.files)
    with Memory(tmp_path / "home") as memory:
        first = {done.format: done.report.turns for done in run.each(memory, found)}
        assert {"codex": 1, "gemini-cli": 1, "opencode": 6} == first
        assert [0, 0, 0] == [done.report.turns for done in run.each(memory, found)]
        memory.learn()
        assert {"I live in Oslo.", "我喜欢乌龙茶。"} <= {one.content for one in memory.get_all()}


@pytest.mark.parametrize(
    "line",
    [
        b"{",
        b"[1]",
        b'{"type": 1}',
        b'{"type": "response_item"}',
        b'{"type": "response_item", "payload": {"type": ["x"]}}',
        b"\xff",
        b"{}",
        b'{"timestamp": [], "type": "session_meta", "payload": {"id": {}, "cwd": 1, "git": 2}}',
        b"[" * 100_000,
        b"\0\0",
        b'{"$set": 3}',
        b'{"$rewindTo": 3}',
        b'{"id": 1, "type": {}}',
        b'{"id": "q", "type": "gemini", "content": 3, "toolCalls": [1, {}]}',
        b'"x',
        b'{"info": 1, "messages": 2}',
        b'{"info": {"id": "x"}, "messages": [1, {"info": {"role": "user", "id": "y"}, "parts": [3, {}]}]}',
    ],
)
def test_no_line_breaks_a_reader(write, line):
    """Each is a turn, skipped or named, and those around it come in."""
    around = {
        codex: (META, message("user", "before"), message("user", "after")),
        gemini_cli: (ABOUT, said("a", "user", "before"), said("b", "user", "after")),
    }
    for reader, (about, before, after) in around.items():
        records = [*reader.read(write(about, before, line, after))]
        assert all(isinstance(record, (TurnRecord, SkippedRecord, BadRecord)) for record in records)
        assert "before" in [turn["content"] for turn in turns(records)]
    assert all(isinstance(record, (TurnRecord, SkippedRecord, BadRecord)) for record in opencode.read(write(line)))
