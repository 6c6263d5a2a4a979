"""
Relevance and prior weight: BM25 of rows and of sessions, selection of the best, and the prior of a memory.

Words are scored with BM25 over the statistics of the scopes asked, never of the whole table. A word counts
once a row, however often it stands there: in talk that found more (decision 0007). The sum is
divided by what a row of average length would get that holds every term once, so 1.0 means "all of the
question is there", in any scope and any index.

A memory's prior is computed when it is asked for, from facts on the row: how recent it is, how
important, how often it was of use. Nothing is decayed in place, so a missed night changes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from yiku.rules.finding import numbers
from yiku.types import Posting, Postings, SemanticMemory, Standing

if TYPE_CHECKING:
    import numpy as np

K1, B = 1.2, 0.75
CHARACTER_WEIGHT = 0.4  # of a single Chinese character, a pair being 1
AROUND_WEIGHT = 0.4  # of a word of the turns before the question
COMMON_SHARE = 0.2  # a term in more of the scope than this says little
COMMON_ROWS = 20_000  # nor does one in more rows than this
SPARSE = 30  # row numbers for each row found: beyond, sorting the rows is faster than a table of all numbers
GAPS = 8  # numbers for each one looked for: beyond, a search is faster than a table of all numbers
FEWEST = 50  # documents that the rarity of a word is judged by: of fewer, two that contain it do not make it common
KEPT_TERMS = 2  # common terms are dropped while so many rarer ones remain

HALF_LIFE_DAYS = {Standing.FACT: 87.0, Standing.BELIEF: 10.0, Standing.SUMMARY: 28.0}
ACCESS_WEIGHTS = {"retrieved": 1.0, "used": 2.0, "mentioned": 3.0}
BOOST_AT_MOST = 0.5
PRIOR = {"recency": 0.25, "importance": 0.2, "access": 0.15}
NEUTRAL_PRIOR = 0.5
NOTE_PRIORS = {"memory": 0.6, "document": 0.5, "skill": 0.5, "daily": 0.35, "archive": 0.25}  # what lasts before equal logs
PRIOR_SHARE = 0.15


def idf(documents: int, total: int) -> float:
    """Return the inverse document frequency of a term."""
    return math.log1p((total - documents + 0.5) / (documents + 0.5)) if total >= documents else 0.0


def in_one_writing(postings: Postings, written: Mapping[str, str]) -> Postings:
    """
    Merge the postings of other writings into those of their terms.

    written: the term of each other writing
    """
    import numpy as np

    found = [posting for posting in postings.found if posting.term not in written]
    for other in [posting for posting in postings.found if posting.term in written and posting.documents]:
        for place, known in enumerate(found):
            if known.term == written[other.term]:
                ns, first, _ = numbers.distinct(np.concatenate([known.ns, other.ns]))
                lengths = np.concatenate([known.lengths, other.lengths])[first]
                found[place] = Posting(known.term, known.documents + other.documents, ns, lengths)
    return replace(postings, found=found)


def bm25(postings: Postings, weights: Sequence[float], *, by_length: bool = True) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """
    Score the rows that hold any of the terms.

    weights:   one a posting
    by_length: False gives the share of the terms that a row holds, however long it is: for rows out of recall, of which no mean is known
    Returns ns (k,) int64 and relevance (k,) float64, unordered, and the terms that were too common to count.
    """
    import numpy as np

    found, total = postings.found, max(postings.documents, 1)
    mean = max(postings.words / total, 1.0)
    values = [idf(min(p.documents, total), max(total, FEWEST)) * weight for p, weight in zip(found, weights, strict=True)]
    dropped = _too_common(found, total)
    counted = [(p, value) for p, value in zip(found, values, strict=True) if p.term not in dropped and len(p.ns)]
    whole = sum(value for p, value in zip(found, values, strict=True) if p.term not in dropped)
    if not counted or whole <= 0:
        return np.empty(0, np.int64), np.empty(0), sorted(dropped)
    share = B if by_length else 0.0
    parts = [value * (K1 + 1) / (1 + K1 * (1 - share + share * p.lengths / mean)) for p, value in counted]
    ns, sums = _summed([p.ns for p, _ in counted], parts)
    return ns, sums / whole, sorted(dropped)


def by_session(
    postings: Postings, weights: Sequence[float], ns: np.ndarray, sessions: np.ndarray, dropped: Collection[str]
) -> np.ndarray | None:
    """
    Score whole sessions by BM25 from the postings of their turns; each turn profits from its session.

    A term counts as often as turns of the session hold it; the session's length is the number of its turns.
    ns, sessions: of all turns (k,); sessions are small whole numbers
    Returns a score for each session number, on the scale of `bm25`, or None when no term occurs.
    """
    import numpy as np

    turns = np.bincount(sessions).astype(np.float64)
    total = int(np.count_nonzero(turns))
    norm = K1 * (1 - B + B * turns * (total / max(len(ns), 1)))
    summed, whole = np.zeros(len(turns)), 0.0
    for posting, weight in zip(postings.found, weights, strict=True):
        if posting.term in dropped or not len(posting.ns):
            continue
        place, there = places(ns, posting.ns)
        place = place[there]
        often = np.bincount(sessions[place], minlength=len(turns))
        value = idf(int(np.count_nonzero(often)), total) * weight
        summed += value * often * (K1 + 1) / (often + norm)
        whole += value
    return summed / whole if whole > 0 else None


def places(every: np.ndarray, ns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """
    Return the places of numbers in a sorted array, and whether each is there.

    Numbers without gaps, and nearly such, need no search.
    """
    import numpy as np

    low, high = (int(every[0]), int(every[-1])) if len(every) else (0, -1)
    if not len(every) or not len(ns) or high - low > GAPS * len(ns):
        found = np.minimum(np.searchsorted(every, ns), max(len(every) - 1, 0))
        return found, (every[found] == ns) if len(every) else np.zeros(len(ns), np.bool_)
    inside = (ns >= low) & (ns <= high)
    found = np.where(inside, ns - low, 0)
    if high - low + 1 > len(every):
        table = np.full(high - low + 1, -1, np.int32)
        table[every - low] = np.arange(len(every), dtype=np.int32)
        found = table[found]
        inside &= found >= 0
    return found, inside


def _summed(ns: Sequence[np.ndarray], parts: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Sum the parts of each row; rows ascending. Sparse rows are sorted, dense ones go through a table."""
    import numpy as np

    every, values = np.concatenate(ns), np.concatenate(parts)
    low, high = int(every.min()), int(every.max())
    if high - low > SPARSE * len(every):
        rows, _, place = numbers.distinct(every)
        return rows, np.bincount(place, weights=values)
    every -= low
    held = np.zeros(high - low + 1, np.bool_)
    held[every] = True
    rows = np.flatnonzero(held)
    return rows + low, np.bincount(every, weights=values)[rows]


def best(ns: np.ndarray, scores: np.ndarray, most: int) -> tuple[list[int], list[float]]:
    """Return the `most` best rows, best first, newest first among equals."""
    import numpy as np

    if len(ns) > most:
        floor = np.partition(scores, len(ns) - most)[len(ns) - most]
        among = np.flatnonzero(scores >= floor)
        ns, scores = ns[among], scores[among]
    order = np.lexsort((-ns, -scores))[:most]
    return ns[order].tolist(), scores[order].tolist()


def _too_common(postings: Sequence[Posting], total: int) -> set[str]:
    """Return the common terms to leave out while KEPT_TERMS rarer ones remain."""
    common = [p for p in postings if p.documents > min(COMMON_ROWS, COMMON_SHARE * max(total, FEWEST))]
    rarer = sum(1 for p in postings if p.documents) - len(common)
    spare = sorted(common, key=lambda p: p.documents)[: max(0, KEPT_TERMS - rarer)]
    return {p.term for p in common} - {p.term for p in spare}


def half_life_days(memory: SemanticMemory) -> float:
    """Return the half-life of a memory, longer with importance and confirmed use."""
    base = memory.half_life_days or HALF_LIFE_DAYS[memory.standing]
    return base * (1 + memory.importance) * (1 + min(memory.used + memory.mentioned, 10) / 10)


def decay(memory: SemanticMemory, now: datetime) -> float:
    """Return the share of its weight that a memory has left; always 1 for pinned memories and rules."""
    if memory.pinned or memory.kind == "rule":
        return 1.0
    return float(2 ** (-max(0.0, (now - memory.confirmed_at).total_seconds() / 86_400) / half_life_days(memory)))


def boost(memory: SemanticMemory, now: datetime) -> float:
    """Return the boost from accesses, at most BOOST_AT_MOST, halving each week without another."""
    weight = sum(ACCESS_WEIGHTS[name] * getattr(memory, name) for name in ("used", "mentioned"))
    weight += ACCESS_WEIGHTS["retrieved"] * min(memory.retrieved, 1)  # being retrieved is neutral beyond the first time
    if not weight or (last := memory.last_accessed_at) is None:
        return 0.0
    weeks = max(0.0, (now - last).total_seconds() / 604_800)
    return min(BOOST_AT_MOST, 0.1 * math.log1p(weight)) * float(2**-weeks)


def prior(memory: SemanticMemory, now: datetime) -> float:
    """Return the prior weight of a memory, 0 to 1; turns have NEUTRAL_PRIOR."""
    parts = {
        "recency": decay(memory, now),
        "importance": memory.importance,
        "access": boost(memory, now) / BOOST_AT_MOST,
    }
    return sum(PRIOR[name] * value for name, value in parts.items()) / sum(PRIOR.values())


def ranked(relevance: float, prior_: float) -> float:
    """Return the score by which a mixed list is ordered."""
    return relevance * (1 - PRIOR_SHARE + PRIOR_SHARE * prior_)
