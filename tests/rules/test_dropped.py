"""A sentence that leaves its speaker out: kept as his, and nothing else taken for one."""

from datetime import UTC, datetime

import pytest

from yiku.rules import extract

NOW = datetime(2026, 4, 15, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("Passed my driving test on Monday!", "I passed my driving test on Monday."),
        ("ok. just got back from Lisbon", "I just got back from Lisbon."),
        ("Had lunch with 小林 yesterday", "I had lunch with 小林 yesterday。"),
        ("Been working on the scanner since March.", "I've been working on the scanner since March."),
        ("Going to Tromsø next week.", "I'm going to Tromsø next week."),
        ("Allergic to nuts, so nothing with almonds.", "I'm allergic to nuts, so nothing with almonds."),
        ("Don't like coriander 🌿", "I don't like coriander 🌿."),
        ("Doctor says no running until June.", "My doctor says no running until June."),
        ("刚从里斯本回来", "刚从里斯本回来。"),
        ("周一考过了驾照！", "我周一考过了驾照。"),
        ("不吃香菜", "我不吃香菜。"),
        ("得了疟疾，医生说要休息一周", "得了疟疾，医生说要休息一周。"),
    ],
)
def test_who_leaves_himself_out_is_kept_as_the_speaker(said: str, kept: str) -> None:
    (draft,) = extract.drafts(said, said_at=NOW)
    assert kept == draft.text
    assert draft.quote in said


def test_it_fills_the_slots_that_it_would_fill_with_its_subject() -> None:
    slots = [draft.slot for draft in extract.drafts("Moved to Oslo in May and joined Equinor.", said_at=NOW)]
    assert [("user", "lives in", "Oslo"), ("user", "works at", "Equinor")] == [
        s and (s.subject, s.predicate, s.object) for s in slots
    ]


@pytest.mark.parametrize(
    "said",
    [
        "Got it, thanks for the tables.",
        "Had a question about pandas.",
        "Got me thinking about cats.",
        "Working from home is tiring.",
        "Going to the gym helps a lot.",
        "Planning graphs in artificial intelligence",
        "Vegan recipes for a week in Lima",
        "Book a table in Lisbon for Monday.",
        "Love the plan!",
        "- Led a team of 5 engineers in Leith",
        "Moved to Oslo?",
        "不吃早饭的坏处",
        "不吃香菜的人多吗",
        "买了的东西怎么退",
        "Made sense, thanks.",
    ],
)
def test_what_may_be_about_something_else_is_left_alone(said: str) -> None:
    assert [] == extract.drafts(said, said_at=NOW)


def test_in_chinese_who_was_spoken_of_before_is_meant() -> None:
    assert ["我妹妹最近很忙。"] == [draft.text for draft in extract.drafts("我妹妹最近很忙。养了只橘猫。", said_at=NOW)]
