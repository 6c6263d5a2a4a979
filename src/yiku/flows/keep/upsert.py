"""
Update the statement that has a given external id, or add it.

The same text confirms it, and what else was given takes the place of what was noted. Another text is a new version of
its line, put where it belongs in the order of saying, whatever slot it fills; what was not given is taken over.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from yiku.errors import InvalidInput
from yiku.flows.common.handle import Handle
from yiku.flows.keep.remember import decide, ordered_after, validate
from yiku.flows.keep.update import IN_PLACE, INHERITED
from yiku.rules.deciding import conflict, retention
from yiku.types import Confirmed, ConflictSet, Details, Expect, Memories, SemanticMemory, State


def upsert(
    handle: Handle, new: SemanticMemory, text: str, details: Details, dated: bool
) -> tuple[SemanticMemory, Expect, conflict.Decision]:
    """Decide on a statement with an external id: update the known one, or treat it as new."""
    row = _known(handle, str(new.external_id))
    if row is not None:
        return _new_version(handle, row, text, details, dated=dated)
    expect, decision = decide(handle, new, dated)
    return new, expect, _with_external_id(new, decision)


def _known(handle: Handle, external_id: str) -> SemanticMemory | None:
    """Return the live version of the line with this id, or None."""
    own = handle.own()
    found = handle.store.memories(own, Memories(external_id=external_id, newest_first=True, limit=1)) if own else []
    if not found:
        return None
    live = handle.store.memories(own, Memories(line=found[0].line, states=(State.ACTIVE,), current=True, limit=1))
    return handle.store.with_details(live)[0] if live else None


def _new_version(
    handle: Handle, row: SemanticMemory, text: str, details: Mapping[str, Any], *, dated: bool
) -> tuple[SemanticMemory, Expect, conflict.Decision]:
    """Return the new version of a known statement, its expectation and decision."""
    new = _taking_over(handle, row, text, details)
    if not dated:
        new = ordered_after(row, new)
    if new.content_hash != row.content_hash:
        _refuse_another(handle, row, new)
    own = handle.writes()
    marks = handle.store.marks(own, {slot for slot in (new.slot, row.slot) if slot}, [new.content_hash])
    expect = replace(marks, rows={row.n: row.changed})
    previous: SemanticMemory | None = row
    following: SemanticMemory | None = None
    if new.said_at < row.said_at:
        versions = [*handle.store.memories([own], Memories(line=row.line, states=(State.ACTIVE,), order="said"))]
        earlier = [version for version in versions if conflict.key(version) <= conflict.key(new)]
        previous = handle.store.with_details(earlier[-1:])[0] if earlier else None
        following = next((version for version in versions if conflict.key(version) > conflict.key(new)), None)
    conflicts = ConflictSet(expect=expect, previous=previous, following=following, live=row)
    decision = conflict.decide(new, conflicts, split_id=handle.new_id())
    if decision.subject.n == row.n:
        decision = _with_details(decision, row, new, details)
    return new, expect, decision


def _taking_over(handle: Handle, row: SemanticMemory, text: str, details: Mapping[str, Any]) -> SemanticMemory:
    """Return the statement with details of the old version that are not given."""
    inherited = {field: getattr(row, field) for field in INHERITED if getattr(row, field)}
    new = validate(handle, text, inherited | {name: value for name, value in details.items() if value is not None})
    if new.slot is None and row.slot is not None and "predicate" not in details:
        slot = {name: getattr(row, name) for name in ("subject", "predicate", "cardinality", "slot", "entities")}
        new = replace(new, **slot, object=row.object if new.content == row.content else None)
    return replace(new, content_hash=row.content_hash) if new.content == row.content else new


def _refuse_another(handle: Handle, row: SemanticMemory, new: SemanticMemory) -> None:
    """Raise InvalidInput if another memory has this slot or text."""
    found = handle.store.conflict_set(handle.writes(), new)
    for other in (*found.same, *([found.live] if found.live else [])):
        if other.line != row.line:
            why = "has the same text" if other.content_hash == new.content_hash else "holds that slot"
            raise InvalidInput(f'"{other.content[:80]}" ({other.id[-8:]}) {why}; update or forget that one first')


def _with_details(
    decision: conflict.Decision, row: SemanticMemory, new: SemanticMemory, details: Mapping[str, Any]
) -> conflict.Decision:
    """Add details to a confirmation."""
    fields = [name for name in details if name in IN_PLACE and details[name] is not None]
    fields += ["auto_delete_at"] if "ttl_days" in fields else []
    given = {name: getattr(new, name) for name in fields}
    given |= retention.reprioritized(row, given, new.created_at)
    columns = {name: value for name, value in given.items() if value != getattr(row, name)}
    merged = tuple((one, {**before, **columns} if one.n == row.n else before) for one, before in decision.updates)
    return replace(decision, updates=merged)


def _with_external_id(new: SemanticMemory, decision: conflict.Decision) -> conflict.Decision:
    """Give a confirmed statement the external id."""
    if (
        not isinstance(decision.outcome, Confirmed)
        or decision.adds
        or decision.subject.external_id is not None
        or not decision.updates
    ):
        return decision
    first, *others = decision.updates
    return replace(decision, updates=((first[0], {**first[1], "external_id": new.external_id}), *others))
