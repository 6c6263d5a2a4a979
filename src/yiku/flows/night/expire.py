"""
Phase 0, expire: archive memories whose time has ended, and mark as junk those to be deleted.

Recall leaves it out from that moment on anyway; this gives it its state, so that lists, pages and figures agree. What is to be
deleted after some days becomes junk, which is kept for another month. Nothing permanent ends, and no rule for a session that
goes on after its end.
"""

from __future__ import annotations

from collections.abc import Iterator

from yiku.flows.find.standing_rules import outlives_its_end
from yiku.flows.night.run import Night
from yiku.rules.deciding.slots import index_tokens
from yiku.rules.night import ends
from yiku.store.api import micros
from yiku.types import Expect, Memories, NightItem, SemanticMemory, State, UpdateMemory


def steps(night: Night) -> Iterator[NightItem]:
    """End each memory whose time is over."""
    states = (State.ACTIVE, State.CANDIDATE, State.ARCHIVED)
    for memory in night.memories(Memories(ended_at=night.now, states=states)):
        if item := _end(night, night.as_it_is(memory)):
            yield item


def _end(night: Night, memory: SemanticMemory) -> NightItem | None:
    deleted = memory.auto_delete_at is not None and memory.auto_delete_at <= night.now
    if memory.priority == "permanent" or not (deleted or memory.state is not State.ARCHIVED):
        return None
    if not deleted and outlives_its_end(night.handle, night.scope, memory):
        return None
    end = memory.auto_delete_at if deleted else memory.expires_at
    state, reason = (State.JUNK, ends.DUE) if deleted else (State.ARCHIVED, ends.EXPIRED)
    return night.decide(
        "junked" if deleted else "expired",
        [UpdateMemory(memory.n, {"state": state, "reason": reason}, index_tokens(memory)), *night.unflagged(memory)],
        ids=[memory.id],
        reason=reason,
        evidence={"end": micros(end) if end else None, "priority": memory.priority},
        expect=Expect(rows={memory.n: memory.changed}),
    )
