"""
Count that a memory was retrieved, used or mentioned, and postpone its expiry when it was of use.

One update by row number, whatever the size of the store; the counters are facts, and what they are
worth is computed when somebody asks (rules/finding/score.py). Being used or mentioned strengthens; being
retrieved alone does not. What has an end that comes with its priority or its days lives longer by each such use.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import get_args

from yiku.flows.common import checks
from yiku.flows.common.handle import Handle
from yiku.flows.common.lookup import find_memory
from yiku.rules.deciding import retention
from yiku.rules.deciding.slots import index_tokens
from yiku.types import Access, CountAccess, SemanticMemory, UpdateMemory

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
    renewal = [] if kind == "retrieved" else renewed([memory], handle.now())
    handle.store.apply(handle.writes(), [CountAccess([memory.n], kind), *renewal], handle.cause(kind))
    return handle.store.version(handle.writes(), memory.id)


def renewed(used: Sequence[SemanticMemory], at: datetime) -> list[UpdateMemory]:
    """Return the changes by which memories that were of use live longer; none where no end moves."""
    moved = [(memory, retention.renewal(memory, at)) for memory in used]
    return [UpdateMemory(memory.n, columns, index_tokens(memory)) for memory, columns in moved if columns]
