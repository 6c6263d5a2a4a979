"""
Phase 5, rank: archive memories that have faded, and purge junk whose grace period is over.

Nothing is counted down: the score of a memory is computed from its row and the time, so a night that was missed changes
nothing. What goes for good leaves every table and index at once; its row in the report says which it was, and why.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from yiku.flows.night.run import Night
from yiku.rules.deciding.slots import index_tokens
from yiku.rules.night import ends, fading
from yiku.store.api import micros
from yiku.types import (
    Condition,
    ErasedRow,
    Expect,
    Group,
    Memories,
    NightItem,
    Purge,
    State,
    UpdateMemory,
)

DAY = timedelta(days=1)
PASSING = Group(
    "or", (Condition("priority", "in", [*fading.PASSING]), Condition("standing", "in", ["belief", "summary"]))
)  # what can fade at all


def fade(night: Night) -> Iterator[NightItem]:
    """Let what has faded fall asleep, or give it another day."""
    columns: dict[str, Any]
    for row in night.memories(Memories(states=(State.ACTIVE,), current=True, where=PASSING)):
        memory = night.as_it_is(row)
        match fading.decide(memory, night.now):
            case "archive":
                columns = {"state": State.ARCHIVED, "reason": ends.FADED}
            case "demote":
                columns = {"priority": fading.TRANSIENT, "expires_at": max(memory.expires_at or night.now, night.now + DAY)}
            case None:
                continue
        evidence = {
            "score": round(fading.effective(memory, night.now), 4),
            "accesses": memory.access_count,
            "confirmed": micros(memory.confirmed_at),
        }
        item = night.decide(
            "archived" if "state" in columns else "stale",
            [UpdateMemory(memory.n, columns, index_tokens(memory)), *(night.unflagged(memory) if "state" in columns else [])],
            ids=[memory.id],
            reason=ends.FADED if "state" in columns else "fading",
            evidence=evidence,
            expect=Expect(rows={memory.n: memory.changed}),
        )
        if item is not None:
            yield item


def purge(night: Night) -> Iterator[NightItem]:
    """Remove junk whose grace is over, each with the versions before it."""
    store = night.handle.store
    for memory in night.memories(Memories(states=(State.JUNK,), current=True)):
        if not ends.purgeable(memory, night.now):
            continue
        line = store.memories([night.scope], Memories(line=memory.line))
        if any(version.live or version.state is State.CANDIDATE for version in line):
            continue
        if not night.dry_run:  # first, so that nobody finds a vector without its row; if it stays, it is embedded again
            night.handle.vectors.forget(night.scope, [], again=[("memory", version.n) for version in line])
        item = night.decide(
            "purged",
            [Purge([ErasedRow(version.n, version.id, index_tokens(version)) for version in line])],
            ids=[memory.id],
            reason=ends.PURGED,
            evidence={"junk_since": micros(memory.updated_at), "versions": len(line)},
            expect=Expect(rows={version.n: version.changed for version in line}),
        )
        if item is not None:
            yield item
