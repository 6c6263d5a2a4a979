"""OpenAkita's types of sessions, converted from Yiku's: turns, episodes with tool calls, the scratchpad, attachments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from yiku import types as core
from yiku.errors import InvalidInput
from yiku_compat.openakita.types import Named


class AttachmentDirection(Named):
    """Who made a file: the user (inbound) or the agent (outbound)."""

    INBOUND = "inbound"
    OUTBOUND = "outbound"


@dataclass(kw_only=True)
class ActionNode:
    """A call of a tool in an episode."""

    tool_name: str
    key_params: dict[str, Any] = field(default_factory=dict)
    result_summary: str = ""
    success: bool = True
    error_message: str | None = None
    decision: str | None = None
    timestamp: datetime | None = None


@dataclass(kw_only=True)
class Episode:
    """The story of a conversation or of a part of it."""

    session_id: str
    summary: str
    id: str = ""
    goal: str = ""
    outcome: str = "ongoing"
    started_at: datetime | None = None
    ended_at: datetime | None = None
    action_nodes: list[ActionNode] = field(default_factory=list)
    entities: list[str] = field(default_factory=list)
    tools_used: list[str] = field(default_factory=list)
    linked_memory_ids: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    importance_score: float = 0.5
    access_count: int = 0
    source: str = "session_end"

    @classmethod
    def of(cls, episode: core.Episode) -> Episode:
        """Return an episode of Yiku's in this form."""
        names = ("tool_name", "result_summary", "success", "error_message", "decision", "timestamp")
        nodes = [
            ActionNode(key_params=dict(node.key_params), **{name: getattr(node, name) for name in names})
            for node in episode.action_nodes
        ]
        lists: dict[str, Any] = {
            name: list(getattr(episode, name)) for name in ("entities", "tools_used", "linked_memory_ids", "tags")
        }
        same = ("id", "summary", "goal", "outcome", "started_at", "ended_at", "importance_score", "access_count", "source")
        return cls(session_id=episode.session, action_nodes=nodes, **{name: getattr(episode, name) for name in same}, **lists)

    def to_markdown(self, language: str = "zh") -> str:
        """Render under the heading of past work."""
        heading, goal, used = ("Past work", "Goal", "Tools") if language == "en" else ("历史操作记录", "目标", "工具")
        when = f"{self.started_at:%Y-%m-%d %H:%M} · " if self.started_at else ""
        lines = [f"## {heading}", f"- {when}{self.summary} ({self.outcome})"]
        lines += [f"- {goal}: {self.goal}"] if self.goal else []
        lines += [f"- {used}: {', '.join(self.tools_used)}"] if self.tools_used else []
        return "\n".join(lines)


@dataclass(kw_only=True)
class Scratchpad:
    """What a user is working on, over all sessions."""

    user_id: str = "default"
    content: str = ""
    active_projects: list[str] = field(default_factory=list)
    current_focus: str = ""
    open_questions: list[str] = field(default_factory=list)
    next_steps: list[str] = field(default_factory=list)
    updated_at: datetime | None = None

    @classmethod
    def of(cls, pad: core.Scratchpad, content: str, user_id: str) -> Scratchpad:
        """Return a scratchpad of Yiku's in this form; recent tasks stand among the projects."""
        recent = [f"[{(task.until or task.since):%m-%d %H:%M}] {task.text}" for task in pad.recent]

        def lines(name: str, found: Sequence[str]) -> list[str]:
            written = pad.overrides.get(name)  # what the user wrote wins
            return (
                [*found] if written is None else [line.lstrip("-* ").strip() for line in written.splitlines() if line.strip("-* ")]
            )

        return cls(
            user_id=user_id,
            content=content,
            active_projects=[*lines("active_projects", pad.active_projects), *recent],
            current_focus="\n".join(lines("current_focus", [pad.current_focus] if pad.current_focus else [])),
            open_questions=lines("open_questions", pad.open_questions),
            next_steps=lines("next_steps", pad.next_steps),
            updated_at=pad.updated_at,
        )

    def to_markdown(self) -> str:
        """Return the text, which says the sections in the user's language."""
        return self.content


@dataclass(kw_only=True)
class Attachment:
    """A file that was sent or made, and what is in it."""

    filename: str
    id: str = ""
    session_id: str = ""
    episode_id: str = ""
    original_filename: str = ""
    mime_type: str = ""
    file_size: int = 0
    local_path: str = ""
    url: str = ""
    direction: AttachmentDirection = AttachmentDirection.INBOUND
    description: str = ""
    transcription: str = ""
    extracted_text: str = ""
    tags: list[str] = field(default_factory=list)
    linked_memory_ids: list[str] = field(default_factory=list)
    created_at: datetime | None = None

    @classmethod
    def of(cls, one: core.Attachment) -> Attachment:
        """Return an attachment of Yiku's in this form."""
        texts = (
            "episode_id",
            "original_filename",
            "mime_type",
            "local_path",
            "url",
            "description",
            "transcription",
            "extracted_text",
        )
        return cls(
            id=one.id,
            session_id=one.session,
            filename=one.filename,
            file_size=one.file_size or 0,
            direction=AttachmentDirection(one.direction),
            tags=list(one.tags),
            linked_memory_ids=list(one.linked_memory_ids),
            created_at=one.created_at,
            **{name: getattr(one, name) or "" for name in texts},
        )


@dataclass(kw_only=True)
class ConversationTurn:
    """A message with the calls of tools."""

    role: str
    content: str = ""
    session_id: str = "default"
    turn_index: int | None = None
    tool_calls: list[dict[str, Any]] = field(default_factory=list)
    tool_results: list[dict[str, Any]] = field(default_factory=list)
    timestamp: datetime | None = None
    extracted: bool = False

    @classmethod
    def given(
        cls, turn: ConversationTurn | Mapping[str, Any], session_id: str = "default", index: int | None = None
    ) -> ConversationTurn:
        """Return a turn that is given as such or as a message; other entries of a message are left out."""
        if isinstance(turn, ConversationTurn):
            return turn
        if not isinstance(turn, Mapping):
            raise InvalidInput(f"a turn must be a mapping, not {type(turn).__name__}")
        return cls(
            role=str(turn.get("role", "user")),
            content=turn.get("content") or "",
            session_id=turn.get("session_id") or turn.get("_session_id") or session_id,
            turn_index=turn.get("turn_index", turn.get("_turn_index", index)),
            tool_calls=list(turn.get("tool_calls") or []),
            tool_results=list(turn.get("tool_results") or []),
            timestamp=turn.get("timestamp"),
        )
