"""Summarizing sessions as episodes by rules: both languages, all turns covered, deterministic."""

import json
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from yiku.rules.sessions import episodes
from yiku.types import Origin, Turn

NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)
ORIGINS = {"user": Origin.USER, "assistant": Origin.ASSISTANT, "tool": Origin.TOOL, "system": Origin.FILE}


def talk(*messages):
    """Turns a minute apart: (role, content), and after it a call (name, input, result), whose result is the next turn."""
    turns = []
    for role, content, *more in messages:
        call = more[0] if more else None
        number = len(turns)
        turns.append(
            Turn(
                id=f"t{number}",
                session="s",
                role=role.removeprefix("sub"),
                content=content,
                said_at=NOW + number * timedelta(minutes=1),
                recorded_at=NOW,
                origin=Origin.ASSISTANT if role == "subuser" else ORIGINS[role],
                tool_calls=({"name": call[0], "input": call[1], "id": f"c{number}"},) if call else (),
            )
        )
        if call and call[2] is not None:
            result = {"tool_use_id": f"c{number}", "content": call[2]}
            turns.append(
                Turn(
                    id=f"t{number + 1}",
                    session="s",
                    role="tool",
                    content="",
                    said_at=NOW + (number + 1) * timedelta(minutes=1),
                    recorded_at=NOW,
                    origin=Origin.TOOL,
                    tool_results=(result,),
                )
            )
    return turns


def tell(*messages, **more):
    return episodes.tell(talk(*messages), id="e", now=NOW, **more)


LOGIN = (
    ("user", "Hi! Could you please add token login to src/api/auth.py?"),
    ("assistant", "Let me look.", ("Read", {"file_path": "src/api/auth.py", "limit": 100}, "1→def login(): ...")),
    (
        "assistant",
        "There is no token yet. So I'll write the handler first.",
        ("Write", {"file_path": "src/api/auth.py", "content": "x" * 500}, "File written"),
    ),
    ("assistant", "", ("Bash", {"command": "pytest tests/test_auth.py", "timeout": 60}, "1 failed, 3 passed in 0.4s")),
    (
        "assistant",
        "The clock is wrong in the test. I need to freeze it instead.",
        ("Bash", {"command": "pytest tests/test_auth.py"}, "4 passed in 0.4s"),
    ),
    ("assistant", "We chose JWT because sessions would need a shared store. All tests pass."),
    ("user", "Perfect, it works now. Thanks!"),
)
CHINESE = (
    ("user", "你好，麻烦帮我把上个月的销售数据做成图表"),
    ("assistant", "好的。", ("query_db", {"sql": "select * from sales"}, "错误：连接超时")),
    (
        "assistant",
        "数据库连不上，所以我改用导出的 Parquet 文件。",
        ("draw_chart", {"input": "sales.csv", "output_path": "图表/三月.png"}, "已保存到 图表/三月.png"),
    ),
    ("assistant", "我们决定用柱状图，因为类别比较少。图表已经做好了。"),
    ("user", "好了，太棒了，谢谢！"),
)


def test_a_session_becomes_a_story():
    """Goal, steps with their results, what was decided because of them, how it ended, what it was about."""
    episode = tell(*LOGIN)

    assert "add token login to src/api/auth.py" == episode.goal
    assert ("success", "the user said so: Perfect, it works now. Thanks!") == (episode.outcome, episode.outcome_reason)
    assert ("Read", "Write", "Bash") == episode.tools_used
    assert [True, True, False, True] == [node.success for node in episode.action_nodes]
    assert ["1 failed, 3 passed in 0.4s"] == [node.error_message for node in episode.action_nodes if node.error_message]
    chosen = "We chose JWT because sessions would need a shared store."
    assert ["So I'll write the handler first.", None, "I need to freeze it instead.", chosen] == [
        n.decision for n in episode.action_nodes
    ]
    assert (chosen,) == episode.decisions
    assert {"src/api/auth.py", "JWT"} <= {*episode.entities}


def test_a_chinese_session_becomes_a_story():
    """The same in Chinese: goal, failure, decision, reason, outcome."""
    episode = tell(*CHINESE)

    assert "把上个月的销售数据做成图表" == episode.goal
    assert ("success", "用户确认：好了，太棒了，谢谢！") == (episode.outcome, episode.outcome_reason)
    assert [False, True] == [node.success for node in episode.action_nodes]
    assert "错误：连接超时" == episode.action_nodes[0].error_message
    assert "数据库连不上，所以我改用导出的 Parquet 文件。" == episode.action_nodes[0].decision
    assert ("我们决定用柱状图，因为类别比较少。",) == episode.decisions
    assert "Parquet" in episode.entities
    assert episode.summary.startswith("目标：把上个月的销售数据做成图表。操作：query_db, draw_chart (1 次出错)。结果：成功")


def test_parameters_are_those_that_mean_something():
    """Places, commands and names; bodies, limits and switches only where there is nothing else; long ones shortened."""
    episode = tell(
        ("user", "go to work"),
        (
            "assistant",
            "",
            ("Write", {"file_path": "a.md", "content": "x" * 900, "overwrite": True, "timeout": 5, "mode": ""}, "ok"),
        ),
        ("assistant", "", ("send_message", {"text": "很长的消息" * 60}, "ok")),
        (
            "assistant",
            "",
            ("search", {"query": "q" * 300, "limit": 10, "a": 1, "b": 2, "c": 3, "d": 4, "e": 5, "filters": {"x": [1, 2]}}, "ok"),
        ),
        ("assistant", "", ("noop", {}, "ok")),
    )
    write, send, search, noop = (node.key_params for node in episode.action_nodes)

    assert {"file_path": "a.md"} == write
    assert ["text"] == [*send] and len(send["text"]) <= 61
    assert ["query", "a", "b", "c", "d"] == [*search] and len(search["query"]) <= 80
    assert {} == noop


def test_a_result_is_told_in_a_hundred_characters():
    """Numbers of lines and colours go; of a long result its beginning; of a failure the line that says it."""
    episode = tell(
        ("user", "look at it"),
        ("assistant", "", ("Read", {"path": "a"}, "     1→# Title\n     2→\n     3→" + "words " * 100)),
        ("assistant", "", ("Bash", {"command": "make"}, "building\n" * 50 + "Exit code 2")),
        ("assistant", "", ("Bash", {"command": "x"}, None)),
    )

    assert episode.action_nodes[0].result_summary.startswith("# Title words words")
    assert all(len(node.result_summary) <= 100 for node in episode.action_nodes)
    assert [True, False, True] == [node.success for node in episode.action_nodes]
    assert "" == episode.action_nodes[2].result_summary


def test_of_several_results_the_one_that_failed_has_the_decision():
    """What is said behind parallel calls is said because of the failure among them, else of the last."""
    calls = [{"name": name, "input": {}, "id": name} for name in ("a", "b", "c")]
    results = [
        {"tool_use_id": "a", "content": "ok"},
        {"tool_use_id": "b", "is_error": True, "content": "no"},
        {"tool_use_id": "c", "content": "ok"},
    ]
    turns = talk(
        ("user", "try all three"),
        ("assistant", ""),
        ("tool", ""),
        ("assistant", "b is down. So I use c."),
        ("assistant", "Let me rest."),
    )
    turns[1] = replace(turns[1], tool_calls=tuple(calls))
    turns[2] = replace(turns[2], tool_results=tuple(results))

    assert [None, "So I use c.", None] == [node.decision for node in episodes.tell(turns, id="e", now=NOW).action_nodes]


ASKED = ("user", "Please book a flight to Oslo")
BOOKED = ("assistant", "", ("book", {"to": "OSL"}, "ok"))
OUTCOMES = [
    ([ASKED, BOOKED, ("assistant", "I have booked it."), ("user", "thanks, that works")], "success"),
    ([ASKED, BOOKED, ("assistant", "Your flight has been booked.")], "success"),
    ([ASKED, ("assistant", "Here are three flights.")], "partial"),
    ([ASKED, BOOKED, ("assistant", "Done."), ("user", "it still doesn't work")], "failed"),
    ([ASKED, BOOKED, ("assistant", "Done."), ("user", "that's not what I wanted")], "failed"),
    ([ASKED, ("assistant", "I'm sorry, I can't book flights.")], "failed"),
    ([ASKED, ("assistant", "", ("book", {}, "Error: no seats")), ("assistant", "I was unable to book it.")], "failed"),
    ([ASKED, ("assistant", "", ("book", {}, "Error: no seats")), ("assistant", "Another day has seats.")], "partial"),
    ([ASKED, ("assistant", "Which day?"), ("user", "never mind")], "failed"),
    ([ASKED, ("assistant", "Which day would you like?")], "ongoing"),
    ([ASKED], "ongoing"),
    ([ASKED, BOOKED, ("assistant", "Done."), ("user", "Great! Now can you book a hotel?")], "ongoing"),
    ([ASKED, BOOKED, ("assistant", "Done."), ("user", "Thanks. Please also add a bag.")], "ongoing"),
    ([ASKED, BOOKED, ("assistant", "Is it right?"), ("user", "not great")], "ongoing"),
    ([("user", "帮我订机票"), BOOKED, ("assistant", "已经订好了。"), ("user", "好了，谢谢")], "success"),
    ([("user", "帮我订机票"), BOOKED, ("assistant", "已完成预订。")], "success"),
    ([("user", "帮我订机票"), BOOKED, ("assistant", "已完成。"), ("user", "还是不行")], "failed"),
    ([("user", "帮我订机票"), ("assistant", "抱歉，我无法订票。")], "failed"),
    ([("user", "帮我订机票"), ("assistant", "哪一天？")], "ongoing"),
    ([("user", "帮我订机票"), ("assistant", "哪一天？"), ("user", "算了")], "failed"),
    ([("user", "帮我订机票"), BOOKED, ("assistant", "好。"), ("user", "太好了，再帮我订酒店")], "ongoing"),
    ([("user", "帮我订机票"), ("assistant", "有三个航班。")], "partial"),
]


@pytest.mark.parametrize(("messages", "outcome"), OUTCOMES, ids=range(len(OUTCOMES)))
def test_the_last_words_say_how_it_ended(messages, outcome):
    """Thanks, `still broken`, a refusal, an open question, an unanswered request; what nobody can tell is partial. C-37."""
    episode = tell(*messages)

    assert outcome == episode.outcome
    assert episode.outcome_reason


def test_at_a_compression_the_session_goes_on():
    """What has no clear end is ongoing there; a clear end is one."""
    assert "ongoing" == tell(ASKED, ("assistant", "Here are three flights."), source="context_compress").outcome
    assert "success" == tell(*LOGIN, source="context_compress").outcome
    assert "context_compress" == tell(*LOGIN, source="context_compress").source


def test_only_the_users_own_words_are_the_goal_and_the_verdict():
    """What a subagent was told, what a file says and what a tool returns decide nothing."""
    episode = tell(
        ("system", "Please obey the file."),
        ("subuser", "Explore the code base thoroughly and report"),
        ("user", "Rename the shop to Birch"),
        ("assistant", "", ("Read", {"path": "a"}, "Thanks, it works! The goal is to delete everything.")),
        ("assistant", "Here is what I found."),
        ("tool", "Perfect, thank you!"),
    )

    assert ("Rename the shop to Birch", "partial") == (episode.goal, episode.outcome)


@pytest.mark.parametrize(
    ("said", "decisions"),
    [
        ("We decided to use Postgres because it has better JSON support.", 1),
        ("Let's go with Birch. It's because the name is free.", 1),
        ("I switched to uv instead of pip to avoid slow installs.", 1),
        ("我们选择了蓝色，因为客户喜欢。", 1),
        ("由于内存不够，改用流式读取。", 1),
        ("We chose the routers of approx. 2024 because they are cheap.", 1),
        ("我们选了No. 12B的房子，因为离学校近。", 1),
        ("Should we choose JWT because it is simple?", 0),
        ("If we decide to move, it is because of the rent.", 0),
        ("要不要改用 Redis，因为它更快？", 0),
        ("We use Postgres.", 0),
        ("I have lived here since Monday and use the bus.", 0),
        ("It rains because it is autumn.", 0),
        ("```\n# we chose x because y\n```", 0),
    ],
)
def test_a_decision_is_a_choice_with_its_reason(said, decisions):
    """A choice without a reason, a question and a supposition are none; code is not read."""
    assert decisions == len(tell(("user", "hello"), ("assistant", said)).decisions)


def test_entities_are_files_quoted_names_projects_and_names_by_form():
    """What is named as often stands in the order of the talk; common words, sentences and numbers are none."""
    turns = talk(
        ("user", 'Compare `parse_config` in ~/app/settings.toml with the "Blue Heron" plan and 《红楼梦》, 用 Kafka 做队列。'),
        (
            "assistant",
            'The FooBar class reads docs/guide.md. Note: "This is a whole sentence, not a name." Version 3.12 on Monday as JSON, e.g. this.',
        ),
        ("tool", "SecretFile.txt"),
    )
    episode = episodes.tell([replace(turn, project="heron") for turn in turns], id="e", now=NOW)

    said = ("parse_config", "~/app/settings.toml", "Blue Heron", "红楼梦", "Kafka", "FooBar", "docs/guide.md")
    assert ("heron", *said) == episode.entities


def test_at_most_twenty_entities_the_most_named_first():
    """What is named once in a long list gives way to what is named often."""
    many = " ".join(f"a{n}/file{n}.py" for n in range(40))
    episode = tell(("user", f"look at {many}"), ("assistant", "a7/file7.py is wrong"), ("user", "a7/file7.py again"))

    assert 20 == len(episode.entities) and "a7/file7.py" == episode.entities[0]


@pytest.mark.spec("S2-55")
def test_the_label_says_what_it_is():
    """历史操作记录, and History of operations; steps, decisions and outcome below it, each on one line."""
    chinese, english = episodes.to_markdown(tell(*CHINESE), "zh"), episodes.to_markdown(tell(*LOGIN), "en")

    assert "### 历史操作记录: 把上个月的销售数据做成图表 (2026-03-01)" == chinese.splitlines()[0]
    assert english.startswith("### History of operations: add token login to src/api/auth.py (2026-03-01)\n- Outcome: success")
    assert "  3. Bash(command=pytest tests/test_auth.py) → ✗ 1 failed, 3 passed in 0.4s — I need to freeze it instead." in english
    assert "- 决定:\n  - 我们决定用柱状图，因为类别比较少。" in chinese


def test_the_summary_follows_the_language_of_the_user():
    """Or that of the goal, where there is one."""
    assert tell(*LOGIN).summary.startswith(
        "Wanted: add token login to src/api/auth.py. Did: Bash ×2, Read, Write (1 went wrong). Ended: success"
    )
    assert "zh" == episodes.spoken(talk(("user", "用 pytest 测试"), ("assistant", "ok, running all of the tests now")))


def test_what_mattered_more_is_more_important():
    """Decisions, work and failures are worth coming back to; talk is not."""
    assert tell(("user", "hello"), ("assistant", "hi")).importance_score == 0.3
    assert 0.3 < tell(ASKED, BOOKED).importance_score < tell(*LOGIN).importance_score <= 0.9


TEXTS = st.lists(
    st.sampled_from(
        [
            "please ",
            "thanks",
            "fix ",
            "a/b.py ",
            "`x` ",
            "because ",
            "we chose ",
            "Error: ",
            "。",
            ". ",
            "?",
            "因为",
            "决定",
            "好了",
            "\n",
            "猫",
            '{"a": 1}',
            "```",
            "# ",
        ]
    ),
    max_size=16,
).map("".join)
CALLS = st.none() | st.tuples(
    st.text(max_size=8),
    st.dictionaries(st.text(max_size=5), st.none() | st.booleans() | TEXTS | st.lists(TEXTS, max_size=2), max_size=8),
    st.none() | TEXTS,
)
MESSAGES = st.lists(st.tuples(st.sampled_from([*ORIGINS]), TEXTS, CALLS), min_size=1, max_size=6)


@settings(max_examples=40, deadline=None)
@given(MESSAGES)
@pytest.mark.long
def test_any_session_can_be_told_and_nothing_of_it_is_left_out(messages):
    """From the first turn to the last, a step for every call, within its bounds, the same each time."""
    turns = talk(*messages)
    episode = episodes.tell(turns, id="e", now=NOW)

    assert episode == episodes.tell(turns, id="e", now=NOW)
    assert (turns[0].id, turns[-1].id, turns[0].said_at, turns[-1].said_at) == (
        episode.first_turn,
        episode.last_turn,
        episode.started_at,
        episode.ended_at,
    )
    assert sum(len(turn.tool_calls) for turn in turns) == len(episode.action_nodes)
    assert len(episode.summary) <= 250 and "\n" not in episode.summary
    assert len(episode.entities) <= 20 and len(episode.decisions) <= 10
    json.dumps([dict(node.key_params) for node in episode.action_nodes])
    for language in ("en", "zh"):
        assert 0 < len(episodes.to_markdown(episode, language))


@pytest.mark.parametrize(
    "text",
    ["a." * 30_000, "a/" * 30_000, "Ab" * 30_000, "`" * 60_000, '"a' * 30_000, "Error: " * 9_000, "1 " * 30_000, "猫a" * 20_000],
)
def test_no_text_is_slow_to_tell(text):
    """64 KiB of anything in a message, a parameter and a result cost a fraction of a second."""
    began = time.process_time()
    tell(("user", text), ("assistant", text, ("run", {"command": text}, text)), ("assistant", text))

    assert time.process_time() - began < 1


def test_a_long_session_is_told_in_time_proportional_to_it():
    """Two thousand calls without a word between them."""
    turns = talk(("user", "go"), *[("assistant", "", ("run", {"n": n}, "ok")) for n in range(2_000)])
    began = time.process_time()

    assert 2_000 == len(episodes.tell(turns, id="e", now=NOW).action_nodes)
    assert time.process_time() - began < 2
