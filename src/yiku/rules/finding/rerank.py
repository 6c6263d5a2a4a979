"""
Rerank the best hits of a question by what their clauses say: of whom, when, how surely, and what changed since.

Vectors find the right topic, and cannot tell a plan, somebody else's job or last year's address from the answer. Each hit
gets a score, a weighted sum of a few properties of its first clauses, of its place among the others in time, and of how its
vector lies: that of an answer differs from that of a joke, and that of a change from that of what it changes, in much the
same way whatever they are about. `scripts/fit_rerank.py` fits all of that to questions whose answers are known
(docs/decisions/0077-reranking.md).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from yiku.rules.finding.rerank_weights import WEIGHTS, WITHOUT_DIRECTIONS
from yiku.rules.finding.supersede import OF_CHANGE
from yiku.rules.statements.clause import USER, Asked, Clause, Mood, Tense
from yiku.rules.statements.read import read
from yiku.rules.statements.subjects import is_person

NEAR = 0.8  # of the best relevance that a hit has at least, to be moved: below, other topics come before the answer
READ_CHARS = 160  # at the beginning of a hit; 600 gave the same order
MANY = 3  # hits said later or earlier, beyond which their number says no more
SORTS = {  # of values that may be the answer, by the sort that is asked for
    "place": ("place", "name"),
    "person": ("name", "person"),
    "amount": ("amount", "time"),
    "time": ("time", "amount"),
}


@dataclass(frozen=True, slots=True)
class Candidate:
    """
    A hit as this rule sees it.

    id:        of the hit
    relevance: of the hit, in [0, 1]
    said:      when it was said, then its place in the session
    place:     in the list before reranking, from 0
    found:     its place before any hit was moved, from 0
    by_agent:  the assistant said it
    by_slot:   it was found by its slot
    leaning:   how far its vector lies in each of the DIRECTIONS; None for a model to which they were not fitted
    """

    id: str
    text: str
    relevance: float
    said: tuple[datetime, int]
    place: int
    found: int
    by_agent: bool
    by_slot: bool
    leaning: tuple[float, float] | None = None


def scores(asked: Asked, candidates: Sequence[Candidate]) -> list[float]:
    """Return a score for each hit, comparable within one question only; the higher, the likelier it answers."""
    weights = WITHOUT_DIRECTIONS if all(each.leaning is None for each in candidates) else WEIGHTS
    return [sum(weights.get(name, 0.0) * value for name, value in each.items()) for each in features(asked, candidates)]


def features(asked: Asked, candidates: Sequence[Candidate]) -> list[dict[str, float]]:
    """Return what is known of each hit, by name; each value lies in [-3, 1], or is of the size of DIRECTIONS."""
    best = max((each.relevance for each in candidates), default=0.0)
    newest = max((each.said for each in candidates), default=None)
    found = []
    for each in candidates:
        of_it = dict(_of_place(each, best))
        of_it |= _of_clauses(asked, read(each.text[:READ_CHARS]))
        after = sum(other.said > each.said for other in candidates)
        before = sum(other.said < each.said for other in candidates)
        later, earlier = min(after, MANY) / MANY, min(before, MANY) / MANY
        in_time = (before - after) / max(1, len(candidates) - 1) * (-1 if asked.before else 1)
        leaning, as_later = each.leaning or (0.0, 0.0)
        of_it |= {"in time": in_time, "leaning": leaning, "leaning in time": in_time * as_later}
        last = each.said == newest and len(candidates) > 1
        asks = "past asked, " if asked.before else ""
        of_it |= {f"{asks}newest": float(last), f"{asks}said later": later, f"{asks}said earlier": earlier}
        if last and not asked.before:
            of_it |= {f"newest, {name}": of_it[name] for name in ("plain", "plain value", "plain change")}
        found.append(of_it)
    return found


def _of_place(each: Candidate, best: float) -> Iterator[tuple[str, float]]:
    """How well it was found, by whom it was said, and what comparing the statements made of its place."""
    yield "relevance", math.log(max(each.relevance / best, 0.05)) if best > 0 else 0.0
    yield "found first", float(each.found == 0)
    yield "place", -math.log1p(each.place)
    yield "first", float(each.place == 0)
    yield "by the assistant", float(each.by_agent)
    yield "by slot", float(each.by_slot)


def _of_clauses(asked: Asked, clauses: Sequence[Clause]) -> Mapping[str, float]:
    """How it is said, of whom, and whether it has a value of the sort asked for."""
    plain = [clause for clause in clauses if clause.plain and not clause.bare]
    stated = [clause for clause in clauses if clause.mood is Mood.ASSERTED]
    held = frozenset(word for clause in clauses for word in clause.content) & asked.content
    sorts = SORTS.get(asked.sort, ())
    changes = {clause.cue for clause in clauses if clause.plain}
    return {
        "plain": float(bool(plain)),
        "states nothing": float(not stated),
        "past": _share(clauses, [clause.tense is Tense.PAST for clause in clauses]),
        "planned": _share(clauses, [clause.tense is Tense.PLANNED for clause in clauses]),
        "supposed": _share(clauses, [clause.mood is Mood.SUPPOSED for clause in clauses]),
        "quoted": _share(clauses, [clause.mood is Mood.QUOTED for clause in clauses]),
        "asks": _share(clauses, [clause.mood is Mood.ASKED for clause in clauses]),
        "hedged": _share(clauses, [clause.hedged for clause in clauses]),
        "in jest": float(any(clause.mood is Mood.JOKED or clause.jest for clause in clauses)),
        "denies": float(any(clause.denied for clause in plain)),
        **{f"cue {cue}": float(cue in changes) for cue in ("changes", "corrects", "ends", "retracts")},
        "plain change": float(bool(changes & OF_CHANGE)),
        "change not plain": float(any(clause.cue in OF_CHANGE and not clause.plain for clause in clauses)),
        "holds": len(held) / max(1, len(asked.content)),
        "value": float(any(value.sort in sorts for clause in clauses for value in clause.values)),
        "plain value": float(any(value.sort in sorts for clause in plain for value in clause.values)),
        **_of_whom(asked, clauses, stated),
    }


def _of_whom(asked: Asked, clauses: Sequence[Clause], stated: Sequence[Clause]) -> Mapping[str, float]:
    """Whether it speaks of whom the question names, of the speaker, or of somebody else."""
    own = any(clause.subject == USER for clause in stated)
    others = any(is_person(clause.subject) and clause.subject != USER for clause in stated)
    asks_own = not asked.subjects or USER in asked.subjects
    about = any(clause.who & asked.subjects for clause in clauses)
    return {
        "of the speaker": float(own and asks_own),
        "of others alone": float(others and not own and asks_own),
        "of whom is asked": float(about),
        "of another": float(bool(asked.subjects) and (own or others) and not about),
    }


def _share(clauses: Sequence[Clause], which: Sequence[bool]) -> float:
    return sum(which) / max(1, len(clauses))
