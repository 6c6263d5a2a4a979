"""Candidate slots of a question."""

import pytest

from yiku.rules.finding import ask, candidates
from yiku.rules.lexicon import built_in
from yiku.rules.statements import keys
from yiku.rules.text import analyze
from yiku.rules.text.words import words


@pytest.mark.parametrize(
    "text",
    ["my sister's dog and the user", "我妹妹的猫和老板的项目", "Mei's boss, an old friend", "这个项目的老板", ".well 'so'"],
)
def test_every_run_of_words_names_whom_it_would_name_alone(text: str) -> None:
    """That most runs are not looked at closely changes nothing; an article is left out by a shorter run."""
    folded = analyze.fold(text)
    found = words(folded, 0, len(folded), built_in())
    runs = [*candidates.runs(folded, found)]
    articles = ("the ", "a ", "an ", "this ", "that ", "our ", "这个", "那个", "该")
    expected = {keys.subject_of(run, names=("Mei",)) for run, _ in runs if not run.startswith(articles)}

    assert expected - {keys.USER} <= candidates.subjects(folded, found, runs, ("Mei",))


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("what is the retry limit of the payments service?", "payments service"),
        ("支付服务的重试次数是多少？", "支付服务"),
        ("what is Ann's dog called?", "ann's dog"),
        ("小雨的狗叫什么？", "小雨's dog"),
        ("does my sister's flat have a lift?", "user's sister's flat"),
        ("我们项目的预算", "user's 项目"),
        ("我的老板是谁？", "user"),
        ("灯笼alpha的端口", "灯笼alpha"),
    ],
)
def test_a_thing_or_what_is_somebodys_is_a_subject(text: str, subject: str) -> None:
    """A run of words, inside a sentence without spaces too; what is mine, or somebody's, under one name."""
    assert subject in ask.analyse(text).subjects


@pytest.mark.parametrize(
    ("text", "predicate"),
    [("Who is my boss?", "老板"), ("我的老板是谁？", "boss"), ("what's the budget?", "预算"), ("When is the launch?", "date")],
)
def test_an_attribute_is_asked_for_under_all_its_names(text: str, predicate: str) -> None:
    """In either language; what is arranged for a time is kept under date or time."""
    assert predicate in ask.analyse(text).predicates


@pytest.mark.parametrize(
    ("text", "hinted"),
    [
        ("Am I allergic to nuts?", "not allergic to"),
        ("我对坚果过敏吗？", "not allergic to"),
        ("What do I like?", "dislikes"),
        ("Do I like coffee?", "dislikes"),
        ("我喜欢喝什么？", "dislikes"),
        ("What is the version of Lantern?", "版本"),
    ],
)
def test_who_asks_for_a_predicate_asks_for_its_denial(text: str, hinted: str) -> None:
    """One with many values by its verb alone; and for an attribute where the only verb is to be."""
    assert hinted in ask.analyse(text).hinted


@pytest.mark.parametrize("text", ["how do I get from the airport to the hotel?", "I wrote the report. What is your view?"])
def test_what_is_only_mentioned_is_not_asked_for(text: str) -> None:
    """Neither beside a verb that does something, nor in a sentence that asks nothing."""
    assert not {"hotel", "report"} & {*ask.analyse(text).hinted}


@pytest.mark.parametrize(
    ("question", "owner"),
    [
        ("妈妈住在哪里？", "user's mother"),
        ("where does mum live?", "user's mother"),
        ("what did we get for dad?", "user's father"),
        ("小雨的妈妈住在哪里？", ""),
        ("where does Tom's mum live?", ""),
        ("is the dog of the neighbours loud?", ""),
    ],
)
def test_a_relative_alone_is_ones_own(question: str, owner: str) -> None:
    asked = ask.analyse(question)
    assert owner in asked.subjects if owner else not any(one.startswith("user's") for one in asked.subjects)


def test_a_relative_is_somebody_of_somebodys() -> None:
    """My sister and Tom's boss are; Tom's flat is not, nor a sister of nobody."""
    assert {"user's sister", "tom's boss"} == candidates.relatives(["user's sister", "tom's boss", "tom's flat", "sister"])
