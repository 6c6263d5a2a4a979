"""BitwiseAI: the application object with its memory methods, over one workspace."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Self

from yiku.types import Noted
from yiku_compat.bitwise.config import Config, load, parse
from yiku_compat.bitwise.core.document_manager import DocumentManager
from yiku_compat.bitwise.core.memory.embeddings import EmbeddingProvider, OpenAIEmbeddingProvider
from yiku_compat.bitwise.core.memory.manager import MemoryManager
from yiku_compat.bitwise.core.memory.types import CompactResult, IndexResult, MemoryDisabled, SearchResult
from yiku_compat.bitwise.core.rag_engine import RAGEngine
from yiku_compat.bitwise.core.skill_indexer import SkillIndexer


class BitwiseAI:
    """
    The application. Without arguments it reads `~/.bitwiseai/config.json` if it is there, and makes the workspace.

    config:        a path, a mapping in the format of the file, or a Config
    workspace_dir: in place of the one of the configuration
    embedding_provider: in place of the one of the configuration
    """

    def __init__(
        self,
        config: str | os.PathLike[str] | Mapping[str, Any] | Config | None = None,
        *,
        workspace_dir: str | os.PathLike[str] | None = None,
        embedding_provider: EmbeddingProvider | None = None,
        clock: Any = None,
    ) -> None:
        found = config if isinstance(config, Config) else parse(config) if isinstance(config, Mapping) else load(config)
        self.config = found if workspace_dir is None else found.in_workspace(workspace_dir)
        memory, embedding = self.config.memory, self.config.embedding
        if embedding_provider is None and embedding.api_key and memory.vector_enabled:
            embedding_provider = OpenAIEmbeddingProvider(embedding.api_key, embedding.model, embedding.base_url)
        self._manager: MemoryManager | None = None
        if memory.enabled:
            self._manager = MemoryManager(
                memory.workspace_dir,
                memory.db_path,
                embedding_provider,
                vector_enabled=memory.vector_enabled,
                chunk_config=memory.chunking,
                hybrid_config=memory.hybrid_search,
                clock=clock,
                settings=self.config.settings(),
            )
            self._manager.initialize()

    @property
    def memory_manager(self) -> MemoryManager:
        """The manager of the workspace. Raises MemoryDisabled."""
        if self._manager is None:
            raise MemoryDisabled("memory.enabled is false")
        return self._manager

    @property
    def documents(self) -> DocumentManager:
        """The knowledge base."""
        return DocumentManager(self.memory_manager)

    @property
    def skills(self) -> SkillIndexer:
        """The skills."""
        return SkillIndexer(self.memory_manager)

    @property
    def rag(self) -> RAGEngine:
        """Passages for answers."""
        return RAGEngine(self.memory_manager)

    def append_to_memory(self, text: str, to_long_term: bool = False) -> Noted:
        """Write to the log of today, or with `to_long_term` to MEMORY.md. Raises MemoryDisabled."""
        if to_long_term:
            return self.memory_manager.promote_to_long_term(text)
        if not self.config.memory.short_term.enabled:
            raise MemoryDisabled("memory.short_term.enabled is false; to_long_term=True writes to MEMORY.md")
        return self.memory_manager.append_to_short_term(text)

    def search_memory(self, query: str, max_results: int = 5, min_score: float | None = None) -> list[SearchResult]:
        """Return the best passages for a question, best first."""
        return self.memory_manager.search_sync(query, max_results, min_score)

    def add_text(self, text: str, source: str = "note.md") -> IndexResult:
        """Add a document to the knowledge base under a name; the same name replaces it."""
        return self.documents.add_text(text, source)

    def compact_memory(self, days_to_keep: int | None = None) -> CompactResult:
        """Archive logs older than so many days, by default those of the configuration."""
        days = self.config.memory.short_term.retention_days if days_to_keep is None else days_to_keep
        return self.memory_manager.compact_short_term(days)

    def get_memory_stats(self) -> dict[str, Any]:
        """Return what the memory holds and how it is."""
        return self.memory_manager.get_stats()

    def close(self) -> None:
        """Close the memory."""
        if self._manager is not None:
            self._manager.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
