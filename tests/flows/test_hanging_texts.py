"""No text that a person sends holds `record_turn` or `learn`, whatever is quoted, repeated or pasted in it."""

import pytest
from cpu import within

from yiku import Memory

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
