"""
The pending buffer: entries are searchable at once; a light consolidation makes memories of the important ones.

An entry is a turn of the session `pending`. The light run makes memories of what is urgent or important, and Yiku learns from all
of it as from everything that is said; noise teaches nothing and stays as it was said.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from yiku_compat.memory_system.homes import MemoryDir, opened
from yiku_compat.memory_system.layout import pending as _pending
from yiku_compat.memory_system.layout import pending_turns
from yiku_compat.memory_system.lines import NOTED, SESSION, number

KEPT_FROM = 0.5  # importance


def add_pending(
    memory_dir: MemoryDir,
    content: str,
    *,
    source: str = "user",
    importance: float = 0.5,
    urgent: bool = False,
    category: str | None = None,
) -> str:
    """Record an entry and return its id. It is on the disk, and found by a search, when this returns."""
    noted = {"source": source, "importance": importance, "urgent": urgent, **({"category": category} if category else {})}
    turn = {"role": "user", "content": content, "metadata": {NOTED: noted}}
    recorded = opened(memory_dir).record([turn], session=SESSION)  # type: ignore[list-item]
    return recorded.ids[0]


def view_pending(memory_dir: MemoryDir) -> list[dict[str, Any]]:
    """Return the entries that no light run has seen, oldest first."""
    return list(_pending(opened(memory_dir)))


def mini_consolidate(memory_dir: MemoryDir) -> dict[str, int]:
    """
    Make memories of the urgent and important entries, learn from all, and count the buffer as empty.

    The buffer is emptied last: what was cut off is done again, and an entry gives one memory. Raises StoreBusy, Paused.
    """
    memory = opened(memory_dir)
    entries, kept = pending_turns(memory), 0
    for turn in entries:
        noted: Mapping[str, Any] = turn.metadata.get(NOTED, {})
        importance = number(noted.get("importance"), 0.0)
        if noted.get("urgent") or importance >= KEPT_FROM:
            key = f"pending {turn.id}"
            outcome = memory.remember(turn.content, source=turn.id, importance=importance, idempotency_key=key)
            kept += outcome.kind not in ("refused", "retracted")
    memory.admin.consolidate("light")
    if entries:
        memory.sessions.set(SESSION, pending_done=entries[-1].position)
    return {"entries": len(entries), "kept": kept, "pending": len(pending_turns(memory))}
