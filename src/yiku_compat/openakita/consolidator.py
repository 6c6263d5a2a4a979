"""MemoryConsolidator: save and load the messages of sessions; Yiku keeps them in the database and in JSON Lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from yiku_compat.openakita import turns
from yiku_compat.openakita.session_types import ConversationTurn
from yiku_compat.openakita.unified_store import UnifiedStore

PAGE = 500


class MemoryConsolidator:
    """Saves and returns conversations of a store."""

    def __init__(self, store: UnifiedStore) -> None:
        self.store = store

    def save_turn(self, session_id: str, turn: ConversationTurn | Mapping[str, Any]) -> str:
        """Store a turn; the session's file in `transcripts` follows. Return its id."""
        given = ConversationTurn.given(turn, session_id)
        return turns.save(self.store.memory, given)

    def load_session(self, session_id: str) -> Iterator[Mapping[str, Any]]:
        """Yield the messages of a session, in order. Raises NotFound."""
        after: str | None = None
        while True:
            page = self.store.memory.sessions.messages(session_id, limit=PAGE, after=after)
            yield from page
            if (after := page.cursor) is None:
                return

    @property
    def transcripts(self) -> Path:
        """The folder of the JSON Lines files, one a session."""
        return self.store.db.home / "transcripts"
