"""Recognizing retractions, and finding the statement they retract."""

from datetime import UTC, datetime, timedelta

import pytest

from yiku.rules.deciding import retract
from yiku.types import Origin, SemanticMemory, Source

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def statement(text: str, *, minutes: float = 0, session: str = "s1", actor: str | None = None) -> SemanticMemory:
    at = NOON + timedelta(minutes=minutes)
    source = Source(origin=Origin.USER, said_at=at, recorded_at=at, session=session, actor=actor)
    return SemanticMemory(
        id=text,
        line=text,
        content=text,
        said_at=at,
        confirmed_at=at,
        valid_from=at,
        created_at=at,
        updated_at=at,
        sources=(source,),
    )


@pytest.mark.parametrize(
    ("text", "sort"),
    [
        ("just kidding", "joke"),
        ("Kidding, obviously.", "joke"),
        ("lol jk", "joke"),
        ("that was a joke", "joke"),
        ("haha no, I still live in Ghent", "joke"),
        ("开玩笑的，明天还得上早班。", "joke"),
        ("逗你玩呢。", "joke"),
        ("just kidding啦🤣", "joke"),
        ("ＪＵＳＴ ＫＩＤＤＩＮＧ", "joke"),
        ("Ignore that last message", "void"),
        ("No, undo that.", "void"),
        ("I take back the Petros thing", "void"),
        ("上一条作废", "void"),
        ("刚才那句当我没说", "void"),
        ("I got that wrong about Dan.", "slip"),
        ("说错了，是周四", "slip"),
    ],
)
def test_words_that_take_back_are_known(text: str, sort: str) -> None:
    """Jokes, words to be forgotten and slips, in both languages, in any width."""
    assert sort == retract.marker(text)


@pytest.mark.parametrize(
    "text",
    [
        "oops 贴错 channel 了，上面那句 ignore 掉",
        "sorry wrong chat",
        "oops, wrong window, ignore",
        "that last message wasn't meant for you",
        "that was autocorrect, ignore it",
        "ignore my previous message",
        "please forget what I just said",
        "nah just messing",
        "jk jk",
        "lol no, kidding",
        "I'm pulling your leg",
        "psych!",
        "not really haha, I made that up",
        "my cat walked over the keyboard, ignore that",
        "Kindly disregard my last message; it was meant for another file.",
        "scratch that",
        "strike my last",
        "delete that one please",
        "don't save that",
        "don't remember that one",
        "that wasn't true, I was testing you",
        "that was sarcasm",
        "sarcasm, obviously",
        "sent too early, ignore",
        "上面那条发错群了，别记",
        "刚才那条是我弟发的，别信",
        "手滑，上一条不算",
        "逗你玩呢",
        "我瞎编的",
        "假的哈哈哈",
        "哈哈没有啦，骗你的",
        "测试一下而已，别当真",
        "刚才是在测试你，不用记",
        "反话啦",
        "前面说的不作数",
        "上句作废",
        "那条删了吧",
        "别记那条",
        "不用记上一句",
        "当我没说过",
        "输入法害的，上面那句不算",
        "我女儿乱按的，忽略上条",
        "说笑的",
        "哈哈开玩笑啦，别记",
        "haha骗你的",
        "刚才那条withdraw",
    ],
)
def test_ways_of_taking_back(text: str) -> None:
    """A wrong window, somebody else at the keyboard, a test, a slip of the input method: nothing of it was meant."""
    assert retract.marker(text) is not None


@pytest.mark.parametrize(
    "text",
    [
        "Kidding aside, I live in Oslo.",
        "I'm not kidding, I live in Oslo.",
        "我没开玩笑，我真的住在奥斯陆",
        "他喜欢开玩笑",
        "Were you joking?",
        "Don't forget to buy milk",
        "I forgot my keys",
        "Ignore lint errors in the tests",
        "It's the evening I take it.",
        "I take it with food.",
        "I live in Oslo",
        "I'm not kidding, I quit",
        "This is no joke, I have diabetes",
        "ignore warnings in the build log",
        "Please ignore files in dist/",
        "delete the old branch",
        "我不喜欢开玩笑",
        "忽略大小写",
        "删掉那个分支",
        "我在做测试工程师",
        "别记流水账",
        "I test software for a living",
        "My son types fast",
        "forget-me-nots are my favourite flowers",
        "The wrong chat model was configured",
        "上面那层是书房",
        "上面那个柜子放药",
        "I made up my mind",
        "Disregard for safety is a firing offence here",
        "he's a sarcastic guy",
        "JK Rowling wrote my favourite book",
        "backend 不支持 GraphQL 哦, README 里别写错",
        "密码不要打错",
        "公司把旧系统作废了",
    ],
)
def test_words_that_only_sound_like_it_take_nothing_back(text: str) -> None:
    """Who says that he is serious, or speaks of jokes, takes nothing back."""
    assert retract.marker(text) is None


def test_the_last_thing_of_the_session_is_meant() -> None:
    """A joke takes back what was told last where it is told, not what was told elsewhere."""
    here, there = statement("I live in Antarctica", minutes=1), statement("I live in Bergen", minutes=2, session="s2")

    assert here == retract.target(statement("just kidding", minutes=3), [statement("I like tea"), here, there], "joke")


def test_what_the_words_name_is_meant_first() -> None:
    """`The 5:10 was Ilse typing, disregard` means the 5:10, though something was said since."""
    time, guest = statement("I leave at 5:10"), statement("My cousin Ilse is staying till Sunday", minutes=1)

    assert time == retract.target(statement("the 5:10 was Ilse typing, disregard", minutes=2), [time, guest], "void")


@pytest.mark.parametrize("text", ["nvm昨天那句不算，我听错了", "Disregard my message from yesterday", "昨晚那條作廢"])
def test_what_was_told_last_the_day_before_is_meant(text: str) -> None:
    """Yesterday's last statement, whatever was told since, and whatever session it was told in."""
    first, second = statement("I live in Oslo"), statement("I play the cello", minutes=5)
    today = statement("The ferry is late", minutes=1_440, session="s2")

    assert second == retract.target(statement(text, minutes=1_441, session="s2"), [first, second, today], "void")


def test_what_a_joke_was_about_is_meant_wherever_it_was_told() -> None:
    """`I was pulling your leg about Nickelback` names what was told in another session."""
    band, ferry = statement("My favourite band is Nickelback"), statement("The ferry is late", minutes=1_440, session="s2")
    joke = statement("Btw I was pulling your leg about Nickelback", minutes=1_441, session="s2")

    assert "joke" == retract.marker(joke.content)
    assert band == retract.target(joke, [band, ferry], "joke")


def test_another_speaker_takes_nothing_back() -> None:
    """What Ann said is not taken back by Bo's joke."""
    said = statement("I live in Antarctica", actor="Ann")

    assert retract.target(statement("just kidding", minutes=1, actor="Bo"), [said], "joke") is None


def test_a_slip_takes_back_only_what_it_names() -> None:
    """`I got that wrong about Dan` says nothing of the tea."""
    allergic, tea = statement("Dan is allergic to peanuts"), statement("I like tea", minutes=5)
    slip = statement("I got that wrong about Dan, peanuts are fine", minutes=10, session="s2")

    assert allergic == retract.target(slip, [allergic, tea], "slip")
    assert retract.target(slip, [tea], "slip") is None


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("haha no, I still live in Ghent", "I still live in Ghent"),
        ("just kidding啦，主力机还是ThinkPad", "主力机还是ThinkPad"),
        ("哈哈骗你的，我还住在大连。", "我还住在大连"),
        ("just kidding", ""),
        ("上一条作废", ""),
    ],
)
def test_what_else_a_sentence_says_is_left(text: str, left: str) -> None:
    """The statement beside the marker, as it was said."""
    assert left == retract.rest(text).strip("。")


@pytest.mark.parametrize(
    "text",
    [
        "I take back what I told you about commits, they are in English now",
        "之前跟你说的收银系统作废哈，换成云掌柜了",
    ],
)
def test_what_is_named_and_was_not_told_is_not_the_last_thing(text: str) -> None:
    """The rent is none of what was told about commits."""
    rent, tea = statement("My rent is $900"), statement("我喜欢喝茶", minutes=1)

    assert retract.target(statement(text, minutes=2), [rent, tea], "void") is None


@pytest.mark.parametrize("text", ["Just kidding about Dr. Okonkwo.", "刚才说的Dr. Okonkwo那条作废。"])
def test_an_abbreviation_leaves_no_half_of_what_takes_back(text: str) -> None:
    """The stop in "No. 12B" ends no sentence, so nothing of it is left as if it were said beside."""
    assert ("", False) == (retract.rest(text), retract.says_more(text))
