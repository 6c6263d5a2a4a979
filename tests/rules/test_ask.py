"""Questions: what they ask for."""

import pytest

from yiku.rules import ask


@pytest.mark.parametrize(
    ("text", "subject", "predicate"),
    [
        ("where do I live?", "user", "lives in"),
        ("我住在哪里？", "user", "lives in"),
        ("小明住在哪里", "小明", "lives in"),
        ("Where does Ann live?", "ann", "lives in"),
        ("Where do I work now?", "user", "works at"),
        ("我现在在哪家公司工作？", "user", "works at"),
        ("When is Lantern's deadline?", "lantern", "deadline"),
        ("灯笼的截止日期是哪一天？", "灯笼", "deadline"),
        ("What is my sister allergic to?", "user's sister", "allergic to"),
        ("我妹妹对什么过敏", "user's sister", "allergic to"),
        ("What is Mei's phone number?", "user", "phone"),
    ],
)
def test_a_question_names_the_slot_it_asks_for(text: str, subject: str, predicate: str) -> None:
    """Subject and predicate come out as a statement about them would have them."""
    question = ask.analyse(text, names=("Mei",))

    assert subject in question.subjects
    assert predicate in question.hinted


def test_a_predicate_outside_the_table_goes_by_its_own_name() -> None:
    """«The gateway's retry limit» asks for the slot that a statement about it filled."""
    question = ask.analyse("what is the retry limit of the gateway?")

    assert {"gateway"} <= set(question.subjects)
    assert {"retry limit"} <= set(question.predicates)


@pytest.mark.parametrize(
    "text",
    [
        "Where did I live before Oslo?",
        "what was my previous job",
        "我以前住在哪里",
        "原来的截止日期",
        "where did I use to live, originally?",
    ],
)
def test_the_past_is_asked_for_in_so_many_words(text: str) -> None:
    """Used to, before, previous, 以前, 原来."""
    assert ask.analyse(text).wants_history


@pytest.mark.parametrize("text", ["where do I live?", "我住在哪里", "remind me before lunch", "what is due first?"])
def test_the_present_is_asked_for_otherwise(text: str) -> None:
    """A «before» that belongs to a plan is no question about the past."""
    assert not ask.analyse(text).wants_history


def test_nobody_is_asked_for_who_is_not_named() -> None:
    """Without «I», 我 or the owner's name, the owner's slots are not meant."""
    assert "user" not in ask.analyse("where does Ann live?", names=("Mei",)).subjects


def test_a_long_message_asks_for_no_slot() -> None:
    """A page of text hardly means one slot; its words are searched."""
    question = ask.analyse("I live here. " * 100)

    assert ((), ()) == (question.subjects, question.hinted)
    assert question.terms.words
