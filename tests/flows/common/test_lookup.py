"""Resolving names to entities: aliases learned in any order, in both languages."""

import pytest


def say(memory, clock, *lines):
    for line in lines:
        clock.advance(days=1)
        memory.record_turn("user", line)


@pytest.mark.parametrize(
    ("texts", "question", "answer"),
    [
        (["My brother is called Tom.", "Tom lives in Bergen.", "Tom moved to Oslo."], "where does my brother live?", "Oslo"),
        (["My brother is called Tom.", "My brother lives in Bergen."], "Where does Tom live?", "Bergen"),
        (["我妹妹叫小雨，她对花生过敏。", "其实小雨对花生不过敏，是对虾过敏。"], "我妹妹对什么过敏？", "对虾过敏"),
        (["我妹妹叫小雨。", "我妹妹住在卑尔根。"], "小雨住在哪里？", "卑尔根"),
    ],
)
def test_a_name_leads_to_whom_it_names(memory, clock, texts, question, answer):
    say(memory, clock, *texts)

    first = memory.recall(question)[0]
    assert answer in first.text


def test_what_a_name_corrects_is_history(memory, clock):
    """One line of versions, whichever way she is spoken of."""
    say(memory, clock, "我妹妹叫小雨，她对花生过敏。", "其实小雨对花生不过敏，是对虾过敏。")

    assert ["我妹妹叫小雨。", "小雨是对虾过敏。", "小雨对花生不过敏。"] == sorted(
        (item.content for item in memory.get_all()), key=lambda text: (text != "我妹妹叫小雨。", "虾" not in text)
    )


def test_a_name_that_two_have_leads_to_neither(memory, clock):
    """Nobody knows which Tom is meant: he is kept under his name."""
    say(memory, clock, "My brother is called Tom.", "My boss is called Tom.", "Tom lives in Bergen.")

    (home,) = [item for item in memory.get_all() if item.predicate == "lives in"]
    assert "tom" == home.subject
