"""
The tools for a model, `core_memory_remember` and `core_memory_recall`, on any memory runtime.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from yiku.errors import InvalidInput
from yiku_compat.simple_memory.runtime import MemoryRuntime
from yiku_compat.simple_memory.scopes import conversation_scope

LINE_CHARS = 50  # of judgment and reasoning
STRENGTHS = (1, 100)
TYPES = ["knowledge", "event", "skill", "task", "emotional"]
TEXT = {"type": "string", "maxLength": LINE_CHARS}

TOOLS: Mapping[str, Mapping[str, Any]] = {
    "core_memory_remember": {
        "description": "Keep something for good: a judgment in one line, why it holds, and tags by which it is found.",
        "parameters": {
            "type": "object",
            "properties": {
                "memory_type": {"type": "string", "enum": TYPES},
                "judgment": TEXT,
                "reasoning": TEXT,
                "tags": {"type": "array", "items": {"type": "string"}, "minItems": 1},
                "strength": {"type": "integer", "minimum": STRENGTHS[0], "maximum": STRENGTHS[1]},
            },
            "required": ["memory_type", "judgment", "reasoning", "tags"],
        },
    },
    "core_memory_recall": {
        "description": "Find what is kept about the things that a text names.",
        "parameters": {
            "type": "object",
            "properties": {"query": {"type": "string"}, "limit": {"type": "integer", "minimum": 1, "maximum": 100}},
            "required": ["query"],
        },
    },
}


@dataclass(frozen=True)
class CoreMemoryRememberTool:
    """Keeps what a model states. What it keeps is active: it never fades."""

    memory_runtime: MemoryRuntime
    conversation_scope_map: Mapping[str, str] = field(default_factory=dict)
    name: str = "core_memory_remember"

    async def run(
        self, memory_type: str, judgment: str, reasoning: str, tags: Sequence[str], strength: int = 50, *, conversation: str
    ) -> str:
        """Store it; return a line for the model. Raises InvalidInput."""
        for what, text in (("judgment", judgment), ("reasoning", reasoning)):
            if len(text) > LINE_CHARS or len(text.splitlines()) != 1:
                raise InvalidInput(f"{what} must be one line of at most {LINE_CHARS} characters")
        if not STRENGTHS[0] <= strength <= STRENGTHS[1]:
            raise InvalidInput(f"strength must be from {STRENGTHS[0]} to {STRENGTHS[1]}")
        scope = conversation_scope(conversation, self.conversation_scope_map)
        id = await self.memory_runtime.remember(memory_type, judgment, reasoning, tags, True, strength, memory_scope=scope)
        return f"kept as {id}"


@dataclass(frozen=True)
class CoreMemoryRecallTool:
    """Finds memories for a model."""

    memory_runtime: MemoryRuntime
    conversation_scope_map: Mapping[str, str] = field(default_factory=dict)
    name: str = "core_memory_recall"

    async def run(self, query: str, limit: int = 10, *, conversation: str) -> str:
        """Return the memories, a line each, or a line that says there are none."""
        scope = conversation_scope(conversation, self.conversation_scope_map)
        found = await self.memory_runtime.comprehensive_recall(query, fresh_limit=limit, memory_scope=scope)
        lines = [f"[{each.memory_type}] {each.judgment} ({each.reasoning}) #{', #'.join(each.tags)}" for each in found]
        return "\n".join(lines) or "nothing is kept about that"
