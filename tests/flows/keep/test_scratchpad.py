"""The scratchpad: updated from the user's turns, kept over sessions; the user's own edits win."""

from datetime import timedelta

import pytest

from yiku import Memory
from yiku.errors import InvalidInput

TASK = "重构登录模块 src/auth.py"
ANOTHER = "translate the README into French"


def say(memory, *lines, session="s", **details):
    """The user's turns, each said a second after the one before."""
    for line in lines:
        memory._handle.clock.advance(seconds=1)
        memory.record_turn("user", line, session=session, **details)


@pytest.mark.spec("S2-14", "S2-43", "S3-91", "S3-93", "S2-03")
def test_it_follows_what_the_user_says_at_once(memory, home, clock):
    """Focus, projects and time are there when `record_turn` returns, under the user's id, and after a reopening."""
    say(memory, f"帮我{TASK}", project="灯塔")
    pad = memory.sessions.scratchpad()
    memory.close()
    with Memory(home, clock=clock) as again:
        assert pad == again.sessions.scratchpad()
        assert ("user:mei", TASK, ("灯塔",), clock.now) == (pad.user_id, pad.current_focus, pad.active_projects, pad.updated_at)
        assert TASK in again.sessions.to_markdown(pad)


@pytest.mark.spec("T-29", "S3-03", "S3-90", "S3-36")
def test_it_survives_a_new_session(memory, clock):
    """Days later, in another session: the task, what is open and what comes next are still there."""
    say(memory, f"帮我{TASK}")
    memory.sessions.patch_scratchpad(add_open_questions=["Postgres 还是 SQLite？"], add_next_steps=["write the tests"])
    memory.sessions.end("s")
    clock.advance(days=9)
    say(memory, "早上好！", session="t")
    pad = memory.sessions.scratchpad()

    assert (TASK, ("Postgres 还是 SQLite？",), ("write the tests",)) == (pad.current_focus, pad.open_questions, pad.next_steps)


@pytest.mark.spec("S2-59")
def test_another_task_puts_the_old_one_by(memory, clock):
    """With its times and its session, as left, not done; no more than five stay."""
    say(memory, f"帮我{TASK}")
    clock.advance(minutes=20)
    say(memory, f"Let's change the subject: please {ANOTHER}.")
    pad = memory.sessions.scratchpad()
    (left,) = pad.recent

    assert (ANOTHER, TASK, clock.now, "s", False) == (pad.current_focus, left.text, left.until, left.session, left.done)
    assert 20 * 60 + 1 == (left.until - left.since).total_seconds()
    for number in range(7):
        say(memory, f"换个话题，帮我写第{number}章的小说大纲和人物介绍")
    assert 5 == len(memory.sessions.scratchpad().recent)


@pytest.mark.spec("S3-236")
def test_what_the_user_wrote_wins_until_he_takes_it_away(memory, clock):
    """His section stands whatever is said or patched; without it, what was found out meanwhile shows again."""
    say(memory, f"帮我{TASK}")
    text = memory.sessions.to_markdown(memory.sessions.scratchpad(), "zh")
    memory.sessions.edit_scratchpad(text.replace(TASK, "只做文档"))
    clock.advance(hours=1)
    say(memory, f"Let's change the subject: please {ANOTHER}.")
    memory.sessions.patch_scratchpad(add_next_steps=["deploy"])
    shown = memory.sessions.to_markdown(memory.sessions.scratchpad(), "en")
    assert "只做文档" in shown
    assert "deploy" in shown
    assert ANOTHER not in shown
    memory.sessions.edit_scratchpad(shown.replace("## Current task\n只做文档\n", ""))

    assert ANOTHER in memory.sessions.to_markdown(memory.sessions.scratchpad(), "en")


@pytest.mark.spec("S3-92", "S2-60")
def test_it_stays_within_its_bounds(memory):
    """A patch adds and settles a few lines; nothing rewrites the whole, and it is never longer than two thousand characters."""
    for number in range(30):
        memory.sessions.patch_scratchpad(
            add_open_questions=[f"问题 {number}：{'为什么' * 40}"], add_next_steps=[f"step {number} " + "very " * 40]
        )
    pad = memory.sessions.scratchpad()

    assert 2_000 >= max(len(memory.sessions.to_markdown(pad, language)) for language in ("en", "zh"))
    assert "问题 29" in pad.open_questions[0]
    settled = memory.sessions.patch_scratchpad(settle_open_questions=[pad.open_questions[0]])
    assert pad.open_questions[1:] == settled.open_questions[: len(pad.open_questions) - 1]


@pytest.mark.parametrize("change", ["patched", "written"])
def test_what_is_imported_later_moves_it_too(memory, change):
    """Its lines were patched or written today; turns of last week that come in now are newer than what the user was at before."""
    memory.record_turn("user", f"帮我{TASK}", session="s", said_at="2026-02-01")
    if change == "patched":
        memory.sessions.patch_scratchpad(add_next_steps=["写测试"])
    else:
        memory.sessions.edit_scratchpad("## Notes\nby hand 手写")
    memory.record_turn("user", f"Let's change the subject: please {ANOTHER}.", session="s", said_at="2026-02-02")
    memory.record_turn("user", f"Let's change the subject: please {TASK}", session="s", said_at="2026-01-15")

    pad = memory.sessions.scratchpad()
    assert (ANOTHER, [TASK]) == (pad.current_focus, [task.text for task in pad.recent])
    memory.learn()
    assert pad == memory.sessions.scratchpad()


def test_a_line_that_could_not_be_used_is_given_back(memory):
    """One that is not there to be settled, one that is there already, one too many of what is written; reading shows none of it."""
    memory.sessions.patch_scratchpad(add_next_steps=["写测试"])
    patched = memory.sessions.patch_scratchpad(add_next_steps=["写测试！", "ship it"], settle_open_questions=["which port?"])
    written = memory.sessions.edit_scratchpad("## Current task\n" + "\n".join(f"{n} {'字' * 90}" for n in range(30)))

    assert ({"写测试！", "which port?"}, ("ship it", "写测试")) == ({*patched.left_out}, patched.next_steps)
    assert any(line.startswith("29 字") for line in written.left_out)
    assert () == memory.sessions.scratchpad().left_out


def test_each_user_has_his_own(memory):
    """What another speaker in the same scope asks for is on his pad, not on the owner's; his own names are the owner's."""
    say(memory, f"帮我{TASK}", speaker="Mei")
    say(memory, f"please {ANOTHER}", speaker="Ann")

    assert (TASK, ANOTHER) == (memory.sessions.scratchpad().current_focus, memory.sessions.scratchpad("Ann").current_focus)
    assert "" == memory.sessions.scratchpad("nobody").current_focus


def test_who_is_the_owner_is_decided_as_for_statements(memory, home, clock):
    """His name in any case; and where he has told no names, whoever speaks."""
    say(memory, f"帮我{TASK}", speaker="MEI")
    assert TASK == memory.sessions.scratchpad().current_focus
    with Memory(home.with_name("other"), owner="user:mei", clock=clock) as other:
        say(other, f"帮我{TASK}", "I live in Oslo.", speaker="Mei")

        assert (TASK, "user") == (other.sessions.scratchpad().current_focus, other.get_all()[0].subject)


def test_another_scope_sees_none_of_it(memory, home, clock):
    """The same user in another scope begins with an empty pad."""
    say(memory, f"帮我{TASK}")
    with Memory(home, scope="user:ann", clock=clock) as other:
        assert ("", 0) == (other.sessions.scratchpad("user:mei").current_focus, other.sessions.scratchpad().changed)


def test_no_other_role_moves_it(memory):
    """What the assistant, a tool or a subagent's prompt asks for is not what the user is at."""
    say(memory, f"帮我{TASK}")
    before = memory.sessions.scratchpad()
    memory.record_turn("assistant", f"Let's change the subject: please {ANOTHER}.", session="s")
    memory.record_turn("tool", f"换个话题，帮我{ANOTHER}", session="s")
    say(memory, f"Let's change the subject: please {ANOTHER}.", origin="assistant")
    memory.learn()

    assert before == memory.sessions.scratchpad()


def test_learning_later_ends_at_the_same_pad(blank, home, clock):
    """Turn by turn or all at once, the same task stands there."""
    lines = [f"帮我{TASK}", "好的", f"Let's change the subject: please {ANOTHER}.", "thanks"]
    with Memory(home, owner="user:mei", clock=clock) as memory:
        say(memory, *lines)
        at_once = memory.sessions.scratchpad()
    with Memory(home.with_name("other"), owner="user:mei", clock=clock, learn="later") as memory:
        say(memory, *lines)
        assert "" == memory.sessions.scratchpad().current_focus
        memory.learn()
        later = memory.sessions.scratchpad()

    assert [at_once.current_focus, *[t.text for t in at_once.recent]] == [later.current_focus, *[t.text for t in later.recent]]


def test_a_credential_is_masked_here_too(memory):
    """In what the user writes, and in what he is at."""
    secret = "ghp_" + "a1B2" * 9
    memory.sessions.edit_scratchpad(f"## Next steps\n- use {secret}")
    say(memory, f"please deploy the site with {secret}")
    memory.sessions.patch_scratchpad(add_open_questions=[f"is {secret} still valid?"])

    assert secret not in repr(memory.sessions.scratchpad())


def test_what_is_no_text_is_refused(memory):
    """And nothing changes."""
    with pytest.raises(InvalidInput):
        memory.sessions.edit_scratchpad(5)

    assert 0 == memory.sessions.scratchpad().changed


@pytest.mark.parametrize(
    "said",
    [
        (
            "Please fix the login page of the shop.",
            "New topic: please write the quarterly finance report for Ann.",
            "New topic: please translate the contract with Lufthansa into German.",
            "translate the contract with Lufthansa into German",
            "Thanks, that works perfectly!",
        ),
        (
            "请帮我修复商店的登录页面。",
            "换个话题，请帮我写季度财务报告。",
            "换个话题，请帮我翻译汉莎的合同。",
            "翻译汉莎的合同",
            "谢谢，完美解决了！",
        ),
    ],
)
def test_work_goes_on_after_a_clock_that_ran_ahead(memory, clock, said):
    """One request while it was a year ahead; the next one, at the right time, is the current task, and the one that is done."""
    early, ahead, next_one, task, thanks = said
    memory.record_turn("user", early, session="a")
    right = clock.now
    clock.now = right + timedelta(days=365)
    memory.record_turn("user", ahead, session="b")
    clock.now = right + timedelta(days=2)
    memory.record_turn("user", next_one, session="c")
    assert task == memory.sessions.scratchpad().current_focus
    clock.advance(minutes=5)
    memory.record_turn("assistant", "Done. 完成了。", session="c")
    memory.record_turn("user", thanks, session="c")
    done = memory.sessions.end("c")

    assert "success" == done.episode.outcome
    pad = memory.sessions.scratchpad()
    assert ("", [task]) == (pad.current_focus, [one.text for one in pad.recent if one.done])
    assert all(one.since <= one.until for one in pad.recent)
    clock.advance(days=5)
    memory.record_turn("user", early, session="d")
    assert pad.recent[-1].text == memory.sessions.scratchpad().current_focus


@pytest.mark.parametrize(
    ("ahead", "old", "task"),
    [
        (
            "Please fix the login page of the shop.",
            "New topic: please migrate the old database to Postgres.",
            "fix the login page of the shop",
        ),
        ("请帮我修复商店的登录页面。", "换个话题，请帮我翻译汉莎的合同。", "修复商店的登录页面"),
    ],
)
def test_after_a_clock_that_ran_ahead_an_old_turn_is_no_current_task(memory, clock, ahead, old, task):
    """It comes in later, one by one or with others, and was said months ago."""
    right = clock.now
    clock.now = right + timedelta(days=30)
    memory.record_turn("user", ahead, session="a")
    clock.now = right
    memory.record_turn("user", old, session="b", said_at=right - timedelta(days=90))
    memory.record([{"role": "user", "content": old, "said_at": right - timedelta(days=60)}], session="c")

    pad = memory.sessions.scratchpad()
    assert (task, ()) == (pad.current_focus, pad.recent)


def test_a_task_that_began_after_a_session_is_not_done_with_it(memory, clock):
    """The session is ended late, while the user is at something else."""
    memory.record_turn("user", "Please fix the login page of the shop.", session="a")
    memory.record_turn("user", "Thanks, that works perfectly!", session="a")
    clock.advance(hours=1)
    memory.record_turn("user", "换个话题，请帮我翻译汉莎的合同。", session="b")
    before = memory.sessions.scratchpad()

    assert "success" == memory.sessions.end("a").episode.outcome
    assert before == memory.sessions.scratchpad()
