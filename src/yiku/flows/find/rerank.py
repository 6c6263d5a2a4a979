"""
Order the best hits by a reranker behind an endpoint, which reads question and text together.

It is sent what an endpoint for embeddings would be: texts of turns that are not redacted, of statements and of notes; never tool
calls, episodes, files or metadata. Nothing is stored. Whatever goes wrong leaves the order as it was, and is said in a line.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from yiku.errors import ModelError, SettingsError
from yiku.flows.common.handle import Handle
from yiku.flows.common.turn_texts import text_of, with_speaker
from yiku.flows.find.query import Query
from yiku.rules.finding import pack, score
from yiku.rules.pages import chunks
from yiku.rules.text.analyze import QUESTION_CHARS
from yiku.types import Hit, Note, SemanticMemory, Turn

MOST = 30  # hits that are read
TEXT_TOKENS = 400  # of a hit, in the sentences nearest to the question's words: many rerankers read 512 with the question
LEAST = 2  # hits: one is in order
ROUTE = "rerank"


class Reranked(NamedTuple):
    """Hits in the reranker's order; how many it read, 0 where it took no part; and what went wrong."""

    hits: list[Hit]
    read: int = 0
    trouble: str | None = None


def rerank(query: Query, found: list[Hit]) -> Reranked:
    """
    Return the best hits in the order of the reranker, each with its score there as a route.

    What it does not read keeps its place. The score of a hit is that of its place, so that scores never rise down the list; its
    relevance stays what the search found, on the one scale of all hits.
    """
    texts = {place: text for place, hit in enumerate(found[: query.pool]) if (text := _text(query, hit))}
    if len(texts) < LEAST:
        return Reranked(found)
    try:
        if (model := query.handle.reranker()) is None:
            return Reranked(found)
        scores = model.scores(query.text[:QUESTION_CHARS], [*texts.values()])
    except (ModelError, SettingsError) as error:
        return Reranked(found, trouble=f"not reranked: {error.detail}")
    best_first = sorted(zip(texts, scores, strict=True), key=lambda one: -one[1])
    result = [*found]
    for rank, (place, (other, value)) in enumerate(zip(texts, best_first, strict=True), 1):
        hit = found[other]
        result[place] = replace(hit, score=found[place].score, routes={**hit.routes, ROUTE: (rank, value)})
    return Reranked(result, len(texts))


def about(handle: Handle) -> tuple[str | None, str | None]:
    """Return who reranks, and what is wrong with the settings for that."""
    try:
        model = handle.reranker()
    except SettingsError as error:
        return None, f"nothing is reranked: {error.detail}"
    return (None if model is None else model.name), None


def _text(query: Query, hit: Hit) -> str:
    """Return what is sent of a hit; nothing of one that is not sent."""
    match hit.item:
        case SemanticMemory():
            return _cut(query, hit.item.content)
        case Turn() if text_of(hit.item):
            return with_speaker(replace(hit.item, content=_cut(query, hit.item.content)))
        case Note():
            return chunks.passage(hit.item.heading, _cut(query, hit.item.text))
    return ""


def _cut(query: Query, text: str) -> str:
    terms = query.question.terms
    wanted = dict.fromkeys(terms.characters, score.CHARACTER_WEIGHT) | dict.fromkeys(terms.words, 1.0)
    return pack.cut(text, TEXT_TOKENS, wanted)
