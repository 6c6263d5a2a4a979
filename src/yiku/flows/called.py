"""
Who is called so: a name that was told leads to whom it names. After «my sister is called Rain», Rain's allergy is my sister's.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from yiku.flows.handle import Handle
from yiku.rules.analyze import fold
from yiku.types import Condition, Memories, SemanticMemory, State

NAME = "name"
AT_MOST = 200  # statements of names that a name is looked for in


def owner(handle: Handle, subject: str) -> str:
    """The subject under which what is said of somebody is kept: his name, unless it is known of one whose name that is."""
    found = {memory.subject for memory in _names(handle, handle.own(), [subject]) if memory.subject}
    return found.pop() if len(found) == 1 else subject


def owners(handle: Handle, scopes: Sequence[int], names: Collection[str]) -> set[str]:
    """Whom these names name."""
    return {memory.subject for memory in _names(handle, scopes, names) if memory.subject}


def _names(handle: Handle, scopes: Sequence[int], names: Collection[str]) -> list[SemanticMemory]:
    """The live statements that somebody has one of these names."""
    if not scopes or not names:
        return []
    named = Condition("predicate", "eq", NAME)
    select = Memories(entities=sorted(names), where=named, states=(State.ACTIVE,), current=True, limit=AT_MOST)
    return [memory for memory in handle.store.memories(scopes, select) if fold(memory.object or "") in names]
