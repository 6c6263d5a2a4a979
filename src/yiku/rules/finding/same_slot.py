"""
Map outdated statements to the last one said with the same subject and predicate, where no question is given.

Only what a row says of itself is looked at: its subject, its predicate, its object. A predicate of many values, and a
statement without a slot, marks nothing; a belief, or what is over, takes nobody's place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from yiku.rules.deciding.conflict import key, same_object
from yiku.types import Cardinality, SemanticMemory, Standing

Slot = tuple[str, str, str]  # scope, subject, predicate


def slot_of(memory: SemanticMemory) -> Slot | None:
    """Return the slot by which a live statement is compared, None if it is not."""
    if not memory.live or not memory.subject or not memory.predicate or not memory.object:
        return None
    return None if memory.cardinality is Cardinality.MULTI else (memory.scope, memory.subject, memory.predicate)


def said_later(memories: Iterable[SemanticMemory]) -> Mapping[str, str]:
    """Map the id of each outdated statement to the id of the one said last."""
    slots: dict[Slot, list[SemanticMemory]] = {}
    for memory in memories:
        if (slot := slot_of(memory)) is not None:
            slots.setdefault(slot, []).append(memory)
    found: dict[str, str] = {}
    for rows in slots.values():
        plain = [row for row in rows if row.standing is Standing.FACT and row.valid_to is None]
        last = max(plain, key=key, default=None)
        if last is not None:
            found |= {row.id: last.id for row in rows if key(row) < key(last) and not same_object(row, last)}
    return found
