"""Importing Claude Code transcripts: turns, counts, and broken files."""

import itertools
import json
import random
import time
from datetime import UTC, datetime

import pytest
import sampling

from yiku import Memory
from yiku.errors import InvalidInput
from yiku.interfaces import importers
from yiku.interfaces.importers import claude_code
from yiku.types import BadRecord, MemoryRecord, Origin, SkippedRecord, TurnRecord

START = "2026-03-02T09:14:00.000Z"


def entry(type_, content, uuid="u1", **more):
    """A record as the tool writes it."""
    message = {"role": type_, "content": content} | ({"model": "model-5"} if type_ == "assistant" else {})
    place = {"sessionId": "s1", "cwd": "/home/ann/码头", "gitBranch": "main", "version": "2.1.0", "isSidechain": False}
    return {"type": type_, "uuid": uuid, "parentUuid": None, "timestamp": START, "message": message, **place, **more}


@pytest.fixture
def write(tmp_path):
    """Writes a transcript from records and raw lines; its path."""
    numbers = itertools.count()

    def write(*lines, name=None):
        path = tmp_path / (name or f"transcript-{next(numbers)}.jsonl")
        path.parent.mkdir(parents=True, exist_ok=True)
        raw = (line if isinstance(line, bytes) else json.dumps(line, ensure_ascii=False).encode() for line in lines)
        path.write_bytes(b"".join(line + b"\n" for line in raw))
        return path

    return write


@pytest.fixture
def read(write):
    """The records that a transcript of these lines gives."""
    return lambda *lines: list(claude_code.read(write(*lines)))


@pytest.fixture
def turn(read):
    """The turn that one record gives."""

    def turn(*line):
        (found,) = read(*line)
        assert isinstance(found, TurnRecord), found
        return found.turn

    return turn


# ------------------------------------------------------------------ what becomes a turn


def test_what_a_person_typed_keeps_its_ids_time_and_place(turn):
    """A user's text is a turn under the record's own ids and time, with the folder as its project."""
    said = turn(entry("user", "部署改到周五 😀 please", "u2", parentUuid="u1"))

    assert {
        "role": "user",
        "content": "部署改到周五 😀 please",
        "session": "s1",
        "said_at": datetime(2026, 3, 2, 9, 14, tzinfo=UTC),
        "external_id": "u2",
        "parent": "u1",
        "agent": "claude-code",
        "project": "码头",
        "metadata": {"cwd": "/home/ann/码头", "gitBranch": "main", "version": "2.1.0"},
    } == said


def test_a_tool_call_and_its_result_are_turns(read):
    """What the agent asked of a tool and what came back are kept in their own fields, not in the content."""
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls 码头"}}
    blocks = [{"type": "text", "text": "a.txt"}, {"type": "image", "source": {"media_type": "image/png", "data": "QUJD"}}]
    back = {"type": "tool_result", "tool_use_id": "t1", "content": blocks, "is_error": True}
    asked, given = (record.turn for record in read(entry("assistant", [call]), entry("user", [back], "u2")))

    assert ("assistant", "", [{"name": "Bash", "input": {"command": "ls 码头"}, "id": "t1"}]) == (
        asked["role"],
        asked["content"],
        asked["tool_calls"],
    )
    assert ("tool", "", [{"tool_use_id": "t1", "content": "a.txt\n[image image/png]", "is_error": True}]) == (
        given["role"],
        given["content"],
        given["tool_results"],
    )
    assert "model-5" == asked["metadata"]["model"]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("plain", "plain"),
        (["a bare text", {"type": "text", "text": "一个块"}], "a bare text\n一个块"),
        ([{"type": "image", "source": {"media_type": "image/png"}}, {"type": "text", "text": "this"}], "[image image/png]\nthis"),
        (
            [{"type": "document", "title": "spec.pdf", "source": {"media_type": "application/pdf"}}],
            "[document application/pdf spec.pdf]",
        ),
        ([{"type": "hologram", "data": 1}, 42], "[hologram]\n[a number]"),
        ({"type": "text", "text": "one block, no list"}, "one block, no list"),
    ],
)
def test_odd_content_is_text_or_named_in_its_place(turn, content, text):
    """A picture, a document or a block nobody knows stands in the text by its name; no text is lost."""
    assert text == turn(entry("user", content))["content"]


def test_a_message_may_be_a_bare_text(turn):
    """Some records have a text where the message should be."""
    assert "好的" == turn(entry("user", "x") | {"message": "好的"})["content"]


def test_a_subagent_is_marked_and_its_orders_are_no_ones_words(turn):
    """A sidechain is kept and marked; the prompt that the agent wrote there does not count as said by the user."""
    said = turn(entry("user", "Find all callers of dock().", isSidechain=True, agentId="a7"))

    assert ("user", "assistant", True, "a7") == (
        said["role"],
        said["origin"],
        said["metadata"]["isSidechain"],
        said["metadata"]["agentId"],
    )


def test_summaries_are_turns_of_the_system(read):
    """The summary of a session, and the one that stands in for what was compacted, are worth keeping."""
    compact = entry("user", "This session is being continued …\n1. 部署", "u9", isCompactSummary=True)
    title = {"type": "summary", "summary": "码头调度 dock scheduling", "leafUuid": "u9"}
    found = [record.turn for record in read(title, compact, title)]

    assert [("system", "assistant", True)] * 3 == [(t["role"], t["origin"], t["metadata"]["summary"]) for t in found]
    assert ["summary:u9", "u9", "summary:u9"] == [t["external_id"] for t in found]
    assert {datetime(2026, 3, 2, 9, 14, tzinfo=UTC)} == {t["said_at"] for t in found}  # also before the first time in the file


def test_what_was_typed_while_the_agent_worked_is_a_turn(turn):
    """A queued prompt lies in an attachment; it was typed all the same."""
    queued = {"type": "queued_command", "prompt": "and 顺便 fix the tests"}

    assert "and 顺便 fix the tests" == turn(entry("user", "") | {"type": "attachment", "attachment": queued})["content"]


# ------------------------------------------------------------------ what was typed


@pytest.mark.parametrize(
    ("written", "typed"),
    [
        ("keep this <system-reminder>never learn that</system-reminder>and 这个", "keep this and 这个"),
        ("<system-reminder>a</system-reminder>\n改名\n<hook_context>b</hook_context>", "改名"),
        ("what does <system-reminder> mean?", "what does <system-reminder> mean?"),
        ("if a < b and <b>bold</b>", "if a < b and <b>bold</b>"),
        (
            "<command-message>deploy is running…</command-message>\n<command-name>/deploy</command-name>\n<command-args>周五</command-args>",
            "/deploy 周五",
        ),
        ("<command-name>clear</command-name>", "/clear"),
        ("<bash-input>ls 码头</bash-input>", "! ls 码头"),
        ("<user-memory-input>我喜欢茶</user-memory-input>", "# 我喜欢茶"),
        ("the tag <command-name>x</command-name> is odd", "the tag <command-name>x</command-name> is odd"),
        ("Caveat: The messages below were generated by the user … asks you to.\n\n<command-name>/model</command-name>", "/model"),
    ],
)
def test_what_was_typed_stays_and_what_was_slipped_in_goes(turn, written, typed):
    """Reminders are taken out of a person's words, commands stand as they were typed, and a quoted tag stays."""
    assert typed == turn(entry("user", written))["content"]


def test_what_was_taken_out_of_a_turn_is_named(turn):
    """A turn says in its metadata what it no longer holds."""
    said = turn(entry("assistant", [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "好"}]))

    assert ("好", ["thinking"]) == (said["content"], said["metadata"]["left_out"])


def test_the_output_of_a_command_is_a_tool_result(turn):
    """What a person's own command printed is no words of theirs."""
    said = turn(entry("user", "<bash-stdout>a.txt</bash-stdout><bash-stderr>没有权限</bash-stderr>"))

    assert "tool" == said["role"]
    assert [{"content": "a.txt", "is_error": False}, {"content": "没有权限", "is_error": True}] == said["tool_results"]


def test_a_reminder_after_a_tools_output_goes_and_one_inside_stays(turn):
    """What the tool put behind an output is taken off; the same words in the middle may be the file's own."""
    text = "1 <system-reminder>of the file</system-reminder>\n2 end\n\n<system-reminder>of the tool</system-reminder>\n"
    said = turn(entry("user", [{"type": "tool_result", "tool_use_id": "t", "content": text}]))

    assert "1 <system-reminder>of the file</system-reminder>\n2 end" == said["tool_results"][0]["content"]


@pytest.mark.long
def test_a_text_full_of_tags_is_read_in_linear_time(turn):
    """Half a million opening tags, none of them closed, cost no more than a moment."""
    text = "<system-reminder><memory>" * 250_000
    start = time.process_time()

    assert text == turn(entry("user", text))["content"]
    assert time.process_time() - start < 5


# ------------------------------------------------------------------ what is counted, and what is reported


@pytest.mark.parametrize(
    ("record", "what"),
    [
        (entry("assistant", [{"type": "thinking", "thinking": "…"}]), "thinking"),
        (entry("user", "injected", isMeta=True), "meta"),
        (entry("assistant", "API Error: 529", isApiErrorMessage=True), "API error"),
        (entry("user", [{"type": "text", "text": "[Request interrupted by user]"}]), "interruption"),
        (entry("user", "<system-reminder>todo</system-reminder>"), "system-reminder"),
        (entry("user", ""), "empty"),
        ({"type": "system", "subtype": "stop_hook_summary"}, "system: stop_hook_summary"),
        ({"type": "attachment", "attachment": {"type": "todo_reminder"}}, "attachment: todo_reminder"),
        ({"type": "file-history-snapshot", "snapshot": {}}, "file-history-snapshot"),
        ({"type": "x" * 500}, "other"),
    ],
)
def test_what_says_nothing_is_counted_by_name(read, record, what):
    """No record disappears: each that is no turn is counted under what it is."""
    assert [SkippedRecord(1, what)] == read(record)


def test_bad_lines_are_named_and_the_rest_goes_on(read):
    """Each line that cannot be used is reported with its number, and those around it are read."""
    fine = entry("user", "好")
    records = read(
        b"\xef\xbb\xbf" + json.dumps(fine).encode() + b"\r",  # a BOM and CRLF are no matter
        b"",
        b'{"type": "user", ',
        b'"massive error"',
        b"[1]",
        {"silly": "this"},
        b'{"type": "user", "message": {"content": "\xff\xfe"}}',
        b"\0\0\0\0",
        entry("user", "x") | {"message": {"contenst": "typo"}},
        b'{"a":' * 100_000,
        fine | {"uuid": "last"},
        b'{"type": "user", "mess',
    )

    assert [TurnRecord] + [BadRecord] * 8 + [TurnRecord, BadRecord] == [type(record) for record in records]
    assert [1, *range(3, 13)] == [record.line for record in records]
    assert "UTF-8 at byte" in records[5].why


def test_a_cut_off_last_line_says_so(write):
    """A transcript that is still being written ends in the middle of a line; the next import will have it."""
    path = write(entry("user", "好"))
    path.write_bytes(path.read_bytes() + b'{"type": "user", "mess')

    assert BadRecord(2, "is cut off; import the file again when it is whole") == list(claude_code.read(path))[1]


def test_a_line_that_is_too_long_is_passed_over(write, monkeypatch):
    """A line over the limit is reported with its size, without being held, and the next one is read."""
    monkeypatch.setattr(importers, "LINE_BYTES", 1_000)
    first, last = claude_code.read(write(b"x" * 3_000_000, entry("user", "好")))

    assert BadRecord(1, "has 3,000,001 bytes; at most 1,000") == first
    assert ("好", 2) == (last.turn["content"], last.line)


def test_characters_that_cannot_be_stored_are_replaced_and_counted(turn):
    r"""NUL and lone surrogates become U+FFFD, and the turn says how many; a pair of surrogates is an emoji."""
    said = turn(json.dumps(entry("user", "a\0b\ud83d😀")).encode())

    assert ("a\ufffdb\ufffd😀", 2) == (said["content"], said["metadata"]["replaced_characters"])


def test_huge_numbers_doubled_keys_and_deep_input_do_no_harm(turn):
    """What JSON allows and others refuse comes in: the last of two keys; numbers without end and deep nesting as text."""
    long, deep = "1" + "0" * 5000, '{"a":' * 60 + "1" + "}" * 60
    calls = (f'{{"type": "tool_use", "name": "X", "input": {given}}}' for given in (f"[{long}, 1e999, NaN]", deep))
    said = turn(f'{{"type": "user", "type": "assistant", "uuid": "u", "message": {{"content": [{", ".join(calls)}]}}}}'.encode())

    assert "assistant" == said["role"]
    assert [[long, "1e999", "NaN"], deep.replace(":", ": ")] == [call["input"] for call in said["tool_calls"]]


# ------------------------------------------------------------------ ids and times


def test_two_records_with_one_uuid_are_both_kept(read):
    """The same record twice has one id; another text under a known uuid has an id of its own, each time the same."""
    lines = [entry("user", "一"), entry("user", "一"), entry("user", "二")]
    first, again, other = (record.turn["external_id"] for record in read(*lines))

    assert ("u1", "u1", True) == (first, again, other.startswith("u1#"))
    assert other == read(*lines)[2].turn["external_id"]


def test_a_record_without_uuid_or_time_gets_stable_ones(write):
    """The id comes from the file's name and the line, the time from the record before."""
    bare = {"type": "user", "message": {"content": "好"}}
    path = write(entry("user", "x"), entry("user", "y", "u2", timestamp="2026-03-02T09:15:00Z"), bare, name="s9.jsonl")
    once, twice = (list(claude_code.read(path))[2].turn for _ in range(2))

    assert once == twice
    assert ("s1", datetime(2026, 3, 2, 9, 15, tzinfo=UTC)) == (once["session"], once["said_at"])
    assert once["external_id"].startswith("s9#")


def test_ids_that_cannot_be_stored_are_kept_as_their_hash(turn):
    """An id of a thousand characters or of two lines still tells its record from others."""
    said = turn(entry("user", "好", "u\n" * 500, sessionId="s" * 5000))

    assert 200 > max(len(said["external_id"]), len(said["session"]))


# ------------------------------------------------------------------ files


def test_a_folder_gives_its_transcripts_sorted(write, tmp_path):
    """Below a folder each transcript counts, other files do not; of a home with projects only those."""
    b, a = write(entry("user", "b"), name="home/projects/b/2.jsonl"), write(entry("user", "a"), name="home/projects/a/1.jsonl")
    write(entry("user", "typed before"), name="home/history.jsonl")
    (tmp_path / "home" / "projects" / "notes.md").write_text("no transcript")

    assert [a, b] == claude_code.files(tmp_path / "home") == claude_code.files(tmp_path / "home" / "projects")
    assert [b] == claude_code.files(b)
    assert a.stat().st_size + b.stat().st_size == claude_code.size(tmp_path / "home")


def test_what_is_not_there_is_a_clear_error(tmp_path):
    """A path that leads nowhere is refused, not read as nothing."""
    with pytest.raises(InvalidInput, match="no such file or folder"):
        claude_code.files(tmp_path / "nowhere")
    with pytest.raises(InvalidInput, match="gone"):
        list(claude_code.read(tmp_path / "gone.jsonl"))


def test_progress_adds_up_to_the_size(write):
    """Whoever shows progress hears of every byte, those of blank and bad lines too."""
    path, sizes = write(entry("user", "好"), b"", b"{", entry("user", "再")), []
    list(claude_code.read(path, consumed=sizes.append))

    assert claude_code.size(path) == sum(sizes)


# ------------------------------------------------------------------ in a memory


@pytest.mark.spec("S2-28", "S2-75", "S3-37")
def test_an_imported_session_can_be_asked(write, tmp_path):
    """The words are found by recall, the tool's arguments and output by search_traces, with their own times."""
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "pytest tests/harbour"}}
    back = {"type": "tool_result", "tool_use_id": "t1", "content": "3 passed, 1 failed: test_tide"}
    path = write(
        entry("user", "码头系统的截止日期是三月底", "u1"),
        entry("assistant", [call], "u2", timestamp="2026-03-02T09:15:00Z"),
        entry("user", [back], "u3", timestamp="2026-03-02T09:16:00Z"),
    )
    with Memory(tmp_path / "home", owner="user:ann") as memory:
        memory.admin.import_(claude_code.read(path), source=path.name)
        found = memory.recall("截止日期是什么时候？")
        calls = memory.search_traces("harbour", tool="Bash")
        results = memory.search_traces("test_tide", role="tool")

    assert "u1" == found[0].item.external_id
    assert [("u2", Origin.ASSISTANT)] == [(turn.external_id, turn.origin) for turn in calls]
    assert [("u3", "3 passed, 1 failed: test_tide")] == [(turn.external_id, turn.tool_results[0]["content"]) for turn in results]
    assert datetime(2026, 3, 2, 9, 16, tzinfo=UTC) == results[0].said_at


def mutated(line: bytes, chance: random.Random) -> bytes:
    """The line with some bytes flipped, cut, doubled or replaced by something nasty."""
    data = bytearray(line)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(data) or 1)
        match chance.randrange(4):
            case 0 if data:
                data[at % len(data)] ^= 1 << chance.randrange(8)
            case 1:
                data = data[:at]
            case 2:
                data[at:at] = data[at : at + chance.randrange(40)]
            case _:
                data[at:at] = chance.choice(
                    [b"\0", b"\\ud800", b"null", b"[", b"{", b'"', b"1e999", b"\xff", b"\n", b"[]", b"9" * 50]
                )
    return bytes(data)


@pytest.mark.long
def test_thousands_of_mutated_lines_raise_nothing(write, tmp_path):
    """Whatever happens to the bytes of a transcript, each line is a turn, counted or reported; nothing raises or hangs."""
    chance = random.Random(sampling.SEED)
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls", "deep": [[{}]]}}
    back = {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "好"}]}
    whole = [
        entry("user", "改到周五 <system-reminder>x</system-reminder>", "a"),
        entry("assistant", [{"type": "thinking", "thinking": "…"}, {"type": "text", "text": "ok"}, call], "b"),
        entry("user", [back], "c", isSidechain=True),
        {"type": "summary", "summary": "码头", "leafUuid": "a"},
        entry("user", "<command-name>/x</command-name><command-args>y</command-args>", "d"),
        {"type": "attachment", "attachment": {"type": "queued_command", "prompt": ["x"]}, "sessionId": "s1"},
    ]
    lines = [json.dumps(record).encode() for record in whole]
    path = write(*(mutated(chance.choice(lines), chance) for _ in range(4_000)), name="fuzz.jsonl")
    with Memory(tmp_path / "home", owner="user:ann") as memory:
        report = memory.admin.import_(claude_code.read(path), source="fuzz", dry_run=True)

    assert report.records > 3_600
    assert report.turns > 40
    assert MemoryRecord not in {type(record) for record in claude_code.read(path)}
