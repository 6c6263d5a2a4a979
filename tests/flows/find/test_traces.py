"""`search_traces`: turns and tool calls by keyword, session, time, role and tool."""

import pytest


@pytest.fixture
def day(memory):
    """A morning in two sessions, with a tool."""
    turns = [
        ("user", "构建失败了，看看 config.yaml", "s1", "2026-02-01T09:00", {}),
        (
            "assistant",
            "",
            "s1",
            "2026-02-01T09:01",
            {"tool_calls": [{"name": "read_file", "input": {"path": "config.yaml"}, "id": "c1"}]},
        ),
        ("tool", "", "s1", "2026-02-01T09:02", {"tool_results": [{"tool_use_id": "c1", "content": "端口: 8080 python-3.10"}]}),
        ("assistant", "The port was wrong", "s1", "2026-02-01T09:03", {}),
        ("user", "谢谢", "s2", "2026-02-02T09:00", {}),
    ]
    for role, content, session, said_at, details in turns:
        memory.record_turn(role, content, session=session, said_at=said_at, **details)
    return memory


@pytest.mark.parametrize(
    ("call", "places"),
    [
        ({}, "s2/0 s1/3 s1/2 s1/1 s1/0"),
        ({"session": "s1"}, "s1/3 s1/2 s1/1 s1/0"),
        ({"session": "none"}, ""),
        ({"role": "user"}, "s2/0 s1/0"),
        ({"tool": "read_file"}, "s1/1"),
        ({"tool": "write_file"}, ""),
        ({"since": "2026-02-01T09:02"}, "s2/0 s1/3 s1/2"),
        ({"until": "2026-02-01T09:01"}, "s1/0"),
        ({"since": "2026-02-01", "until": "2026-02-02", "role": "assistant"}, "s1/3 s1/1"),
        ({"keyword": "端口"}, "s1/2"),
        ({"keyword": "python-3.10"}, "s1/2"),
        ({"keyword": "read_file"}, "s1/1"),
        ({"keyword": "PORT"}, "s1/3"),
        ({"keyword": "config.yaml", "role": "user"}, "s1/0"),
        ({"keyword": "config.yaml", "session": "s2"}, ""),
        ({"limit": 1}, "s2/0"),
        ({"limit": 0}, ""),
    ],
    ids=str,
)
def test_traces_fit_all_that_is_given(day, call, places):
    """Newest first without a keyword; tool calls and their results are searched too."""
    assert places.split() == [f"{turn.session}/{turn.position}" for turn in day.search_traces(**call)]


def test_the_best_comes_first_with_a_keyword(day):
    """Both the question and the call name the file; the turn that is about little else wins."""
    found = [(turn.session, turn.position) for turn in day.search_traces("config.yaml")]

    assert {("s1", 0), ("s1", 1)} == {*found}


def test_conditions_reach_past_the_first_rows(memory):
    """Among hundreds of better hits, the one that fits the conditions is found."""
    memory.record([{"role": "assistant", "content": "香蕉 香蕉"} for _ in range(450)])
    memory.record_turn("user", "香蕉 and a long tail of other words that make it weaker than the rest")

    assert 1 == len(memory.search_traces("香蕉", role="user"))


def test_traces_are_kept_when_their_statement_was_replaced(memory):
    """Unlike recall, nothing is left out for being old or repeated."""
    for text in ("I live in Bergen", "I live in Bergen", "I live in Oslo"):
        turn = memory.record_turn("user", text)
        memory.remember(text, source=turn.id)

    assert 2 == len(memory.search_traces("Bergen"))
