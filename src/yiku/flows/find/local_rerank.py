"""
Rerank the hits that vectors found about as well as the best, without a reranker: by their clauses and their vectors.

They change places among themselves, and take the scores of these places; rules/finding/rerank.py scores them. By words alone
nothing moves: there the order says which words a hit holds, and reranking lost as much as it gained.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from yiku.errors import ModelError, StoreError
from yiku.flows.find.query import Query, place_in_session
from yiku.rules.finding import rerank
from yiku.rules.finding.rerank_weights import DIRECTIONS
from yiku.rules.statements.clause import Asked
from yiku.types import Hit, Item, SemanticMemory, Turn

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]


def reranked(query: Query, asked: Asked, first_found: Sequence[str], found: list[Hit]) -> list[Hit]:
    """
    Return the hits with those of `first_found` that are near enough in the order of their scores.

    first_found: the ids of the hits that were compared, as they stood before any was moved
    """
    places = [
        place
        for place, hit in enumerate(found)
        if hit.id in first_found and not hit.taken_back and isinstance(hit.item, (SemanticMemory, Turn))
    ]
    if not any("vectors" in found[place].routes for place in places):
        return found
    enough = rerank.NEAR * max(found[place].relevance for place in places)
    places = [place for place in places if found[place].relevance >= enough or place == places[0]]
    leaning = _leaning(vectors_of(query, [found[place] for place in places]))
    candidates = [_candidate(found[place], number, first_found, leaning) for number, place in enumerate(places)]
    scores = rerank.scores(asked, candidates)
    best_first = sorted(zip(places, scores, strict=True), key=lambda one: -one[1])
    result = [*found]
    for place, (other, _) in zip(places, best_first, strict=True):
        result[place] = replace(found[other], score=found[place].score)
    return result


def _candidate(hit: Hit, place: int, first_found: Sequence[str], leaning: Mapping[str, tuple[float, float]]) -> rerank.Candidate:
    item = hit.item
    turn = item if isinstance(item, Turn) else None
    return rerank.Candidate(
        hit.id,
        hit.text,
        hit.relevance,
        (hit.said_at, place_in_session(item)),
        place,
        first_found.index(hit.id),
        turn is not None and turn.role != "user",
        "slot" in hit.routes,
        leaning.get(hit.id),
    )


def vectors_of(query: Query, hits: Sequence[Hit]) -> Mapping[str, Array]:
    """Return the vectors of the beginnings of these hits, by id; none of a model to which the directions were not fitted."""
    try:
        model, _ = query.handle.embedder()
        if model is None or not getattr(model, "calibrated", False):
            return {}
        of: dict[tuple[Item, int], str] = {("turn" if isinstance(hit.item, Turn) else "memory", hit.item.n): hit.id for hit in hits}
        found = query.handle.vectors.beginnings(query.scopes, model.space, [*of])
    except (ModelError, StoreError):  # vectors can be made again: without them the other properties decide
        return {}
    return {of[row]: vector for row, vector in found.items() if len(vector) == len(DIRECTIONS[0])}


def _leaning(vectors: Mapping[str, Array]) -> Mapping[str, tuple[float, float]]:
    """Return how far each vector lies in the fitted directions."""
    import numpy as np

    if not vectors:
        return {}
    along = np.stack([*vectors.values()]) @ np.array(DIRECTIONS, np.float32).T
    return {id: (first, second) for id, (first, second) in zip(vectors, along.tolist(), strict=True)}
