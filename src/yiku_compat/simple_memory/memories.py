"""
Types of the interface: a memory as judgment, reasoning and tags, and its types in English and Chinese.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from yiku.errors import InvalidInput

PASSIVE_STRENGTH = 10  # of what nobody gave one


class MemoryType(StrEnum):
    """The five types; the values are what the documented tables hold."""

    KNOWLEDGE = "知识"
    EVENT = "事件"
    SKILL = "技能"
    TASK = "任务"
    EMOTIONAL = "情感"


KINDS = {
    MemoryType.KNOWLEDGE: "fact",
    MemoryType.EVENT: "event",
    MemoryType.SKILL: "skill",
    MemoryType.TASK: "task",
    MemoryType.EMOTIONAL: "emotion",
}


def memory_type(given: str) -> MemoryType:
    """Return the type of an English or Chinese name. Raises InvalidInput."""
    name = str(given).strip()
    if name.upper() in MemoryType.__members__:
        return MemoryType[name.upper()]
    if name in {each.value for each in MemoryType}:
        return MemoryType(name)
    raise InvalidInput(f"there is no memory type {name[:40]!r}; there are {', '.join(each.name.lower() for each in MemoryType)}")


@dataclass(frozen=True, slots=True)
class BaseMemory:
    """
    One memory. `created_at` and `updated_at` are seconds since 1970; `hits` says how many tags of the question it carries.
    """

    id: str
    memory_type: MemoryType
    judgment: str
    reasoning: str
    tags: tuple[str, ...]
    strength: int
    is_active: bool
    memory_scope: str
    created_at: float
    updated_at: float
    hits: int = 0


@dataclass(frozen=True, slots=True)
class NoteRecall:
    """Answer of a search in notes; where that is disabled, `reason` says why, and `notes` is empty."""

    enabled: bool
    reason: str
    notes: tuple[str, ...] = ()
