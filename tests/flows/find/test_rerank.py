"""Hits that vectors found change places by what they say; by words alone they do not."""

import pytest
from embedders import Hashed

from yiku import Memory


def recorded(home, clock, *texts, **given):
    """A memory in which each of these was said a day after the one before, with their vectors."""
    memory = Memory(home, owner="user:mei", names=["Mei"], clock=clock, **given)
    for number, text in enumerate(texts):
        clock.advance(days=1)
        memory.record_turn("user", text, session=f"s{number}")
    if "embedder" in given:
        memory.admin.embed()
    return memory


CASES = [
    (
        "which company does my sister's husband work for",
        "My brother-in-law, my sister's husband: his firm is Brightwater, the customs people.",
        "If my sister's husband went to work for Harlow, which company car would he get?",
    ),
]


@pytest.mark.parametrize(("question", "answer", "supposed"), CASES)
def test_a_supposition_stands_behind_what_is_so(home, clock, question, answer, supposed):
    """Though it was said later and has more words of the question; scores do not rise down the list."""
    with recorded(home, clock, answer, supposed, embedder=Hashed()) as memory:
        hits = memory.recall(question, types=["turn"])

    assert [answer, supposed] == [hit.text for hit in hits]
    assert sorted((hit.score for hit in hits), reverse=True) == [hit.score for hit in hits]


def test_by_words_alone_nothing_is_reranked(home, clock, monkeypatch):
    """Where no vector took part, the score is not even asked for."""
    monkeypatch.setattr("yiku.rules.finding.rerank.scores", lambda *_: pytest.fail("reranked by words"))
    question, answer, supposed = CASES[0]
    with recorded(home, clock, answer, supposed, search="words") as memory:
        assert 2 == len(memory.recall(question, types=["turn"]))


def test_the_first_hit_does_not_depend_on_the_limit(home, clock):
    """An answer behind seven suppositions is compared with them for one hit and for fifty."""
    question, _, supposed = CASES[0]
    answer = "My sister's husband is with Brightwater, a customs firm."
    others = [supposed.replace("Harlow", firm) for firm in ("Abbot", "Brandt", "Castle", "Dover", "Elgin", "Foss", "Gault")]
    with recorded(home, clock, answer, *others, embedder=Hashed()) as memory:
        first = [memory.recall(question, limit=limit)[0].text for limit in (1, 5, 50)]

    assert [answer] * 3 == first
