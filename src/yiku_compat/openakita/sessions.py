"""Session and SessionManager: messages of running conversations; memory summarizes them before they are cut off."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from yiku_compat.openakita.manager import MemoryManager

KEPT = 0.75  # of the messages, when there are too many


@dataclass
class Session:
    """A conversation: its messages, the current task, variables."""

    id: str
    manager: MemoryManager
    messages: list[Mapping[str, Any]] = field(default_factory=list)
    max_messages: int = 100

    async def add_message(self, role: str, content: str, **more: Any) -> None:
        """Record a message, and cut the history when it grows too long."""
        await self.manager.record_turn(role, content, more.get("tool_calls"), more.get("tool_results"), session_id=self.id)
        self.messages.append({"role": role, "content": content, **more})
        if len(self.messages) > self.max_messages:
            await self._truncate_history()

    async def _truncate_history(self) -> None:
        """Hand the oldest quarter to memory, then drop it here."""
        cut = len(self.messages) - int(self.max_messages * KEPT)
        await self.manager.on_context_compressing(self.messages[:cut], self.id)
        del self.messages[:cut]

    @property
    def current_task(self) -> str:
        """What the host set."""
        return self.manager.store.memory.sessions.get(self.id).task or ""

    def set(self, *, task: str | None = None, **variables: Any) -> None:
        """Set the task and variables of the session; they outlive the process."""
        self.manager.store.memory.sessions.set(self.id, task=task, **variables)

    @property
    def variables(self) -> Mapping[str, Any]:
        """The variables that were set."""
        return self.manager.store.memory.sessions.get(self.id).variables


class SessionManager:
    """The conversations of a host."""

    def __init__(self, manager: MemoryManager) -> None:
        self.manager = manager
        self._sessions: dict[str, Session] = {}

    def get(self, session_id: str) -> Session:
        """Return a session, with the messages that memory has of it."""
        if session_id not in self._sessions:
            found = self.manager.store.memory.search_traces(session=session_id, limit=100)
            said = [{"role": turn.role, "content": turn.content} for turn in reversed(found)]
            self._sessions[session_id] = Session(session_id, self.manager, [*said])
        return self._sessions[session_id]

    async def end(self, session_id: str) -> None:
        """End a session; memory has it."""
        self._sessions.pop(session_id, None)
        await self.manager.on_session_end(session_id)
