"""MemorySearcher: hybrid search over the notes, a weighted sum of vector and full-text scores."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from yiku.errors import ModelError
from yiku_compat.bitwise.core.memory.embeddings.base import EmbeddingProvider
from yiku_compat.bitwise.core.memory.storage import SQLiteStorage
from yiku_compat.bitwise.core.memory.types import FTSSearchResult, HybridConfig, SearchResult, VectorSearchResult

CANDIDATES = 4  # times as many of each route as are wanted
LONG_TERM = 1.1  # what a chunk of MEMORY.md counts beside an equally good one


class MemorySearcher:
    """
    Asks both routes and adds up what they give, each with its weight.

    A chunk that one route alone found is not cut because the other one has nothing: `min_score` is what either must give. Where
    nothing has vectors, words count alone.
    """

    def __init__(
        self, storage: SQLiteStorage, embedding_provider: EmbeddingProvider | None = None, hybrid_config: HybridConfig | None = None
    ) -> None:
        self.storage = storage
        self.config = hybrid_config or HybridConfig()
        if embedding_provider is not None and storage.vectors is not None:
            storage.vectors.provider = embedding_provider
        self.diagnostics: tuple[str, ...] = ()

    async def search(self, query: str, max_results: int = 5, min_score: float | None = None) -> list[SearchResult]:
        """Return the best chunks, best first; `min_score=0` cuts nothing. `diagnostics` says what was missing."""
        return await asyncio.to_thread(self.search_sync, query, max_results, min_score)

    def search_sync(self, query: str, max_results: int = 5, min_score: float | None = None) -> list[SearchResult]:
        """Search without an event loop, or inside one. Raises InvalidInput."""
        limit, least = max_results * CANDIDATES, self.config.min_score if min_score is None else min_score
        vector_results, why = self._by_meaning(query, limit)
        keyword_results = self.storage.search_fts(query, limit) if self.config.enabled or not vector_results else []
        self.diagnostics = tuple(filter(None, (why,)))
        merged = self._merge_results(vector_results, keyword_results)
        return [one for one in merged if max(one.vector_score or 0.0, one.text_score or 0.0) >= least][:max_results]

    def _by_meaning(self, query: str, limit: int) -> tuple[list[VectorSearchResult], str]:
        """What is near the question, or why nothing could be."""
        vectors = self.storage.vectors
        if vectors is None or vectors.provider is None:
            return [], ""
        try:
            asked = vectors.embed([query], "query")[0].tolist()
        except ModelError as error:
            return [], f"searched by words: {error.detail}"
        return self.storage.search_vectors(asked, limit), ""

    def _merge_results(
        self, vector_results: Sequence[VectorSearchResult], keyword_results: Sequence[FTSSearchResult]
    ) -> list[SearchResult]:
        """
        Return the chunks of both routes, best first: the weighted sum of their scores, with the weights made to add up to 1.

        Of equally good ones MEMORY.md comes first; then the order is that of the routes.
        """
        by_meaning = {one.chunk_id: one for one in vector_results}
        by_words = {one.chunk_id: one for one in keyword_results}
        vector_weight = self.config.vector_weight if by_meaning else 0.0
        text_weight = self.config.text_weight if by_words else 0.0
        total = vector_weight + text_weight or 1.0
        found = []
        for id, one in {**by_words, **by_meaning}.items():
            near, said = by_meaning.get(id), by_words.get(id)
            score = (vector_weight * (near.score if near else 0.0) + text_weight * (said.score if said else 0.0)) / total
            merged = SearchResult(
                chunk_id=id,
                path=one.path,
                source=one.source,
                start_line=one.start_line,
                end_line=one.end_line,
                text=one.text,
                score=round(score, 4),
                vector_score=near.score if near else None,
                text_score=said.score if said else None,
            )
            found.append(merged)
        return sorted(found, key=lambda one: -one.score * (LONG_TERM if one.is_long_term else 1.0))
