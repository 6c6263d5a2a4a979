"""ScratchpadManager: read and update a user's scratchpad (current task, open questions, next steps) across sessions."""

from __future__ import annotations

from collections.abc import Sequence

from yiku_compat.openakita.session_types import Scratchpad
from yiku_compat.openakita.unified_store import UnifiedStore


class ScratchpadManager:
    """The scratchpads of a store. The current task follows from what the user says; a host or a model adds lines, and settles them."""

    def __init__(self, store: UnifiedStore) -> None:
        self.store = store

    def get(self, user_id: str = "default") -> Scratchpad | None:
        """Return the scratchpad of a user; None if nothing is noted."""
        return self.store.get_scratchpad(user_id)

    def save(self, scratchpad: Scratchpad) -> None:
        """Store it as its user wrote it."""
        self.store.save_scratchpad(scratchpad)

    def update(
        self,
        *,
        open_questions: Sequence[str] = (),
        next_steps: Sequence[str] = (),
        settled: Sequence[str] = (),
        user_id: str = "default",
    ) -> Scratchpad | None:
        """Add lines, and settle those that are done; nothing else is rewritten."""
        self.store.memory.sessions.patch_scratchpad(
            add_open_questions=open_questions,
            settle_open_questions=settled,
            add_next_steps=next_steps,
            settle_next_steps=settled,
            user=None if user_id == "default" else user_id,
        )
        return self.get(user_id)
