"""Likeness: what speaks for it that two statements are of one matter, what against it, and how much is enough."""

import pytest

from yiku.rules import likeness


def points(new: str, old: str) -> float:
    return likeness.points(new, old, len(likeness.shared(likeness.told(new), likeness.told(old))))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("The choir sings in the town hall.", "From now on the choir sings in the chapel, bring a scarf."),
        ("Our ferry to Aran leaves at 9:40.", "The Aran ferry is pushed back to 10:15."),
        ("The greenhouse is heated to 18 degrees.", "I turned the greenhouse up to 21 degrees."),
        ("My allotment is plot 14.", "We don't have the allotment any more."),
        ("Ida's recorder lesson is on Thursday.", "Ida's recorder teacher is ill, the lesson moved to Saturday."),
        ("鱼缸放在客厅。", "鱼缸挪到书房了，客厅太晒。"),
        ("合唱团周三排练。", "合唱团从下月起改成周日排练。"),
        ("我们用Trello排期。", "Trello上周cancel了，排期都在白板上。"),
        ("渔具店的押金是三百。", "渔具店退了押金。"),
    ],
)
def test_a_change_of_what_was_told_is_enough(before: str, after: str) -> None:
    """Another value, a denial or an end beside the words that name the matter, in either language and in both at once."""
    assert points(after, before) >= likeness.needed(1)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("The dev server listens on port 3000.", "The kitchen sink is leaking."),
        ("My sister plays the harp.", "I'm thinking of asking my sister what she wants for her birthday."),
        ("The harp is tuned.", "Could you tell me what a harp costs?"),
        ("We sell honey at the market.", "We also sell candles at the market."),
        ("I visited the lighthouse in May.", "The lighthouse has 112 steps."),
        ("我妹妹弹古筝。", "我想给妹妹买一本琴谱。"),
        ("灯塔有一百一十二级台阶。", "谢谢你讲灯塔的故事，听起来很有意思。"),
    ],
)
def test_words_alone_are_not_enough(before: str, after: str) -> None:
    """A wish, a question, one more beside the old, what happened once, and thanks ask nobody anything."""
    assert points(after, before) < likeness.needed(1)


def test_among_many_statements_more_is_needed() -> None:
    """Where many share a word with a statement, sharing one is chance."""
    assert likeness.needed(16) > likeness.needed(2) > likeness.needed(1)


def test_not_this_corrects_only_what_was_told() -> None:
    """«…, not Bergen» corrects a statement about Bergen, and no other one."""
    after = "The parcel goes to Oslo, not Bergen."

    assert points(after, "The parcel goes to Bergen.") > points(after, "The parcel goes to Turku.") + 4


def test_everyday_words_tell_nothing() -> None:
    """«Good idea, thanks» and «我觉得不错» are about whatever was spoken of."""
    assert not likeness.told("That is a really good idea, sounds great").telling
    assert not likeness.told("我觉得非常清晰").telling


def test_a_word_of_another_language_ends_where_its_letters_end() -> None:
    """«昨天cancel了» cancels, though no space stands around the word."""
    assert likeness.does("报告昨天cancel了").ends
    assert likeness.does("The report was cancelled").ends
    assert not likeness.does("报告在桌上").ends


def test_a_value_that_is_taken_back_names_the_statement_that_has_it() -> None:
    """«54 an hour, not 45» shares no word with a fee of 45 euros, 是CA1382，不是CA1832 none with a flight."""
    fee, flight = "The new piano teacher charges 45 euros.", "我周五回程的航班是CA1832。"

    assert points("Oops, I misread her message. It's 54, not 45", fee) >= likeness.needed(1)
    assert points("抱歉，是CA1382，不是CA1832", flight) >= likeness.needed(1)
    assert points("Oops, I misread her message. It's 54, not 46", fee) < likeness.needed(1)
