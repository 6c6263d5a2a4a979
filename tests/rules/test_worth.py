"""The worth score: which clauses are worth keeping, by fitted weights."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from yiku.rules.learning import worth
from yiku.rules.learning.drafts import clauses_of, drafts

MARKS = Path(__file__).parents[2] / "bench" / "learning" / "worth.tsv"
NOW = datetime(2026, 4, 15, 12, tzinfo=UTC)


def kept(text):
    return [draft.text for draft in drafts(text, said_at=NOW)]


@pytest.mark.parametrize(
    "text",
    [
        "I bought a silver necklace for my sister's birthday.",
        "I plan to attend the Racing Nationals in August.",
        "I recently attended a pottery class with my friend Rachel.",
        "我昨天给妹妹买了一条银项链。",
        "我计划八月去青海湖骑行。",
        "我每周三晚上去学吉他。",
        "My sister just started a new job in Porto.",
    ],
)
def test_what_readers_would_keep_is_learned_without_a_slot(text):
    """It fills no slot, so that it replaces nothing and nothing replaces it."""
    [draft] = drafts(text, said_at=NOW)

    assert text == draft.text
    assert draft.slot is None


@pytest.mark.parametrize(
    "text",
    [
        "Thanks, that sounds great!",
        "I like how you broke it down.",
        "I think I'll try the second one.",
        "I'm back.",
        "我喜欢你的建议。",
        "谢谢你的建议，我会试试的。",
        "我心里更有谱了。",
        "Could you give me some tips for packing?",
    ],
)
def test_talk_about_the_talk_is_not_learned(text):
    """Thanks, agreement and what points at the answer help nobody next month."""
    assert [] == kept(text)


def test_words_that_nobody_marked_are_scored_by_how_they_are_said():
    """A word without a weight adds nothing: two clauses of one form have one score."""
    scores = []
    for text in ("I zorbled a gliffen with brosk.", "I grenked a plimsen with trusk."):
        [(_, part, clause)] = clauses_of(text)
        scores.append(worth.score(part, clause))

    assert scores[0] == scores[1]


def test_pairs_beginnings_and_ends_are_features():
    """Words, pairs of them where spaces are written, how a clause begins and ends; pairs of characters where none are."""
    [(_, part, clause)] = clauses_of("I bought green tea")
    [(_, chinese, other)] = clauses_of("我买了绿茶")

    assert {"tea", "green tea", "^i bought", "green tea$", "tea$", "=user", "=first", "=last"} <= worth.features(part, clause)
    assert {"绿茶", "茶", "^我 买", "茶$"} <= worth.features(chinese, other)


def test_each_mark_is_a_place_with_a_verdict():
    """No text stands there, only where it stands; a place has one verdict."""
    head, *lines = MARKS.read_text("utf-8").splitlines()
    marks = [line.split("\t") for line in lines]

    assert "turn start end verdict drawn".split() == head.split("\t")
    assert all(len(turn) == 16 and int(start) < int(end) for turn, start, end, _, _ in marks)
    assert {"keep", "leave"} == {verdict for *_, verdict, _ in marks}
    assert len(marks) == len({tuple(mark[:3]) for mark in marks})
