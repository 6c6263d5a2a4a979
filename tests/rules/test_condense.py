"""Condensing identity files without a model: which sentences stay."""

import pytest

from yiku.rules.finding.pack import estimate
from yiku.rules.prompts.condense import PERSONA, TARGETS, condense, first, size, sound

SOUL = """---
title: Soul
---
# Soul

<!-- draft, do not
ship: never -->
-->

Once there was a river. It taught me to admit what I do not know before I guess, since a wrong word spoken with confidence does more \
harm than a long silence that everybody could have lived with. The water was like glass.

## Values

- **Never lie**, not even to be [kind](https://x.example).
- Protect the user's privacy; ask before anything leaves this machine.
- Example: `never mind`

```yaml
never: do this
```

## Background

- You must know that the project was always called Lantern.

Name: [to be learned]
"""
SOUL_ZH = """# 灵魂

<!-- 草稿，绝不发布 -->
从前有一条河。它教会我：不知道的事必须先承认，再去猜测，因为一句说得很有把握的错话，比一段人人都能忍受的长长沉默更加有害，\
这一点我永远不会忘记。河水就像玻璃。

## 价值观

1. **绝不说谎**，哪怕出于好意。
2. 保护用户的隐私，任何内容离开本机之前必须先询问。
3. 示例：永远不要

## 背景

- 必须知道，这个项目一直叫灯塔。

称呼：[待学习]
"""
AGENT = """# Agent

## Ralph Wiggum loop

Work in a loop: plan, act, verify, and repeat until the task is done.

## Forbidden

- Never report a result that you did not check.

## Tools

Prefer a tool over a guess. Do not say "I cannot" before you tried a tool.

- `grep`: searches files
- `ls`

Start with a search, then disclose details step by step.

## Configuration

- You must set timeout: 30
"""
AGENT_ZH = """# 智能体

## 核心循环

计划、执行、验证，重复直到任务完成。

## 禁止

- 绝不汇报没有核实过的结果。

## 工具

优先使用工具，而不是猜测。没有试过工具之前，不要说“做不到”。

- `grep`：搜索文件

先搜索，再渐进式披露细节。

## 配置

- 必须设置超时：30
"""
USER = """# About the user

<!-- yiku:begin 5f6e7d8c-90ab12cd34ef Yiku writes the lines down to the end marker. -->
## Basics

- I live in Oslo. #1234abcd
- Name: [to be learned]
- Timezone:
- Age: TBD
- 称呼：【待填写】
- 年龄：未知
- 我喜欢喝绿茶。 #22345bcd-90ab

(3 more in memory: yiku list)
<!-- yiku:end -->
"""


@pytest.mark.spec("S3-12", "S3-172", "S3-174", "S3-180")
@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (
            SOUL,
            [
                "It taught me to admit what I do not know before I guess, since a wrong word spoken with confidence does more harm than "
                "a long silence that everybody could have lived with.",
                "Never lie, not even to be kind.",
                "Protect the user's privacy; ask before anything leaves this machine.",
            ],
        ),
        (
            SOUL_ZH,
            [
                "它教会我：不知道的事必须先承认，再去猜测，因为一句说得很有把握的错话，比一段人人都能忍受的长长沉默更加有害，"
                "这一点我永远不会忘记。",
                "绝不说谎，哪怕出于好意。",
                "保护用户的隐私，任何内容离开本机之前必须先询问。",
            ],
        ),
    ],
)
def test_principles_are_kept_whole_wherever_they_stand(text, kept):
    """Out of a story too, and however long; comments and what is left of them, code, examples, stories, reference and placeholders go."""
    assert [f"- {line}" for line in kept] == condense(text, TARGETS["soul"]).splitlines()


@pytest.mark.spec("S3-175")
@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (
            AGENT,
            [
                "Work in a loop: plan, act, verify, and repeat until the task is done.",
                "Never report a result that you did not check.",
            ],
        ),
        (AGENT_ZH, ["计划、执行、验证，重复直到任务完成。", "绝不汇报没有核实过的结果。"]),
    ],
)
def test_the_core_is_the_loop_and_what_is_forbidden(text, kept):
    """Without tools and configuration."""
    assert [f"- {line}" for line in kept] == condense(text, TARGETS["agent_core"]).splitlines()


@pytest.mark.spec("S3-176")
@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (
            AGENT,
            [
                "Prefer a tool over a guess.",
                'Do not say "I cannot" before you tried a tool.',
                "Start with a search, then disclose details step by step.",
            ],
        ),
        (AGENT_ZH, ["优先使用工具，而不是猜测。", "没有试过工具之前，不要说“做不到”。", "先搜索，再渐进式披露细节。"]),
    ],
)
def test_tooling_is_how_tools_are_used_and_not_which_there_are(text, kept):
    """Lists of tools go."""
    assert [f"- {line}" for line in kept] == condense(text, TARGETS["agent_tooling"]).splitlines()


@pytest.mark.spec("S3-177")
def test_of_a_profile_only_what_is_known():
    """Placeholders in either language, empty fields, ids and the count of further lines go; nothing known is an empty text."""
    assert "- I live in Oslo.\n- 我喜欢喝绿茶。" == condense(USER, TARGETS["user"])
    assert "" == condense("# User\n\n- Name: [待学习]\n- Timezone: [to be learned]\n- 年龄：\n- unknown\n", TARGETS["user"])


@pytest.mark.spec("S3-174", "S3-175", "S3-176", "S3-177")
@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
def test_a_summary_is_within_its_target(target):
    """150, 250, 200 and 120 tokens, in whole lines of the file."""
    text = "## Tools 工具\n\n## Values\n\n" + "\n".join(
        f"- Always verify tool step {n} 必须检查第{n}步 " + "before you go on " * (n % 9) for n in range(200)
    )
    found = condense(text, target)

    assert {"soul": 150, "agent_core": 250, "agent_tooling": 200, "user": 120, "persona": 120}[target.name] == target.most
    assert found == "" or target.most * 0.7 < size(found) <= target.most
    assert estimate(found) <= target.most
    assert all(f"{line.strip()}\n" in f"{text}\n".replace(" \n", "\n") for line in found.splitlines())


@pytest.mark.parametrize(
    "text", ["", "# Title only\n", "<!-- only a comment", "-->\n-->\n", "```\ncode\n```\n", "---\n\n***\n", "<div>\n</div>"]
)
def test_a_file_that_says_nothing_has_no_summary(text):
    """Nothing is made up, and no debris is left."""
    assert {""} == {condense(text, target) for target in (*TARGETS.values(), PERSONA)}


@pytest.mark.spec("S3-172")
@pytest.mark.parametrize("text", ["- Never lie. -->\n", "<!-- a\n- Never guess.\n-->- Never lie.\n", "- Never <!-- not --> lie.\n"])
def test_no_debris_of_a_comment_is_left_in_a_line(text):
    """Neither its end, nor what stood in it."""
    assert "- Never lie." == condense(text, TARGETS["soul"])


def test_a_story_without_a_principle_is_told_from_its_beginning():
    """Where nothing states a principle, what comes first stands for it."""
    assert "- I am a lamp." == condense("I am a lamp. I stand in a window.", TARGETS["soul"], 8)
    assert "- 我是一盏灯。" == condense("我是一盏灯。我立在窗边。", TARGETS["soul"], 8)


@pytest.mark.parametrize(
    "text",
    ["<!--" * 60_000, "-->" * 60_000, "[" * 150_000, "**" * 90_000, "- " * 90_000, "`" * 150_000, "。" * 150_000, "<a " * 60_000],
)
def test_a_hostile_file_takes_no_time(text):
    """Linear in its length."""
    assert size(condense(text, TARGETS["soul"])) <= 150


@pytest.mark.spec("S3-250")
@pytest.mark.parametrize(
    ("source", "lines", "kept"),
    [
        (
            SOUL,
            [
                "- Never lie, be kind.",
                "## Values",
                "Retry 7 times.",
                "The moon rules bananas and oranges.",
                "",
                "<|im_end|> Protect the user's privacy, ask before anything leaves.",
                "Never lie, be kind.",
            ],
            ["- Never lie, be kind.", "- 'im_end' Protect the user's privacy, ask before anything leaves."],
        ),
        (SOUL_ZH, ["绝不说谎。", "重试7次。", "月亮上种着香蕉和橙子。", "称呼：[待学习]"], ["- 绝不说谎。"]),
    ],
)
def test_a_models_line_counts_if_the_file_says_it(source, lines, kept):
    """Its numbers and most of its words stand there; marks, placeholders and doubles go."""
    assert kept == sound(lines, source, TARGETS["soul"])


def test_of_a_models_lines_the_first_that_fit():
    """It was asked for the most important first."""
    lines = [f"Never lie about point {word}." for word in ("kindness", "privacy", "machine", "river")] * 20
    found = sound([f"{line} {'Never lie. ' * n}" for n, line in enumerate(lines)], SOUL + " point kindness", TARGETS["user"])

    assert size("\n".join(found)) <= 120
    assert found[0] == "- Never lie about point kindness."
    assert "- a\n- b" == first("- a\n- b\n- " + "long " * 50, 10)
