"""
Update a statement by id: a new text becomes a new version, other details change in place.

With a new text, be it in other case or punctuation only, it gets a new version, said now, in the same line; the old one stays as
history. Without one, what is noted about it (tags, importance, expiry …) changes in place, and the journal keeps what was.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from yiku.errors import InvalidInput, NotFound, WasErased
from yiku.flows.common import tombstones
from yiku.flows.common.handle import Handle, retry_if_stale
from yiku.flows.common.lookup import find_memory
from yiku.flows.keep.forget import clear_flags, settled
from yiku.flows.keep.remember import admit, ordered_after, validate
from yiku.rules.deciding import retention
from yiku.rules.deciding.slots import index_tokens
from yiku.types import AddMemory, Change, Expect, Kind, Memories, SemanticMemory, State, UpdateMemory

IN_PLACE = frozenset(
    "kind importance confidence strength priority pinned tags metadata basis expires_at ttl_days agent project external_id".split()
)
INHERITED = (
    "kind",
    "importance",
    "confidence",
    "strength",
    "priority",
    "pinned",
    "tags",
    "metadata",
    "basis",
    "agent",
    "project",
    "relations",
    "external_id",
)
PROVENANCE = tuple("state standing origin trust method sources said_at confirmed_at valid_from place".split())


def update(
    handle: Handle, id: str, text: str | None, details: Mapping[str, Any], *, keep_provenance: bool = False
) -> SemanticMemory:
    """
    Update a memory's text or details; an older version's id means the current one.

    keep_provenance: the new version is from where the old one is; for the same words in another spelling
    """
    if text is None and not details:
        raise InvalidInput("update needs a text or something to change")
    admit(handle, details)

    def attempt() -> SemanticMemory:
        row = _live(handle, find_memory(handle, id, handle.own()))
        if text is None:
            return _in_place(handle, row, details)
        return _new_version(handle, row, text, details, keep_provenance=keep_provenance)

    return retry_if_stale(handle, attempt)


def _live(handle: Handle, memory: SemanticMemory) -> SemanticMemory:
    found = handle.store.memories(
        handle.own(), Memories(line=memory.line, states=(State.ACTIVE, State.CANDIDATE), current=True, limit=1)
    )
    if not found:
        raise NotFound(f"there is no current version of {memory.id}; restore it first")
    return handle.store.with_details(found)[0]


def _in_place(handle: Handle, row: SemanticMemory, details: Mapping[str, Any]) -> SemanticMemory:
    if others := sorted(set(details) - IN_PLACE):
        raise InvalidInput(f"{', '.join(others)} cannot change without a new text")
    template = validate(handle, row.content, {"said_at": row.said_at, **details})
    fields = [*details, *(["auto_delete_at"] if "ttl_days" in details else [])]
    columns = {field: getattr(template, field) for field in fields} | _end(handle, row, details, template)
    _only_one(handle, row.content_hash, columns.get("kind", row.kind), row)
    _only_key(handle, columns.get("external_id"), row)
    handle.store.apply(
        handle.writes(),
        [UpdateMemory(row.n, columns, index_tokens(row))],
        handle.cause("update"),
        Expect(rows={row.n: row.changed}),
    )
    return handle.store.version(handle.writes(), row.id)


def _end(handle: Handle, row: SemanticMemory, details: Mapping[str, Any], template: SemanticMemory) -> dict[str, Any]:
    """Return the columns of the end that change with a priority or a pin: a pin lifts an end that came with the priority."""
    if "priority" in details or "expires_at" in details or not details.get("pinned"):
        return retention.reprioritized(row, details, template.created_at)
    changes = handle.store.journal(handle.own(), table="memories", row_ns=[row.n])
    since = next((change.at for change in changes if change.before and "expires_at" in change.before), None)
    return {"expires_at": None} if retention.ends_with_priority(row, since) else {}


def _new_version(
    handle: Handle, row: SemanticMemory, text: str, details: Mapping[str, Any], *, keep_provenance: bool
) -> SemanticMemory:
    inherited = {field: getattr(row, field) for field in INHERITED if getattr(row, field)}
    new = validate(handle, text, inherited | dict(details))
    if new.slot is None and row.slot is not None and "predicate" not in details:
        new = replace(
            new, subject=row.subject, predicate=row.predicate, cardinality=row.cardinality, slot=row.slot, entities=row.entities
        )
    if new.slot != row.slot and new.slot is not None:
        holder = handle.store.memories(handle.own(), Memories(slot=new.slot, states=(State.ACTIVE,), current=True))
        if holder:
            raise InvalidInput(f'"{holder[0].content[:80]}" ({holder[0].id[-8:]}) holds that slot; update or forget that one')
    if keep_provenance:
        new = replace(new, **{name: getattr(row, name) for name in PROVENANCE})
    elif details.get("said_at") is None and details.get("source") is None:
        new = ordered_after(row, new)
    if new.said_at < row.said_at:
        raise InvalidInput(f"said_at is before {row.said_at.isoformat()}, when the current version was said; use remember")
    new = replace(new, line=row.line, place=max(new.place, row.place) if new.said_at == row.said_at else new.place, flag=None)
    if (new.content, new.content_hash) == (row.content, row.content_hash):
        return _in_place(
            handle,
            row,
            {field: value for field, value in details.items() if field in IN_PLACE} or {"importance": row.importance},
        )
    erasure = handle.store.erasures.last()
    if erasure and tombstones.erased_since(handle, new) is not None:
        raise WasErased("that text")
    retired = {"superseded_by": new.id, "valid_to": new.valid_from, "reason": f"updated: {new.id}"}
    marks = handle.store.marks(handle.writes(), {slot for slot in (new.slot, row.slot) if slot}, [new.content_hash])
    waiting = [(one, columns) for one, columns in settled(handle, [new]) if one.n != row.n] if new.state is State.ACTIVE else []
    updates = [(row, retired), *clear_flags(handle, [row]), *waiting]
    changes: list[Change] = [*(UpdateMemory(one.n, columns, index_tokens(one)) for one, columns in updates)]
    changes.append(AddMemory(new, index_tokens(new)))
    _only_one(handle, new.content_hash, new.kind, row)
    _only_key(handle, new.external_id, row)
    handle.store.apply(handle.writes(), changes, handle.cause("update"), replace(marks, rows={row.n: row.changed}, erasure=erasure))
    return handle.store.version(handle.writes(), new.id)


def _only_key(handle: Handle, external_id: str | None, row: SemanticMemory) -> None:
    """Refuse an external id that another line has."""
    if external_id is None or external_id == row.external_id:
        return
    select = Memories(external_id=external_id, states=(State.ACTIVE, State.CANDIDATE), current=True, limit=1)
    for other in handle.store.memories(handle.own(), select):
        raise InvalidInput(f'"{other.content[:80]}" ({other.id[-8:]}) has the external_id {external_id}; update or forget that one')


def _only_one(handle: Handle, content_hash: bytes, kind: Kind, row: SemanticMemory) -> None:
    """Refuse a second live row with the same kind and text."""
    same = handle.store.memories(handle.own(), Memories(hash=content_hash, states=(State.ACTIVE,), current=True))
    if any(other.kind is kind and other.n != row.n for other in same):
        raise InvalidInput("another memory has the same text; forget one of the two")
