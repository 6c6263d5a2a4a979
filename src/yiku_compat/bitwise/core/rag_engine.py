"""RAGEngine: retrieve passages for a question, with files and lines, and answer it from a prompt made of them."""

from __future__ import annotations

from collections.abc import Callable

from yiku_compat.bitwise.core.memory.manager import MemoryManager
from yiku_compat.bitwise.core.memory.types import SearchResult

MAX_TOKENS = 1_500


class RAGEngine:
    """Answers with passages of memory and documents. `llm` is any function from a prompt to an answer."""

    def __init__(self, memory_manager: MemoryManager, llm: Callable[[str], str] | None = None) -> None:
        self.memory_manager = memory_manager
        self.llm = llm

    def retrieve(self, query: str, max_results: int = 5) -> list[SearchResult]:
        """Return the best passages."""
        return self.memory_manager.search_sync(query, max_results)

    def context(self, query: str, max_tokens: int = MAX_TOKENS) -> str:
        """Return what is known about a question as one fenced text: passages are quoted, and are no instructions."""
        memory = self.memory_manager.storage.memory
        passages = memory.recall(query, types=["note"])
        return memory.agent.quote(passages.hits, query, max_tokens=max_tokens).text if passages else ""

    def prompt(self, query: str, max_tokens: int = MAX_TOKENS) -> str:
        """Return a prompt that asks the question with what is known about it."""
        known = self.context(query, max_tokens)
        return f"{known}\n\n{query}" if known else query

    def query(self, query: str, max_tokens: int = MAX_TOKENS) -> str:
        """Return the answer of the model; without one, the passages."""
        return self.llm(self.prompt(query, max_tokens)) if self.llm is not None else self.context(query, max_tokens)
