"""What no cue and no shape knows is kept where enough speaks for it, and is silent where it is about this talk."""

from datetime import UTC, datetime

import pytest

from yiku.rules import extract
from yiku.rules.extract import worth
from yiku.types import Kind

NOW = datetime(2026, 4, 15, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("We usually eat around eight on the balcony with the two neighbours from Porto.", Kind.FACT),
        ("Every second weekend there's the market, where my aunt Greta and I sell three sorts of jam.", Kind.FACT),
        ("I'm thinking of adding a third beehive behind the shed this spring.", Kind.TASK),
        ("我最近常看《海错图》，一晚上能看三章。", Kind.FACT),
        ("我追的那支球队上周换了教练。", Kind.EVENT),
    ],
)
def test_what_enough_speaks_for_is_kept(said: str, kind: Kind) -> None:
    (draft,) = extract.drafts(said, said_at=NOW)
    assert draft.quote.rstrip("。.") in said
    assert draft.kind is kind or draft.rule != "plain"


@pytest.mark.parametrize(
    "said",
    [
        "The capital of Norway has 700,000 people and two harbours.",
        "Write a long letter to the two neighbours about our fence in May.",
        "Can you list the three best markets for me?",
        "今晚的月亮太美了。",
        "你说的这三点很有启发。",
        "挪威首都有七十万人口和两座港口。",
    ],
)
def test_what_is_about_nobody_or_about_this_talk_is_silent(said: str) -> None:
    assert [] == extract.drafts(said, said_at=NOW)


def test_each_sign_counts() -> None:
    """A number tips what would be left alone."""
    assert worth.english_cue("some days i feel like the garden", "Some days I feel like the garden") is None
    assert (
        worth.english_cue("two mornings i was in the garden at my aunt's", "Two mornings I was in the garden at my aunt's")
        is not None
    )
    assert worth.chinese_cue("阳台的花开了", 6) is None
    assert worth.chinese_cue("我昨天把阳台的花剪了一遍", 12) is not None
    assert worth.chinese_cue("昨天把阳台的花剪了一遍又一遍", 14) is not None
    assert worth.chinese_cue("昨天把阳台的花剪了一遍又一遍", 1_000) is None
