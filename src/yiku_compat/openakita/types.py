"""OpenAkita's types of statements, converted from Yiku's; session_types has the types of sessions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from typing import Any

from yiku import types as core

PREFIX = "s3:"  # of external ids: what this interface and its migration stored


class Named(Enum):
    """Values are lower case; names and values are accepted in any case."""

    @classmethod
    def _missing_(cls, value: object) -> Any:
        name = str(value).strip().casefold()
        return next((one for one in cls if one.value == name), None)


class MemoryType(Named):
    """What a statement is about."""

    FACT = "fact"
    PREFERENCE = "preference"
    RULE = "rule"
    SKILL = "skill"
    ERROR = "error"
    PERSONA_TRAIT = "persona_trait"
    EXPERIENCE = "experience"
    EVENT = "event"
    TASK = "task"
    EMOTION = "emotion"


class MemoryPriority(Named):
    """How long a statement is kept: a day, three days, thirty days, for good."""

    TRANSIENT = "transient"
    SHORT_TERM = "short_term"
    LONG_TERM = "long_term"
    PERMANENT = "permanent"


@dataclass(kw_only=True)
class SemanticMemory:
    """A statement: subject, predicate and the words. `id` stays the same over all versions."""

    content: str
    id: str = ""
    type: MemoryType = MemoryType.FACT
    priority: MemoryPriority | None = None  # by default for good, a mistake for seven days
    subject: str = ""
    predicate: str = ""
    source: str = "manual"
    source_episode_id: str | None = None
    tags: list[str] = field(default_factory=list)
    importance_score: float = 0.5
    confidence: float = 0.5
    access_count: int = 0
    decay_rate: float = 0.1
    expires_at: datetime | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None
    last_accessed_at: datetime | None = None
    superseded_by: str | None = None

    @classmethod
    def of(cls, memory: core.SemanticMemory) -> SemanticMemory:
        """Return a memory of Yiku's in this form."""
        noted: Mapping[str, Any] = memory.metadata
        return cls(
            id=logical_id(memory),
            type=MemoryType(memory.kind.value),
            priority=MemoryPriority(memory.priority or ("permanent" if memory.expires_at is None else "long_term")),
            subject=memory.subject or "",
            predicate=memory.predicate or "",
            content=memory.content,
            source=str(noted.get("source") or ("manual" if memory.method == "told" else "turn_ai")),
            source_episode_id=noted.get("source_episode_id"),
            tags=list(memory.tags),
            importance_score=memory.importance,
            confidence=memory.confidence,
            access_count=memory.access_count + _number(noted.get("access_count")),
            decay_rate=float(noted.get("decay_rate", 0.1)),
            expires_at=memory.expires_at,
            created_at=memory.said_at,
            updated_at=memory.updated_at,
            last_accessed_at=memory.last_accessed_at,
            superseded_by=memory.superseded_by,
        )


def logical_id(memory: core.SemanticMemory) -> str:
    """Return the id that all versions of a statement have here."""
    external = memory.external_id or ""
    return external.removeprefix(PREFIX) if external.startswith(PREFIX) else memory.line


def _number(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
