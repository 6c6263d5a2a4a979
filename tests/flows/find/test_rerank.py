"""Hits that vectors found change places by what they say; by words alone they do not."""

from itertools import count

import numpy as np
import pytest
from embedders import Hashed

from yiku import Memory
from yiku.flows.find import local_rerank


@pytest.fixture
def open_it(tmp_path, clock):
    """Memories of homes of their own."""
    number = count()
    return lambda *texts, **given: recorded(tmp_path / f"home {next(number)}", clock, *texts, **given)


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
        "My sister's husband does his work for Brightwater, a customs company.",
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


@pytest.mark.parametrize(
    ("question", "answer", "others"),
    [
        (
            "which school does my daughter Nora go to",
            "Nora, my daughter, goes to the Larkspur school in town.",
            ["My daughter has changed to the violin now.", "I changed my mind about the school fair, I am going."],
        ),
        (
            "我女儿上哪所学校",
            "我女儿诺拉在镇上的云雀学校上学。",
            ["我女儿现在改学小提琴了。", "我改主意了，学校的义卖会我现在要去。"],
        ),
    ],
)
def test_what_changed_elsewhere_stays_behind_the_answer(home, clock, question, answer, others):
    """Later changes of other matters share words with the question, too; only what was found about as well changes places."""
    with recorded(home, clock, answer, *others, embedder=Hashed()) as memory:
        hits = memory.recall(question, types=["turn"])

    assert answer == hits[0].text
    assert {*others} == {hit.text for hit in hits[1:]}


def test_by_words_alone_nothing_is_reranked(home, clock, monkeypatch):
    """Where no vector took part, the score is not even asked for."""
    monkeypatch.setattr("yiku.rules.finding.rerank.scores", lambda *_: pytest.fail("reranked by words"))
    question, answer, supposed = CASES[0]
    with recorded(home, clock, answer, supposed, search="words") as memory:
        assert 2 == len(memory.recall(question, types=["turn"]))


def test_the_first_hit_does_not_depend_on_the_limit(home, clock):
    """An answer behind seven suppositions is compared with them for one hit and for fifty."""
    question, _, supposed = CASES[0]
    answer = "My sister's husband does work for Brightwater, a customs company."
    others = [supposed.replace("Harlow", firm) for firm in ("Abbot", "Brandt", "Castle", "Dover", "Elgin", "Foss", "Gault")]
    with recorded(home, clock, answer, *others, embedder=Hashed()) as memory:
        first = [memory.recall(question, limit=limit)[0].text for limit in (1, 5, 50)]

    assert [answer] * 3 == first


class Fitted(Hashed):
    """A model to which the directions were fitted."""

    calibrated = True


def directions(model, *, answers="", later=""):
    """Directions in which a text leans that has a word, and one that was said later and has another."""
    return tuple(tuple(30 * model.embed([word], "passage")[0]) if word else (0.0,) * model.dimensions for word in (answers, later))


@pytest.mark.parametrize(
    ("word", "texts", "question"),
    [
        ("Kamppi", ["Our team's office is in Kamppi.", "Our team's office is by Pasila."], "Where is our team's office?"),
        ("街区", ["我们团队的办公室在坎皮街区。", "我们团队的办公室在帕西拉市。"], "我们团队的办公室在哪？"),
    ],
)
def test_what_lies_as_an_answer_does_stands_first(open_it, monkeypatch, word, texts, question):
    """Of two turns that were found about as well; a model to which nothing was fitted says nothing."""
    for model, first in ((Fitted(), 0), (Hashed(), 1)):
        monkeypatch.setattr(local_rerank, "DIRECTIONS", directions(model, answers=word))
        with open_it(*texts, embedder=model) as memory:
            assert texts[first] == memory.recall(question, types=["turn"])[0].text


@pytest.mark.parametrize(
    ("word", "texts", "question"),
    [
        ("Kamppi", ["Our team's office is in Kamppi.", "Our team's office is by Pasila."], "Where is our team's office this week?"),
        ("街区", ["我们团队的办公室在坎皮街区。", "我们团队的办公室在帕西拉市。"], "我们团队的办公室这周在哪？"),
    ],
)
def test_a_question_for_a_time_keeps_the_order_of_the_search(open_it, monkeypatch, word, texts, question):
    """It is no question for what is so now, which is what the directions were fitted to."""
    monkeypatch.setattr(local_rerank, "DIRECTIONS", directions(Fitted(), answers=word))
    with open_it(*texts, embedder=Fitted()) as memory:
        assert texts[1] == memory.recall(question, types=["turn"])[0].text


@pytest.mark.parametrize(
    ("question", "later_first"), [("The office of our team?", True), ("The office of our team, where was it before?", False)]
)
def test_what_lies_as_a_change_does_stands_first_if_it_was_said_later(open_it, monkeypatch, question, later_first):
    """Said earlier, it changed something that was not so yet; asked for what was before, it is turned round."""
    changed, other = "The office of our team went to Kamppi.", "The office of our team is in Pasila."
    monkeypatch.setattr(local_rerank, "DIRECTIONS", directions(Fitted(), later="went"))
    firsts = []
    for texts in ((other, changed), (changed, other)):
        with open_it(*texts, embedder=Fitted()) as memory:
            firsts.append(memory.recall(question, types=["turn"])[0].text)

    assert ([changed, other] if later_first else [other, changed]) == firsts


def test_what_was_found_less_well_does_not_move(open_it, monkeypatch):
    """However much it lies as an answer does."""
    far = "The team met for music, a long dinner and much rain by the old lighthouse in Kamppi."
    answer = "The office of our team is in Pasila."
    monkeypatch.setattr(local_rerank, "DIRECTIONS", directions(Fitted(), answers="lighthouse"))
    with open_it(answer, far, embedder=Fitted()) as memory:
        hits = memory.recall("Where is the office of our team?", types=["turn"])

    assert [answer, far] == [hit.text for hit in hits]


def test_vectors_of_other_lengths_lean_nowhere(home, clock):
    """A model that has the name of being fitted, and another space."""
    question, answer, supposed = CASES[0]
    with recorded(home, clock, answer, supposed, embedder=Fitted()) as memory:
        assert answer == memory.recall(question, types=["turn"])[0].text


def test_the_vector_of_a_beginning_is_the_one_that_was_stored(home, clock):
    """Of the first window of a turn, about as it was computed; of what has none there is none."""
    model = Hashed()
    with recorded(home, clock, "The office of our team is in Kamppi, behind the station. 办公室在坎皮", embedder=model) as memory:
        own, turn = memory._handle.own(), memory.timeline()[0]
        found = memory._handle.vectors.beginnings(own, model.space, [("turn", turn.n), ("memory", turn.n), ("turn", 99)])

    ((row, vector),) = found.items()
    assert ("turn", turn.n) == row
    assert 0.99 < float(vector @ model.embed([turn.content], "passage")[0]) < 1.01
    assert vector.dtype == np.float32
