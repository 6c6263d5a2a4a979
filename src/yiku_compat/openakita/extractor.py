"""
MemoryExtractor: extract statements from turns, create the episode of a session, update the scratchpad.

Yiku learns: by rules without a model, and with one where the host has a brain. What is learned is checked against the user's words
and stored; the candidates that the documents' callers expect are returned from there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from yiku import types as core
from yiku_compat.openakita import turns
from yiku_compat.openakita.session_types import ConversationTurn, Episode, Scratchpad
from yiku_compat.openakita.types import MemoryType, logical_id
from yiku_compat.openakita.unified_store import UnifiedStore


class MemoryExtractor:
    """Learns from what is said, in a store."""

    def __init__(self, store: UnifiedStore) -> None:
        self.store = store

    async def extract_from_turn_v2(self, turn: ConversationTurn | Mapping[str, Any]) -> list[dict[str, Any]]:
        """Store a turn and learn from it; return what it states: type, subject, predicate, content, importance, is_update …"""
        return await asyncio.to_thread(self.extract, ConversationTurn.given(turn))

    def extract(self, turn: ConversationTurn) -> list[dict[str, Any]]:
        """See `extract_from_turn_v2`."""
        memory = self.store.memory
        id = turns.save(memory, turn)
        memory.learn(session=turn.session_id)
        found = memory.get_all(where={"session": turn.session_id}, limit=1_000)
        return [self._candidate(one) for one in reversed(found) if any(source.turn == id for source in one.sources)]

    def extract_quick_facts(self, messages: Iterable[Mapping[str, Any]], session_id: str = "default") -> list[dict[str, Any]]:
        """Learn from messages by rules alone, without a model; return what they state."""
        before = {one.id for one in self.store.memory.get_all(where={"session": session_id}, limit=10_000)}
        for message in messages:
            turn = ConversationTurn.given(message, session_id)
            if turn.content:
                turns.save(self.store.memory, turn)
        after = self.store.memory.get_all(where={"session": session_id}, limit=10_000)
        return [self._candidate(one) for one in reversed(after) if one.id not in before]

    async def generate_episode(
        self, conversation_turns: Sequence[ConversationTurn | Mapping[str, Any]], session_id: str
    ) -> Episode | None:
        """Store what is not stored of a session, end it, and return its episode; None where nothing was said."""
        ended = await asyncio.to_thread(self.end, conversation_turns, session_id)
        return None if ended is None or ended.episode is None else Episode.of(ended.episode)

    def end(self, conversation_turns: Sequence[ConversationTurn | Mapping[str, Any]], session_id: str) -> core.Ended | None:
        """End a session; turns without an index that are stored already are not stored again."""
        memory = self.store.memory
        known = {(one.role, one.content) for one in memory.search_traces(session=session_id, limit=10_000)}
        for given in conversation_turns:
            turn = ConversationTurn.given(given, session_id)
            if turn.turn_index is not None or (turn.role, turn.content) not in known:
                turns.save(memory, replace(turn, session_id=session_id))
        if not known and not conversation_turns:
            return None
        return memory.sessions.end(session_id)

    async def update_scratchpad(self, current: Scratchpad | None, episode: Episode) -> Scratchpad | None:
        """Return the scratchpad as the end of a session left it; what the user wrote there stays, and so does what waits."""
        user = current.user_id if current is not None else "default"
        return await asyncio.to_thread(self.store.get_scratchpad, user)

    def _candidate(self, memory: core.SemanticMemory) -> dict[str, Any]:
        versions = self.store.memory.history(memory.id)
        before = [one.content for one in versions if one.superseded_by == memory.id]
        return {
            "id": logical_id(memory),
            "type": MemoryType(memory.kind.value).name,
            "subject": memory.subject or "",
            "predicate": memory.predicate or "",
            "content": memory.content,
            "importance": memory.importance,
            "duration": "permanent" if memory.expires_at is None else "session" if memory.priority == "transient" else "7d",
            "is_update": bool(before),
            "update_hint": before[-1] if before else "",
        }
