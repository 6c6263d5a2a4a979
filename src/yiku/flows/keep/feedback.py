"""
Count that a memory was retrieved, used or mentioned.

One update by row number, whatever the size of the store; the counters are facts, and what they are
worth is computed when somebody asks (rules/finding/score.py). Being used or mentioned strengthens; being
retrieved alone does not.
"""

from __future__ import annotations

from typing import get_args

from yiku.flows.common import checks
from yiku.flows.common.handle import Handle
from yiku.flows.common.lookup import find_memory
from yiku.types import Access, CountAccess, SemanticMemory

ALIASES: dict[str, Access] = {
    "retrieval": "retrieved",
    "used_in_response": "used",
    "useful": "used",
    "user_mentioned": "mentioned",
}


def feedback(handle: Handle, id: str, access: str) -> SemanticMemory:
    """Count one access of a memory; return its current version."""
    name = access.strip().casefold() if isinstance(access, str) and len(access) <= checks.NAME_CHARS else ""
    known = ALIASES.get(name, name)
    if known not in get_args(Access):
        checks.refuse("access", f"must be one of {', '.join(get_args(Access))}")
    memory = find_memory(handle, id, handle.own())
    kind: Access = next(option for option in get_args(Access) if option == known)
    handle.store.apply(handle.writes(), [CountAccess([memory.n], kind)], handle.cause(kind))
    return handle.store.version(handle.writes(), memory.id)
