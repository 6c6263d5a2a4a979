"""
`MemoryRuntime`, the protocol that agents and tools call, and `SimpleMemoryRuntime`, which searches by tags.

All methods are asynchronous and run in a thread; each recall logs the runtime, how many tags and memories it found, and the time of SQL.
"""

# ruff: noqa: PLR0917 - the signatures are the document's

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from yiku_compat.simple_memory.manager import MemorySqlManager
from yiku_compat.simple_memory.memories import BaseMemory, NoteRecall, memory_type
from yiku_compat.simple_memory.scopes import checked

MOST_RECALLED = 100  # whatever `limit` says
NO_NOTES = "notes are disabled: enable_simple_memory is on, and Simple mode searches by tags only"
log = logging.getLogger("yiku_compat.simple_memory")


class MemoryRuntime(Protocol):
    """What an agent and its tools may call, whichever implementation is below."""

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
        """Store a memory; return its id."""

    async def recall(
        self,
        memory_type: str | None,
        query: str,
        limit: int = 10,
        include_consolidated: bool = True,
        memory_scope: str | None = None,
    ) -> list[BaseMemory]:
        """Return memories of one type, or of any, that a text is about."""

    async def comprehensive_recall(
        self, query: str, fresh_limit: int | None = None, event: Any = None, vector: Any = None, memory_scope: str = "public"
    ) -> list[BaseMemory]:
        """Return memories of all types that a text is about."""

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
        """Return memories that a text or one of the entities is about, at most so many of each type."""

    async def feedback(
        self,
        useful_memory_ids: Sequence[str] = (),
        new_memories: Sequence[Mapping[str, Any]] = (),
        merge_groups: Sequence[Sequence[str]] = (),
        memory_scope: str = "public",
    ) -> list[BaseMemory]:
        """Strengthen what was useful, add what is new, merge what is one; return what was added and merged."""

    async def consolidate_memories(self) -> None:
        """Tidy what is held."""

    async def note_recall(self, query: str, limit: int = 10, memory_scope: str = "public") -> NoteRecall:
        """Search in notes, where the runtime does that."""


class SimpleMemoryRuntime:
    """Memories by their tags, without vectors."""

    def __init__(self, manager: MemorySqlManager) -> None:
        self.manager = manager

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
        return await asyncio.to_thread(
            self.manager.write, memory_type, judgment, reasoning, tags, memory_scope, is_active=is_active, strength=strength
        )

    async def recall(
        self,
        memory_type: str | None,
        query: str,
        limit: int = 10,
        include_consolidated: bool = True,
        memory_scope: str | None = None,
    ) -> list[BaseMemory]:
        """Return memories that carry tags of a text: most tags first, then the latest day, then the strongest."""
        return await asyncio.to_thread(self._find, query, checked(memory_scope), limit, memory_type)

    async def comprehensive_recall(
        self, query: str, fresh_limit: int | None = None, event: Any = None, vector: Any = None, memory_scope: str = "public"
    ) -> list[BaseMemory]:
        """Return memories of all types in the same order."""
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
        """Return what a text and the entities are about. It weakens nothing: being recalled says nothing against a memory."""
        found = await asyncio.to_thread(self._find, "\n".join([query, *entities]), memory_scope, MOST_RECALLED)
        return balanced(found, per_type_limit)[:final_limit]

    async def feedback(
        self,
        useful_memory_ids: Sequence[str] = (),
        new_memories: Sequence[Mapping[str, Any]] = (),
        merge_groups: Sequence[Sequence[str]] = (),
        memory_scope: str = "public",
    ) -> list[BaseMemory]:
        """Strengthen, add and merge, in this scope only. Raises NotFound before anything changes where an id is not of this scope."""
        return await asyncio.to_thread(give_feedback, self.manager, useful_memory_ids, new_memories, merge_groups, memory_scope)

    async def consolidate_memories(self) -> None:
        """Tidy each scope that was used: unused tags go, and the mirror is made again."""
        await asyncio.to_thread(self.manager.collect_garbage)

    async def note_recall(self, query: str, limit: int = 10, memory_scope: str = "public") -> NoteRecall:
        """Say that notes are disabled."""
        log.warning("%s", NO_NOTES)
        return NoteRecall(enabled=False, reason=NO_NOTES)

    def _find(self, query: str, memory_scope: str, limit: int, kind: str | None = None) -> list[BaseMemory]:
        only = None if kind is None else memory_type(kind)
        scope = checked(memory_scope)
        found, tags, taken = self.manager.find(query, scope, limit=max(0, min(limit, MOST_RECALLED)), only=only)
        tell(self, len(found), tags, taken)
        return found


def tell(runtime: object, returned: int, candidates: int, taken_ms: float) -> None:
    """Log a request."""
    log.info("runtime=%s candidates=%d returned=%d sql_ms=%.2f", type(runtime).__name__, candidates, returned, taken_ms)


def balanced(found: Sequence[BaseMemory], per_type_limit: int) -> list[BaseMemory]:
    """Return at most so many of each type, in the order in which they were found."""
    seen: dict[str, int] = {}
    kept = []
    for memory in found:
        seen[memory.memory_type] = seen.get(memory.memory_type, 0) + 1
        if seen[memory.memory_type] <= per_type_limit:
            kept.append(memory)
    return kept


def give_feedback(
    manager: MemorySqlManager,
    useful: Sequence[str],
    new: Sequence[Mapping[str, Any]],
    groups: Sequence[Sequence[str]],
    memory_scope: str,
) -> list[BaseMemory]:
    """Strengthen, add and merge; return what was added and merged."""
    for id in [*useful, *(id for group in groups for id in group)]:
        manager.line(id, memory_scope)
    for id in useful:
        manager.strengthen(id, memory_scope)
    made = [
        manager.write(
            str(each.get("memory_type") or each.get("type") or "knowledge"),
            str(each["judgment"]),
            str(each.get("reasoning") or ""),
            [*each.get("tags", ())],
            memory_scope,
            is_active=bool(each.get("is_active", False)),
            strength=each.get("strength"),
        )
        for each in new
    ]
    made += [manager.merge(group, memory_scope) for group in groups if len({*group}) > 1]
    return [memory for id in made for memory in manager.read([id], memory_scope)]
