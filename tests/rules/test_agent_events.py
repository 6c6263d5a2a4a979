"""Parsing events of coding agents: the turns each gives, and what is left out."""

import time
from datetime import UTC, datetime

import pytest

from yiku.rules.sessions import agent_events
from yiku.rules.sessions.agent_events import Compression, Nothing, SessionEnd, Turns

AT = datetime(2026, 3, 1, tzinfo=UTC)


def read(hook, payload, agent="claude-code"):
    return agent_events.read(payload, hook=hook, agent=agent, id="77", said_at=AT)


@pytest.mark.parametrize(
    ("hook", "payload", "role", "content"),
    [
        ("prompt", {"prompt": "hello 你好"}, "user", "hello 你好"),
        ("prompt", {"prompt": [{"type": "text", "text": "a"}, {"type": "image"}, "b"]}, "user", "a\nb"),
        ("reply", {"last_assistant_message": "yes"}, "assistant", "yes"),
        ("reply", {"prompt": "q", "prompt_response": "是"}, "assistant", "是"),
        ("compressed", {"compact_summary": "In short."}, "system", "In short."),
    ],
)
def test_who_said_what(hook, payload, role, content):
    """Fields of Claude Code, Codex and Gemini CLI."""
    (draft,) = read(hook, {"session_id": "s", **payload}).drafts

    assert (role, content, "s", AT, "hook:77") == tuple(
        draft[key] for key in ("role", "content", "session", "said_at", "external_id")
    )


@pytest.mark.parametrize(
    ("response", "content"),
    [
        ("plain", "plain"),
        ({"stdout": "out", "stderr": "err", "interrupted": False}, "out\nerr"),
        ([{"type": "text", "text": "一"}, {"type": "text", "text": "two"}], "一\ntwo"),
        ({"llmContent": "listing", "returnDisplay": ""}, "listing"),
        ({"filePath": "/a", "lines": 3}, '{"filePath": "/a", "lines": 3}'),
        (None, ""),
        (7, "7"),
    ],
)
def test_the_words_of_a_result(response, content):
    """Text where there is some, else the JSON that came."""
    call, result = read("tool", {"tool_name": "T", "tool_input": {"a": 1}, "tool_response": response}).drafts

    assert [{"id": "call-77", "name": "T", "input": {"a": 1}}] == call["tool_calls"]
    assert content == result["tool_results"][0]["content"]
    assert ["hook:77", "hook:77:1"] == [call["external_id"], result["external_id"]]


@pytest.mark.parametrize(
    "name",
    ["mcp__yiku__memory_search", "mcp__plugin_yiku_yiku__memory_get", "yiku_memory_recall", "memory_search", "yiku.memory_list"],
)
def test_results_of_its_own_tools_stay_out(name):
    """What memory gave is not what the world says."""
    _, result = read("tool", {"tool_name": name, "tool_response": "Ann lives in Bergen."}).drafts

    assert "Bergen" not in result["tool_results"][0]["content"]


def test_sessions_and_nothing():
    """Compression, the end, the start; hooks and payloads that nobody knows."""
    assert Compression("s") == read("compress", {"session_id": "s"})
    assert SessionEnd("codex") == read("end", {}, agent="codex")
    assert [Nothing("start"), Nothing("empty"), Nothing("no event"), Nothing("hook sing")] == [
        read("start", {}), read("prompt", {"prompt": " \n"}), read("prompt", None), read("sing", {}),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("prompt", "left"),
    [
        ("<system-reminder>be quiet</system-reminder>do it", "do it"),
        ("做 <hook_context>x</hook_context> 这个", "做  这个"),
        ("&lt;hook_context&gt;x&lt;/hook_context&gt; go", "go"),
        ("<system-reminder>never closed", "<system-reminder>never closed"),
        ("</system-reminder> a", "</system-reminder> a"),
        ("<div>mine</div>", "<div>mine</div>"),
        ("<memories><system-reminder>a</memories> b", "b"),
    ],
)
def test_what_others_slip_into_a_prompt_is_cut_out(prompt, left):
    """Whole blocks only; every other tag is the person's own."""
    assert left == agent_events.without_injected(prompt)


def test_a_hostile_prompt_takes_linear_time():
    """Ten times as many tags take about ten times as long."""

    def seconds(count):
        text = "<system-reminder>" * count + "</memories>" * count
        return min(_timed(agent_events.without_injected, text) for _ in range(3))

    assert seconds(20_000) < 40 * max(seconds(2_000), 0.001)


def _timed(function, text):
    began = time.process_time()
    function(text)
    return time.process_time() - began


@pytest.mark.parametrize(
    "payload",
    [
        {"session_id": 7, "prompt": {"a": 1}},
        {"session_id": "\n\0", "cwd": "///", "prompt": "a\0b\ud800"},
        {"prompt": "x", "session_id": "s" * 5_000},
    ],
)
def test_odd_payloads_are_no_trouble(payload):
    """Types that are not expected, control characters, names without an end."""
    reading = read("prompt", payload)

    assert isinstance(reading, Nothing) or (isinstance(reading, Turns) and len(reading.drafts[0]["session"]) <= 200)
