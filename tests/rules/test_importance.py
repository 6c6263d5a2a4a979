"""Detecting noise, and scoring importance."""

import pytest

from yiku.rules.learning import importance


@pytest.mark.parametrize(
    "text",
    [
        "ok",
        "OK!!",
        "thanks a lot!",
        "haha",
        "好的好的",
        "嗯嗯",
        "收到，谢谢",
        "👍",
        "🎉🎉🎉",
        "是",
        "对啊",
        "ｏｋ",
        "k9",
        "嘘嘘",
        "谢谢！",
        "...",
        "",
        "Got it, thank you very much",
        "hi there"[:2],
    ],
)
def test_interjections_thanks_and_emoji_are_noise(text: str) -> None:
    """Nobody wants to be told them again; they weigh nothing."""
    assert importance.noise(text)
    assert 0.0 == importance.score(text)


@pytest.mark.parametrize(
    "text", ["I'm vegan", "我吃素", "Call me Ann", "no, Tuesday", "好，周二", "thanks, Bergen it is", "yes" * 30]
)
def test_what_tells_something_is_no_noise(text: str) -> None:
    """However short it is."""
    assert not importance.noise(text)


@pytest.mark.parametrize(
    ("text", "weight"),
    [
        ("I'm allergic to nuts", 1.0),
        ("我对坚果过敏", 1.0),
        ("I like rye bread", 0.8),
        ("我喜欢黑麦面包", 0.8),
        ("The report is half done", 0.7),
        ("报告写了一半", 0.7),
        ("The lift squeaks", 0.5),
        ("电梯吱吱响", 0.5),
        ("one sec, somebody rings", 0.2),
        ("稍等，有人按门铃", 0.2),
        ("Remember, the lift squeaks", 1.0),
        ("重要：电梯吱吱响", 0.8),
        ("By the way, the lift squeaks", 0.3),
        ("Ｉ’ｍ　ａｌｌｅｒｇｉｃ　ｔｏ　ｎｕｔｓ", 1.0),
    ],
)
def test_the_weightiest_class_counts_and_signals_move_it(text: str, weight: float) -> None:
    """Who somebody is weighs more than what he likes, that more than his work, and a word may raise or lower it."""
    assert weight == importance.score(text)
