"""`ingest`: each captured event is recorded once: prompts, replies, tools, compression, ends of sessions, exclusions."""

import json

import canaries
import pytest
from canaries import has_number
from hooking import capture

from yiku import Memory
from yiku.errors import InvalidInput, Paused
from yiku.files import inbox, inbox_append
from yiku.flows.learn import ingest
from yiku.rules.privacy import fence


def conversation(home):
    capture(home, "start", source="startup")
    capture(home, "prompt", prompt="I moved to Oslo. 我搬到了奥斯陆。", cwd="/work/atlas")
    capture(
        home,
        "tool",
        tool_name="Bash",
        tool_use_id="t1",
        tool_input={"command": "ls"},
        tool_response={"stdout": "a.py", "stderr": ""},
    )
    capture(home, "reply", last_assistant_message="Noted. 记下了。")


def test_a_conversation_becomes_turns(memory, home):
    """Prompt, call, result and reply, in order, with who spoke, where, and when; what the user says is learned."""
    conversation(home)
    done = memory.admin.ingest()

    assert (4, 4, {"start": 1}) == (done.events, done.turns, done.skipped)
    turns = sorted(memory.timeline(), key=lambda item: getattr(item, "position", -1))
    turns = [item for item in turns if hasattr(item, "role")]
    assert ["user", "assistant", "tool", "assistant"] == [turn.role for turn in turns]
    assert {("claude-code", "s1")} == {(turn.agent, turn.session) for turn in turns}
    assert ("atlas", "/work/atlas") == (turns[0].project, turns[0].metadata["cwd"])
    assert [{"id": "t1", "name": "Bash", "input": {"command": "ls"}}] == list(turns[1].tool_calls)
    assert [("t1", "a.py", False)] == [(r["tool_use_id"], r["content"], r["is_error"]) for r in turns[2].tool_results]
    memory.learn()
    assert {"I moved to Oslo.", "我搬到了奥斯陆。"} & {hit.text for hit in memory.recall("where do I live?").hits}
    assert not inbox.every_file(memory._handle.paths)


def test_what_was_recorded_is_known_the_second_time(memory, home, monkeypatch):
    """A process dies after it stored the turns and before it removed the file: nothing doubles."""
    conversation(home)
    with monkeypatch.context() as patch:
        patch.setattr(ingest.inbox, "remove", lambda path: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            memory.admin.ingest()
    again = memory.admin.ingest()

    assert (0, 4) == (again.turns, again.known)
    assert 4 == memory.admin.stats().turns


def test_a_call_goes_on_where_the_last_one_stopped(memory, home):
    """What was recorded before the mark is not read again; what came since stands in another file."""
    for number in range(5):
        capture(home, "prompt", prompt=f"Sentence {number}.")
    seen = iter([False, False, False, True, True])
    first = ingest.ingest(memory._handle, stopped=lambda: next(seen))
    capture(home, "prompt", prompt="Sentence 5.")
    second = memory.admin.ingest()

    assert (2, 3, 0) == (first.turns, first.waiting, first.known)
    assert (4, 0, 0) == (second.turns, second.waiting, second.known)
    assert [f"Sentence {n}." for n in range(6)] == [turn["content"] for turn in memory.sessions.messages("s1").messages]


def test_before_compression_the_turns_become_an_episode(memory, home):
    """Once for the same turns; those said since go into the next."""
    conversation(home)
    capture(home, "compress", trigger="auto")
    capture(home, "compress", trigger="auto")
    capture(home, "compressed", compact_summary="They moved to Oslo.")
    capture(home, "prompt", prompt="Now the tests.")
    capture(home, "compress")
    done = memory.admin.ingest()

    assert 2 == done.compressed
    assert ["context_compress"] * 2 == [episode.source for episode in memory.sessions.episodes(session="s1")]
    summary = next(turn for turn in memory.timeline() if getattr(turn, "role", "") == "system")
    assert ("They moved to Oslo.", "assistant", True) == (summary.content, summary.origin.value, summary.metadata["summary"])


def test_the_end_of_a_session_ends_it(memory, home):
    """Also of one in which nothing was said."""
    conversation(home)
    capture(home, "end", reason="exit")
    capture(home, "end", session="empty")
    done = memory.admin.ingest()

    assert 1 == done.ended
    assert memory.sessions.get("s1").closed_at is not None
    assert ["session_end"] == [episode.source for episode in memory.sessions.episodes()]


def test_what_yiku_had_brought_into_a_prompt_is_not_recorded(memory, home):
    """Its block is cut out, escaped too, and what other hooks slip in; results of its own tools are not kept a second time."""
    block = fence.wrap("From memory: Ann lives in Bergen. 安住在卑尔根。", memory._handle.seal)
    escaped = block.replace("<", "&lt;").replace(">", "&gt;")
    capture(home, "prompt", prompt=f"{block}\nWhat now? 怎么办？")
    capture(home, "prompt", prompt=f"And then?\n<hook_context>{escaped} more</hook_context>", agent="gemini-cli")
    capture(home, "prompt", prompt=f"<system-reminder>Todo list is empty.</system-reminder>\nGo on. {escaped}")
    capture(
        home,
        "tool",
        tool_name="mcp__yiku__memory_search",
        tool_input={"query": "Ann"},
        tool_response=[{"type": "text", "text": "Ann lives in Bergen."}],
    )
    memory.admin.ingest()

    said = [turn["content"].strip() for turn in memory.sessions.messages("s1").messages if turn["role"] == "user"]
    assert ["What now? 怎么办？", "And then?", "Go on."] == said
    assert not memory.search_traces("Bergen")
    assert ["mcp__yiku__memory_search"] == [
        call["name"] for turn in memory.timeline() if hasattr(turn, "role") for call in turn.tool_calls
    ]


def test_what_is_private_or_switched_off_is_not_recorded(memory, home, tmp_path):
    """Parts that the hook could not see, wholly private prompts, and folders that were switched off since."""
    (off := tmp_path / "off").mkdir()
    (off / ".yiku-off").touch()
    capture(home, "prompt", prompt="<pri\u200bvate>4711</pri\u200bvate>")
    capture(home, "prompt", prompt="Tea. <pri\u200bvate>4711</pri\u200bvate>")
    capture(home, "prompt", prompt="Plans.", cwd=str(off))
    done = memory.admin.ingest()

    assert (1, {"in a folder that is switched off": 1, "private": 1}) == (done.turns, done.skipped)
    assert not has_number(b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file()), "4711")


def test_while_memory_is_paused_the_inbox_waits(memory, home):
    """What was captured before is recorded after; `status` counts it."""
    conversation(home)
    memory.admin.pause()
    with pytest.raises(Paused):
        memory.admin.ingest()
    assert 4 == memory.status().waiting["events to record"]
    memory.admin.resume()

    assert 4 == memory.admin.ingest().turns
    assert "events to record" not in memory.status().waiting


def test_a_memory_in_the_background_records_and_learns(home):
    """Within some seconds of the hook, without anybody asking."""
    with Memory(home, owner="user:mei", background=True) as memory:
        conversation(home)
        with Memory(home) as other:
            from time import monotonic, sleep

            end = monotonic() + 60
            while not other.get_all() and monotonic() < end:
                sleep(0.05)
            assert ["Oslo" in one.content or "奥斯陆" in one.content for one in other.get_all()]
        assert memory.admin.stats().turns == 4


def test_events_of_another_scope_stay_where_they_are(home):
    """A memory that was opened on another scope does not record what belongs to the home's own."""
    with Memory(home, owner="user:mei") as memory:
        memory.remember("I live in Oslo.")
    conversation(home)
    with Memory(home, scope="team:atlas") as other:
        assert 0 == other.admin.ingest().events
    with Memory(home) as memory:
        assert 4 == memory.admin.ingest().turns


def test_a_turn_that_cannot_be_stored_is_set_aside(memory, home):
    """One prompt of 70 MB: the others are recorded, and it is kept for a person."""
    capture(home, "prompt", prompt="Before.")
    capture(home, "prompt", prompt="x" * (65 << 20))
    capture(home, "prompt", prompt="After.")
    done = memory.admin.ingest()

    assert (2, 1) == (done.turns, done.unreadable)
    assert (1, 0) == inbox.set_aside_lines(memory._handle.paths)


ODD = {"nested": [{"a\ud83d": "b\0"}], "number": float("nan")}


@pytest.mark.parametrize("odd", ["cat\0/proc/self/cmdline\0", "cut \ud83d", "切断\udc00", ODD, [ODD, "x\0"]])
def test_a_call_with_characters_that_cannot_be_stored_is_recorded_whole(memory, home, odd):
    """A NUL or half an emoji, in its name, its input or its output, however deep: U+FFFD stands for it, and the rest is there."""
    capture(
        home, "tool", tool_name="Bash\0", tool_use_id="t1", tool_input={"command": odd, "x\0": "里"}, tool_response={"stdout": odd}
    )
    capture(home, "tool", tool_name="Write", tool_use_id="t2", tool_input=odd, tool_response=odd)
    done = memory.admin.ingest()

    assert (4, 0) == (done.turns, done.unreadable)
    said = {turn.id: turn for turn in memory.search_traces()}.values()
    calls = {call["id"]: call for turn in said for call in turn.tool_calls}
    results = {result["tool_use_id"]: result["content"] for turn in said for result in turn.tool_results}
    assert ("Bash�", "里") == (calls["t1"]["name"], calls["t1"]["input"]["x�"])
    assert {"t1", "t2"} == {*calls} == {*results} and all("�" in text for text in results.values())


def test_a_call_that_is_nested_too_deeply_is_recorded_as_its_text(memory, home):
    """Deeper than a turn may be."""
    deep = ["bottom"]
    for _ in range(300):
        deep = [deep]
    capture(home, "tool", tool_name="Bash", tool_use_id="t1", tool_input={"deep": deep}, tool_response=[deep])
    done = memory.admin.ingest()

    assert (2, 0) == (done.turns, done.unreadable)
    assert 2 == len(memory.search_traces("bottom"))


@pytest.mark.parametrize("levels", [60, 330, 960, 975, 5_000, 200_000])
def test_a_call_is_recorded_however_deeply_it_is_nested(memory, home, levels):
    """As nothing can be nested that is read by recursion; escaped words in it are words, and what is private is left out."""
    said = r'"\u6df1\u5904 \u003cprivate>gzhkxq\u003c/private> ]"'
    for deep in (f"{'[' * levels}{said}{']' * levels}", '{"a":' * levels + said + "}" * levels):
        payload = f'{{"session_id":"s1","tool_name":"Bash","tool_use_id":"t1","tool_input":{deep},"tool_response":"it ended"}}'
        inbox_append.append(str(home), payload.encode(), hook="tool", agent="claude-code")
    done = memory.admin.ingest()

    assert (4, 0) == (done.turns, done.unreadable)
    calls = [json.dumps(call, ensure_ascii=False) for turn in memory.search_traces() for call in turn.tool_calls]
    assert (2, 2) == (len(calls), len(memory.search_traces("ended")))
    assert all("深处" in call and call.count("]") > call.count("[") for call in calls if levels < 1_000)
    assert not any("gzhkxq" in call for call in calls)
    assert [] == canaries.sung(home, ["gzhkxq"])


@pytest.mark.parametrize(
    "session", ["a\u2028b", "a\x85b", "a\u2029b", "a\x1cb", "x" * 500, "\0", "\ud800", "  ", "<private>x</private>"]
)
def test_no_session_id_keeps_what_comes_behind_it_from_being_recorded(memory, home, session):
    """Each event is recorded, counted or set aside; the next ones are recorded."""
    for hook in ("prompt", "compress", "end"):
        capture(home, hook, session=session, prompt="Before. 之前。")
    capture(home, "prompt", session="ok", prompt="After. 之后。")
    done = memory.admin.ingest()

    assert (4, 0) == (done.events, done.waiting)
    assert "After. 之后。" in [turn.content for turn in memory.search_traces()]
    assert not any(len(turn.session.splitlines()) > 1 for turn in memory.search_traces())


def test_an_event_that_is_refused_is_set_aside_whatever_it_is(memory, home, monkeypatch):
    """Not only a turn: also the compression or the end of a session. What comes behind it is recorded."""

    def refuse(*_, **__):
        raise InvalidInput("no")

    monkeypatch.setattr(ingest.sessions, "compress_recorded", refuse)
    monkeypatch.setattr(ingest.sessions, "end", refuse)
    for hook in ("prompt", "compress", "end", "prompt"):
        capture(home, hook, prompt="Said. 说。")
    with monkeypatch.context() as patch:
        patch.setattr(inbox_append.time, "time_ns", lambda: 10**24)
        capture(home, "prompt", prompt="In a year that there is not.")
    done = memory.admin.ingest()

    assert (2, 3, 0) == (done.turns, done.unreadable, done.waiting)
    assert (3, 0) == inbox.set_aside_lines(memory._handle.paths)


def test_status_tells_events_that_were_refused_from_lines_that_are_none(memory, home):
    """What may be the only copy of something is not to be deleted."""
    inbox.set_aside(memory._handle.paths, b"torn")
    (only,) = [line for line in memory.status().troubles if "unreadable.jsonl" in line]
    assert "a line that is no event" in only and "delete" in only
    capture(home, "prompt", prompt="x" * (65 << 20))
    inbox_append.append(str(home), b'{"prompt": "cut of', hook="prompt", agent="claude-code")
    memory.admin.ingest()

    no_event, refused = [line for line in memory.status().troubles if "unreadable.jsonl" in line]
    assert "delete the line" in no_event
    assert "2 events that could not be recorded, or only in part" in refused and "delete" not in refused
