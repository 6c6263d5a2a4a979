"""
Map Memory System's ids to Yiku's: migrated records keep theirs (`s0:…` in `external_id`), new ones get Yiku's.

The id that Yiku gives to an imported record is made of its old one, so an import that is repeated finds what is there.
"""

from __future__ import annotations

import hashlib
import uuid

from yiku import Memory, SemanticMemory
from yiku.errors import NotFound

PREFIX = "s0:"
LONGEST = 120  # characters of an old id; of a longer one the hash is taken
_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "yiku-compat:s0")


def external(old_id: str) -> str:
    """Return the external id of a record of an old home."""
    if len(old_id) > LONGEST:
        old_id = f"#{hashlib.sha256(old_id.encode()).hexdigest()}"
    return PREFIX + old_id


def made(old_id: str) -> str:
    """Return the id that Yiku gives to a record of an old home."""
    return str(uuid.uuid5(_NAMESPACE, external(old_id)))


def find(memory: Memory, memory_id: str, *, exact: bool = False) -> SemanticMemory:
    """
    Return the current version of a memory by its old or its Yiku id. Raises NotFound, InvalidInput.

    exact: the version that has this Yiku id, also if another took its place
    """
    found = None
    if isinstance(memory_id, str) and memory_id:
        for id in (made(memory_id), memory_id):
            try:
                found = memory.get(id)
                break
            except NotFound:
                continue
    if not isinstance(found, SemanticMemory):
        raise NotFound(f"there is no memory with the id {str(memory_id)[:80]!r}")
    while found.superseded_by is not None:
        later = memory.get(found.superseded_by)
        same = isinstance(later, SemanticMemory) and later.external_id == found.external_id
        if not same or (exact and found.external_id is None):
            break  # another record took its place
        assert isinstance(later, SemanticMemory)
        found = later
    return found


def shown(memory: SemanticMemory) -> str:
    """Return the id under which the document's callers know a memory."""
    id = memory.external_id
    return id.removeprefix(PREFIX) if id is not None and id.startswith(PREFIX) and memory.superseded_by is None else memory.id
