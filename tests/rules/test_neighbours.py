"""Neighbours: what a statement without a slot may contradict, and what has nothing to do with it."""

from datetime import UTC, datetime, timedelta

import pytest

from yiku.rules import neighbours
from yiku.types import SemanticMemory

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def told(text: str, days: int = 0) -> SemanticMemory:
    at = NOON + timedelta(days=days)
    return SemanticMemory(
        id=text,
        line=text,
        content=text,
        content_hash=text.encode(),
        said_at=at,
        confirmed_at=at,
        valid_from=at,
        created_at=at,
        updated_at=at,
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("My car is a Volvo V60.", "Sold the Volvo to a guy from Tromsø."),
        ("Our budget for the kitchen is 14k.", "Make that 16.5k for the kitchen, not 14."),
        ("We have a hamster called Biscuit.", "We buried poor Biscuit this morning."),
        ("后端是老纪负责的。", "老纪昨天办完离职，他手上的后端全交接给小贝了。"),
        ("我每天骑电动车上下班。", "电动车上周卖了，上班走路。"),
        ("我在用 Notion 记笔记。", "笔记全部导进 Obsidian 了，Notion账号已经注销。"),
        ("The recital is on the 12th.", "recital on the 14th, bring the iron"),
    ],
)
def test_a_change_finds_what_it_may_end(before: str, after: str) -> None:
    """A thing beside a word that ends or corrects it, or another value of it; what has none of its words is left alone."""
    old, new = told(before), told(after, 1)

    assert neighbours.terms(new)
    assert [old] == neighbours.rivals(new, [told("I like tea"), told("我喜欢喝茶"), old])


@pytest.mark.parametrize(
    "text", ["明年可能搬去广州", "Should I have sold the Volvo?", "We may sell the Volvo one day", "I like green tea"]
)
def test_a_plan_and_a_question_contradict_nothing(text: str) -> None:
    """Nor does what speaks of something else."""
    old = [told("I drive a Volvo."), told("我住在广州"), told("I like hiking")]

    assert [] == neighbours.rivals(told(text, 1), old)


@pytest.mark.spec("T-27")
def test_a_plan_is_not_contradicted() -> None:
    """What was only planned or heard holds nothing that another value could take the place of."""
    new = told("The bakery opens at seven.", 1)
    assert neighbours.rivals(new, [told("The bakery opens at half six.")])
    assert not neighbours.rivals(new, [told("The bakery might open at half six.")])


def test_likeness_alone_is_no_conflict() -> None:
    """Dark and light theme share their words, and neither corrects the other."""
    dark, light = told("I use the dark theme in the editor"), told("I use the light theme in the terminal", 1)

    assert [] == neighbours.rivals(light, [dark])


def test_what_was_said_later_is_not_contradicted() -> None:
    """A statement recorded late marks nothing that came after it."""
    assert [] == neighbours.rivals(told("The recital is on the 14th."), [told("The recital is on the 12th.", 1)])


@pytest.mark.parametrize(
    ("state", "event"),
    [
        ("I'm a second-year physics student.", "Graduated!"),
        ("我在一家银行上班。", "我上周辞职了"),
        ("I'm engaged to Rowan.", "We broke up"),
        ("I'm single.", "My girlfriend is moving her plants in."),
        ("我是单身。", "我女朋友在银行上班。"),
        ("My commute is an hour on the train.", "I've been fully remote since March."),
        ("我现在还是实习生。", "昨天转正答辩过了。"),
        ("我妈一个人住在老房子里。", "我把我妈接来和我们一起住了。"),
        ("我们家没有孩子。", "女儿昨天满月，忙得团团转。"),
        ("£140 goes out every month on my student loan.", "Letter came!! Student loan's cleared, balance zero, done forever."),
        ("Our car loan is $310 a month.", "The balance on the car is finally zero."),
        ("我每月还车贷三千。", "车贷余额清零了，舒坦。"),
        ("I'm pregnant, due in July.", "Milo's here! Born at 3am, 3.4 kilos, we're both fine."),
        ("我怀孕六个月了。", "今早顺产，母子平安。"),
        ("爷爷种着三亩橘子。", "爷爷的橘园整个转给村里合作社了，他一棵没留，天天在家下棋。"),
        ("We keep forty goats.", "We sold the herd last week."),
        ("I don't have any pets.", "We have a rabbit! The kids named him Lord Flop."),
        ("我没养宠物。", "我们领养了一只猫！"),
        ("I'm single btw, so a table for one is fine.", "The honeymoon photos are back! Which size would you print?"),
        ("I'm on a provisional licence, lessons every Friday.", "I tore up the L-plates today!"),
        ("我还在考驾照，科目三还没过。", "今天第一次自己一个人开车上高速。"),
        ("My wrist is broken, in a cast.", "I played the piano with both hands since they sawed that plaster off."),
        ("我左脚踝打着石膏。", "石膏锯开那一下太爽了！"),
        ("My account is on the free trial.", "Just got the invoice for a full year of Pagewell Pro."),
        ("我的账号还在试用。", "我开通了年费会员。"),
        ("我在备考N2。", "N2证书寄到啦！"),
        ("我租房住。", "新家第一晚，房产证放枕头底下。"),
        ("I work at Fairmead Hospital.", "Handed in my badge yesterday, the ward threw me a leaving party."),
    ],
)
def test_some_events_end_a_state_without_naming_it(state: str, event: str) -> None:
    """Who graduates is no student any more, though he doesn't say so; somebody else's graduation ends nothing."""
    old = told(state)
    words, states = neighbours.ended(told(event, 1))

    assert words
    assert [old] == neighbours.over(told(event, 1), [told("I like tea"), old], states)
    assert [] == neighbours.over(told(f"My brother said: {event}", 1), [old], states)


def test_of_many_candidates_the_nearest_are_compared() -> None:
    """Those that share the most words, a rare one counting more."""
    common = {"tea": list(range(30)), "biscuit": [7]}

    assert 7 in neighbours.likely(common)
    assert neighbours.ROWS == len(neighbours.likely(common))


def test_a_denial_tells_only_a_state_of_not_having() -> None:
    """«No children» ends with a child; what was denied before does not end once more."""
    assert not _over("I don't smoke.", "I haven't smoked for a year.")
    assert _over("I don't have any children.", "Our daughter was born in May.")


def _over(before: str, after: str) -> bool:
    old, new = told(before), told(after, 1)
    return neighbours.over(new, [old], neighbours.ended(new)[1]) == [old]


def test_of_a_short_statement_one_word_is_enough_to_be_compared() -> None:
    """A long one must share two, or nothing would be too far off; what corrects or denies needs one."""
    assert neighbours.enough(told("We're fourteen on the team.")) == 1
    long = "Something quite peculiar sits beside the tall lighthouse of our small northern village"
    assert neighbours.enough(told(f"{long}.")) == 2
    assert neighbours.enough(told(f"Correction: {long}.")) == 1


@pytest.mark.parametrize(
    ("state", "event"),
    [
        ("Our car loan is $310 a month.", "My phone credit balance is zero."),
        ("I'm pregnant, due in July.", "Milo's here for the weekend."),
        ("爷爷种着三亩橘子。", "我把票转给同事了。"),
        ("I don't have any pets.", "We have a rabbit hole to go down."),
        ("I'm single.", "What would I wear on a honeymoon?"),
        ("我在备考N2。", "你考过N2证书吗？"),
    ],
)
def test_what_only_sounds_like_such_an_event_ends_nothing(state: str, event: str) -> None:
    """A visit is no birth, a ticket no orchard."""
    assert not _over(state, event)
