"""
From what each route found to one order.

A route gives relevance on one scale, 0 to 1. Words alone never reach what an exact slot gives: who asks
where he lives wants the statement, not the turn in which he asked it before. A row found by several
routes is at least as relevant as by its best. Recency moves near-equals only, and not when the past is
asked for.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from yiku.rules.analyze import fold
from yiku.rules.ask import Question
from yiku.types import Cardinality, SemanticMemory

WORDS_AT_MOST = 0.8
WORDS_SLOPE = 1.5  # a row with all words of the question gets 0.78 of the most
RECENCY = 0.05
LIVE_WHEN_PAST_IS_ASKED = 0.7  # below what ten steps back and the lowest prior leave of a retired version
STEP_BACK = 0.015  # per version further back
ONLY_THE_OWNER = 0.6  # of somebody whose sister, project or cat is asked for
ALREADY_NAMED = 0.5  # «before Oslo» does not ask for Oslo

WEIGHTS = {"slot": 1.0, "words": WORDS_AT_MOST, "recency": RECENCY}


def words(score: float) -> float:
    """The relevance of a BM25 score in which 1 means all of the question's words."""
    return WORDS_AT_MOST * (1 - math.exp(-WORDS_SLOPE * score))


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


def together(found: Mapping[str, float]) -> float:
    """One relevance from those of several routes: what each leaves open is closed by the next."""
    rest = 1.0
    for value in found.values():
        rest *= 1 - value
    return 1 - rest


def recency(times: Sequence[datetime]) -> list[float]:
    """What being newer adds to each: RECENCY for the newest, nothing for the oldest."""
    if len(times) < 2:
        return [0.0] * len(times)
    order = {at: rank for rank, at in enumerate(sorted(set(times)))}
    return [RECENCY * order[at] / max(1, len(order) - 1) for at in times]
