"""
How sure it is that what is asked for is among the hits.

With the local model: how near the nearest row is, and how far that is from the usual one, for what resembles everything says nothing;
the weights are fitted, and the words of the question add nothing to that. By words or another model: how many words one row has, and how far
the best row stands above rows that nobody asks for. Of a long question no row has most of the words.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from yiku.rules.finding.confidence_weights import WITH_VECTORS

if TYPE_CHECKING:
    import numpy as np

    from yiku.rules.finding.fuse import Evidence, Scale

BY_WORDS = {"sure": -7.14, "words": 6.0, "above": 4.2, "terms": 1.2}
USUAL = 50  # the rank of a row that is no answer any more
MOST = 0.8  # of a question's words: a row that has them is judged by them, too, such as one with a number that is asked for
FEW, FEWER, UNJUDGED = (
    30,
    8,
    0.5,
)  # rows, of which none can be said to stand out, nor be near; the confidence of what nobody can judge
FLOOR = (
    0.45  # with vectors: below, a prompt gets nothing; one in a hundred questions about real talk that have an answer lies there
)


def confidence(scale: Scale, found: Sequence[Evidence], terms: int) -> float:
    """
    Return the confidence that the answer is there, 0 to 1; nine in ten answerable questions get 0.5 or more.

    terms: how many words and characters of the question are searched
    """
    import numpy as np

    totals = np.concatenate([each.total[each.total >= 0] for each in found]) if found else np.empty(0)
    if not len(totals):
        return 0.0
    words = max(float(each.parts["words"].max()) for each in found if len(each.ns)) * scale.whole(scale.best)
    by_words = _sure(BY_WORDS, {"words": words, "above": _standing_out(totals), "terms": math.log1p(terms)})
    rows = sum(len(each.ns) for each in found)
    if not (scale.near and scale.calibrated):
        return max(by_words, UNJUDGED) if scale.near and rows < FEW else by_words
    return max(_sure(WITH_VECTORS, features(scale)), by_words if words >= MOST else 0.0, UNJUDGED if rows < FEWER else 0.0)


def _sure(weights: Mapping[str, float], known: Mapping[str, float]) -> float:
    return 1 / (1 + math.exp(-weights["sure"] - sum(weights[name] * value for name, value in known.items())))


def features(scale: Scale) -> Mapping[str, float]:
    """Return what vectors tell: `near`, the best resemblance, and `nearer`, in standard deviations above where it begins."""
    none, most = scale.near or (0.0, 0.0)
    return {"near": most, "nearer": (most - none) / scale.spread}


def _standing_out(totals: np.ndarray) -> float:
    """Return how far the best row stands above rows that nobody asks for; of fewer rows the last may well be an answer, too."""
    import numpy as np

    usual = np.partition(totals, -USUAL)[-USUAL] if len(totals) >= USUAL else totals.min() / 2
    return float(totals.max() - usual)
