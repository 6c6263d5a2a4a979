"""BM25 relevance, and the prior weight of a memory."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from yiku.rules.finding import score
from yiku.types import Kind, Posting, Postings, SemanticMemory, Standing

NOW = datetime(2026, 6, 1, tzinfo=UTC)


def posting(term: str, ns: list[int], *, documents: int | None = None, length: float = 10.0) -> Posting:
    rows = np.array(ns, dtype=np.int64)
    return Posting(term, len(ns) if documents is None else documents, rows, np.full(len(ns), length))


def memory(**fields: object) -> SemanticMemory:
    at = fields.pop("at", NOW)
    return SemanticMemory(
        id="m", line="m", content="x", said_at=at, confirmed_at=at, valid_from=at, created_at=at, updated_at=at, **fields
    )


def test_a_row_with_all_words_at_average_length_scores_one() -> None:
    """The scale is the question's own, whatever the size of the scope."""
    for documents in (10, 1_000, 100_000):
        _, scores, _ = score.bm25(Postings([posting("a", [1]), posting("b", [1])], documents, documents * 10), [1.0, 1.0])

        assert pytest.approx(1.0) == scores[0]


@pytest.mark.spec("S4-38")
def test_a_rare_word_says_more_than_a_common_one() -> None:
    """Of two rows with one word each, the one with the rarer word is ahead."""
    ns, scores, _ = score.bm25(Postings([posting("rare", [1]), posting("common", [2, 3, 4])], 1_000, 10_000), [1.0, 1.0])

    assert 1 == ns[scores.argmax()]


def test_a_short_row_is_ahead_of_a_long_one_with_the_same_word() -> None:
    """Length counts, as in BM25 with b = 0.75."""
    ns, scores, _ = score.bm25(Postings([posting("a", [1], length=4.0), posting("a", [2], length=40.0)], 1_000, 10_000), [1.0, 1.0])

    assert 1 == ns[scores.argmax()]


def test_of_a_few_rows_two_with_a_word_do_not_make_it_common() -> None:
    """In a new home of two or nine turns a word of two of them counts nearly as much as a word of one, and none is dropped."""
    for documents in (2, 9):
        words = [posting("grant", [1, 2]), posting("day", [1]), posting("send", []), posting("last", [3])]
        ns, scores, dropped = score.bm25(Postings(words, documents, documents * 10), [1.0] * 4)

        assert [] == dropped
        assert scores[ns == 2][0] > 0.7 * scores[ns == 3][0]


def test_common_words_are_dropped_while_two_rarer_ones_remain() -> None:
    """A word in half of the scope says nothing beside two that are rare; alone it is all there is."""
    common = posting("the", list(range(50)))
    _, _, dropped = score.bm25(Postings([common, posting("a", [1]), posting("b", [2])], 100, 1_000), [1.0] * 3)
    ns, _, kept = score.bm25(Postings([common], 100, 1_000), [1.0])

    assert ["the"] == dropped
    assert ([], 50) == (kept, len(ns))


@pytest.mark.spec("T-06", "S3-31")
def test_decay_follows_elapsed_time_and_nothing_else() -> None:
    """Half the weight is gone after a half-life; asking twice changes nothing."""
    old = memory(at=NOW - timedelta(days=score.half_life_days(memory())))

    assert pytest.approx(0.5) == score.decay(old, NOW) == score.decay(old, NOW)


@pytest.mark.spec("T-07")
def test_a_boost_fades_without_new_access() -> None:
    """What was used yesterday weighs more than what was used as often a year ago."""
    fresh = memory(used=3, last_used=NOW - timedelta(days=1))
    stale = memory(used=3, last_used=NOW - timedelta(days=365))

    assert score.boost(fresh, NOW) > 10 * score.boost(stale, NOW)
    assert score.boost(memory(used=10**9, mentioned=10**9, last_used=NOW), NOW) <= score.BOOST_AT_MOST


def test_rules_and_what_is_pinned_never_fade() -> None:
    """A rule of ten years ago weighs as on its first day."""
    long_ago = NOW - timedelta(days=3650)

    assert 1.0 == score.decay(memory(at=long_ago, kind=Kind.RULE), NOW) == score.decay(memory(at=long_ago, pinned=True), NOW)
    assert score.decay(memory(at=long_ago), NOW) < 0.01


def test_beliefs_fade_faster_than_facts() -> None:
    """What was only believed is gone in weeks."""
    month = NOW - timedelta(days=30)

    assert score.decay(memory(at=month, standing=Standing.BELIEF), NOW) < score.decay(memory(at=month), NOW) / 2


def test_being_shown_again_and_again_adds_nothing() -> None:
    """Retrieved once or a thousand times weighs the same: recall must not feed itself."""
    once, often = (memory(retrieved=count, last_retrieved=NOW) for count in (1, 1000))

    assert score.boost(once, NOW) == score.boost(often, NOW)
