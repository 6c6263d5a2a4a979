"""
The review queue: list, confirm or reject statements that are unconfirmed, contradicted or hedged.

One queue: candidates that nobody has confirmed, statements that may contradict each other, beliefs that were hedged. What is
confirmed is a statement of the user's from then on, and is decided like one; what is rejected leaves memory, can be brought
back, and is not learned again from the same words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from yiku.errors import InvalidInput
from yiku.flows.common import checks
from yiku.flows.common.handle import Handle, retry_if_stale
from yiku.flows.common.lookup import find_memory
from yiku.flows.keep.candidates import REJECTED
from yiku.flows.keep.forget import forget
from yiku.flows.keep.remember import remember
from yiku.rules.deciding.slots import index_tokens
from yiku.types import (
    Expect,
    Forgotten,
    How,
    Memories,
    Origin,
    Outcome,
    SemanticMemory,
    Standing,
    State,
    ToReview,
    UpdateMemory,
)


def review(handle: Handle, *, limit: int = 50) -> list[ToReview]:
    """Return memories to review, newest first: unconfirmed, in conflict, believed."""
    most, own = checks.integer(limit, "limit"), handle.own()
    if not own:
        return []
    now = handle.now()

    def found(where: Mapping[str, Any], *states: State) -> list[SemanticMemory]:
        select = Memories(where=checks.where(where, now=now), states=states, current=True, unexpired_at=now)
        return handle.store.with_details(handle.store.memories(own, replace(select, order="said", newest_first=True, limit=most)))

    candidates = [ToReview(memory, "unconfirmed") for memory in found({}, State.CANDIDATE)]
    conflicts = []
    for memory in found({"flag": "conflict"}, State.ACTIVE):
        others = handle.store.memories(own, Memories(ids=memory.flagged_with, states=(State.ACTIVE,), current=True))
        conflicts.append(ToReview(memory, "conflict", tuple(handle.store.with_details(others))))
    beliefs = [ToReview(memory, "belief") for memory in found({"standing": "belief"}, State.ACTIVE)]
    return [*candidates, *conflicts, *beliefs][:most]


def confirm(handle: Handle, id: str) -> Outcome:
    """
    Confirm a memory: activate a candidate, make a belief a fact, win a conflict.

    What was said of it before stays as its source. Raises NotFound for what is not live.
    """
    memory = _found(handle, id)
    if memory.state is State.CANDIDATE or memory.standing is Standing.BELIEF:
        return _as_statement(handle, memory)
    if memory.flag:
        handle = replace(handle, run=f"confirm {handle.new_id()}")  # one undo takes back all of it
        _resolve_conflict(handle, memory)
    now = handle.now()
    ends = [end for end in (memory.expires_at, memory.auto_delete_at) if end is not None and end > now]
    details = {**_slot(memory), "kind": memory.kind, "said_at": now, "expires_at": min(ends, default=None)}
    return remember(handle, memory.content, details)  # type: ignore[arg-type]


def reject(handle: Handle, id: str) -> Forgotten:
    """Reject a memory: archive it, restorably."""
    return forget(handle, _found(handle, id).id, reason=REJECTED)


def _found(handle: Handle, id: str) -> SemanticMemory:
    memory = find_memory(handle, id, handle.own())
    if memory.state not in (State.ACTIVE, State.CANDIDATE) or memory.superseded_by:
        raise InvalidInput(f"memory {id} is no longer current: it was replaced, forgotten or retracted (`yiku history {id}`)")
    return memory


def _slot(memory: SemanticMemory) -> dict[str, Any]:
    if memory.predicate is None:
        return {}
    return {
        "subject": memory.subject or "user",
        "predicate": memory.predicate,
        "object": memory.object,
        "cardinality": memory.cardinality,
    }


def _as_statement(handle: Handle, memory: SemanticMemory) -> Outcome:
    """Decide on a candidate's words as the user's own, archiving the candidate."""

    def attempt() -> Outcome:
        row = handle.store.version(handle.writes(), memory.id)
        details: dict[str, Any] = {
            **_slot(row),
            "kind": row.kind,
            "standing": Standing.FACT,
            "origin": Origin.USER,
            "said_at": row.said_at,
            "importance": row.importance,
            "tags": row.tags or None,
            "entities": row.entities or None,
            "source": row.sources[0].turn if row.sources else None,
        }
        given = {name: value for name, value in details.items() if value is not None}
        return remember(handle, row.content, given, how=How(method=row.method, confirms=row))  # type: ignore[arg-type]

    return retry_if_stale(handle, attempt)


def _resolve_conflict(handle: Handle, memory: SemanticMemory) -> None:
    """Archive the contradicting memories and clear the flag, also where none of them is live any more."""
    for other in handle.store.memories(handle.own(), Memories(ids=memory.flagged_with, states=(State.ACTIVE,), current=True)):
        forget(handle, other.id, reason=f"{memory.id} was confirmed")

    def attempt() -> None:
        row = handle.store.version(handle.writes(), memory.id)
        if row.flag:
            cleared = UpdateMemory(row.n, {"flag": None, "flagged_with": ()}, index_tokens(row))
            handle.store.apply(handle.writes(), [cleared], handle.cause("confirm"), Expect(rows={row.n: row.changed}))

    retry_if_stale(handle, attempt)
