"""Retractions (`just kidding`): the statement is archived and the version before it revived."""

import pytest

from yiku.types import Confirmed, Flagged, New, Refused, Replaced, Retracted, State


def texts(items):
    return [item.content for item in items]


@pytest.mark.spec("S0-09", "S0-100")
@pytest.mark.parametrize(
    ("before", "joke", "marker", "question"),
    [
        ("I live in Ghent", "I've moved to Antarctica", "just kidding", "Where do I live?"),
        ("我住在大连", "我搬到火星了", "开玩笑的", "我住在哪里？"),
        ("The retry limit is 200", "The retry limit is 2000", "Ignore that last message, please.", "what is the retry limit?"),
        ("接口的上限是200", "接口的上限是2000", "上一条作废，手抖多打了个零。", "接口的上限是多少"),
        ("Our CTO is Wanjiru", "Our CTO is Petros since this morning", "lol jk 🤣", "who is our CTO?"),
    ],
)
def test_a_joke_is_taken_back(memory, clock, before, joke, marker, question):  # noqa: PLR0917  (a row of the table a column)
    """The version before it is live again and found; the joke is archived with its reason, and the marker is no statement."""
    first = memory.remember(before, session="s1").memory
    clock.advance(days=1)
    statement = memory.remember(joke, session="s2").memory
    clock.advance(minutes=1)
    outcome = memory.remember(marker, session="s2")

    assert isinstance(outcome, Retracted)
    assert (statement.id, first.id, None) == (outcome.memory.id, outcome.current.id, outcome.said)
    assert (State.ARCHIVED, "retracted") == (memory.get(statement.id).state, memory.get(statement.id).reason)
    assert (None, None) == (memory.get(first.id).superseded_by, memory.get(first.id).valid_to)
    assert [before] == texts(memory.get_all())
    assert before in memory.recall(question, types=["memory"]).text


@pytest.mark.parametrize(
    ("before", "joke", "marker"),
    [
        (("My mentor is Ann", "Ann"), ("My mentor is Bo", "Bo"), "just kidding"),
        (("我的偶像是李雷", "李雷"), ("我的偶像是韩梅梅", "韩梅梅"), "开玩笑的"),
    ],
)
def test_a_joke_that_was_flagged_is_taken_back(memory, clock, before, joke, marker):
    """The statement that it contradicted, which is of no slot of one value, is live, alone and marked no more."""
    slot = {"predicate": "mentor", "cardinality": "unknown"}
    first = memory.remember(before[0], session="s1", object=before[1], **slot).memory
    clock.advance(days=1)
    statement = memory.remember(joke[0], session="s2", object=joke[1], **slot)
    assert isinstance(statement, Flagged)
    clock.advance(minutes=1)
    outcome = memory.remember(marker, session="s2")

    assert isinstance(outcome, Retracted)
    assert [before[0]] == texts(memory.get_all())
    assert (None, ()) == (memory.get(first.id).flag, memory.get(first.id).flagged_with)
    assert State.ARCHIVED is memory.get(statement.memory.id).state


def test_the_joke_comes_back_by_undo(memory, clock):
    """One call takes the taking back back: the joke is live, what it replaced is history."""
    memory.remember("I live in Ghent", session="s1")
    memory.remember("I've moved to Antarctica", session="s1", said_at=clock.advance(hours=1))
    clock.advance(minutes=1)
    outcome = memory.remember("只是开玩笑", session="s1")
    memory.admin.undo(outcome.operation)

    assert ["I've moved to Antarctica"] == texts(memory.get_all())
    assert ["I live in Ghent", "I've moved to Antarctica"] == texts(memory.history("where do I live"))


@pytest.mark.parametrize(
    ("before", "joke", "marker"),
    [("I live in Ghent", "I've moved to Antarctica", "just kidding"), (None, "香蕉很好吃", "开玩笑的")],
)
def test_the_joke_comes_back_by_restore(memory, clock, before, joke, marker):
    """Restored like what was forgotten: it is live without a reason, and what it had replaced is history again."""
    for text in filter(None, (before, joke)):
        statement = memory.remember(text, session="s1", said_at=clock.advance(hours=1)).memory
    clock.advance(minutes=1)
    memory.remember(marker, session="s1")
    memory.restore(statement.id)

    assert ([joke], None) == (texts(memory.get_all()), memory.get(statement.id).reason)
    assert [*filter(None, (before, joke))] == texts(memory.history(statement.id))


@pytest.mark.parametrize("session", ["s1", "s2"])
@pytest.mark.parametrize(
    ("before", "text"),
    [
        (
            "fyi our team writes commit messages in German",
            "I take back what I told you about commits, we voted and the team writes them in English now",
        ),
        ("店里收银系统用的是小满收银。", "之前跟你说的收银系统作废哈，上个月就换成云掌柜了。"),
        (None, "Disregard what I said about the shed, the code is 4711"),
        (None, "上一条作废，仓库钥匙放前台小刘那里"),
    ],
)
def test_what_takes_back_and_states_something_is_kept(memory, clock, session, before, text):
    """Whether or not it is clear what is taken back, what the text states beside that is not lost."""
    old = memory.remember(before, session="s1").memory if before else None
    clock.advance(days=40 if session == "s2" else 0, minutes=1)
    outcome = memory.remember(text, session=session)

    assert not isinstance(outcome, Refused)
    kept = outcome.said if isinstance(outcome, Retracted) else outcome.memory
    assert kept is not None and memory.get(kept.id).live
    if old is not None and session == "s1":  # forty days later nothing is taken back; recall compares the two
        assert not memory.get(old.id).live


@pytest.mark.parametrize("marker", ["just kidding", "当我没说", "forget that"])
def test_with_nothing_to_take_back_it_is_refused(memory, marker):
    """It says why, and is never stored as a statement; what was told elsewhere stays."""
    memory.remember("I live in Oslo", session="s2")
    outcome = memory.remember(marker, session="s1")

    assert isinstance(outcome, Refused)
    assert "nothing was said in this session" in outcome.why
    assert ["I live in Oslo"] == texts(memory.get_all())


@pytest.mark.parametrize(
    ("marker", "said"),
    [("haha no, I still live in Ghent", "Ghent"), ("骗你的，我还住在Ghent", "Ghent")],
)
def test_the_old_fact_said_with_it_is_confirmed(memory, clock, marker, said):
    """`I still live in Ghent` adds a source to what it restores: one statement, not two."""
    first = memory.remember("I live in Ghent", session="s1").memory
    clock.advance(days=1)
    memory.remember("我搬到火星了", session="s2")
    outcome = memory.remember(marker, session="s2")

    assert isinstance(outcome, Retracted)
    assert first.id == outcome.current.id == outcome.said.id
    assert 2 == len(memory.get(first.id).sources)
    assert said in memory.recall("where do I live", types=["memory"])[0].text


def test_another_fact_said_with_it_is_kept(memory):
    """What was true of somebody else is kept for him."""
    memory.remember("I'm allergic to strawberries", session="s1")
    outcome = memory.remember(
        "Forget what I said about strawberries, that's my brother",
        session="s1",
        subject="my brother",
        predicate="allergic to",
        object="strawberries",
    )

    assert isinstance(outcome, Retracted)
    assert ("user's brother", "allergic to") == (outcome.said.subject, outcome.said.predicate)
    assert [outcome.said.id] == [row.id for row in memory.get_all()]


def test_a_newer_value_makes_a_slip_history(memory, clock):
    """`说错了，是…` with a new value of the same slot corrects it as any newer value does."""
    old = memory.remember("订单服务的超时是3秒。", session="s1").memory
    clock.advance(minutes=1)
    outcome = memory.remember("说错了，订单服务的超时是8秒。", session="s1")

    assert isinstance(outcome, Replaced)
    assert old.id == outcome.replaced.id


def test_what_was_said_before_in_earnest_stays(memory, clock):
    """A joke that repeats a known fact takes back the repetition alone."""
    memory.remember("I live in Oslo", session="s1")
    clock.advance(days=1)
    assert isinstance(memory.remember("i live in oslo", session="s2"), Confirmed)
    outcome = memory.remember("just kidding", session="s2")

    assert isinstance(outcome, Retracted)
    assert [("I live in Oslo", 1)] == [(row.content, len(row.sources)) for row in memory.get_all()]


def test_a_trial_changes_nothing(memory):
    """With dry_run the outcome is told, and the joke stays."""
    memory.remember("I live in Oslo", session="s1")
    outcome = memory.remember("just kidding", session="s1", dry_run=True)

    assert isinstance(outcome, Retracted)
    assert ["I live in Oslo"] == texts(memory.get_all())


def test_under_a_key_it_is_done_once(memory):
    """The same call again gives the first outcome, and takes nothing else back."""
    for text in ("I like tea", "I live on Mars"):
        memory.remember(text, session="s1")
    first = memory.remember("just kidding", session="s1", idempotency_key="k")

    assert first == memory.remember("just kidding", session="s1", idempotency_key="k")
    assert ["I like tea"] == texts(memory.get_all())


@pytest.mark.parametrize("text", ["Kidding aside, I live in Oslo", "我没开玩笑，我住在 Oslo"])
def test_who_is_serious_takes_nothing_back(memory, text):
    """Words that only sound like a joke leave what was told, and are a statement."""
    memory.remember("I like tea", session="s1")

    assert isinstance(memory.remember(text, session="s1"), New)
    assert {"I like tea", text} == {*texts(memory.get_all())}


# ------------------------------------------------------------------ in talk


def talk(memory, *lines, session="s1"):
    for line in lines:
        memory.record_turn("user", line, session=session)
        memory.record_turn("assistant", "Noted. 好的。", session=session)
    return texts(memory.get_all())


@pytest.mark.parametrize(
    ("statement", "between"),
    [("I live in Oslo.", "please fix the login page"), ("我住在成都。", "你真是世界上最笨的助手")],
    ids=["en", "zh"],
)
@pytest.mark.parametrize("marker", ["just kidding", "开玩笑的", "scratch that"])
def test_in_talk_a_joke_is_about_what_was_said_just_before(memory, statement, between, marker):
    """What was told in earnest before something that taught nothing stays; an `lol` between the joke and its end does not count."""
    assert [statement] == talk(memory, statement, between, marker)
    assert [statement] == talk(memory, "I moved to Antarctica." if statement.isascii() else "我搬到火星了。", "哈哈", marker)


@pytest.mark.parametrize(
    "marker",
    ["Scratch that.", "strike that", "I didn't mean that.", "算了，当我没说", "忘了我刚说的", "算了，刚才那句不算", "忽略上一条"],
)
def test_what_was_said_last_is_taken_back_in_many_words(memory, marker):
    """The version before it holds again."""
    assert ["I live in Oslo."] == talk(memory, "I live in Oslo.", "I moved to Ghent.", marker)


@pytest.mark.parametrize("marker", ["just kidding about the job", "工作的事是开玩笑的"])
def test_a_joke_is_named_by_what_people_call_it(memory, marker):
    """Not by its own words, and in either language; what was said since then stays."""
    statement = ["I live in Oslo.", "我在腾讯上班。", "Always write the tests first."]

    assert ["I live in Oslo.", "Always write the tests first."] == sorted(talk(memory, *statement, marker), key=statement.index)


@pytest.mark.parametrize(
    "marker", ["Scratch that.", "I misspoke", "说错了，她住在重庆", "刚才说错了", "just kidding", "上一条作废"]
)
def test_words_that_take_back_are_no_statement(memory, marker):
    """Where there is nothing to take back, nothing is kept of them: not by `record_turn`, and not by a later `learn`."""
    assert [] == talk(memory, marker)
    assert [] == texts(memory.learn() and memory.get_all())
