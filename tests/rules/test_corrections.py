"""Corrections that name only the new value."""

import pytest

from yiku.rules.learning import corrections


def given(text: str) -> str | None:
    clause = corrections.correction(text) if corrections.may_correct(text) else None
    return corrections.value(text, clause) if clause else None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("sorry, typo: it's 99 88 77 65", "99 88 77 65"),
        ("no wait, 14 March", "14 March"),
        ("Oops, 15 May!", "15 May"),
        ("I meant 120", "120"),
        ("Sorry, me@x.no", "me@x.no"),
        ("不对，是3月14日", "3月14日"),
        ("说错了，应该是8岁", "8岁"),
        ("更正：3月14日。", "3月14日"),
    ],
)
def test_the_value_is_what_stands_behind_the_words_that_correct(text: str, value: str) -> None:
    """In both languages, whatever else leads to it."""
    assert value == given(text)


@pytest.mark.parametrize(
    "text",
    [
        "14 March",
        "it's 5 pm",
        "No, Ann and Bob moved",
        "no, I live in Oslo",
        "wait 5 minutes",
        "sorry for the 3 typos",
        "Sorry I'm late, it is 5 pm",
        "no, 14 March?",
        "不对，是3月14日吗？",
        "是3月14日",
        "no " * 100 + "5",
    ],
)
def test_anything_else_corrects_nothing(text: str) -> None:
    """Neither a value alone, nor a sentence, nor a question."""
    assert given(text) is None


@pytest.mark.parametrize("text", ["No, 5", "不对，是5", "Actually 5"])
def test_what_may_answer_a_question_is_no_slip(text: str) -> None:
    """ "Three tickets?" "No, 5": nothing that was said before is meant; a typo is one's own."""
    clause, slip = corrections.correction(text), corrections.correction(f"typo: {text}")

    assert clause is not None and not clause.slip
    assert slip is not None and slip.slip
