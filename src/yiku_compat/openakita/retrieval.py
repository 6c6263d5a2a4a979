"""
RetrievalEngine: search statements, episodes, recent turns and attachments, rank them by one score, format one text.

Statements by the search backend, episodes, what was said lately, and attachments where the question speaks of files; merged by
id; ordered by 0.4 relevance + 0.25 recency + 0.2 importance + 0.15 access frequency; packed into a budget, fenced as a quotation.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from yiku import types as core
from yiku_compat.openakita.unified_store import UnifiedStore

WEIGHTS = {"relevance": 0.4, "recency": 0.25, "importance": 0.2, "access_frequency": 0.15}
SEMANTIC, EPISODES, RECENT, ATTACHMENTS = 15, 5, 5, 5  # candidates of each way
RECENT_DAYS = 3
RECENT_RELEVANCE = 0.5  # of what no way found by its words
DECAY = 0.1  # of recency: e^(-0.1 days)
BUSY = 5.0  # ln(1 + accesses) that counts as often
ROUNDS = 5  # of a conversation that a question is read with
PERSONAS = {"tech_expert": {"skill": 1.2, "error": 1.2}, "jarvis": {"skill": 1.2, "error": 1.2}}
_FILES = re.compile(
    r"文件|图片|照片|截图|视频|语音|录音|附件|发给|那张|file|image|photo|picture|screenshot|video|voice|attach|document", re.I
)

Item = core.SemanticMemory | core.Episode | core.Attachment


@dataclass
class Candidate:
    """What one or several ways found, with the parts of its score, each 0 to 1."""

    item: Item
    relevance: float
    recency: float = 0.0
    importance: float = 0.5
    access_frequency: float = 0.0
    score: float = 0.0
    ways: list[str] = field(default_factory=list)

    @property
    def type(self) -> str:
        """The kind of a statement, or episode, attachment."""
        return self.item.kind.value if isinstance(self.item, core.SemanticMemory) else type(self.item).__name__.casefold()


class RetrievalEngine:
    """Finds what belongs to a question, in a store."""

    def __init__(self, store: UnifiedStore) -> None:
        self.store = store

    def retrieve(
        self,
        query: str,
        recent_messages: Sequence[Mapping[str, Any]] | None = None,
        active_persona: str | None = None,
        max_tokens: int = 700,
    ) -> str:
        """Return what memory has on a question as a text for a prompt: whole lines, fenced, within the budget; "" if nothing."""
        ranked = self.retrieve_candidates(query, recent_messages, active_persona)
        hits = [core.Hit(item=one.item, relevance=one.relevance, score=one.score, routes={}, sources=()) for one in ranked]
        if not hits:
            return ""
        context = self.store.memory.agent.quote(hits, query, max_tokens=max_tokens)
        self.store.memory.retrieved(context.hits)
        return context.text

    def retrieve_candidates(
        self,
        query: str,
        recent_messages: Sequence[Mapping[str, Any]] | None = None,
        active_persona: str | None = None,
        limit: int = 50,
    ) -> list[Candidate]:
        """Return what is found, the best first. Empty for an empty question."""
        if not query.strip():
            return []
        enhanced = self._build_enhanced_query(query, recent_messages)
        found = self._merge_and_deduplicate(
            self._search_semantic(enhanced),
            self._search_episodes(enhanced),
            self._search_recent(RECENT_DAYS),
            self._search_attachments(query),
        )
        return self._rerank(found, query, active_persona)[:limit]

    # -------------------------------------------------------------- the steps

    @staticmethod
    def _build_enhanced_query(query: str, recent_messages: Sequence[Mapping[str, Any]] | None) -> str:
        """Return the question with what the user said in the last rounds, shortened."""
        said = [str(one.get("content") or "") for one in recent_messages or () if one.get("role", "user") == "user"]
        return "\n".join([query, *(text[:200] for text in said[-ROUNDS:] if text.strip() and text != query)])

    def _search_semantic(self, query: str) -> list[Candidate]:
        return [Candidate(memory, score, ways=["semantic"]) for memory, score in self.store.scored(query, SEMANTIC)]

    def _search_episodes(self, query: str) -> list[Candidate]:
        hits = self.store.memory.recall(query, limit=EPISODES, types=["episode"])
        return [Candidate(hit.item, hit.relevance, ways=["episodes"]) for hit in hits if isinstance(hit.item, core.Episode)]

    def _search_recent(self, days: int) -> list[Candidate]:
        since = self.store.db.now() - timedelta(days=days)
        found = self.store.memory.get_all(where={"said_at": {"gte": since.isoformat()}}, limit=RECENT)
        return [Candidate(one, RECENT_RELEVANCE, ways=["recent"]) for one in found]

    def _search_attachments(self, query: str) -> list[Candidate]:
        """Return files, if the question speaks of one."""
        if not _FILES.search(query):
            return []
        hits = self.store.memory.recall(query, limit=ATTACHMENTS, types=["attachment"])
        return [Candidate(hit.item, hit.relevance, ways=["attachments"]) for hit in hits if isinstance(hit.item, core.Attachment)]

    @staticmethod
    def _merge_and_deduplicate(*ways: Sequence[Candidate]) -> list[Candidate]:
        """Return each item once, with the best relevance of the ways that found it."""
        merged: dict[str, Candidate] = {}
        for one in (one for way in ways for one in way):
            if (known := merged.setdefault(one.item.id, one)) is not one:
                known.relevance = max(known.relevance, one.relevance)
                known.ways += one.ways
        return list(merged.values())

    def _rerank(self, candidates: Sequence[Candidate], query: str, persona: str | None) -> list[Candidate]:
        """Score and sort: relevance, recency, importance, access frequency; a persona may weigh some kinds more."""
        now, raised = self.store.db.now(), PERSONAS.get(persona or "", {})
        for one in candidates:
            one.recency, one.importance, one.access_frequency = _parts(one.item, now)
            one.score = sum(weight * getattr(one, name) for name, weight in WEIGHTS.items()) * raised.get(one.type, 1.0)
        return sorted(candidates, key=lambda one: (-one.score, one.item.id))


def _parts(item: Item, now: datetime) -> tuple[float, float, float]:
    """Return recency, importance and access frequency."""
    match item:
        case core.SemanticMemory():
            at, importance, count = item.last_accessed_at or item.confirmed_at, item.importance, item.access_count
        case core.Episode():
            at, importance, count = item.ended_at, item.importance_score, item.access_count
        case _:
            at, importance, count = item.said_at, 0.5, 0
    days = max(0.0, (now - at).total_seconds() / 86_400)
    return math.exp(-DECAY * days), importance, min(1.0, math.log1p(count) / BUSY)
