"""Clauses side by side: what is another value of one matter, what denies it, what says it again, and what does not."""

import pytest

from yiku.rules import matter
from yiku.rules.clauses import clauses


def _any(compare: object, new: str, old: str) -> bool:
    return any(compare(one, other) for one in clauses(new) for other in clauses(old))  # type: ignore[operator]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("The bakery opens at half six.", "The bakery opens at seven."),
        ("Billing alerts go to Priyanka.", "Billing alerts go to Tomasz, so loop him in."),
        ("The stand-up is in room Fjord today.", "Fjord is taken, stand-up is in room Delta."),
        ("今天的值日生是刘畅。", "刘畅请假，值日生换成孙悦。"),
        ("I bake my sourdough at 475 Fahrenheit.", "New oven. I bake the sourdough at 230 Celsius."),
        ("我的手机是红米。", "我手机是华为。"),
        ("Nadia handles payroll.", "Payroll is handled by Tobias."),
        ("Grandma lands at 14:20.", "Grandma's plane is delayed, she lands at 16:05."),
        ("The server room door code today is 7712.", "They reset the server room code, it's 9034."),
        ("小区的快递柜在东门。", "快递柜在南门岗亭边上。"),
        ("今晚聚餐在海底捞。", "海底捞排队太长，聚餐改去西贝了。"),
        ("我一天抽半包烟。", "我一天抽三根烟。"),
    ],
)
def test_another_value_of_the_same_matter(before: str, after: str) -> None:
    """All that tells is the same, but for one place, where a value stands."""
    assert _any(matter.differ, after, before)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("The front door code is 4417.", "The bike shed code is 9921."),
        ("Chapter 3 has 20 pages.", "Chapter 4 has 20 pages."),
        ("We sell honey at the market.", "We sell candles at the market."),
        ("I'm allergic to cats.", "I'm allergic to pollen."),
        ("I'm in Oslo with my sister.", "I'm in Rome with my brother."),
        ("大儿子上五年级。", "小儿子上二年级。"),
        ("我近视三百度。", "我同桌近视五百度。"),
        ("I ran 5 km on Monday.", "I ran 8 km on Friday."),
    ],
)
def test_two_matters(before: str, after: str) -> None:
    """Another thing, another person, one more of many, or what happened once: nobody is asked."""
    assert not _any(matter.differ, after, before)


@pytest.mark.parametrize(
    ("before", "after", "plain"),
    [
        ("Zoe is on the hiring panel.", "Zoe is not on the hiring panel any longer.", True),
        ("我们公司管午饭。", "公司现在不管午饭了。", True),
        ("We deploy on Fridays.", "We don't deploy on Fridays today.", False),
        ("We eat lunch at the office.", "We don't always eat lunch at the office.", False),
        ("Our API supports XML.", "XML is no longer supported by our legacy API.", False),
    ],
)
def test_a_denial(before: str, after: str, plain: bool) -> None:
    """Each denies the other; only word for word, and for good, does it take its place."""
    assert _any(matter.denied, after, before)
    assert plain is matter.contrary(after, before)


def test_a_denial_of_something_else_denies_nothing() -> None:
    """Another relative, and «not only»."""
    assert not _any(matter.denied, "My brother isn't allergic to nuts.", "My wife is allergic to nuts.")
    assert not _any(matter.denied, "Not only the API supports XML.", "The API supports XML.")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("My wife works as a midwife.", "My wife is a midwife."),
        ("The tank holds 2 litres.", "Tank capacity: 2000 ml."),
        ("报名六月三十日截止。", "报名截止时间：6月30日"),
        ("Our shop is closed on Mondays.", "我们店周一休息。"),
        ("The kids go to bed at eight.", "The children's bedtime is 8."),
        ("我乳糖不耐受。", "我对乳糖不耐受。"),
        ("I'm left-handed", "I'm a southpaw"),
        ("I'm coeliac.", "I have celiac disease"),
        ("I'm an only child", "我是独生女"),
        ("我在家办公", "I work from home"),
        ("外公耳背", "外公耳朵不好使"),
        ("I'm an only child", "I've no brothers or sisters"),
    ],
)
def test_the_same_in_other_words(before: str, after: str) -> None:
    """Whatever the order, the unit and the language."""
    assert matter.says(after, before)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Today Ann leads Bo.", "Today Bo leads Ann."),
        ("小王比小李高", "小李比小王高"),
        ("The fence is 1.8 m high.", "The fence is 1.8 m long."),
        ("The tank holds 2 litres.", "The tank holds 2 litres, and the pump is broken."),
        ("报名六月三十日截止。", "报名六月三十日截止，面试在七月。"),
        ("It's closed", "They've closed down"),
        ("My sister is left-handed", "I'm a southpaw"),
        ("I'm an only child", "I have one child"),
    ],
)
def test_the_same_words_may_say_something_else(before: str, after: str) -> None:
    """Who does it to whom stands in the order of names, and what says more is not taken for what is known."""
    assert not matter.says(after, before)
