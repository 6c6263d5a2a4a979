"""SkillIndexer: index skills with their metadata, and search among them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from yiku_compat.bitwise.core.memory.manager import MemoryManager
from yiku_compat.bitwise.core.memory.types import IndexResult, SearchResult


class SkillIndexer:
    """Indexes skills and searches among them."""

    def __init__(self, memory_manager: MemoryManager) -> None:
        self.memory_manager = memory_manager

    def index_skill(self, path: str | os.PathLike[str], metadata: Mapping[str, Any] | None = None) -> IndexResult:
        """Index one skill, a file or folder."""
        return self.memory_manager.index_skill(path, metadata)

    def index_all(self, folder: str | os.PathLike[str]) -> list[IndexResult]:
        """Index each Markdown file and each folder with a Markdown file in it."""
        entries = sorted(Path(folder).expanduser().iterdir())
        found = [path for path in entries if path.suffix.lower() == ".md" or (path.is_dir() and any(path.rglob("*.md")))]
        return [self.index_skill(path) for path in found]

    def search(self, query: str, max_results: int = 5) -> list[SearchResult]:
        """Return passages of skills alone."""
        found = self.memory_manager.search_sync(query, max_results * 4)
        return [one for one in found if one.source == "skill"][:max_results]
