"""Importing JSON Lines: turns, conversations and statements, with the field names of exports."""

import json
import random
from datetime import UTC, datetime, timedelta, timezone

import pytest
import sampling

from yiku import Memory
from yiku.interfaces.importers import jsonl
from yiku.types import BadRecord, MemoryRecord, Origin, SkippedRecord, TurnRecord


@pytest.fixture
def write(tmp_path):
    """Writes a file of JSON lines; its path."""

    def write(*lines, name="chat.jsonl"):
        path = tmp_path / name
        raw = (line if isinstance(line, bytes) else json.dumps(line, ensure_ascii=False).encode() for line in lines)
        path.write_bytes(b"".join(line + b"\n" for line in raw))
        return path

    return write


@pytest.fixture
def read(write):
    """The records that a file of these lines gives."""
    return lambda *lines, **more: list(jsonl.read(write(*lines, **more)))


@pytest.fixture
def turns(read):
    """The turns that these lines give; nothing else may be among them."""

    def turns(*lines, **more):
        found = read(*lines, **more)
        assert {TurnRecord} == {type(record) for record in found}, found
        return [record.turn for record in found]

    return turns


# ------------------------------------------------------------------ turns


def test_a_turn_comes_in_as_record_turn_takes_it(turns):
    """Every field that a turn has is taken over; what is no field is kept as metadata."""
    call, given = (
        {"name": "Read", "input": {"path": "码头.txt"}, "id": "t"},
        {"tool_use_id": "t", "content": "好", "is_error": False},
    )
    line = {
        "role": "assistant",
        "content": "看过了",
        "session": "s1",
        "said_at": "2026-03-02T09:14:00+08:00",
        "speaker": "Bot",
        "tool_calls": [call],
        "tool_results": [given],
        "external_id": "x-1",
        "parent": "x-0",
        "agent": "helper",
        "project": "harbour",
        "metadata": {"mood": "calm"},
        "origin": "file",
        "actor": "ann",
    }
    (said,) = turns(line | {"channel": "港口"})

    assert line | {"metadata": {"channel": "港口", "mood": "calm"}} == said


@pytest.mark.parametrize(
    ("line", "role", "speaker"),
    [
        ({"speaker": "李雷", "text": "你好", "time": "2026-03-02"}, "user", "李雷"),
        ({"sender": "assistant", "message": "你好", "ts": 1772442840}, "assistant", "assistant"),
        ({"from": "human", "body": "你好", "created_at": 1772442840000}, "user", "human"),
        ({"author": {"role": "assistant"}, "content": {"content_type": "text", "parts": ["你好"]}}, "assistant", None),
        ({"role": "助手", "content": [{"type": "text", "text": "你好"}]}, "assistant", None),
        ({"role": "developer", "content": "你好"}, "system", None),
    ],
)
def test_exports_of_chats_are_understood(turns, line, role, speaker):
    """Who, what and when are found under the names that chat programs give them, in both languages."""
    (said,) = turns(line)

    assert (role, speaker, "你好") == (said["role"], said.get("speaker"), said["content"])
    assert "metadata" not in said


def test_times_keep_their_offset_and_numbers_are_utc(turns):
    """A time with an offset stays in it, a number counts since 1970, and a turn without time has that of the one before."""
    line = {"role": "user", "content": "x"}
    said = turns(
        line | {"time": "2026-03-02T09:14:00+08:00"},
        line,
        line | {"timestamp": 1772442840.5},
        line | {"session": "other"},
    )

    assert ["2026-03-02T09:14:00+08:00"] * 2 == [turn["said_at"] for turn in said[:2]]
    assert datetime(2026, 3, 2, 9, 14, 0, 500_000, UTC) == said[2]["said_at"]
    assert "said_at" not in said[3]


# ------------------------------------------------------------------ conversations


def test_a_conversation_of_a_chat_model_is_a_turn_a_message(turns):
    """Roles, parts, calls with their arguments and what the tools answered arrive in our own form."""
    call = {"id": "c1", "type": "function", "function": {"name": "book", "arguments": '{"city": "上海", "day": "\\ud800"}'}}
    broken = {"id": "c2", "type": "function", "function": {"name": "book", "arguments": '{"city": '}}
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}}
    user, asked, answered = turns(
        {
            "id": "conversation-7",
            "model": "m-1",
            "created_at": "2026-03-02T09:14:00Z",
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": "去上海"}, picture]},
                {"role": "assistant", "content": None, "tool_calls": [call, broken]},
                {"role": "tool", "tool_call_id": "c1", "name": "book", "content": "booked"},
            ],
        }
    )

    assert {"conversation-7"} == {turn["session"] for turn in (user, asked, answered)}
    assert ("去上海\n[image image/png]", {"model": "m-1"}) == (user["content"], user["metadata"])
    assert "metadata" not in asked  # what is known of the conversation stands with its first message
    assert [
        {"name": "book", "input": {"city": "上海", "day": "\ufffd"}, "id": "c1"},
        {"name": "book", "input": '{"city": ', "id": "c2"},
    ] == asked["tool_calls"]
    assert [{"tool_use_id": "c1", "content": "booked", "is_error": False, "name": "book"}] == answered["tool_results"]
    assert ("tool", "", "2026-03-02T09:14:00Z") == (answered["role"], answered["content"], answered["said_at"])


def test_conversations_without_a_name_do_not_run_together(turns):
    """Two unnamed conversations of one file are two sessions, and the same words in both are two turns."""
    one = {"messages": [{"role": "user", "content": "好"}, {"role": "user", "content": "好"}]}
    said = turns(one, one)

    assert ["chat:1", "chat:1", "chat:2", "chat:2"] == [turn["session"] for turn in said]
    assert 4 == len({turn["external_id"] for turn in said})


# ------------------------------------------------------------------ statements


def test_a_statement_comes_in_as_remember_takes_it(read):
    """Its details keep their names, other exports' names are understood, and the rest is metadata."""
    line = {"memory": "Ann 喜欢茶", "id": "m-1", "created_at": "2026-03-02", "kind": "preference", "tags": ["茶"], "score": 0.8}
    (found,) = read(line)

    assert found == MemoryRecord(
        1,
        "Ann 喜欢茶",
        {
            "external_id": "m-1",
            "said_at": "2026-03-02",
            "kind": "preference",
            "tags": ["茶"],
            "origin": "import",
            "metadata": {"score": 0.8},
        },
    )


# ------------------------------------------------------------------ ids


def test_ids_are_kept_and_numbers_count_within_their_session(turns):
    """An id that is a name is kept; 1 in one session is not 1 in the next; one id with other words gets its own."""
    line = {"role": "user", "content": "x", "session": "s1"}
    ids = [
        turn["external_id"]
        for turn in turns(
            line | {"id": "D1:3"}, line | {"id": 1}, line | {"id": 1, "session": "s2"}, line | {"id": "D1:3", "content": "y"}
        )
    ]

    assert ["D1:3", "s1#1", "s2#1"] == ids[:3]
    assert ids[3].startswith("D1:3#")


def test_without_an_id_the_line_and_its_place_among_equals_make_one(turns):
    """The same file gives the same ids each time, equal lines are told apart, and a longer file keeps the old ids."""
    line = {"role": "user", "content": "好"}
    twice, longer = turns(line, line), turns(line, line, {"role": "user", "content": "新"}, line)

    assert twice[0]["external_id"] != twice[1]["external_id"]
    assert [turn["external_id"] for turn in twice] == [turn["external_id"] for turn in longer[:2]]
    assert 4 == len({turn["external_id"] for turn in longer})


def test_a_statement_without_an_id_gets_one_from_its_file(read):
    """The same statement has the same id each time it is read from one file, and another in another file."""
    line = {"memory": "Ann 喜欢茶"}
    ids = [read(line, name=name)[0].details["external_id"] for name in ("a.jsonl", "a.jsonl", "b.jsonl")]

    assert ids[0] == ids[1] != ids[2]


def test_a_file_names_the_session_of_turns_that_name_none(turns):
    """Turns without a session belong to one that is called like the file."""
    assert "港口" == turns({"role": "user", "content": "x"}, name="港口.jsonl")[0]["session"]


# ------------------------------------------------------------------ what cannot be used


def test_bad_and_empty_lines_are_named_and_the_rest_goes_on(read):
    """Lines that are no record are reported or counted with their number; those around them are read."""
    records = read(
        {"role": "user", "content": "好"},
        b"[",
        {"foo": 1},
        {"role": "assistant", "content": None},
        {"messages": []},
        {"messages": ["no object", {"role": "user", "content": "再"}]},
        {"role": "user", "content": "最后"},
    )

    assert [
        (TurnRecord, 1),
        (BadRecord, 2),
        (BadRecord, 3),
        (SkippedRecord, 4),
        (SkippedRecord, 5),
        (BadRecord, 6),
        (TurnRecord, 6),
        (TurnRecord, 7),
    ] == [(type(record), record.line) for record in records]


def test_metadata_that_is_too_large_is_named_and_the_turn_kept(turns):
    """A huge unknown entry does not cost the turn: its name stays, the smaller ones too."""
    (said,) = turns({"role": "user", "content": "好", "embedding": [0.5] * 10_000, "mood": "calm"})

    assert {"mood": "calm", "left_out": ["embedding"]} == said["metadata"]


# ------------------------------------------------------------------ in a memory


def test_turns_and_statements_of_a_file_can_be_asked(write, tmp_path):
    """An import of both is answered from: a statement with its own date, trusted as an import, and the turns' words."""
    path = write(
        {"role": "user", "content": "The tide gauge is broken. 潮位计坏了。", "session": "s1", "time": "2026-03-02T09:14:00+08:00"},
        {"memory": "I live in Oslo.", "said_at": "2026-03-01T08:00:00+01:00"},
    )
    with Memory(tmp_path / "home", owner="user:ann") as memory:
        memory.admin.import_(jsonl.read(path), source=path.name)
        turn = memory.recall("潮位计怎么样？")[0].item
        home = memory.recall("Where do I live?")[0].item

    assert (timedelta(hours=8), "s1") == (turn.said_at.utcoffset(), turn.session)
    assert ("I live in Oslo.", Origin.IMPORT) == (home.content, home.origin)
    assert datetime(2026, 3, 1, 8, tzinfo=timezone(timedelta(hours=1))) == home.said_at


NASTY = (None, True, -1, 1e300, 10**30, "", "好", "\ud800", "\0", [], [[]], {}, {"a": [{}]}, ["x", 1], "2026-99-99", "x" * 3000)


@pytest.mark.long
def test_thousands_of_lines_of_any_values_raise_nothing(write, tmp_path):
    """Known names with values of any type, and lines cut anywhere: each is taken, counted or reported."""
    chance = random.Random(sampling.SEED)
    names = [name for group in jsonl.NAMES.values() for name in group]
    names += "role memory messages metadata tool_calls tool_results function_call tool_call_id kind tags origin said_at foo".split()

    def anything():
        record = {"role": "user", "content": "改到周五"} if chance.random() < 0.7 else {}
        for name in chance.choices(names, k=chance.randrange(6)):
            record[name] = chance.choice([*NASTY, [dict(record)], dict(record)])
        line = json.dumps(record).encode()
        return line[: chance.randrange(1, len(line))] if chance.random() < 0.1 else line

    path = write(*(anything() for _ in range(3_000)))
    with Memory(tmp_path / "home", owner="user:ann") as memory:
        report = memory.admin.import_(jsonl.read(path), source="fuzz", dry_run=True)

    assert report.records >= 3_000
    assert report.turns > 300
    assert report.memories > 3
