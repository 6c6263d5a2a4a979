"""
Ranking metrics, and significance of differences.

Everything about one question is in `Found`: at which ranks its evidence stands, and how much evidence there is.

    any@k  at least one gold id among the first k (what most READMEs call R@k)
    all@k  every gold id among the first k; out of reach when there are more than k
    R@k    the share of the gold ids among the first k
    MRR    one over the rank of the first gold id, 0 when there is none

Means are shown as per cent. The difference of two systems is judged by a paired bootstrap: questions are drawn with
replacement, both systems' figures for a question together.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

import numpy as np

RESAMPLES = 10_000
KEPT_SHARE = 0.9  # of the questions that have an answer, at the threshold of confidence
BATCH = 500  # resamples at a time, so that memory stays small


class Found(NamedTuple):
    """The ranks, from 1, at which gold ids were found, ascending; and how many gold ids there are."""

    ranks: tuple[int, ...]
    of: int

    def any(self, k: int) -> float:
        return float(bool(self.ranks) and self.ranks[0] <= k)

    def all(self, k: int) -> float:
        return float(self._within(k) == self.of)

    def share(self, k: int) -> float:
        return self._within(k) / self.of

    def reciprocal(self) -> float:
        return 1 / self.ranks[0] if self.ranks else 0.0

    def _within(self, k: int) -> int:
        return sum(rank <= k for rank in self.ranks)


def found(ranking: Sequence[str], gold: Collection[str]) -> Found:
    """Where the gold ids stand in a ranking of distinct ids, best first."""
    return Found(tuple(rank for rank, id in enumerate(ranking, 1) if id in gold), len(gold))


Measure = Callable[[Found], float]
MEASURES: dict[str, Measure] = {
    **{f"any@{k}": (lambda f, k=k: f.any(k)) for k in (1, 5, 10)},
    **{f"all@{k}": (lambda f, k=k: f.all(k)) for k in (1, 5, 10)},
    **{f"R@{k}": (lambda f, k=k: f.share(k)) for k in (1, 5, 10)},
    "MRR": Found.reciprocal,
}


def mean(measure: str, answers: Sequence[Found]) -> float | None:
    """A measure over some questions, in per cent; None over none."""
    return 100 * sum(map(MEASURES[measure], answers)) / len(answers) if answers else None


# ------------------------------------------------------------------ better or not


class Difference(NamedTuple):
    """By how much one system is better, in points, and the interval in which that lies in 95 of 100 resamples."""

    points: float
    low: float
    high: float


def bootstrap(ours: Sequence[float], theirs: Sequence[float], *, seed: int, resamples: int = RESAMPLES) -> Difference:
    """The difference of two means over the same questions, 0 to 1 each, in the same order."""
    differences = 100 * (np.asarray(ours, float) - np.asarray(theirs, float))
    draw = np.random.default_rng(seed)
    means = [
        differences[draw.integers(len(differences), size=(min(BATCH, resamples - start), len(differences)))].mean(axis=1)
        for start in range(0, resamples, BATCH)
    ]
    low, high = np.percentile(np.concatenate(means), [2.5, 97.5])
    return Difference(float(differences.mean()), float(low), float(high))


# ------------------------------------------------------------------ is there anything at all


def auroc(present: Sequence[float], absent: Sequence[float]) -> float:
    """How often a question whose evidence is there has the higher confidence; a tie counts half."""
    others = np.sort(np.asarray(absent, float))
    lower, upper = np.searchsorted(others, present, "left"), np.searchsorted(others, present, "right")
    return float((lower + upper).sum()) / (2 * len(present) * len(others))


def caught(present: Sequence[float], absent: Sequence[float], kept: float = KEPT_SHARE) -> tuple[float, float]:
    """
    The highest threshold that keeps so many of the questions that have an answer, and the share of the others below it.
    """
    ordered = sorted(present, reverse=True)
    threshold = ordered[max(0, -int(-kept * len(ordered) // 1) - 1)]
    return threshold, sum(value < threshold for value in absent) / len(absent)
