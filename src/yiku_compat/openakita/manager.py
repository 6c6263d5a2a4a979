"""MemoryManager: OpenAkita's entry point: record turns, learn, retrieve, consolidate, by the components it holds."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any

from yiku import Memory
from yiku.errors import YikuError
from yiku_compat.openakita import turns
from yiku_compat.openakita.brain import Brain, BrainChat
from yiku_compat.openakita.config import Settings
from yiku_compat.openakita.extractor import MemoryExtractor
from yiku_compat.openakita.lifecycle import LifecycleManager
from yiku_compat.openakita.retrieval import RetrievalEngine
from yiku_compat.openakita.scratchpad import ScratchpadManager
from yiku_compat.openakita.search_backends import SearchBackend
from yiku_compat.openakita.session_types import Attachment, ConversationTurn, Episode
from yiku_compat.openakita.types import MemoryType, SemanticMemory
from yiku_compat.openakita.unified_store import UnifiedStore

Turns = Sequence[ConversationTurn | Mapping[str, Any]]


class MemoryManager:
    """Records turns, learns, finds, and consolidates; `store`, `extractor`, `retriever`, `lifecycle`, `scratchpad` are its parts."""

    def __init__(
        self,
        data_dir: str | os.PathLike[str] | Memory,
        brain: Brain | None = None,
        *,
        settings: Settings | Mapping[str, Any] | None = None,
        search_backend: SearchBackend | None = None,
        **options: Any,
    ) -> None:
        """
        Open a home, or take a memory.

        brain:          the host's model; without one, rules do all of it
        search_backend: instead of the one that the settings name
        options:        of `Memory`: scope, clock, durability …
        """
        given = settings if isinstance(settings, Settings) else Settings.from_mapping(settings or {})
        if brain is not None and not isinstance(data_dir, Memory):
            options["chat"] = BrainChat(brain)
        self.brain = brain
        self.store = UnifiedStore(data_dir, search_backend or given.backend(), **options)
        self.extractor = MemoryExtractor(self.store)
        self.retriever = RetrievalEngine(self.store)
        self.lifecycle = LifecycleManager(self.store)
        self.scratchpad = ScratchpadManager(self.store)
        self.session_id = "default"
        self.troubles: list[str] = []  # of what was done in the background
        self._tasks: set[asyncio.Task[None]] = set()

    # -------------------------------------------------------------- the conversation

    def start_session(self, session_id: str) -> None:
        """Record the turns that follow in this session."""
        self.session_id = session_id

    async def record_turn(
        self,
        role: str,
        content: str,
        tool_calls: Sequence[Mapping[str, Any]] | None = None,
        tool_results: Sequence[Mapping[str, Any]] | None = None,
        *,
        session_id: str | None = None,
    ) -> str:
        """
        Store a turn: in the database and in the session's JSON Lines file. Return its id.

        Rules learn from it before this returns. A model reads it in the background; if that fails, the turn stays in the queue.
        """
        turn = ConversationTurn.given(
            {"role": role, "content": content, "tool_calls": tool_calls, "tool_results": tool_results},
            session_id or self.session_id,
        )
        id = await asyncio.to_thread(turns.save, self.store.memory, turn)
        if self.brain is not None and role == "user":
            task = asyncio.create_task(self._learn(turn.session_id))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return id

    async def drain(self) -> None:
        """Wait for what was started in the background."""
        while self._tasks:
            await asyncio.gather(*self._tasks)

    async def on_context_compressing(
        self, messages: Iterable[Mapping[str, Any]], session_id: str | None = None, summary: str | None = None
    ) -> Episode | None:
        """
        Keep messages that leave the context: stored, learned from by rules, and told as an episode. Return the episode.

        Call it again with the same messages and a `summary` to fill that in.
        """
        listed = [dict(one) for one in messages]
        session = session_id or next((str(one["_session_id"]) for one in listed if one.get("_session_id")), self.session_id)
        plain = [{name: value for name, value in one.items() if not name.startswith("_")} for one in listed]
        done = await asyncio.to_thread(self.store.memory.sessions.compressing, plain, session=session, summary=summary)
        return None if done.episode is None else Episode.of(done.episode)

    async def on_session_end(self, session_id: str, conversation_turns: Turns = ()) -> Episode | None:
        """End a session: its episode, what it states, the scratchpad, what waits in the queue. Return the episode."""
        episode = await self.extractor.generate_episode(conversation_turns, session_id)
        await self._learn(session_id)
        return episode

    def get_injection_context(self, query: str, recent_messages: Sequence[Mapping[str, Any]] | None = None, **more: Any) -> str:
        """Return what belongs into the prompt for a question, fenced; see RetrievalEngine.retrieve."""
        return self.retriever.retrieve(query, recent_messages, **more)

    async def consolidate_daily(self) -> dict[str, Any]:
        """Run a night; see LifecycleManager."""
        return await self.lifecycle.consolidate_daily()

    # -------------------------------------------------------------- what the tools call

    def add_memory(self, memory: SemanticMemory | str, type: MemoryType | str = MemoryType.FACT, importance: float = 0.5) -> str:
        """Store a statement of the user; return its id. A model's statements come through `tools`, where they are checked."""
        if isinstance(memory, str):
            memory = SemanticMemory(content=memory, type=MemoryType(type), importance_score=importance)
        return self.store.save_semantic(memory)

    def search_memory(self, query: str, type: MemoryType | str | None = None, limit: int = 10) -> list[Any]:
        """Return statements and episodes, the best first; with a type only such statements. Nothing that expired."""
        if type is not None:
            return self.store.search_semantic(query, limit, [type])
        found = self.retriever.retrieve_candidates(query, limit=limit)
        return [one.item for one in found if "recent" not in one.ways or len(one.ways) > 1]

    def search_conversation_traces(
        self, keyword: str, session_id: str | None = None, max_results: int = 10, days_back: int = 7
    ) -> list[Any]:
        """Return turns with their calls of tools, the newest first."""
        since = self.store.db.now() - timedelta(days=days_back)
        return list(self.store.memory.search_traces(keyword, session=session_id, since=since, limit=max_results))

    def get_memory_stats(self) -> dict[str, Any]:
        """Return counts: total, by type, episodes, turns, what waits, the search backend and why it is another."""
        stats, status = self.store.memory.admin.stats(), self.store.memory.status()
        return {
            "total": stats.memories.get("active", 0),
            "by_type": dict(stats.kinds),
            "by_state": dict(stats.memories),
            "episodes": stats.episodes,
            "conversation_turns": stats.turns,
            "sessions": stats.sessions,
            "attachments": stats.attachments,
            "waiting": dict(status.waiting),
            "search_backend": self.store.search.backend_type,
            "degraded": getattr(self.store.search, "degraded", None),
            "troubles": [*status.troubles, *self.troubles],
        }

    def record_attachment(self, attachment: Attachment) -> str:
        """Store what is known of a file; return its id."""
        return self.store.save_attachment(attachment)

    def close(self) -> None:
        """Close the store."""
        self.store.close()

    async def _learn(self, session_id: str) -> None:
        """Let the model read what waits in a session; what fails waits on, and is told in `troubles`."""
        try:
            report = await asyncio.to_thread(self.store.memory.learn, session=session_id)
        except YikuError as error:
            self.troubles.append(str(error))
        else:
            self.troubles += report.troubles
