"""Parsing tool calls: pairing with results in every host's format, and detecting failures."""

from datetime import UTC, datetime

import pytest

from yiku.rules.sessions import calls
from yiku.types import Turn

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def turn(role, content="", calls=(), results=()):
    return Turn(
        id=f"{role}{len(calls)}{len(results)}",
        session="s",
        role=role,
        content=content,
        said_at=NOW,
        recorded_at=NOW,
        tool_calls=tuple(calls),
        tool_results=tuple(results),
    )


def one(content, name="run", **result):
    """The call that came back with this."""
    return calls.calls(
        [turn("assistant", calls=[{"name": name, "input": {}, "id": "1"}], results=[{"content": content, **result}])]
    )[0]


def test_a_result_goes_to_the_call_that_it_names():
    """Results may come in another order, in a later turn, and under the names of two vendors."""
    made = calls.calls(
        [
            turn("assistant", calls=[{"name": "read", "input": {"path": "a.md"}, "id": "x"}]),
            turn("assistant", calls=[{"id": "y", "function": {"name": "search", "arguments": '{"query": "猫"}'}}]),
            turn("tool", results=[{"tool_call_id": "y", "content": "three cats"}]),
            turn("tool", results=[{"tool_use_id": "x", "content": [{"type": "text", "text": "# A"}]}]),
        ]
    )

    assert [("read", {"path": "a.md"}, "# A", 3), ("search", {"query": "猫"}, "three cats", 2)] == [
        (call.name, call.params, call.result, call.answered) for call in made
    ]


def test_a_result_without_a_name_goes_to_the_first_call_that_waits():
    """Some hosts name nothing, or give one id to two calls; a result never goes to a call made later."""
    unnamed = [
        turn("assistant", calls=[{"name": "a", "input": {}}, {"name": "b", "input": {}}]),
        turn("tool", results=[{"content": "1"}]),
    ]
    twice = [
        turn("assistant", calls=[{"name": "a", "input": {}, "id": "t"}]),
        turn("tool", results=[{"tool_use_id": "t", "content": "1"}]),
        turn("assistant", calls=[{"name": "b", "input": {}, "id": "t"}]),
        turn("tool", results=[{"tool_use_id": "t", "content": "2"}]),
    ]
    early = [turn("tool", results=[{"content": "0"}]), turn("assistant", calls=[{"name": "a", "input": {}}])]

    assert ["1", None] == [call.result for call in calls.calls(unnamed)]
    assert ["1", "2"] == [call.result for call in calls.calls(twice)]
    assert [None] == [call.result for call in calls.calls(early)]


@pytest.mark.parametrize(
    ("content", "result", "error"),
    [
        ("boom", {"is_error": True}, "boom"),
        ("<tool_use_error>String not found</tool_use_error>", {"is_error": True}, "String not found"),
        ("Exit code 2\nls: cannot access 'x': No such file or directory", {}, "ls: cannot access 'x': No such file or directory"),
        ("all fine", {"exit_code": 3}, "all fine"),
        ('{"success": false, "error": "quota exceeded"}', {}, "quota exceeded"),
        ('{"status": "failed", "error": "余额不足"}', {}, "余额不足"),
        ("Error: gift card balance is not enough", {}, "Error: gift card balance is not enough"),
        ("Traceback (most recent call last):\n  File x\nKeyError: 'a'", {}, "KeyError: 'a'"),
        ("collected 12 items\n=== 2 failed, 10 passed in 3.1s ===", {}, "=== 2 failed, 10 passed in 3.1s ==="),
        ("bash: foo: command not found", {}, "bash: foo: command not found"),
        ("错误：文件不存在", {}, "错误：文件不存在"),
        ("执行失败，连接超时", {}, "执行失败，连接超时"),
    ],
)
def test_what_went_wrong_is_seen(content, result, error):
    """By a flag, an exit code, a JSON answer, or how the text begins or ends, in both languages."""
    assert error == one(content, **result).error


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("Read", "1→def f():\n2→    raise ValueError('permission denied')\n3→# 2 failed"),
        ("Grep", "notes.md: the build failed with error 5"),
        ("get_order", '{"status": "failed", "id": 7}'),
        ("run", "=== 0 failed, 12 passed ==="),
        ("run", "No errors found"),
        ("run", "failed: none, no failures in 12 tests"),
        ("run", "Exit code: 0\nerror.log written"),
        ("run", "测试通过，没有失败"),
        ("run", "\x1b[32mok\x1b[0m"),
        ("run", ""),
    ],
)
def test_what_only_speaks_of_errors_is_none(name, content):
    """A file or a log that was read, a clean summary and an exit code of zero are no failures."""
    assert one(content, name).error is None


def test_without_a_result_nothing_is_known_to_have_failed():
    """A call that nobody answered has no result and no error."""
    made = calls.calls([turn("assistant", calls=[{"name": "run", "input": "ls", "id": None}])])

    assert [(None, None, {"input": "ls"})] == [(call.result, call.error, call.params) for call in made]


def test_odd_calls_and_results_do_no_harm():
    """What a host writes may be anything; nothing of it raises."""
    odd = [{}, {"function": None}, {"name": 7, "input": None}, {"name": "a", "arguments": "{not json"}, {"name": "b", "input": [1]}]
    results = [{}, {"content": None}, {"content": 5}, {"content": [{"type": "image"}, "x"]}, {"content": {"a": [None]}}]
    made = calls.calls([turn("assistant", calls=odd, results=results)])

    assert ["?", "?", "7", "a", "b"] == [call.name for call in made]
    assert ["", "", "5", "\nx", '{"a": [null]}'] == [call.result for call in made]
