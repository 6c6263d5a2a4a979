"""
Core types: scopes, turns (messages), memories with kind, certainty, state, sources; argument TypedDicts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal, NamedTuple, Required, TypedDict

from yiku.types.value import value

# ------------------------------------------------------------------ the vocabulary


class Kind(StrEnum):
    """The kind of a memory. Names used by other memory systems are accepted as aliases."""

    FACT = "fact"
    PREFERENCE = "preference"
    RULE = "rule"
    SKILL = "skill"
    ERROR = "error"
    PERSONA_TRAIT = "persona_trait"
    EVENT = "event"
    TASK = "task"
    EMOTION = "emotion"
    EXPERIENCE = "experience"

    @classmethod
    def _missing_(cls, value: object) -> Kind | None:
        name = str(value).strip().casefold()
        return next((kind for kind in cls if kind.value == name), _KIND_ALIASES.get(name))


_KIND_ALIASES: dict[str, Kind] = {
    alias: kind
    for kind, aliases in {
        Kind.FACT: "knowledge 知识 事实 belief 信念 summary 摘要 总结",
        Kind.PREFERENCE: "pref 偏好",
        Kind.RULE: "规则",
        Kind.SKILL: "技能",
        Kind.ERROR: "错误 教训",
        Kind.PERSONA_TRAIT: "persona trait 人格 人格特征",
        Kind.EVENT: "事件",
        Kind.TASK: "任务",
        Kind.EMOTION: "emotional 情感 情绪",
        Kind.EXPERIENCE: "经验 经历",
    }.items()
    for alias in aliases.split()
}


class Standing(StrEnum):
    """The standing of a statement: asserted, hedged or unverified, or derived."""

    FACT = "fact"
    BELIEF = "belief"
    SUMMARY = "summary"


class State(StrEnum):
    """The lifecycle state of a memory; every step but the last can be reverted."""

    CANDIDATE = "candidate"
    ACTIVE = "active"
    ARCHIVED = "archived"
    JUNK = "junk"
    PURGED = "purged"


class Origin(StrEnum):
    """Who said it. Trust is the minimum along the lineage."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    FILE = "file"
    IMPORT = "import"


class Cardinality(StrEnum):
    """The number of values of a slot at one time."""

    SINGLE = "single"
    MULTI = "multi"
    UNKNOWN = "unknown"


Access = Literal["retrieved", "used", "mentioned"]


class Scope(NamedTuple):
    """A privacy boundary: its name, and its number once something was written."""

    number: int | None
    name: str


class Tokens(NamedTuple):
    """The analyzer's tokens of a text: words (stems, bigrams) and single characters, in order."""

    words: list[str]
    characters: list[str]


# ------------------------------------------------------------------ what is kept


@value(frozen=True, slots=True, kw_only=True)
class Turn:
    """One message, verbatim. `n` is the row number, `position` the place in the session, both set by the store."""

    n: int = 0
    id: str
    session: str
    position: int = -1
    role: str
    content: str
    said_at: datetime
    recorded_at: datetime
    speaker: str | None = None
    tool_calls: tuple[Mapping[str, Any], ...] = ()
    tool_results: tuple[Mapping[str, Any], ...] = ()
    external_id: str | None = None
    parent: str | None = None
    agent: str | None = None
    project: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    origin: Origin = Origin.USER
    actor: str | None = None
    content_hash: bytes = b""
    blob: str | None = None
    hidden_at: datetime | None = None
    scope: str = ""


@value(frozen=True, slots=True, kw_only=True)
class Source:
    """
    A source of a memory: who said it, when, in which turn, and its words if different.

    start, end: where those words stand in the turn's whole content, in characters; None where they do not stand there verbatim
    """

    origin: Origin
    said_at: datetime
    recorded_at: datetime
    turn: str | None = None
    session: str | None = None
    place: int = 0
    actor: str | None = None
    text: str | None = None
    start: int | None = None
    end: int | None = None
    seq: int = 0  # among the sources of its memory, given by the store


class Relation(NamedTuple):
    """A triple: subject, relation type, object."""

    subject: str
    relation_type: str
    object: str


class Slot(NamedTuple):
    """The slot of a statement: subject and predicate in canonical form, object as said."""

    subject: str
    predicate: str
    object: str
    cardinality: Cardinality
    key: str  # two statements with one key cannot both hold; empty when they can


@value(frozen=True, slots=True, kw_only=True)
class SemanticMemory:
    """One version of one statement. A *line* is the chain of its versions."""

    n: int = 0
    id: str
    line: str
    kind: Kind = Kind.FACT
    standing: Standing = Standing.FACT
    state: State = State.ACTIVE
    content: str
    content_hash: bytes = b""
    subject: str | None = None
    predicate: str | None = None
    object: str | None = None
    cardinality: Cardinality | None = None
    slot: str | None = None
    basis: str | None = None
    flag: str | None = None
    flagged_with: tuple[str, ...] = ()
    importance: float = 0.5
    base_score: float = 1.0
    strength: int = 1
    confidence: float = 1.0
    priority: str | None = None
    half_life_days: float | None = None
    said_at: datetime
    confirmed_at: datetime
    place: int = 0
    valid_from: datetime
    valid_to: datetime | None = None
    superseded_by: str | None = None
    reason: str | None = None
    expires_at: datetime | None = None
    auto_delete_at: datetime | None = None
    ttl_days: int | None = None
    pinned: bool = False
    retrieved: int = 0
    used: int = 0
    mentioned: int = 0
    last_retrieved: datetime | None = None
    last_used: datetime | None = None
    last_mentioned: datetime | None = None
    origin: Origin = Origin.USER
    trust: float = 1.0
    method: str = "told"
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    agent: str | None = None
    project: str | None = None
    external_id: str | None = None
    created_at: datetime
    updated_at: datetime
    changed: int = 0
    sources: tuple[Source, ...] = ()
    entities: tuple[str, ...] = ()
    relations: tuple[Relation, ...] = ()
    scope: str = ""
    # In lists and histories, the id of a statement that was said later and has another value; found when it is asked, never stored.
    said_later: str | None = field(default=None, compare=False, repr=False)

    def expired(self, at: datetime) -> bool:
        """Tell whether it had expired at a time; lists and answers then omit it."""
        return (end := self.ends_at) is not None and end <= at

    @property
    def ends_at(self) -> datetime | None:
        """When it expires: the earlier of `expires_at` and `auto_delete_at`."""
        return min((end for end in (self.expires_at, self.auto_delete_at) if end is not None), default=None)

    @property
    def access_count(self) -> int:
        """Number of accesses of all kinds."""
        return self.retrieved + self.used + self.mentioned

    @property
    def last_accessed_at(self) -> datetime | None:
        """The latest access of any kind."""
        return max((t for t in (self.last_retrieved, self.last_used, self.last_mentioned) if t), default=None)

    @property
    def live(self) -> bool:
        """Whether it is the current, active version of its line."""
        return self.state is State.ACTIVE and self.superseded_by is None


KindName = Literal["fact", "preference", "rule", "skill", "error", "persona_trait", "event", "task", "emotion", "experience"]
StandingName = Literal["fact", "belief", "summary"]
OriginName = Literal["user", "assistant", "tool", "file", "import"]
CardinalityName = Literal["single", "multi", "unknown"]
PriorityName = Literal["permanent", "long_term", "short_term", "transient"]
Role = Literal["user", "assistant", "system", "tool", "developer", "function"]  # the last two are kept as system and tool
ItemType = Literal["memory", "turn", "episode", "attachment", "note"]


class MoreDetails(TypedDict, total=False):
    """Details of a statement that `remember` does not spell out; all optional."""

    standing: Standing | StandingName
    cardinality: Cardinality | CardinalityName
    basis: str
    confidence: float
    strength: int
    priority: PriorityName
    pinned: bool
    entities: Sequence[str]
    relations: Sequence[tuple[str, str, str]]
    valid_from: datetime | str
    ttl_days: int
    speaker: str
    origin: Origin | OriginName
    agent: str
    project: str


class Details(MoreDetails, total=False):
    """Details of a statement besides its text; all optional."""

    kind: Kind | KindName
    subject: str
    predicate: str
    object: str
    importance: float
    tags: Sequence[str]
    metadata: Mapping[str, Any]
    said_at: datetime | str
    expires_at: datetime | str
    source: str
    session: str
    external_id: str


class MoreTurnDetails(TypedDict, total=False):
    """Details of a turn that `record_turn` does not spell out; all optional."""

    parent: str | None
    agent: str | None
    project: str | None
    origin: Origin | OriginName
    actor: str | None


class TurnDetails(MoreTurnDetails, total=False):
    """Details of a turn besides role and content; all optional."""

    session: str
    said_at: datetime | str
    speaker: str | None
    tool_calls: Sequence[Mapping[str, Any]] | None
    tool_results: Sequence[Mapping[str, Any]]
    external_id: str | None
    metadata: Mapping[str, Any]


class TurnDraft(TurnDetails, total=False):
    """A turn as `record` takes it, in Yiku's or a chat API's format; role and content are required."""

    role: Required[Role]
    content: Required[str | Sequence[Any] | None]
    name: str
    tool_call_id: str
    function_call: Mapping[str, Any] | None
    refusal: str | None
    annotations: Sequence[Any] | None
    audio: Mapping[str, Any] | None
    id: str
    type: str
    status: str
    model: str
    stop_reason: str | None
    stop_sequence: str | None
    usage: Any
    reasoning_content: str | None
    timestamp: Any
    created_at: Any
