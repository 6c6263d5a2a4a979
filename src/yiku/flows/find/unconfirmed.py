"""
Search candidates: statements that a model or a tool made, and that nobody has confirmed.

Recall leaves them out. Who asks for them gets them apart, by their words, and marked.
"""

from __future__ import annotations

from yiku.flows.common import checks
from yiku.flows.common.handle import Handle
from yiku.rules.finding import score
from yiku.rules.text import analyze
from yiku.types import Hit, Link, Memories, SemanticMemory, State

LOOKED_AT = 500  # rows out of recall with words of the question; most of them are archived
LEAST = 0.3  # of the question, in words; below it a candidate only shares a common word with it


def unconfirmed(handle: Handle, question: str, *, limit: int = 5) -> list[Hit]:
    """Return the candidates that share most with a question; see Agent.unconfirmed."""
    text = checks.question(question)
    most, scopes = checks.integer(limit, "limit"), handle.reads()
    terms = analyze.question(text)
    if not (scopes and most and (terms.words or terms.characters)):
        return []
    weights = [1.0] * len(terms.words) + [score.CHARACTER_WEIGHT] * len(terms.characters)
    postings = handle.store.postings("memory", scopes, (*terms.words, *terms.characters), past=True, cap=score.COMMON_ROWS)
    ns, scores, _ = score.bm25(postings, weights, by_length=False)
    best = dict(zip(*score.best(ns, scores, LOOKED_AT), strict=True))
    select = Memories(ns=[*best], states=(State.CANDIDATE,), current=True, unexpired_at=handle.now())
    rows = [row for row in handle.store.memories(scopes, select) if best[row.n] >= LEAST] if best else []
    rows.sort(key=lambda row: (-best[row.n], -row.n))
    return [_hit(row, rank, best[row.n]) for rank, row in enumerate(handle.store.with_details(rows[:most]), 1)]


def _hit(row: SemanticMemory, rank: int, found: float) -> Hit:
    relevance = min(1.0, float(found))
    links = tuple(Link(id=s.turn, session=s.session, speaker=s.actor, origin=s.origin, said_at=s.said_at) for s in row.sources)
    return Hit(item=row, relevance=relevance, score=relevance * row.trust, routes={"words": (rank, relevance)}, sources=links)
