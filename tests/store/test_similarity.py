"""Similarity of texts, corrected for their languages."""

import numpy as np
import pytest

from yiku.store.vectors import similarity
from yiku.store.vectors.scope_vectors import encode
from yiku.store.vectors.similarity import Codes

DIMENSIONS = 32


def unit(values: np.ndarray) -> np.ndarray:
    return (values / np.linalg.norm(values, axis=-1, keepdims=True)).astype(np.float32)


def kept(vectors: np.ndarray, is_cjk: np.ndarray, pieces: int = 1) -> Codes:
    """Vectors as the store keeps them, in so many pieces."""
    made = [encode(vector) for vector in vectors]
    codes = np.array([np.frombuffer(code, np.int8) for _, code in made])
    factors = np.array([factor for factor, _ in made], np.float32)
    return Codes(np.array_split(codes, pieces), np.array_split(factors, pieces), is_cjk)


@pytest.fixture
def two_languages() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Forty topics told in each of two languages: every text is nearer to all of its language than to its own translation."""
    chance = np.random.default_rng(7)
    topics = chance.normal(size=(40, DIMENSIONS)) * 0.35
    languages = chance.normal(size=(2, DIMENSIONS)) * 2
    texts = unit(np.concatenate([topics + languages[0], topics + languages[1]]))
    return texts, np.array([False] * 40 + [True] * 40), languages


def test_a_question_finds_its_topic_in_the_other_language(two_languages):
    """By cosines alone every text of the own language comes first; beyond what is common, the translation does."""
    texts, is_cjk, _ = two_languages
    vectors = kept(texts, is_cjk)
    centre = similarity.centre([vectors], None)
    for topic in range(0, 40, 7):
        question = texts[40 + topic]  # asked in the second language
        plain = similarity.cosines(vectors, question)
        beyond = similarity.centred_cosines(vectors, centre.lengths[0], centre.means, question, is_cjk=True)

        assert plain[:40].max() < plain[40:].min()
        assert [topic] == np.flatnonzero(beyond[:40] == beyond[:40].max()).tolist()
        assert beyond[topic] > np.sort(beyond[40:])[-2]


@pytest.mark.parametrize("pieces", [1, 3, 80])
def test_pieces_make_no_difference(two_languages, pieces):
    """However the vectors came, the same stands for each."""
    texts, is_cjk, _ = two_languages
    whole, cut = kept(texts, is_cjk), kept(texts, is_cjk, pieces)
    one, other = similarity.centre([whole], None), similarity.centre([cut], None)

    assert one.means == pytest.approx(other.means, abs=1e-5)
    assert one.lengths[0] == pytest.approx(other.lengths[0], abs=1e-5)
    assert similarity.cosines(whole, texts[3]) == pytest.approx(texts @ texts[3], abs=0.02)


def test_who_came_late_ranks_as_who_has_watched(two_languages):
    """A process that saw each vector come has the same means and lengths as one that reads them all at once."""
    texts, is_cjk, _ = two_languages
    centre = None
    for count in range(1, 81):
        centre = similarity.centre([kept(texts[:count], is_cjk[:count])], centre)
    at_once = similarity.centre([kept(texts, is_cjk)], None)

    assert centre is not None
    assert centre.means == pytest.approx(at_once.means, abs=1e-5)
    assert centre.lengths[0] == pytest.approx(at_once.lengths[0], abs=1e-5)


def test_a_handful_of_texts_has_no_mean():
    """Among fewer than eight the plain cosine counts."""
    texts = unit(np.random.default_rng(1).normal(size=(5, DIMENSIONS)))
    vectors = kept(texts, np.array([False] * 5))
    centre = similarity.centre([vectors], None)
    beyond = similarity.centred_cosines(vectors, centre.lengths[0], centre.means, texts[2], is_cjk=False)

    assert beyond == pytest.approx(texts @ texts[2], abs=0.02)


@pytest.mark.parametrize(("first", "second"), [(1, 1), (3, 0), (40, 1), (2, 35)])
def test_of_a_few_texts_everyday_ones_say_what_they_have_in_common(two_languages, first, second):
    """Where a script has fewer than eight, what is known of everyday texts stands for it: the first question finds its topic, too."""
    texts, is_cjk, languages = two_languages
    some = [*range(first), *range(45, 45 + second)]
    vectors, asked = kept(texts[some], is_cjk[some]), texts[40]  # the first topic, in the second language
    everyday = unit(languages) * np.linalg.norm(texts[:40].mean(0))
    centre = similarity.centre([vectors], None, None, lambda: everyday)
    beyond = similarity.centred_cosines(vectors, centre.lengths[0], centre.means, asked, is_cjk=True)

    assert 0 == beyond.argmax()
    assert [count < similarity.FEW for count in (first, second)] == [
        bool(np.allclose(mean, of, atol=1e-5)) for mean, of in zip(centre.means, everyday, strict=True)
    ]


def test_of_many_texts_nobody_asks_what_is_usual(two_languages):
    """They say it themselves."""
    texts, is_cjk, _ = two_languages

    def unused() -> np.ndarray:
        raise AssertionError("asked for what is usual")

    assert 2 == len(similarity.centre([kept(texts, is_cjk)], None, None, unused).means)
