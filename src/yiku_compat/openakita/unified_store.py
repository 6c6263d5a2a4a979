"""
UnifiedStore: save, read and search statements, episodes, scratchpads, turns, extraction queue and attachments.

Yiku's own verbs do the work: a saved statement may confirm or replace another; a turn is on the disk when `save_turn` returns,
and is itself what waits in the queue.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from yiku import Memory
from yiku import types as core
from yiku.errors import InvalidInput
from yiku_compat.openakita import records, turns
from yiku_compat.openakita.search_backends import SearchBackend, create_search_backend
from yiku_compat.openakita.session_types import Attachment, ConversationTurn, Episode, Scratchpad
from yiku_compat.openakita.storage import MemoryStorage
from yiku_compat.openakita.synced_backend import SyncedBackend
from yiku_compat.openakita.types import PREFIX, MemoryPriority, MemoryType, SemanticMemory, logical_id

UPDATES = {"importance_score": "importance", "type": "kind"}  # fields of the documents by ours
NOTED = ("source", "source_episode_id", "decay_rate")  # fields that are kept in the metadata
ERRORS_LAST = timedelta(days=7)


class UnifiedStore:
    """The store. `db` is the home, `search` what was given to search it."""

    def __init__(
        self, db_path: str | os.PathLike[str] | Memory, search_backend: SearchBackend | str | None = None, **options: Any
    ) -> None:
        """Open a home, or take a memory; `options` are those of `Memory`."""
        self.db = MemoryStorage(db_path, **options)
        self.memory = self.db.memory
        given = "fts5" if search_backend is None else search_backend
        self.search = create_search_backend(given) if isinstance(given, str) else given
        self._backend = SyncedBackend(self.db, self.search)

    # -------------------------------------------------------------- statements

    def save_semantic(self, memory: SemanticMemory) -> str:
        """Store a statement; return its id, that of the statement it confirms if there is one. Raises InvalidInput, KeptOut …"""
        details: dict[str, Any] = {
            "kind": MemoryType(memory.type).value,
            "importance": memory.importance_score,
            "confidence": memory.confidence,
            "metadata": {name: value for name in NOTED if (value := getattr(memory, name)) is not None},
        }
        for name in ("subject", "predicate", "tags", "expires_at"):
            if value := getattr(memory, name):
                details[name] = value
        if memory.priority is None and memory.expires_at is None and MemoryType(memory.type) is MemoryType.ERROR:
            details["expires_at"] = (memory.created_at or self._now()) + ERRORS_LAST
        elif memory.priority is not None or memory.expires_at is None:
            details["priority"] = MemoryPriority(memory.priority or MemoryPriority.PERMANENT).value
        if memory.created_at:
            details["said_at"] = memory.created_at
        if memory.id:
            details["external_id"] = PREFIX + memory.id
        outcome = self.memory.remember(memory.content, **details)
        if outcome.memory.state is core.State.ACTIVE and outcome.memory.superseded_by is None:
            self._backend.put([outcome.memory])
        return logical_id(outcome.memory)

    def update_semantic(self, memory_id: str, updates: Mapping[str, Any]) -> bool:
        """Change a statement: new content is a new version, the old one is kept. False if there is no such statement."""
        if (found := self.db.find(memory_id)) is None:
            return False
        given = {UPDATES.get(name, name): value for name, value in updates.items()}
        content = given.pop("content", None)
        noted = {name: given.pop(name) for name in NOTED if name in given}
        for name, kind in (("kind", MemoryType), ("priority", MemoryPriority)):
            if name in given:
                given[name] = kind(given[name]).value
        if noted:
            given["metadata"] = {**found.metadata, **noted}
        self._backend.put([self.memory.update(found.id, content, **given)])
        return True

    def delete_semantic(self, memory_id: str) -> bool:
        """Forget a statement; `memory.restore` brings it back. False if there is no such statement."""
        if (found := self.db.find(memory_id)) is None:
            return False
        gone = bool(self.memory.forget(found.id, reason="deleted").memories)
        self.search.delete(memory_id)
        return gone

    def get_semantic(self, memory_id: str) -> SemanticMemory | None:
        """Return a statement as it is now; None if there is none."""
        found = self.db.find(memory_id)
        return None if found is None else SemanticMemory.of(found)

    def find_similar_semantic(self, subject: str, predicate: str) -> SemanticMemory | None:
        """Return the newest statement of this subject and predicate, under any of their names."""
        probe = self.memory.remember(f"{subject} {predicate}", subject=subject, predicate=predicate, dry_run=True).memory
        found = self.memory.get_all(where={"subject": probe.subject, "predicate": probe.predicate}, limit=1)
        return SemanticMemory.of(found[0]) if found else None

    def search_semantic(self, query: str, limit: int = 10, types: Iterable[Any] | None = None) -> list[SemanticMemory]:
        """Return live statements that the search backend finds, the best first."""
        kinds = None if types is None else {MemoryType(one).value for one in types}
        return [SemanticMemory.of(memory) for memory, _ in self.scored(query, limit, kinds)]

    def scored(self, query: str, limit: int, kinds: set[str] | None = None) -> list[tuple[core.SemanticMemory, float]]:
        """Return what the search backend finds, with its scores."""
        return self._backend.search(query, limit, kinds)

    def get_recent_semantic(self, days: int = 3, limit: int = 20) -> list[SemanticMemory]:
        """Return the newest statements."""
        since = self._now() - timedelta(days=days)
        return [SemanticMemory.of(one) for one in self.memory.get_all(where={"said_at": {"gte": since.isoformat()}}, limit=limit)]

    # -------------------------------------------------------------- episodes

    def save_episode(self, episode: Episode) -> str:
        """Store an episode as it is; return its id. One that is there stays. Raises InvalidInput."""
        record = records.episode(episode, self._now())
        records.put(self.memory, [record], self._now())
        return str(record["id"])

    def search_episodes(self, query: str, limit: int = 10) -> list[Episode]:
        """Return episodes that the words of a query find."""
        hits = self.memory.recall(query, limit=limit, types=["episode"])
        return [Episode.of(hit.item) for hit in hits if isinstance(hit.item, core.Episode)]

    def get_episodes_by_entity(self, entity: str) -> list[Episode]:
        """Return episodes about a file, a project, a thing, newest first."""
        wanted = entity.strip().casefold()
        all_of_them = self.memory.sessions.episodes(limit=10_000)
        return [Episode.of(one) for one in all_of_them if wanted in {name.casefold() for name in one.entities}]

    def get_recent_episodes(self, days: int = 7) -> list[Episode]:
        """Return the episodes of the last days, newest first."""
        return [Episode.of(one) for one in self.memory.sessions.episodes(since=self._now() - timedelta(days=days), limit=10_000)]

    # -------------------------------------------------------------- the scratchpad

    def get_scratchpad(self, user_id: str = "default") -> Scratchpad | None:
        """Return what a user works on; None if nothing is noted. "default" is the owner."""
        pad = self.memory.sessions.scratchpad(None if user_id == "default" else user_id)
        content = self.memory.sessions.to_markdown(pad)
        return Scratchpad.of(pad, content, user_id) if content.strip() else None

    def save_scratchpad(self, scratchpad: Scratchpad) -> None:
        """Store a scratchpad as its user wrote it: its content, or its fields. What they leave out stays. Raises InvalidInput."""
        text = scratchpad.content or turns.pad_as_markdown(scratchpad)
        if text.strip():
            self.memory.sessions.edit_scratchpad(text, None if scratchpad.user_id == "default" else scratchpad.user_id)

    # -------------------------------------------------------------- turns and the queue

    def save_turn(self, session_id: str, turn_index: int | None, role: str, content: str, **more: Any) -> str:
        """Store a turn: tool_calls, tool_results, timestamp. With an index it is stored once. Return its id."""
        given = ConversationTurn.given({"role": role, "content": content, **more}, session_id, turn_index)
        return turns.save(self.memory, given)

    def get_unextracted_turns(self) -> list[dict[str, Any]]:
        """Return the turns that nothing was learned from yet, oldest first."""
        return turns.waiting(self.memory)

    def mark_turns_extracted(self, session_id: str, turn_indices: Iterable[int]) -> int:
        """Learn from what waits in a session, which is what marks its turns; return how many of these no longer wait."""
        return turns.settle(self.memory, session_id, list(turn_indices))

    def enqueue_extraction(self, session_id: str, turn_index: int, content: str, **more: Any) -> str:
        """Store a turn that is to be learned from; it is itself the entry of the queue. Return its id."""
        return self.save_turn(session_id, turn_index, more.pop("role", "user"), content, **more)

    def dequeue_extraction(self, batch_size: int = 10) -> list[dict[str, Any]]:
        """Return the next entries of the queue: turns that wait, with status, retry_count and max_retries."""
        return turns.queued(self.memory, batch_size)

    # -------------------------------------------------------------- attachments

    def save_attachment(self, attachment: Attachment) -> str:
        """Store what is known of a file; return its id. Raises InvalidInput without a path and an address."""
        if not attachment.local_path and not attachment.url:
            raise InvalidInput("an attachment needs a local_path or a url")
        record = records.attachment(attachment, self._now())
        records.put(self.memory, [record], self._now())
        return str(record["id"])

    def search_attachments(self, query: str, limit: int = 10) -> list[Attachment]:
        """Return attachments by what is known of them."""
        hits = self.memory.recall(query, limit=limit, types=["attachment"])
        return [Attachment.of(hit.item) for hit in hits if isinstance(hit.item, core.Attachment)]

    def close(self) -> None:
        """Close the search backend and, if it was opened here, the home."""
        if close := getattr(self.search, "close", None):
            close()
        self.db.close()

    def _now(self) -> datetime:
        return self.db.now()
