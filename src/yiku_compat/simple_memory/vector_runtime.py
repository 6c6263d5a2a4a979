"""
`VectorMemoryRuntime`: the `MemoryRuntime` on Yiku's full search (words, entities, vectors), notes included.

Vectors are used as the home's setting `search` says; one that names a model which does not answer fails, and `auto` says what is missing.
"""

# ruff: noqa: PLR0917 - the signatures are the document's

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import Any

from yiku_compat.simple_memory.manager import MemorySqlManager
from yiku_compat.simple_memory.memories import KINDS, BaseMemory, NoteRecall, memory_type
from yiku_compat.simple_memory.runtime import MOST_RECALLED, SimpleMemoryRuntime, balanced, tell
from yiku_compat.simple_memory.scopes import checked


class VectorMemoryRuntime:
    """Memories by what they say."""

    def __init__(self, manager: MemorySqlManager) -> None:
        self.manager = manager
        self._simple = SimpleMemoryRuntime(manager)  # writing, feedback and tidying are the same

    async def remember(
        self,
        memory_type: str,
        judgment: str,
        reasoning: str,
        tags: Sequence[str],
        is_active: bool = False,
        strength: int | None = None,
        memory_scope: str = "public",
    ) -> str:
        """Store a memory; return its id. Raises InvalidInput, InvalidScope."""
        return await self._simple.remember(memory_type, judgment, reasoning, tags, is_active, strength, memory_scope)

    async def recall(
        self,
        memory_type: str | None,
        query: str,
        limit: int = 10,
        include_consolidated: bool = True,
        memory_scope: str | None = None,
    ) -> list[BaseMemory]:
        """Return the memories that answer a text best."""
        return await asyncio.to_thread(self._find, query, checked(memory_scope), limit, memory_type)

    async def comprehensive_recall(
        self, query: str, fresh_limit: int | None = None, event: Any = None, vector: Any = None, memory_scope: str = "public"
    ) -> list[BaseMemory]:
        """Return memories of all types."""
        return await asyncio.to_thread(self._find, query, memory_scope, fresh_limit or 10)

    async def chained_recall(
        self,
        query: str,
        entities: Sequence[str],
        per_type_limit: int = 7,
        final_limit: int = 7,
        vector: Any = None,
        event: Any = None,
        memory_scope: str = "public",
    ) -> list[BaseMemory]:
        """Return what a text is about, then what each entity is about, at most so many of each type."""
        found = await asyncio.to_thread(self._find, query, memory_scope, MOST_RECALLED)
        for entity in entities:
            found += await asyncio.to_thread(self._find, entity, memory_scope, 3)
        once = {memory.id: memory for memory in reversed(found)}
        return balanced([*reversed(once.values())], per_type_limit)[:final_limit]

    async def feedback(
        self,
        useful_memory_ids: Sequence[str] = (),
        new_memories: Sequence[Mapping[str, Any]] = (),
        merge_groups: Sequence[Sequence[str]] = (),
        memory_scope: str = "public",
    ) -> list[BaseMemory]:
        """Strengthen, add and merge, in this scope only."""
        return await self._simple.feedback(useful_memory_ids, new_memories, merge_groups, memory_scope)

    async def consolidate_memories(self) -> None:
        """Tidy each scope that was used."""
        await self._simple.consolidate_memories()

    async def note_recall(self, query: str, limit: int = 10, memory_scope: str = "public") -> NoteRecall:
        """Search in the notes of the vault."""
        memory = self.manager.handle(memory_scope)
        hits = await asyncio.to_thread(memory.recall, query, limit=limit, types=("note",))
        return NoteRecall(enabled=True, reason="", notes=tuple(hit.text for hit in hits))

    def _find(self, query: str, memory_scope: str, limit: int, kind: str | None = None) -> list[BaseMemory]:
        where = None if kind is None else {"kind": KINDS[memory_type(kind)]}
        memory = self.manager.handle(checked(memory_scope))
        started = time.perf_counter()
        hits = (
            memory.recall(query, limit=max(1, min(limit, MOST_RECALLED)), where=where, types=("memory",)) if query.strip() else []
        )
        lines = [str(getattr(hit.item, "line", hit.id)) for hit in hits]
        found = self.manager.read(lines, memory_scope)
        tell(self, len(found), len(hits), (time.perf_counter() - started) * 1000)
        return found
