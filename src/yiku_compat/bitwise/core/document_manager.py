"""DocumentManager: add, search and remove documents of the knowledge base."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from yiku_compat.bitwise.core.memory.manager import MemoryManager
from yiku_compat.bitwise.core.memory.types import IndexResult, SearchResult

ENDINGS = (".md", ".markdown", ".txt")


class DocumentManager:
    """Adds, finds and removes documents."""

    def __init__(self, memory_manager: MemoryManager) -> None:
        self.memory_manager = memory_manager

    def add_text(self, text: str, source: str = "note.md") -> IndexResult:
        """Add a text under a name; the same name replaces it."""
        return self.memory_manager.index_document(source, text)

    def add_document(self, path: str | os.PathLike[str]) -> IndexResult:
        """Add a file; what is added again is replaced."""
        return self.memory_manager.index_document(path)

    def add_folder(self, folder: str | os.PathLike[str]) -> list[IndexResult]:
        """Add the Markdown and text files of a folder."""
        found: Iterable[Path] = sorted(path for path in Path(folder).expanduser().rglob("*") if path.suffix.lower() in ENDINGS)
        return [self.add_document(path) for path in found if path.is_file() and not path.name.startswith(".")]

    def remove(self, source: str) -> IndexResult:
        """Remove a document."""
        return self.memory_manager.indexer.delete_index(source, "document")

    def search(self, query: str, max_results: int = 5) -> list[SearchResult]:
        """Return passages of documents alone."""
        found = self.memory_manager.search_sync(query, max_results * 4)
        return [one for one in found if one.source == "document"][:max_results]

    def sources(self) -> list[str]:
        """Return the documents, by their paths in the workspace."""
        rows = self.memory_manager.select("select path from files where source = 'document' order by path")
        return [str(path) for (path,) in rows]
