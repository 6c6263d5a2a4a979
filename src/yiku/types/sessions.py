"""
Types of sessions: a session, its messages, its episode (summary), the scratchpad of tasks, attachments.

These are records: each is kept whole under its id, and a newer form of it takes the place of the older.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from typing import Any, Literal

from yiku.types.value import value

EpisodeOutcome = Literal["success", "partial", "failed", "ongoing"]  # ongoing until judged; partial if it cannot be determined
EpisodeSource = Literal["session_end", "context_compress", "daily_consolidation"]
Direction = Literal["inbound", "outbound"]


@value(frozen=True, slots=True, kw_only=True)
class ActionNode:
    """A tool call: key parameters, result, and decision."""

    tool_name: str
    key_params: Mapping[str, Any] = field(default_factory=dict)
    result_summary: str = ""  # some 100 characters
    success: bool = True
    error_message: str | None = None
    decision: str | None = None
    timestamp: datetime | None = None
    turn: str | None = None  # the id of the turn that called it


@value(frozen=True, slots=True, kw_only=True)
class Episode:
    """The story of a session or part of it: goal, actions, outcome, decisions."""

    n: int = 0
    id: str
    session: str
    summary: str = ""  # one paragraph, some 200 characters
    goal: str = ""
    outcome: EpisodeOutcome = "ongoing"
    outcome_reason: str | None = None
    started_at: datetime
    ended_at: datetime
    first_turn: str | None = None  # ids of the first and last turn that it tells of
    last_turn: str | None = None
    action_nodes: tuple[ActionNode, ...] = ()
    entities: tuple[str, ...] = ()
    tools_used: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    linked_memory_ids: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    importance_score: float = 0.5
    access_count: int = 0
    source: EpisodeSource = "session_end"
    method: str = "rules"  # or the name of the model that told it
    created_at: datetime
    updated_at: datetime
    changed: int = 0
    scope: str = ""


@value(frozen=True, slots=True, kw_only=True)
class Session:
    """
    A session: turn count, times, host variables, task, and end.

    number: the row's number, 0 before the first turn; nor has it begun then, and no turn was its last
    """

    number: int
    id: str
    turns: int
    started_at: datetime | None
    ended_at: datetime | None
    variables: Mapping[str, Any] = field(default_factory=dict)
    task: str | None = None
    closed_at: datetime | None = None
    scope: str = ""


@value(frozen=True, slots=True)
class Messages(Sequence[Mapping[str, Any]]):
    """
    Messages of a session, in order, each as given.

    turns:  the ids of the turns that they come from
    cursor: what `after` takes for the next page; None behind the last
    """

    messages: tuple[Mapping[str, Any], ...]
    turns: tuple[str, ...]
    cursor: str | None = None

    def __len__(self) -> int:
        return len(self.messages)

    def __getitem__(self, index: Any) -> Any:
        return self.messages[index]

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        return iter(self.messages)


@value(frozen=True, slots=True, kw_only=True)
class Task:
    """A task in the scratchpad: text, start, end or abandonment, session."""

    text: str
    since: datetime
    until: datetime | None = None
    session: str | None = None
    done: bool = False  # else it was left for another one


@value(frozen=True, slots=True, kw_only=True)
class Scratchpad:
    """
    The working memory of a user over all sessions.

    overrides: what the user wrote, by section; it wins over what was found out
    left_out:  in the answer to a change, the lines that had no place: unknown, there already, or too many; never stored
    """

    n: int = 0
    id: str
    user_id: str
    current_focus: str = ""
    active_projects: tuple[str, ...] = ()
    recent: tuple[Task, ...] = ()  # finished, newest first, at most five
    open_questions: tuple[str, ...] = ()
    next_steps: tuple[str, ...] = ()
    overrides: Mapping[str, str] = field(default_factory=dict)
    focus_since: datetime | None = None
    updated_at: datetime
    left_out: tuple[str, ...] = ()
    changed: int = 0
    scope: str = ""


@value(frozen=True, slots=True, kw_only=True)
class ScratchpadPatch:
    """Changes to the scratchpad at a session's end: lines to add and to settle."""

    add_open_questions: tuple[str, ...] = ()
    settle_open_questions: tuple[str, ...] = ()
    add_next_steps: tuple[str, ...] = ()
    settle_next_steps: tuple[str, ...] = ()


@value(frozen=True, slots=True, kw_only=True)
class Attachment:
    """A file that was sent (inbound) or made (outbound), with a description of its content."""

    n: int = 0
    id: str
    session: str
    turn: str | None = None
    episode_id: str | None = None
    direction: Direction
    filename: str
    original_filename: str | None = None
    mime_type: str | None = None
    file_size: int | None = None
    local_path: str | None = None  # of local_path, url and blob at least one
    url: str | None = None
    blob: str | None = None  # the hash of the content, where Yiku keeps it
    missing: bool = False  # the local file was looked for and is not there
    description: str | None = None
    transcription: str | None = None
    extracted_text: str | None = None
    tags: tuple[str, ...] = ()
    linked_memory_ids: tuple[str, ...] = ()
    said_at: datetime
    created_at: datetime
    updated_at: datetime
    changed: int = 0
    scope: str = ""
