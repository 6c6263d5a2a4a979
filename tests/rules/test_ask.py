"""Parsing questions: terms, times and wanted values."""

from datetime import datetime, timedelta, timezone

import pytest

from yiku.rules.finding import ask


@pytest.mark.spec("S0-73")
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
        ("What is Mei's phone number?", "user", "phone number"),
    ],
)
def test_a_question_names_the_slot_it_asks_for(text: str, subject: str, predicate: str) -> None:
    """Subject and predicate come out as a statement about them would have them."""
    question = ask.analyse(text, names=("Mei",))

    assert subject in question.subjects
    assert predicate in question.hinted


def test_a_predicate_outside_the_table_goes_by_its_own_name() -> None:
    """`The gateway's retry limit` asks for the slot that a statement about it filled."""
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


@pytest.mark.parametrize(
    ("text", "kept", "gone"),
    [
        ("Which bank was I with before Copperline?", "bank", "copperlin"),
        ("Before the repaint, what colour were our walls?", "wall", "repaint"),
        ("换机器之前我家用的什么样的油烟机？", "油烟", "机器"),
        ("Where did I live before?", "live", ""),
        ("remind me before the repaint", "repaint", ""),
    ],
)
def test_what_came_after_the_past_that_is_asked_for_is_no_term(text: str, kept: str, gone: str) -> None:
    """The turn that answers was said before it, and does not know it; of a plan it is all that is asked for."""
    terms = ask.analyse(text).terms.words

    assert kept in terms and gone not in terms


@pytest.mark.parametrize(
    "text", ["where do I live?", "我住在哪里", "remind me before lunch", "what is due first?", "我几点过去拿东西", "我们怎么过去？"]
)
def test_the_present_is_asked_for_otherwise(text: str) -> None:
    """A `before` that belongs to a plan is no question about the past."""
    assert not ask.analyse(text).wants_history


def test_nobody_is_asked_for_who_is_not_named() -> None:
    """Without `I`, 我 or the owner's name, the owner's slots are not meant."""
    assert "user" not in ask.analyse("where does Ann live?", names=("Mei",)).subjects


def test_a_long_message_asks_for_no_slot() -> None:
    """A page of text hardly means one slot; its words are searched."""
    question = ask.analyse("I live here. " * 100)

    assert ((), ()) == (question.subjects, question.hinted)
    assert question.terms.words


NOW = datetime(2025, 5, 21, 12, tzinfo=timezone(timedelta(hours=8)))
# What a question wants: those that ask for it, and those that only look so.
WANTS = {
    "wants_count": (
        "How many trips did I take?|how much did I spend in total|How often do I run?|"
        "Which came first, the fence or the gate?|what is the order of the races I ran|"
        "What is the average age of my parents?|我今年一共跑了多少次|去过哪些城市|先后见过谁",
        "Where do I live?|what is my sister allergic to|我住在哪里|小明的生日|first, tell me my name|how much is the fish?",
    ),
    "wants_preference": (
        "Can you recommend a hotel?|recommend me a film|Any tips for my kitchen?|What should I cook tonight?|suggest a film|"
        "do you have any suggestions?|推荐一家餐厅|请推荐几本书|给我一些建议|有什么好的建议|帮我选个礼物|周末去哪里好",
        "What did you recommend?|you suggested a lens|what should we do next?|你上次推荐的餐厅|导师推荐了哪两本书|我住在哪里",
    ),
    "wants_file": (
        "send me the photo of the cat|where is the PDF I shared?|find the screenshot of the error|"
        "把上周那只小猫的图发我|那张照片在哪|找一下合同附件",
        "where is the photo album?|the file system is full|I like photography|地图怎么看|我的意图是什么|照片打印店在哪",
    ),
    "asks_assistant": (
        "What did you suggest?|Remind me what you told me about tea|in our last chat|"
        "In our previous conversation, which oil was it?|you mentioned a website|你推荐的那家店叫什么|你之前说的方法|"
        "你给我的清单|你建议我吃什么来着|上次的对话里提到的书",
        "Can you suggest a hotel?|what did Ann suggest?|thank you|你好|你觉得呢|导师推荐了哪本书|remind me before lunch|"
        "do you think she said yes?",
    ),
    "carries_on": (
        "I'm back, and the setup of the shop is done. We can go on with the newsletter now.|"
        "Hello. I finished the second chapter last night. What comes after it?|"
        "My sister agreed to help with the garden. Show me how we begin with the beds, please.|"
        "我回来了,电源已经修好了,我们接着做上次没有做完的店铺设置吧。|好的,我已经把护照和签证都准备好了,可以开始订机票和酒店了。",
        "I live in Oslo|my address|我的地址|where do I keep the spare key of the house in the mountains by the lake|"
        "I wonder about the garden. How many beds did I plant with tomatoes in all of these years?|"
        "You told me about three museums when I was planning the trip to Bergen. Which was free?|"
        "The shop opens at nine and closes at six on every day but Sunday and Monday.|"
        "我想知道我妹妹住在上海的哪个区,她家附近有没有地铁站,怎么走比较方便",
    ),
    "wants_history": (
        "my previous employer|where did I live before Oslo?|what did I use to drink?|history of my address|原来的版本|"
        "曾经的同事|历史版本",
        "in our last chat|our previous conversation|你之前说的|in the past month|过去三天我吃了什么|"
        "two days before the race|a brief history of time|口述历史志愿者|I am used to be early|told me earlier|"
        "是在结婚之前还是之后",
    ),
}


@pytest.mark.parametrize("want", WANTS)
def test_a_question_tells_what_it_wants(want: str) -> None:
    """A count, advice, a file, what the assistant said, the past; and what only looks like it."""
    asking, other = (texts.split("|") for texts in WANTS[want])

    assert [] == [text for text in asking if not getattr(ask.analyse(text), want)]
    assert [] == [text for text in other if getattr(ask.analyse(text), want)]


def test_times_are_read_when_now_is_known() -> None:
    """Without a clock `last week` is no week."""
    assert () == ask.analyse("what did I say last week?").windows
    assert "last week" == ask.analyse("what did I say last week?", now=NOW).windows[0].text
    assert "上周" == ask.analyse("我上周说了什么", now=NOW).windows[0].text
    assert "搬家" == ask.analyse("搬家前一周我说了什么", now=NOW).anchored.event


@pytest.mark.parametrize(
    "question", ["How does my pay compare to last year?", "List my jobs from earliest to latest", "和去年相比多了多少？"]
)
def test_a_comparison_wants_everything_that_is_compared(question: str) -> None:
    """It is answered from several turns, in either language."""
    assert ask.analyse(question).wants_count


@pytest.mark.parametrize(
    "question",
    [
        "When did my neighbour move in next to Dr. Okonkwo and me, who is also my colleague at the harbour",
        "我的邻居说要带我去见一见Dr. Okonkwo，她是什么时候来我们这里上班的",
    ],
)
def test_a_question_goes_on_behind_an_abbreviation(question: str) -> None:
    """The half in front of "Dr." or behind it is no statement of its own, so the message asks and does not carry on a talk."""
    assert not ask.analyse(question).carries_on
