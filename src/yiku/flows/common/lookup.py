"""
Find a memory, turn or note by its id or the end of it; resolve names to entities.

An id may be given whole or by its last characters. What a handle may not see is not found, in the same
words as what is not there. A name that was told leads to whom it names: after `my sister is called Rain`,
Rain's allergy is my sister's.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Any

from yiku.errors import Ambiguous, Damaged, InvalidInput, NotFound
from yiku.flows.common import checks
from yiku.flows.common.handle import Handle
from yiku.rules.text.analyze import fold
from yiku.types import Condition, Memories, Note, SemanticMemory, State, Turn, Turns

_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
_SHORT = re.compile(r"#?([0-9a-f-]{4,36})", re.IGNORECASE)
_TOO_SHORT = re.compile(r"#?[0-9a-f]{1,3}", re.IGNORECASE)
NAME = "name"
AT_MOST = 200  # statements of names that a name is looked for in


def may_be_id(text: str) -> bool:
    """Tell whether a text has the form of an id or of the end of one."""
    return _SHORT.fullmatch(text) is not None


def find(handle: Handle, id: object, scopes: Sequence[int]) -> SemanticMemory | Turn:
    """
    Return the memory or turn with this id or id suffix, in these scopes.

    Raises NotFound, Ambiguous, InvalidInput where fewer than four characters are given, or Damaged where it cannot be read.
    """
    found = find_any(handle, id, scopes)
    if isinstance(found, Note):
        where = f"{found.path}, line {found.start_line}"
        raise NotFound(f"there is no memory or turn with the id {found.id} (this id is a note's: {where})", "Edit the file itself.")
    return found


def find_any(handle: Handle, id: object, scopes: Sequence[int]) -> SemanticMemory | Turn | Note:
    """Return the memory, turn or note with this id or id suffix. Raises as `find` does."""
    name = checks.name(id, "id")
    if _TOO_SHORT.fullmatch(name):
        raise InvalidInput(f"id {name!r} is too short: give at least four characters of it")
    short = _SHORT.fullmatch(name)
    if not scopes or short is None:
        raise NotFound(f"there is no memory or turn with the id {name[:80]}")
    id_ = short[1].lower()
    select: dict[str, Any] = {"ids": [id_]} if _ID.fullmatch(id_) else {"suffix": id_, "limit": 5}
    memories, turns = Memories(**select), Turns(hidden=True, **select)
    found: list[SemanticMemory | Turn | Note] = [*handle.store.memories(scopes, memories), *handle.store.turns(scopes, turns)]
    if "suffix" in select:  # a whole id of a note has another form
        found += handle.store.notes.ending(scopes, id_, 5)
    if not found:
        for other, why in handle.store.unreadable(scopes).items():
            if other.endswith(id_):
                raise Damaged(why)
        raise NotFound(f"there is no memory or turn with the id {name[:80]}")
    if len(found) > 1:
        raise Ambiguous(f"the id {name} fits {', '.join(item.id for item in found)}")
    return found[0]


def find_memory(handle: Handle, id: object, scopes: Sequence[int]) -> SemanticMemory:
    """Return the memory with this id or id suffix. Raises NotFound for a turn."""
    found = find(handle, id, scopes)
    if isinstance(found, Turn):
        raise NotFound(f"there is no memory with the id {found.id} (this id is a turn's)")
    return found


# ------------------------------------------------------------------ names


def canonical_subject(handle: Handle, subject: str) -> str:
    """Return the subject that a name stands for: the name itself, unless it is known whose name it is."""
    found = {memory.subject for memory in _names(handle, handle.own(), [subject]) if memory.subject}
    return found.pop() if len(found) == 1 else subject


def resolve_names(handle: Handle, scopes: Sequence[int], names: Collection[str]) -> set[str]:
    """Return the entities that have these names."""
    return {memory.subject for memory in _names(handle, scopes, names) if memory.subject}


def _names(handle: Handle, scopes: Sequence[int], names: Collection[str]) -> list[SemanticMemory]:
    """Return the live statements that somebody has one of these names."""
    if not scopes or not names:
        return []
    named = Condition("predicate", "eq", NAME)
    select = Memories(entities=sorted(names), where=named, states=(State.ACTIVE,), current=True, limit=AT_MOST)
    return [memory for memory in handle.store.memories(scopes, select) if fold(memory.object or "") in names]
