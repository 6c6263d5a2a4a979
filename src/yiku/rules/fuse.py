"""
From what each route found to one order.

Turns: words and vectors look at every turn of the scopes asked, and give each a share of the best, 0 to 1; what the
question says of time, speaker and role is added on that scale. Nothing is cut off before the sum, so a turn of the
right day rises from far below. Where a turn has no vector (yet), its words stand for it.

Statements: an exact slot gives more than words and vectors can: who asks where he lives wants the statement, not
the turn in which he asked it before. A row found by several routes is at least as relevant as by its best.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from yiku.rules.analyze import fold
from yiku.rules.ask import Question
from yiku.types import Cardinality, SemanticMemory

if TYPE_CHECKING:
    import numpy as np

WEIGHTS = {  # of the parts of a turn's evidence, measured in docs/quality.md
    "vectors": 0.6,
    "words": 0.4,  # 1.0 without vectors
    "session": 0.2,
    "time": 0.4,
    "role": 0.15,
    "speaker": 0.1,
    "recency": 0.05,
}
WEAK = 0.25  # of the question's words: a best match below this is no full match
FEW = 8  # texts of a script, whose mean says nothing
FLOOR_SDS = 2.0  # below the mean cosine, where resemblance begins
FLOOR = 0.12  # of the evidence without these: below, a row shares nothing but a common word
MANNER = {"session", "role", "speaker", "recency"}  # who said it, when, and among what: alone no reason to show it

EVIDENCE_AT_MOST = 0.8  # relevance that words, vectors and all signals together can give
EVIDENCE_SLOPE = 1.5
LIVE_WHEN_PAST_IS_ASKED = 0.7  # below what ten steps back and the lowest prior leave of a retired version
STEP_BACK = 0.015  # per version further back
ONLY_THE_OWNER = 0.6  # of somebody whose sister, project or cat is asked for
ALREADY_NAMED = 0.5  # «before Oslo» does not ask for Oslo


@dataclass(frozen=True, slots=True)
class Scale:
    """
    What counts as nothing and as everything for this question, over all that was looked at.

    best: the highest share of the question's words that a row has
    top:  the highest resemblance, in deviations from the mean; None where nothing has vectors
    """

    best: float
    top: float | None = None

    def words(self, scores: np.ndarray) -> np.ndarray:
        """Shares of the words' evidence: 1 for the best, unless that is weak itself."""
        return scores / max(self.best, WEAK)

    def vectors(self, deviations: np.ndarray) -> np.ndarray:
        """Shares of the vectors' evidence: 1 for the top, 0 from two deviations below the mean."""
        import numpy as np

        found: np.ndarray = np.maximum(0.0, (deviations + FLOOR_SDS) / max((self.top or 0.0) + FLOOR_SDS, 1e-6))
        return found


def scale(scores: Sequence[np.ndarray], deviations: np.ndarray | None) -> Scale:
    """The scale of a question, from the word scores and the resemblance of everything."""
    best = max((float(each.max()) for each in scores if len(each)), default=0.0)
    return Scale(best, float(deviations.max()) if deviations is not None and len(deviations) else None)


def deviations(cosines: np.ndarray, unspaced: np.ndarray) -> np.ndarray:
    """
    Cosines as deviations from the mean of their script, in standard deviations.

    A model puts texts of one language near each other, whatever they say: of a Chinese question every Chinese text is
    nearer than any English one. What it says beyond that is how far a text stands out among those of its language.
    """
    import numpy as np

    found = np.empty(len(cosines), np.float32)
    alike = [unspaced, ~unspaced]
    if min(map(np.count_nonzero, alike)) < FEW:
        alike = [np.ones(len(cosines), np.bool_)]
    for group in alike:
        of = cosines[group]
        found[group] = (of - of.mean()) / max(float(of.std()), 1e-6) if len(of) else of
    return found


@dataclass(frozen=True, slots=True)
class Evidence:
    """What speaks for each of some rows: the parts, by their names in WEIGHTS, each (k,); their weighted sum."""

    ns: np.ndarray
    parts: Mapping[str, np.ndarray]
    total: np.ndarray

    def best_first(self, most: int) -> np.ndarray:
        """The places of at most so many rows that have evidence enough, best first, of equals the newest."""
        import numpy as np

        among = np.flatnonzero(self.total >= 0)
        if len(among) > most:
            total = self.total[among]
            among = among[total >= np.partition(total, len(among) - most)[len(among) - most]]
        return among[np.lexsort((-self.ns[among], -self.total[among]))][:most]


def evidence(ns: np.ndarray, words: np.ndarray, vectors: np.ndarray | None, signals: Mapping[str, np.ndarray]) -> Evidence:
    """
    All that speaks for each row.

    words, vectors: shares (k,), vectors NaN where a row has none yet; signals: shares by name
    """
    import numpy as np

    if vectors is None:
        parts, total = {"words": words}, words.copy()
    else:
        stood_for = np.where(np.isnan(vectors), words, vectors)
        parts = {"words": words, "vectors": stood_for}
        total = WEIGHTS["words"] * words + WEIGHTS["vectors"] * stood_for
    for name, share in signals.items():
        if name not in MANNER:
            total += WEIGHTS[name] * share
    enough = total >= FLOOR
    for name in MANNER & signals.keys():
        total += WEIGHTS[name] * signals[name]
    return Evidence(ns, {**parts, **signals}, np.where(enough, total, -1.0))


def session_ranks(said_at: np.ndarray, sessions: np.ndarray) -> np.ndarray:
    """How new the session of each turn is: 0 for the oldest, 1 for the newest."""
    import numpy as np

    latest = np.full(int(sessions.max()) + 1, -1, np.int64)
    np.maximum.at(latest, sessions, said_at)
    there = np.flatnonzero(latest >= 0)
    ranks = np.zeros(len(latest))
    ranks[there[np.argsort(latest[there], kind="stable")]] = np.arange(len(there)) / max(len(there) - 1, 1)
    of_turns: np.ndarray = ranks[sessions]
    return of_turns


def relevance(total: float) -> float:
    """The relevance of so much evidence, on the scale of all routes."""
    return EVIDENCE_AT_MOST * (1 - math.exp(-EVIDENCE_SLOPE * total))


def slot(
    memory: SemanticMemory, question: Question, *, named: Collection[str], steps_back: int, objects: Collection[str] = ()
) -> float:
    """
    The relevance of a version whose slot is asked for.

    named:      the subjects that the question may mean; who asks for his sister's allergy does not ask for his own
    steps_back: from the live version
    objects:    the objects that the question names; who asks whether he likes coffee does not ask for running
    """
    owner = any(subject.startswith(f"{memory.subject}'s ") for subject in named)
    other = bool(objects) and memory.cardinality is not Cardinality.SINGLE and fold(memory.object or "") not in objects
    value = ONLY_THE_OWNER if owner or other else 1.0
    if not question.wants_history:
        return value
    value *= LIVE_WHEN_PAST_IS_ASKED if memory.live else 1.0 - STEP_BACK * min(steps_back, 10)
    return value * (ALREADY_NAMED if memory.object and fold(memory.object) in question.text else 1.0)


def together(found: Iterable[float]) -> float:
    """One relevance from those of several routes: what each leaves open is closed by the next."""
    rest = 1.0
    for value in found:
        rest *= 1 - value
    return 1 - rest
