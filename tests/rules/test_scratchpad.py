"""Updating the scratchpad by rules: focus, recent tasks, open questions, next steps; in both languages."""

import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yiku.rules.finding import pack
from yiku.rules.sessions import scratchpad
from yiku.types import Scratchpad, ScratchpadPatch, Task

NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)
DAY = timedelta(days=1)
EMPTY = Scratchpad(id="p", user_id="u", updated_at=NOW)
FULL = Scratchpad(
    id="p",
    user_id="u",
    current_focus="fix the login page",
    active_projects=("webshop",),
    recent=(
        Task(text="写季度报告", since=NOW - 3 * DAY, until=NOW - 2 * DAY, done=True),
        Task(text="plan the move", since=NOW - 5 * DAY, until=NOW - 4 * DAY),
    ),
    open_questions=("Which bank?",),
    next_steps=("call Ann", "写测试"),
    focus_since=NOW,
    updated_at=NOW,
)
# Written for this test in the four sections that S3 shows.
BY_HAND = """\
## 当前项目
- 花园灌溉控制器: 电路图画好了, 等零件

## 近期进展
- 2/20: 选定了水泵
- 12/30: 比较了三种传感器

## 未解决的问题
- 冬天要不要排空水管?

## 下一步
- 订购阀门
- 写定时程序
"""


def after(pad, *messages, **more):
    """The scratchpad after these messages, a day apart."""
    for day, message in enumerate(messages):
        pad = scratchpad.follow(pad, message, now=NOW + day * DAY, session="s", **more)
    return pad


@pytest.mark.spec("S2-59", "S2-60")
def test_a_new_task_puts_the_old_one_among_the_recent():
    """With its times and its session, newest first; nobody wrote it but the compiler."""
    pad = after(EMPTY, "Please refactor the payment module", "另外，明天奥斯陆的天气怎么样？", "换个话题，帮我写一首关于秋天的诗")

    assert "写一首关于秋天的诗" == pad.current_focus
    assert ["明天奥斯陆的天气怎么样？", "refactor the payment module"] == [task.text for task in pad.recent]
    assert [(NOW, NOW + DAY, "s", False)] == [(task.since, task.until, task.session, task.done) for task in pad.recent[1:]]
    assert NOW + 2 * DAY == pad.focus_since == pad.updated_at


@pytest.mark.spec("S2-59")
def test_at_most_five_recent_tasks_stay():
    """The sixth is the oldest, and goes."""
    pad = after(
        EMPTY, *(f"New topic: describe the history of {place}" for place in "Oslo Bergen Kyoto Quito Lagos Perth Osaka".split())
    )

    assert "describe the history of Osaka" == pad.current_focus
    assert [f"describe the history of {place}" for place in "Perth Lagos Quito Kyoto Bergen".split()] == [
        task.text for task in pad.recent
    ]


def test_a_follow_up_changes_no_task():
    """Thanks, a pronoun, a plain statement: the scratchpad is the very same."""
    pad = after(EMPTY, "Fix the login page of the shop")

    for message in ("thanks!", "好的", "make it blue", "and the button too?", "My name is Ann.", "把它改成蓝色"):
        assert pad is scratchpad.follow(pad, message, now=NOW + DAY, session="s")


def test_a_new_request_of_the_same_task_renews_it():
    """The task is what was asked for last; since when he is at it stays."""
    pad = after(EMPTY, "Fix the login page of the shop", "Write browser tests for the login page")

    assert ("Write browser tests for the login page", NOW, ()) == (pad.current_focus, pad.focus_since, pad.recent)
    assert pad is scratchpad.follow(pad, "How long do I boil quinoa?", now=NOW)  # a question in between is no new task


def test_only_a_request_begins_a_task():
    """What somebody tells of himself is no task."""
    assert EMPTY is after(EMPTY, "I moved from Bergen to Oslo last week", "我换工作了，现在在银行上班")


def test_to_leave_a_topic_for_nothing_leaves_no_task():
    """`Let's change the subject` alone puts the task by, and begins none."""
    pad = after(EMPTY, "Fix the login page", "Let's change the subject.")

    assert ("", None, ["Fix the login page"]) == (pad.current_focus, pad.focus_since, [task.text for task in pad.recent])


def test_what_is_done_is_told_from_what_was_left():
    """A finished task stands among the recent as done; without a task nothing is finished."""
    pad = scratchpad.finish(after(EMPTY, "Fix the login page"), now=NOW + DAY, session="s")

    assert [("Fix the login page", True)] == [(task.text, task.done) for task in pad.recent]
    assert "2026-03-02: Fix the login page" in scratchpad.to_markdown(pad, "en")
    assert "left for another task" not in scratchpad.to_markdown(pad, "en")
    assert "（转去做别的）" in scratchpad.to_markdown(after(EMPTY, "Fix the login page", "换个话题"), "zh")
    assert EMPTY is scratchpad.finish(EMPTY, now=NOW)


def test_a_task_taken_up_again_stands_once_among_the_recent():
    """Put by twice, it is there with its last times."""
    pad = after(EMPTY, "Fix the login page", "New topic: plan a trip to Kyoto", "New topic: fix the login page", "换个话题")

    assert ["fix the login page", "plan a trip to Kyoto"] == [task.text for task in pad.recent]


def test_projects_are_those_worked_in_last():
    """The newest first, each once, at most five."""
    pad = EMPTY
    for name in ("a", "b", "a", "c", "d", "e", "f"):
        pad = scratchpad.follow(pad, "ok", now=NOW, session="s", project=name)

    assert ("f", "e", "d", "c", "a") == pad.active_projects


# ------------------------------------------------------------------ patches


def test_a_patch_adds_and_settles_lines():
    """New lines come first; a line is settled whatever its case and punctuation; the rest is not touched."""
    patch = ScratchpadPatch(
        add_open_questions=("哪家银行？",),
        settle_open_questions=("which bank",),
        add_next_steps=("- [ ] book\n a room",),
        settle_next_steps=("写测试。",),
    )
    pad, unused = scratchpad.patch(FULL, patch, now=NOW + DAY)

    assert (("哪家银行？",), ("book a room", "call Ann"), ()) == (pad.open_questions, pad.next_steps, unused)
    assert replace(FULL, open_questions=pad.open_questions, next_steps=pad.next_steps, updated_at=NOW + DAY) == pad


def test_a_patch_is_bounded():
    """Five lines a section, 120 characters a line, no line twice; what cannot be used is given back."""
    patch = ScratchpadPatch(
        add_next_steps=("CALL ANN!", "", *(f"step {n} " + "x" * 300 for n in range(7))), settle_open_questions=("never asked",)
    )
    pad, unused = scratchpad.patch(FULL, patch, now=NOW)

    assert 7 == len(pad.next_steps) and max(map(len, pad.next_steps)) <= 120
    assert {"never asked", "CALL ANN!", ""} == {line for line in unused if "step" not in line}
    assert ["step 5", "step 6"] == [line[:6] for line in unused if "step" in line]
    assert (FULL, ()) == scratchpad.patch(FULL, ScratchpadPatch(), now=NOW)


# ------------------------------------------------------------------ by hand


@pytest.mark.spec("S3-94", "S3-236")
def test_sections_have_their_names_in_both_languages():
    """The four of S3, with dates, behind the current task; a section without lines is not shown."""
    chinese, english = scratchpad.to_markdown(FULL, "zh"), scratchpad.to_markdown(FULL, "en")

    assert ["当前任务", "当前项目", "近期进展", "未解决的问题", "下一步"] == [
        line[3:] for line in chinese.splitlines() if line.startswith("## ")
    ]
    assert ["Current task", "Projects", "Recent progress", "Open questions", "Next steps"] == [
        line[3:] for line in english.splitlines() if line.startswith("## ")
    ]
    assert "- 2026-02-27: 写季度报告" in english and "- 2026-02-25: plan the move" in chinese
    assert "" == scratchpad.to_markdown(EMPTY, "en")


def test_what_was_written_by_hand_is_read_into_the_fields():
    """S3's layout: projects, dated progress (a day without a year is the last of that name), questions, steps."""
    pad, omitted = scratchpad.edit(EMPTY, BY_HAND, now=NOW)
    read = scratchpad.apply(pad)

    assert () == omitted
    assert ("花园灌溉控制器: 电路图画好了, 等零件",) == read.active_projects
    assert [("选定了水泵", datetime(2026, 2, 20, 9, tzinfo=UTC)), ("比较了三种传感器", datetime(2025, 12, 30, 9, tzinfo=UTC))] == [
        (task.text, task.until) for task in read.recent
    ]
    assert (("冬天要不要排空水管?",), ("订购阀门", "写定时程序")) == (read.open_questions, read.next_steps)


@pytest.mark.parametrize(
    "text",
    [
        "## Next steps\n1. call Ann\n2) 写测试",
        "**下一步**：\n* call Ann\n• 写测试",
        "### TODO\n- [ ] call Ann\n- [x] 写测试",
        "# next ##\n- call Ann\n+ 写测试\n",
    ],
)
def test_headings_and_lists_are_read_as_people_write_them(text):
    """Any level, bold, either language, other names, numbers, boxes."""
    assert ["next_steps"] == [*scratchpad.from_markdown(text)]
    assert ("call Ann", "写测试") == scratchpad.apply(scratchpad.edit(EMPTY, text, now=NOW)[0]).next_steps


@pytest.mark.parametrize("language", ["en", "zh"])
def test_what_was_shown_and_given_back_changes_nothing(language):
    """Only a section that reads otherwise becomes the user's."""
    shown = scratchpad.to_markdown(FULL, language)

    assert (FULL, ()) == scratchpad.edit(FULL, shown, now=NOW + DAY)
    assert {"next_steps": "- call Bob\n- 写测试"} == scratchpad.edit(FULL, shown.replace("Ann", "Bob"), now=NOW)[0].overrides


@pytest.mark.spec("S3-236")
def test_what_the_user_wrote_wins_until_he_takes_it_away():
    """C-12: the section stands as he wrote it through tasks and patches; what was found out lives on underneath."""
    pad, _ = scratchpad.edit(FULL, "## Current task\nmy thesis, nothing else\n\n## Next steps\n", now=NOW)
    pad = after(pad, "New topic: plan a trip to Kyoto")
    pad, _ = scratchpad.patch(pad, ScratchpadPatch(add_next_steps=("buy tickets",)), now=NOW)
    shown = scratchpad.to_markdown(pad, "en")

    assert "my thesis, nothing else" in shown and "Kyoto" not in shown and "buy tickets" not in shown
    assert "## Next steps" in shown
    assert ("my thesis, nothing else", ()) == (scratchpad.apply(pad).current_focus, scratchpad.apply(pad).next_steps)
    freed, _ = scratchpad.edit(pad, "## Next steps\n- mine\n", now=NOW)
    assert "plan a trip to Kyoto" in scratchpad.to_markdown(freed, "en")
    assert {"next_steps": "- mine"} == freed.overrides


def test_a_section_of_his_own_is_kept():
    """An unknown heading stays under its name, behind the others; a title with nothing below it is none."""
    pad, _ = scratchpad.edit(EMPTY, "# My pad\n\n## 备注\n别忘了猫\n", now=NOW)

    assert {"备注": "别忘了猫"} == pad.overrides
    assert "## 备注\n别忘了猫" in scratchpad.to_markdown(pad, "zh")


# ------------------------------------------------------------------ bounds

LINES = st.lists(st.text(st.sampled_from("ab 猫。#-\n0"), max_size=150), max_size=14).map(tuple)
PADS = st.builds(
    lambda lines, steps, own, tasks: replace(
        EMPTY,
        current_focus="x" * 80,
        active_projects=lines[:5],
        recent=tuple(Task(text=text, since=NOW, until=NOW) for text in tasks[:5]),
        open_questions=lines,
        next_steps=steps,
        overrides=own,
    ),
    LINES,
    LINES,
    st.dictionaries(
        st.sampled_from(["next_steps", "recent", "current_focus", "备注", "own"]), st.text("ab猫\n", max_size=2_500), max_size=4
    ),
    LINES,
)


@given(PADS, st.integers(20, 600))
@pytest.mark.long
def test_it_never_outgrows_its_bounds(pad, budget):
    """2,000 characters as it is shown and stored, and its budget of tokens in a prompt, in both languages."""
    kept, dropped = scratchpad.trim(pad)

    for language in ("en", "zh"):
        assert len(scratchpad.to_markdown(pad, language)) <= 2_000
        assert len(scratchpad.to_markdown(kept, language)) <= 2_000
        assert pack.estimate(scratchpad.for_prompt(pad, language, budget)) <= budget
    assert bool(dropped) == (kept != pad)


def test_the_oldest_recent_task_goes_first_and_is_missed():
    """Whole lines go, and the last line says how many."""
    long = tuple(f"{n} " + "x" * 117 for n in range(8))
    pad = replace(FULL, open_questions=long, next_steps=long)
    kept, dropped = scratchpad.trim(pad)

    assert "plan the move" == dropped[0]
    assert 1 == len(kept.recent) and long[:1] == kept.open_questions[:1]
    assert f"({len(scratchpad.trim(pad, 1_960)[1])} lines left out)" == scratchpad.to_markdown(pad, "en").splitlines()[-1]
    assert "行）" in scratchpad.to_markdown(pad, "zh").splitlines()[-1]
    assert {} == scratchpad.edit(pad, scratchpad.to_markdown(pad, "zh"), now=NOW)[0].overrides
    assert "行）" not in "".join(scratchpad.from_markdown(scratchpad.to_markdown(pad, "zh")).values())


def test_what_the_user_wrote_too_long_is_cut_at_a_line_and_said():
    """Lines that have no room are given back; the sections of others are not taken for it before his own is cut."""
    text = "## Next steps\n" + "\n".join(f"- step {n} of a long plan" for n in range(100))
    pad, omitted = scratchpad.edit(EMPTY, text, now=NOW)

    assert len(scratchpad.to_markdown(pad, "en")) <= 2_000
    assert 100 == len(omitted) + len(scratchpad.apply(pad).next_steps)
    assert "- step 99 of a long plan" == omitted[-1]


def test_a_prompt_gets_the_task_first_and_hears_what_is_missing():
    """C-38: task, next steps, open questions, recent, projects; a line too long is passed over for a shorter one."""
    whole, small = (
        scratchpad.for_prompt(FULL, "zh"),
        scratchpad.for_prompt(replace(FULL, next_steps=("猫" * 90, "call Ann")), "en", 60),
    )

    assert ["当前任务", "下一步", "未解决的问题", "近期进展", "当前项目"] == [
        line[3:] for line in whole.splitlines() if line.startswith("## ")
    ]
    assert "略去" not in whole
    assert ["## Current task", "fix the login page", "## Next steps", "- call Ann"] == small.splitlines()[:4]
    assert "left out for room: Next steps 1" in small.splitlines()[-1]
    assert "" == scratchpad.for_prompt(EMPTY, "en")


@pytest.mark.parametrize(
    "text", ["# " + " " * 60_000, "**" * 30_000, "#" * 60_000, "- a\n" * 20_000, "## x\n" * 20_000, "1/1: " * 12_000, "猫" * 60_000]
)
def test_no_text_is_slow_to_take_over(text):
    """64 KiB of anything cost a fraction of a second, and fit."""
    began = time.process_time()
    pad, _ = scratchpad.edit(FULL, text, now=NOW)

    assert time.process_time() - began < 1
    assert len(scratchpad.to_markdown(scratchpad.apply(pad), "zh")) <= 2_000
