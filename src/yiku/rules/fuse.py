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
    "session": 0.3,
    "time": 0.45,
    "role": 0.15,
    "speaker": 0.1,
    "recency": 0.05,
}
ASKED_OF_IT = 2.0  # times the share of role, for what the assistant said where that is asked for
BY_WORDS = {"session": 4 / 3}  # times the weight, without vectors: what was talked about all around has to do more
TWO_SCRIPTS = {"vectors": 7 / 6, "words": 3 / 4, "session": 2 / 3}  # in a memory of two languages words speak for one
WEAK = 0.4  # of the question's words: a best match below this is no full match
WEAK_IN_TWO_SCRIPTS = 0.6
SECOND = 0.05  # of all texts, which make a second language
FLOOR_SDS = 2.0  # below the mean, where resemblance begins
FLOOR = 0.12  # of the evidence without these: below, a row shares nothing but a common word
MANNER = {"session", "role", "speaker", "recency"}  # who said it, when, and among what: alone no reason to show it

USUAL = 50  # the rank of a row that is no answer any more
ENOUGH, ENOUGH_BY_WORDS = 1.32, 0.86  # of evidence to be confident, with vectors and without
STEEP = 6.0

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
    two_scripts: whether there are texts of both, with spaces and without
    """

    best: float
    top: float | None = None
    two_scripts: bool = False

    def weight(self, part: str) -> float:
        """What a part counts for here."""
        factors = BY_WORDS if self.top is None else TWO_SCRIPTS if self.two_scripts else {}
        return WEIGHTS[part] * factors.get(part, 1.0)

    def of_words(self, scores: np.ndarray, best: float | None = None) -> np.ndarray:
        """Shares of the words' evidence: 1 for the best, unless that is weak itself."""
        weak = WEAK_IN_TWO_SCRIPTS if self.two_scripts else WEAK
        return scores / max(self.best if best is None else best, weak)

    def of_vectors(self, deviations: np.ndarray) -> np.ndarray:
        """Shares of the vectors' evidence: 1 for the top, 0 from FLOOR_SDS below the mean."""
        import numpy as np

        found: np.ndarray = np.maximum(0.0, (deviations + FLOOR_SDS) / max((self.top or 0.0) + FLOOR_SDS, 1e-6))
        return found


def scale(scores: Sequence[np.ndarray], deviations: np.ndarray | None, unspaced: np.ndarray | None) -> Scale:
    """The scale of a question, from the word scores, the resemblance and the script of everything."""
    import numpy as np

    best = max((float(each.max()) for each in scores if len(each)), default=0.0)
    if deviations is None or unspaced is None or not len(deviations):
        return Scale(best)
    fewer = min(int(np.count_nonzero(unspaced)), int(np.count_nonzero(~unspaced)))
    return Scale(best, float(deviations.max()), fewer > SECOND * len(unspaced))


def deviations(likeness: np.ndarray) -> np.ndarray:
    """How far each stands out from the mean, in standard deviations."""
    found: np.ndarray = (likeness - likeness.mean()) / max(float(likeness.std()), 1e-6)
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


def evidence(
    scale: Scale, ns: np.ndarray, words: np.ndarray, vectors: np.ndarray | None, signals: Mapping[str, np.ndarray]
) -> Evidence:
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
        total = scale.weight("words") * words + scale.weight("vectors") * stood_for
    for name, share in signals.items():
        if name not in MANNER:
            total += scale.weight(name) * share
    enough = total >= FLOOR
    for name in MANNER & signals.keys():
        total += scale.weight(name) * signals[name]
    return Evidence(ns, {**parts, **signals}, np.where(enough, total, -1.0))


def confidence(scale: Scale, found: Sequence[Evidence]) -> float:
    """
    How sure it is that the evidence asked for is there, 0 to 1; nine in ten questions that have an answer get 0.5 or more.

    It grows with what speaks for the best row, with how many of the question's words it has and how far its vector
    stands out, and falls with what speaks for rows that nobody asks for: what resembles everything says nothing.
    """
    import numpy as np

    totals = np.concatenate([each.total[each.total >= 0] for each in found]) if found else np.empty(0)
    if not len(totals):
        return 0.0
    usual = np.partition(totals, -USUAL)[-USUAL] if len(totals) >= USUAL else totals.min()
    sure = float(totals.max() - usual / 2) + scale.best / 2 + (scale.top or 0.0) / 10
    enough = ENOUGH_BY_WORDS if scale.top is None else ENOUGH
    return 1 / (1 + math.exp(-STEEP * (sure - enough)))


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
