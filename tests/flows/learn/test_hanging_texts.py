"""Running time of learning: no text, quoted, repeated or pasted, makes `record_turn` or `learn` hang."""

import random
from contextlib import suppress
from datetime import timedelta
from itertools import islice
from typing import Any

import pytest
import texts
from cpu import taken, within
from sampling import SEED
from texts import CHAT_CHARS

from yiku import Memory
from yiku.errors import KeptOut
from yiku.rules.finding import pack

SOON_S = 5.0  # of CPU, a hundred times of what they take: what backtracks takes hours
TEXTS = [
    "\"I'm not going there any more\" - now that's a plan!",
    '"Please restart the server before noon today" because also love tea',
    '"Please restart the server before noon today" since and like tea',
    '"as good as it can be, I said to them" as but allergic to nuts',
    "<b>as good as it can be, I said to all</b> so and like tea",
    "「请在今天中午之前把那台旧的服务器重新启动一遍，谢谢大家了」 because also love tea",
    "「请在今天中午之前把那台旧的服务器重新启动一遍，谢谢大家了」因为而且喜欢喝茶",
    "so, so, so, so, so, so, so, so, so, so, so, so, so, so, so, so, so, so, so, so, so, likes tea",
    "对了，对了，对了，对了，对了，对了，对了，对了，对了，对了，对了，对了，对了，对了，对了，喜欢喝茶",
    "哈" * 50 + "x",
    "嗯嗯" * 25 + "x",
    "haha" * 14 + "x",
    "okk" * 18 + "x",
    "I live in Oslo" + " now again at last" * 12 + "\nx",
    "我在奥斯陆喝茶" + "了，今天" * 40 + "\nx",
    "我" + "常常" * 60 + "茶",
    "下周请" * 60 + "茶",
    "I " + "finally " * 40 + "tea",
    "no wait no wait no wait no wait no wait no wait no wait no wait no wait no",
    "说错了" * 20 + "?",
]


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_a_turn_that_once_hung_is_recorded_and_learned_from(memory: Memory, text: str) -> None:
    """It is stored, what it teaches is learned at once, and neither a model's turn nor the next `learn` waits for it."""
    memory.remember("I live in Bergen and like coffee")
    with within(SOON_S, "record_turn"):
        turn = memory.record_turn("user", text)
    with within(SOON_S, "learn"):
        assert 0 == memory.learn().waiting
    with within(SOON_S, "remember"):
        memory.remember(text)
    with within(SOON_S, "recall"):
        memory.recall(text)

    assert text == memory.get(turn.id).content


@pytest.mark.parametrize("text", ["just kidding", "forget that", "开玩笑的", "上一条作废"])
@pytest.mark.long
def test_a_session_full_of_jokes_costs_what_its_turns_cost(memory: Memory, text: str) -> None:
    """Each takes back what was told last, if something was; none has all before it read again, and those all before them."""
    memory.record_turn("user", "I live in Oslo.")
    with within(SOON_S, "sixteen of them"):
        for number in range(16):
            memory.record_turn("user", f"{text}{'!' * (number % 3)}", session="s")
    with within(SOON_S, "learn"), Memory(memory.settings.home) as another:
        another.record_turn("user", text, session="s")
        assert 0 == another.learn().waiting

    assert ["I live in Oslo."] == [item.content for item in memory.get_all()]


STATES_AND_TAKES_BACK = "I live in Oslo and > ok well 其实 记得提醒我交报告 不过 等等 说实话 开玩笑的 - 『 just kidding』。"


def test_a_turn_that_states_and_takes_back_is_learned_from_once(memory: Memory) -> None:
    """Read again by `learn`, it takes back nothing more, and does not stop the turns behind it."""
    for text in ("I live in Bergen.", STATES_AND_TAKES_BACK, "I live in Paris."):
        memory.record_turn("user", text, session="s")
    before = [(item.id, item.content) for item in memory.get_all()]
    report = memory.learn()

    assert (0, ()) == (report.waiting, report.troubles)
    assert before == [(item.id, item.content) for item in memory.get_all()]


def test_what_takes_back_may_be_told_after_what_was_said_later(memory: Memory, clock: Any) -> None:
    """What it states beside that is history then: the later statement holds."""
    for days, text in ((0, "I live in Bergen."), (9, "I live in Paris."), (5, STATES_AND_TAKES_BACK)):
        memory.record_turn("user", text, session="s", said_at=clock.now - timedelta(days=20 - days))
    report = memory.learn()

    assert ((), ["I live in Paris."]) == (report.troubles, [item.content for item in memory.get_all()])


@pytest.mark.long
def test_a_context_of_long_turns_costs_what_it_shows(memory: Memory) -> None:
    """Of forty turns as long as a chapter a bounded part is looked through for the best sentences, and the first turns have most of it."""
    for number in range(40):
        memory.record_turn("assistant", f"My code {number} is tea. " + "I like tea. " * 5_000)
    memory.context("what is my code?")
    short = min(
        taken(lambda: pack.pack(memory.recall("what is my code?", limit=3).hits, 700, "en", ["code"], seal=str.encode))
        for _ in range(3)
    )
    long = min(
        taken(lambda: pack.pack(memory.recall("what is my code?", limit=40).hits, 700, "en", ["code"], seal=str.encode))
        for _ in range(3)
    )

    assert long < 8 * short  # thirteen times as many hits, of which five would be as long as those
    assert "is tea" in memory.context("what is my code?").text


# ------------------------------------------------------------------ whatever is sent

CHAT_S = 0.1  # of CPU for what is typed
PASTED_S = 0.3  # for each 100 KB of what is pasted
BUSY = 3  # so many times as long on a machine that does other work: that stretches CPU time, too
TIMES = 3  # a text that takes longer is recorded again: only what takes long each time is slow


def bound_s(text: str) -> float:
    """What `record_turn` may take for a text."""
    return CHAT_S if len(text) <= CHAT_CHARS else max(CHAT_S, PASTED_S * len(text.encode()) / 100_000)


def learned_from(memory: Memory, text: str) -> None:
    """Record a turn; one whose every word is private is refused, and that may take no longer."""
    with suppress(KeptOut):
        memory.record_turn("user", text, session="s")


def slowness(memory: Memory, text: str, times: int = TIMES) -> float:
    """How many times its bound a text takes, the best of several."""
    slowest = []
    for _ in range(times):
        slowest.append(taken(lambda: learned_from(memory, text)) / bound_s(text))
        if slowest[-1] <= 1:
            break
    return min(slowest)


def warm(memory: Memory) -> None:
    """What the first texts of a process take in addition: the patterns of both languages are compiled."""
    for text in ("I live in Oslo, my sister Ann likes tea.", "我住在上海，我妈喜欢喝绿茶。", "我住在杭州 at 5, not 6", *TEXTS):
        memory.record_turn("user", text)


@pytest.mark.long
def test_any_text_is_recorded_soon(memory: Memory) -> None:
    """Talk in both languages, quotations, floods, code and pasted text, drawn anew each time; in the soak ten thousand."""
    warm(memory)
    chance = random.Random(f"{SEED} texts")
    late = {}
    for text in islice(texts.generated(chance), 60):
        with within(20 * bound_s(text), ascii(text[:80])):
            if (times := slowness(memory, text)) > BUSY:
                late[ascii(text[:80])] = round(times, 1)

    assert {} == late
    assert 0 == memory.learn().waiting
