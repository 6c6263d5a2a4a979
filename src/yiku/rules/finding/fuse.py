"""
Combine BM25, vector, slot, time and speaker scores into one relevance; compute the confidence of a search.

Turns: words and vectors look at every turn of the scopes asked, and give each a share of the best, 0 to 1; what the
question says of time, speaker and role is added on that scale. Nothing is cut off before the sum, so a turn of the
right day rises from far below. Where a turn has no vector (yet), its words stand for it.

Statements: an exact slot gives more than words and vectors can: a question for a home wants the statement, not
the turn in which it was asked before. A row found by several routes is at least as relevant as by its best.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from yiku.rules.finding import numbers
from yiku.rules.finding.ask import Question
from yiku.rules.finding.confidence_weights import WITH_VECTORS
from yiku.rules.lexicon import built_in
from yiku.rules.statements.clause import USER
from yiku.rules.statements.question import names_of, stated
from yiku.rules.text import analyze
from yiku.types import Cardinality, SemanticMemory, Similar

if TYPE_CHECKING:
    import numpy as np

WEIGHTS = {  # of the parts of a turn's evidence, measured in docs/quality.md
    "vectors": 0.6,
    "words": 0.4,
    "session": 0.3,
    "time": 0.45,
    "asked": 0.2,
    "role": 0.15,
    "opening": 0.1,
    "speaker": 0.1,
    "recency": 0.05,
}
HALF_AS_NEW_DAYS, DAY_MICROSECONDS = 10, 86_400_000_000
OPENING_TURNS = 4  # after which an opening counts half
ASKED_OF_IT = 2.0  # times the share of role, for what the assistant said where that is asked for
BY_WORDS = {"words": 5 / 2, "session": 4 / 3}  # times the weight, without vectors: words speak for them
TWO_SCRIPTS = {"vectors": 5 / 3, "words": 3 / 4, "session": 1 / 2}  # in a memory of two languages words speak for one
# A message in the middle of a matter has many words beside it, and means its conversations, the last ones before others
CARRYING_ON = {"words": 1 / 2, "session": 4 / 3, "role": 0.0, "opening": 0.0, "recency": 3.0}
WEAK, WEAK_IN_TWO_SCRIPTS = 0.4, 0.6  # of the question's words: a best match below this is no full match
SECOND = 0.05  # of all texts, which make a second language
ALL_ITS_WORDS = 0.95  # of the question's words: who has them all was meant, whatever languages there are
FLOOR_SDS = 2.0  # below the mean, where resemblance begins
LEAST_SD = 1e-4  # of cosines: one text alone, or several of the same words, resemble a question as much as anything does
FLOOR = 0.12  # of the evidence without these: below, a row shares nothing but a common word
MANNER = {"session", "role", "opening", "speaker", "recency"}  # who said it, when, and among what: alone no reason to show it

ASKED_SHARE, ASKED_SHARE_OF_CHARACTERS = 0.34, 0.5  # of a question's words
ASKED_FOR = 0.4  # the relevance of a file where one is asked for, before its words
STANDING_OUT, LONG = 0.7, 0.2  # beside a share of the question's words
ENOUGH, STEEP = 1.19, 6.0  # of that to be confident
USUAL = 50  # the rank of a row that is no answer any more
FEWER, UNJUDGED = 8, 0.5  # rows, of which none can be said to be near; the confidence of what nobody can judge
TOO_FAR = 0.35  # with vectors: below, a prompt gets nothing; one in a hundred questions that have an answer lies there
MOST, LOOKED_UP = 0.8, 3  # of the words, of at most so many: a number or a name asked for alone is answered by a row that has it
ROWS_TO_JUDGE = 100  # of so many it is known what is usual
FEW_TO_JUDGE = 30  # rows, of which none can be said to stand out

EVIDENCE_AT_MOST, EVIDENCE_SLOPE = 0.8, 1.5  # relevance that words, vectors and all signals together can give
LIVE_WHEN_PAST_IS_ASKED = 0.7  # below what ten steps back and the lowest prior leave of a retired version
STEP_BACK = 0.015  # per version further back
LONG_QUESTION, ONLY_A_PART = 8, 0.45  # words, two Chinese characters counting as one: of so many, a slot is only a part
BESIDE_IT = 0.3  # of somebody whose sister or cat is asked for, or of another thing than the one asked for
OF_ANOTHER = 0.6  # of another thing than the one that is named, or of whom another scope calls `I`
ALREADY_NAMED = 0.5  # `before Oslo` does not ask for Oslo


@dataclass(frozen=True, slots=True)
class Scale:
    """
    Normalization for one question: which score counts as none and which as full evidence.

    best: the highest share of the question's words that a row has
    near: the resemblance that is none, and the most; None where nothing has vectors
    two_scripts: whether there are texts of both, with spaces and without, and none has all words of the question
    carries_on:  whether the question is a message in the middle of a matter
    calibrated: whether anything has vectors, and confidence was fitted to what their model calls near
    """

    best: float
    near: tuple[float, float] | None = None
    two_scripts: bool = False
    carries_on: bool = False
    calibrated: bool = False

    def weight(self, part: str) -> float:
        """Return the weight of a part for this question."""
        factors = BY_WORDS if self.near is None else TWO_SCRIPTS if self.two_scripts else {}
        return WEIGHTS[part] * factors.get(part, 1.0) * (CARRYING_ON.get(part, 1.0) if self.carries_on else 1.0)

    def of_words(self, scores: np.ndarray, best: float | None = None) -> np.ndarray:
        """Normalize word scores: 1 for the best, unless that is weak itself."""
        return scores / self.whole(self.best if best is None else best)

    def whole(self, best: float) -> float:
        """Return the word score that counts as 1, given the best one."""
        return max(best, WEAK_IN_TWO_SCRIPTS if self.two_scripts else WEAK)

    def of_vectors(self, alike: np.ndarray) -> np.ndarray:
        """Normalize cosines: 0 at the level of most rows, 1 for the nearest turn."""
        import numpy as np

        none, most = self.near or (0.0, 1.0)
        found: np.ndarray = np.maximum(0.0, (alike - none) / (most - none))
        return found


def scale(scores: Sequence[np.ndarray], near: Similar | None, *, carries_on: bool = False, calibrated: bool = False) -> Scale:
    """
    Return the scale of a question from all word scores and similarities.

    What much resemblance is, turns say where there are enough: a statement is as short as a question and resembles it more,
    so that on its scale all turns would resemble little.
    """
    import numpy as np

    best = max((float(each.max()) for each in scores if len(each)), default=0.0)
    if near is None or not len(near.alike):
        return Scale(best, carries_on=carries_on)
    turns = near.alike[~near.memories]
    measured = turns if len(turns) >= FEW_TO_JUDGE else near.alike
    spread = max(float(measured.std()), LEAST_SD)
    none = float(measured.mean()) - FLOOR_SDS * spread
    fewer = min(int(np.count_nonzero(near.is_cjk)), int(np.count_nonzero(~near.is_cjk)))
    two_scripts = best < ALL_ITS_WORDS and fewer > SECOND * len(near.is_cjk)
    return Scale(best, (none, float(measured.max())), two_scripts, carries_on, calibrated)


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence for each of k rows: parts by their names in WEIGHTS, each (k,), and their weighted sum."""

    ns: np.ndarray
    parts: Mapping[str, np.ndarray]
    total: np.ndarray

    def best_first(self, most: int) -> np.ndarray:
        """Return the places of the best rows with enough evidence, best first, newest first among equals."""
        import numpy as np

        among = np.flatnonzero(self.total >= 0)
        if len(among) > most:
            total = self.total[among]
            among = among[total >= np.partition(total, len(among) - most)[len(among) - most]]
        return among[np.lexsort((-self.ns[among], -self.total[among]))][:most]

    def without(self, ns: Sequence[int]) -> Evidence:
        """Return the evidence without these rows."""

        among = ~numbers.among(self.ns, ns)
        return Evidence(self.ns[among], {name: part[among] for name, part in self.parts.items()}, self.total[among])


def evidence(
    scale: Scale, ns: np.ndarray, words: np.ndarray, vectors: np.ndarray | None, signals: Mapping[str, np.ndarray]
) -> Evidence:
    """
    Sum up the evidence for each row.

    words, vectors: shares (k,), vectors NaN where a row has none yet; signals: shares by name
    """
    import numpy as np

    if vectors is None:
        parts, total = {"words": words}, scale.weight("words") * words
    else:
        stood_for = np.where(np.isnan(vectors), words, vectors)
        parts = {"words": words, "vectors": stood_for}
        total = scale.weight("words") * words + scale.weight("vectors") * stood_for
    for name, share in signals.items():
        if name not in MANNER:
            total += scale.weight(name) * share
    enough = total >= FLOOR
    for name, share in signals.items():  # in one order: the last digit of a sum depends on it
        if name in MANNER:
            total += scale.weight(name) * share
    return Evidence(ns, {**parts, **signals}, np.where(enough, total, -1.0))


def confidence(scale: Scale, found: Sequence[Evidence], terms: int) -> float:
    """
    Return the confidence that the answer is there, 0 to 1; nine in ten answerable questions get 0.5 or more.

    With the local model: how near the nearest row is, and how far the best one stands above rows that nobody asks for; the
    weights are fitted. By words or another model: how many of the question's words one row has, instead of how near it is. Of a
    long question no row has most of the words.

    terms: how many words and characters of the question are searched
    """
    import numpy as np

    totals = np.concatenate([each.total[each.total >= 0] for each in found]) if found else np.empty(0)
    if not len(totals):
        return 0.0
    # Of fewer rows the last may well be an answer, too
    usual = np.partition(totals, -USUAL)[-USUAL] if len(totals) >= USUAL else totals.min() / 2
    stands_out, rows = float(totals.max() - usual), sum(len(each.ns) for each in found)
    words = max(float(each.parts["words"].max()) for each in found if len(each.ns)) * scale.whole(scale.best)
    sure = STEEP * (words + STANDING_OUT * stands_out + LONG * math.log1p(terms) - ENOUGH)
    if scale.calibrated:
        known = known_of(scale, stands_out, rows)
        fitted = WITH_VECTORS["sure"] + sum(WITH_VECTORS[name] * value for name, value in known.items())
        sure = max(fitted, sure) if words >= MOST and terms <= LOOKED_UP else fitted
    found_sure = 1 / (1 + math.exp(-sure))
    few = scale.near and rows < (FEWER if scale.calibrated else FEW_TO_JUDGE)
    return max(found_sure, UNJUDGED) if few else found_sure


def known_of(scale: Scale, stands_out: float, rows: int) -> Mapping[str, float]:
    """
    Return what confidence with the local model rests on.

    near:       how much the nearest row resembles the question
    stands out: how far the best row stands above the usual one, as far as there are rows enough to say what is usual
    rows:       that share
    """
    share = min(1.0, rows / ROWS_TO_JUDGE)
    return {"near": scale.near[1] if scale.near else 0.0, "stands out": share * stands_out, "rows": share}


def freshness(said_at: np.ndarray, sessions: np.ndarray) -> np.ndarray:
    """
    Return the recency of each session by number: 1 for the newest, halved every HALF_AS_NEW_DAYS before it.

    By days, not by rank: so it is the same whatever else lies in the scope.
    said_at: microseconds, sessions: of all turns (k,)
    """
    import numpy as np

    latest = np.full(int(sessions.max()) + 1, np.iinfo(np.int64).min)
    np.maximum.at(latest, sessions, said_at)
    age_days = (latest.max() - latest.astype(np.float64)) / DAY_MICROSECONDS
    fresh: np.ndarray = 0.5 ** (age_days / HALF_AS_NEW_DAYS)
    return fresh


def openings(sessions: np.ndarray, user: np.ndarray, among: np.ndarray | slice) -> np.ndarray:
    """
    Return how close each turn is to the beginning of its conversation, where people say what it is about.

    Only what a user says to an assistant: a talk among people has no such order, nor have records.
    sessions, user: of all turns (k,), in their order; among: those that are asked for
    Returns shares, 1 for a first turn.
    """
    import numpy as np

    places = np.arange(len(sessions))
    first, assisted = np.zeros(int(sessions.max()) + 1, np.int64), np.zeros(int(sessions.max()) + 1, np.bool_)
    first[sessions[::-1]] = places[::-1]  # of several values for one session the last one holds
    assisted[sessions[~user]] = True
    since = places[among] - first[sessions[among]]
    found: np.ndarray = (user[among] & assisted[sessions[among]]) / (1 + since / OPENING_TURNS)
    return found


def answered(
    places: np.ndarray, sessions: np.ndarray, user: np.ndarray, speakers: np.ndarray, among: np.ndarray | slice
) -> np.ndarray:
    """
    Return the places after which somebody else goes on, both of them people with a name: an assistant repeats what was asked.

    sessions, user, speakers: of the turns (k,), in their order; among: the places of these turns among all, which lie side by side there
    """
    here = places[places + 1 < len(sessions)]
    then = here + 1
    of_people = user[here] & user[then] & (speakers[here] >= 0) & (speakers[then] >= 0)
    goes_on = (sessions[here] == sessions[then]) & (speakers[here] != speakers[then])
    found: np.ndarray = here[of_people & goes_on & (isinstance(among, slice) or among[then] - among[here] == 1)]
    return found


def relevance(total: float) -> float:
    """Map evidence to relevance, the scale shared by all routes."""
    return EVIDENCE_AT_MOST * (1 - math.exp(-EVIDENCE_SLOPE * total))


def asks_for(question: Question, memory: SemanticMemory) -> bool:
    """
    Whether a question asks for a slot: it hints at the predicate, or enough of its words are the slot's.

    Who asks for the way from the airport to the hotel does not ask which hotel that is; who the boss is asks for no name of one's own.
    """
    predicate = memory.predicate or ""
    if predicate in question.hinted:
        return True
    if predicate == "name" and question.asks_who and memory.subject == USER:
        return False
    slot = analyze.tokens(" ".join((memory.subject or "", *(names_of(predicate) or (predicate,)))))
    words, characters = question.terms.words, question.terms.characters
    asked = {*characters, *filter(str.isascii, words)} if characters else {*words}
    enough = len(asked) * (ASKED_SHARE_OF_CHARACTERS if characters else ASKED_SHARE)
    return len(asked & {*slot.characters, *slot.words}) >= enough


def slot(
    memory: SemanticMemory, question: Question, *, named: Collection[str], steps_back: int, objects: Collection[str] = ()
) -> float:
    """
    Return the relevance of a version whose slot is asked for.

    named:      the subjects that the question may mean; a question for a sister's allergy is none for one's own
    steps_back: from the live version
    objects:    the objects that the question names; a question whether one likes coffee is none for running
    """
    owner = any(subject.startswith(f"{memory.subject}'s ") for subject in named)
    other = bool(objects) and memory.cardinality is not Cardinality.SINGLE and analyze.fold(memory.object or "") not in objects
    value = BESIDE_IT if owner or _is_of_another(memory, question) else OF_ANOTHER if other else 1.0
    asked = len(question.terms.characters) / 2 + sum(word.isascii() for word in question.terms.words)
    value *= ONLY_A_PART if asked > LONG_QUESTION else 1.0
    if not question.wants_history:
        return value
    value *= LIVE_WHEN_PAST_IS_ASKED if memory.live else 1.0 - STEP_BACK * min(steps_back, 10)
    return value * (ALREADY_NAMED if memory.object and analyze.fold(memory.object) in question.text else 1.0)


def _is_of_another(memory: SemanticMemory, question: Question) -> bool:
    """Whether a question names a thing with which a statement shares no word: a screwdriver, and a lamp."""
    known = built_in().predicates.get(memory.predicate or "")
    things = question.things.difference(analyze.tokens(memory.subject or "").words)
    return known is not None and not known.one and bool(things) and things.isdisjoint(stated(memory.content))


def combine(found: Iterable[float]) -> float:
    """Combine the relevances of several routes: 1 - prod(1 - r)."""
    return 1 - math.prod(1 - value for value in found)
