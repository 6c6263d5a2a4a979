"""LifecycleManager: run Yiku's nightly consolidation, whole or step by step, and rewrite MEMORY.md and USER.md."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from yiku import types as core
from yiku.errors import InvalidInput
from yiku_compat.openakita.types import SemanticMemory
from yiku_compat.openakita.unified_store import UnifiedStore

EXPIRE, MAINTAIN, RANK = 0, 4, 5  # phases of a night


class LifecycleManager:
    """The daily consolidation of a store."""

    def __init__(self, store: UnifiedStore) -> None:
        self.store = store

    async def consolidate_daily(self) -> dict[str, Any]:
        """Run a whole night: learn what waits, remove duplicates, let fade, publish, compile. Return counts and the decisions."""
        return await asyncio.to_thread(self.consolidate)

    def consolidate(self) -> dict[str, Any]:
        """See `consolidate_daily`."""
        report = self.store.memory.admin.consolidate()
        compiled: list[str] = []
        with contextlib.suppress(InvalidInput):  # a scope without files has no identity
            compiled = [one.path for one in self.store.memory.prompts.compile().summaries if one.action == "written"]
        done = {"run": report.run, "finished": report.finished, "counts": dict(report.counts), "decisions": _shown(report)}
        return {**done, "compiled": compiled}

    async def process_unextracted_turns(self) -> int:
        """Learn from turns that wait; return how many there were."""
        return (await asyncio.to_thread(self.store.memory.learn)).turns

    async def deduplicate_batch(self, memories: Sequence[SemanticMemory] | None = None) -> int:
        """Replace statements that say what another says; return how many. The others stay as history, `undo` brings them back."""
        report = await asyncio.to_thread(self.store.memory.admin.consolidate, phase=MAINTAIN)
        wanted = None if memories is None else {one.id for one in memories}
        found = [item for item in report.items if item.action == "merged"]
        return len(found) if wanted is None else sum(bool(wanted & self._ids(item.ids)) for item in found)

    def compute_decay(self) -> dict[str, int]:
        """Let sleep what faded: archived, never deleted."""
        return dict(self.store.memory.admin.consolidate(phase=RANK).counts)

    def cleanup_expired(self) -> int:
        """Archive what has expired; return how many."""
        return sum(self.store.memory.admin.consolidate(phase=EXPIRE).counts.values())

    async def refresh_memory_md(self) -> Path:
        """Write MEMORY.md as memory has it now, after reading what somebody changed there."""
        return await asyncio.to_thread(self._publish, "MEMORY.md")

    async def refresh_user_md(self, identity_dir: Path | None = None) -> Path:
        """Write USER.md, and compile it. It lies in the home; `identity_dir` is taken as the documents' callers give it."""
        return await asyncio.to_thread(self._publish, "USER.md")

    def _publish(self, page: str) -> Path:
        self.store.memory.notes.publish()
        return self.store.db.home / page

    def _ids(self, ids: Sequence[str]) -> set[str]:
        """Return ids as this interface has them, of memories that may be superseded by now."""
        found = set()
        for id in ids:
            memory = self.store.memory.get(id)
            if isinstance(memory, core.SemanticMemory):
                found.add(SemanticMemory.of(memory).id)
        return found


def _shown(report: core.NightReport) -> list[Mapping[str, Any]]:
    return [{"action": item.action, "ids": list(item.ids), "reason": item.reason} for item in report.items]
