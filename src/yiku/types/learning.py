"""
Types of extracting statements from conversations: drafts, queued model jobs, excerpts for an agent, model usage.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from typing import Any, Literal

from yiku.types.memories import Kind, Relation, SemanticMemory, Slot, Standing, State
from yiku.types.value import value

JobKind = Literal["extract", "episode", "scratchpad"]
Action = Literal["state", "retract"]
Priority = Literal["transient", "short_term", "long_term", "permanent"]


@value(frozen=True, slots=True, kw_only=True)
class Draft:
    """
    A statement or retraction found in a turn, not decided yet.

    text:       one sentence that stands alone, in the speaker's words as far as they do
    quote:      the words of the turn that it rests on, exactly as they stand there
    rule:       what found it, for `explain` and for tests
    priority:   how long it is to be kept, with `expires_at` where the words give a time
    session:    it ends with the session it was said in
    updates:    it was said as a correction of something
    """

    text: str
    quote: str
    rule: str
    action: Action = "state"
    kind: Kind = Kind.FACT
    standing: Standing = Standing.FACT
    slot: Slot | None = None
    importance: float = 0.5
    confidence: float = 1.0
    priority: Priority = "permanent"
    expires_at: datetime | None = None
    session: bool = False
    updates: bool = False
    pinned: bool = False
    entities: tuple[str, ...] = ()
    relations: tuple[Relation, ...] = ()
    tags: tuple[str, ...] = ()
    basis: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)


@value(frozen=True, slots=True, kw_only=True)
class How:
    """
    How a statement was learned: by rules or which model, from which words, and whether it is a candidate.

    confirms: the candidate or belief that it takes the place of, in the same operation
    replaces: the number of the statement that it updates, where its own slot leads to none
    """

    method: str
    quote: str | None = None
    state: State = State.ACTIVE
    confirms: SemanticMemory | None = None
    replaces: int | None = None


@value(frozen=True, slots=True, kw_only=True)
class Job:
    """
    A model job, pending or failed: for a turn, or a session (turn_n 0).

    fence: which lease this is; who comes back with an older one is too late
    reply: what a model said, once it did: kept first, so that whoever goes on keeps the same of it
    """

    n: int = 0
    kind: JobKind
    session: str
    turn_n: int = 0
    content_hash: bytes = b""
    dead: bool = False
    tries: int = 0
    due_at: datetime
    fence: int = 0
    error: str | None = None
    reply: str | None = None
    created_at: datetime


@value(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """
    A piece of a conversation that an agent is asked to learn from, as a model would be.

    id:           what `learned` takes, until `until`; then it is handed out again
    instructions: what to look for; text: the turns, fenced as data; schema: the JSON schema of the statements
    waiting:      how many more pieces wait
    """

    id: str
    instructions: str
    text: str
    schema: Mapping[str, Any]
    until: datetime
    waiting: int = 0


@value(frozen=True, slots=True, kw_only=True)
class ModelCall:
    """Usage of one model call: purpose, tokens, seconds, result."""

    at: datetime
    purpose: str
    session: str | None
    model: str
    prompt_tokens: int | None
    completion_tokens: int | None
    seconds: float
    outcome: str
