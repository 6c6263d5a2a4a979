"""The cache of question vectors."""

import numpy as np

from yiku.models import cached
from yiku.models.cached import Cached


class Counting:
    """An embedder that says how often it was asked; its vectors are the lengths of the texts."""

    space = "counting"

    def __init__(self) -> None:
        self.asked: list[tuple[list[str], str]] = []
        self.closed = False

    def embed(self, texts, role):
        self.asked.append(([*texts], role))
        return np.array([[len(text)] for text in texts], np.float32)

    def close(self) -> None:
        self.closed = True


def test_a_question_asked_twice_is_computed_once():
    """And what the caller does to a vector changes nobody else's."""
    model = Cached(Counting())
    first = model.embed(["在哪里?"], "query")
    first += 5
    second = model.embed(["在哪里?"], "query")
    second += 5

    assert [[4.0]] == model.embed(["在哪里?"], "query").tolist()
    assert [(["在哪里?"], "query")] == model.inner.asked
    assert "counting" == model.space


def test_passages_and_lists_pass_through():
    """A passage comes once, and is no question with the same words."""
    model = Cached(Counting())
    for role in ("query", "passage", "passage"):
        model.embed(["a"], role)
    model.embed(["a", "b"], "query")

    assert [(["a"], "query"), (["a"], "passage"), (["a"], "passage"), (["a", "b"], "query")] == model.inner.asked


def test_what_was_not_asked_for_longest_goes(monkeypatch):
    """The memory is bounded; what is asked again stays."""
    monkeypatch.setattr(cached, "KEPT", 2)
    model = Cached(Counting())
    for text in ["a", "b", "a", "c", "a", "b"]:
        model.embed([text], "query")

    assert [["a"], ["b"], ["c"], ["b"]] == [texts for texts, _ in model.inner.asked]


def test_closing_forgets():
    """Nothing is kept, and the model behind it is closed too."""
    model = Cached(Counting())
    model.embed(["a"], "query")
    model.close()
    model.embed(["a"], "query")

    assert (2, True) == (len(model.inner.asked), model.inner.closed)


def test_what_else_a_model_knows_of_itself_is_asked_of_it():
    """The means of scripts, and whether confidence was fitted to it; a model without them has none."""
    model = Counting()
    plain = Cached(model).calibrated, Cached(model).common
    model.calibrated, model.common = True, lambda: "means"

    assert (False, None) == plain
    assert (True, "means") == (Cached(model).calibrated, Cached(model).common())
