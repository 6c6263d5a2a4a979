"""
The words of Yiku: what is kept, what is asked, what is answered.

Values only. Everything here is frozen; nothing here decides or does anything. Times are aware
datetimes in the offset in which they were said; the store keeps them as microseconds UTC.
The glossary (docs/glossary.md) says what each word means and what it is not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypedDict

if TYPE_CHECKING:
    import numpy as np

__all__ = [
    "Access",
    "BadRecord",
    "Cardinality",
    "ChangeRow",
    "Confirmed",
    "Context",
    "Details",
    "Explanation",
    "Flagged",
    "Forgotten",
    "Hit",
    "Hits",
    "ImportRecord",
    "ImportReport",
    "Kind",
    "Link",
    "MemoryRecord",
    "New",
    "Origin",
    "Outcome",
    "Past",
    "Posting",
    "Recorded",
    "Relation",
    "Replaced",
    "Scope",
    "SemanticMemory",
    "Settings",
    "SkippedRecord",
    "Slot",
    "Source",
    "Standing",
    "State",
    "Stats",
    "Status",
    "Tokens",
    "Turn",
    "TurnDetails",
    "TurnRecord",
    "Undone",
]


# ------------------------------------------------------------------ the vocabulary


class Kind(StrEnum):
    """What sort of thing a memory states. The names of all five documents are accepted as aliases."""

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
    """How a statement stands: asserted, hedged or unverified, or derived from others."""

    FACT = "fact"
    BELIEF = "belief"
    SUMMARY = "summary"


class State(StrEnum):
    """Where a memory is on its way out: each step has a reason and can be taken back until the last."""

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
    """How many values a slot holds at one time."""

    SINGLE = "single"
    MULTI = "multi"
    UNKNOWN = "unknown"


Access = Literal["retrieved", "used", "mentioned"]


class Scope(NamedTuple):
    """A privacy boundary: its number in the store (None until something is written to it) and its name."""

    number: int | None
    name: str


class Tokens(NamedTuple):
    """What the analyzer made of a text: words (stems, bigrams) and single characters, in order."""

    words: list[str]
    characters: list[str]


# ------------------------------------------------------------------ what is kept


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One message, verbatim. `n` is the row's number, `position` its place in the session (given by the store)."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where a memory comes from: who said it, when, and in which turn, if it was a turn."""

    origin: Origin
    said_at: datetime
    recorded_at: datetime
    turn: str | None = None
    session: str | None = None
    place: int = 0
    actor: str | None = None
    text: str | None = None


class Relation(NamedTuple):
    """A triple: subject, relation type, object."""

    subject: str
    relation_type: str
    object: str


class Slot(NamedTuple):
    """What a statement fills: subject and predicate in canonical form, the object as said."""

    subject: str
    predicate: str
    object: str
    cardinality: Cardinality
    key: str  # two statements with one key cannot both hold; empty when they can


@dataclass(frozen=True, slots=True, kw_only=True)
class SemanticMemory:
    """One version of one statement, learned or told. A *line* is the chain of its versions."""

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

    @property
    def access_count(self) -> int:
        """How often it was retrieved, used or mentioned, in all."""
        return self.retrieved + self.used + self.mentioned

    @property
    def last_accessed_at(self) -> datetime | None:
        """The latest of the three kinds of access."""
        return max((t for t in (self.last_retrieved, self.last_used, self.last_mentioned) if t), default=None)

    @property
    def live(self) -> bool:
        """Whether it is the current, active version of its line."""
        return self.state is State.ACTIVE and self.superseded_by is None


class Details(TypedDict, total=False):
    """What may be said about a statement besides its text; every entry is optional."""

    kind: Kind | str
    standing: Standing | str
    subject: str
    predicate: str
    object: str
    cardinality: Cardinality | str
    basis: str
    importance: float
    confidence: float
    strength: int
    priority: str
    pinned: bool
    tags: Sequence[str]
    entities: Sequence[str]
    relations: Sequence[tuple[str, str, str]]
    metadata: Mapping[str, Any]
    said_at: datetime | str
    valid_from: datetime | str
    expires_at: datetime | str
    ttl_days: int
    source: str
    session: str
    speaker: str
    origin: Origin | str
    agent: str
    project: str
    external_id: str


class TurnDetails(TypedDict, total=False):
    """What may be said about a turn besides its role and content; every entry is optional."""

    session: str
    said_at: datetime | str
    speaker: str | None
    tool_calls: Sequence[Mapping[str, Any]]
    tool_results: Sequence[Mapping[str, Any]]
    external_id: str | None
    parent: str | None
    agent: str | None
    project: str | None
    metadata: Mapping[str, Any]
    origin: Origin | str
    actor: str | None


# ------------------------------------------------------------------ what is answered


@dataclass(frozen=True, slots=True, kw_only=True)
class New:
    """Nothing like it was known."""

    memory: SemanticMemory
    operation: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmed:
    """It was known; the source was added."""

    memory: SemanticMemory
    operation: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Replaced:
    """It retires an earlier statement of the same slot, which stays reachable as history."""

    memory: SemanticMemory
    replaced: SemanticMemory
    operation: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """It was said before what is live now: kept as history, it retires nothing."""

    memory: SemanticMemory
    current: SemanticMemory
    operation: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Flagged:
    """It may contradict others, and nothing says which is right: all are kept, each marked."""

    memory: SemanticMemory
    others: tuple[SemanticMemory, ...]
    operation: int = 0


Outcome = New | Confirmed | Replaced | Past | Flagged


@dataclass(frozen=True, slots=True)
class Recorded:
    """What `record` stored: the ids of the new turns, and how many were known already."""

    ids: tuple[str, ...]
    known: int = 0
    operation: int = 0


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What `forget` took out of memory, or `restore` brought back."""

    memories: tuple[SemanticMemory, ...]
    turns: tuple[Turn, ...]
    operation: int


@dataclass(frozen=True, slots=True)
class Undone:
    """What `undo` took back: how many memories and turns, and the operation that it was itself."""

    undone: int
    memories: int
    turns: int
    operation: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """Where a hit comes from: a turn or a statement, who said it and when."""

    id: str | None
    session: str | None
    speaker: str | None
    origin: Origin
    said_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One answer: what it is, how relevant (0 to 1), its place in the order, and its sources."""

    item: SemanticMemory | Turn
    relevance: float
    score: float
    routes: Mapping[str, tuple[int, float]]
    sources: tuple[Link, ...]
    superseded_by: str | None = None  # what is said now instead; of a turn, what its statement was replaced by

    @property
    def type(self) -> Literal["memory", "turn"]:
        """What sort of thing was found."""
        return "turn" if isinstance(self.item, Turn) else "memory"

    @property
    def id(self) -> str:
        """The id of the memory or turn."""
        return self.item.id

    @property
    def text(self) -> str:
        """What it says."""
        return self.item.content

    @property
    def said_at(self) -> datetime:
        """When it was said."""
        return self.item.said_at


@dataclass(frozen=True, slots=True)
class Explanation:
    """How an answer came about: the terms and slots asked for, what each route found, what was left out and why."""

    terms: tuple[str, ...]
    dropped_terms: tuple[str, ...]
    slots: tuple[str, ...]
    wants_history: bool
    routes: Mapping[str, int]
    left_out: tuple[tuple[str, str], ...]
    weights: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Hits(Sequence[Hit]):
    """Hits, best first, with what the search could not do and how it came to this order."""

    hits: tuple[Hit, ...]
    explanation: Explanation
    diagnostics: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.hits)

    def __getitem__(self, index: Any) -> Any:
        return self.hits[index]

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    @property
    def text(self) -> str:
        """The texts of all hits, one a line."""
        return "\n".join(hit.text for hit in self.hits)


@dataclass(frozen=True, slots=True)
class Context:
    """A packed text for a prompt, its estimated tokens, what went in, and how much did not fit."""

    text: str
    tokens: int
    hits: tuple[Hit, ...]
    omitted: int

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class TurnRecord:
    """A record of a source that is a turn: its line there, and the turn as `record` takes it."""

    line: int
    turn: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class MemoryRecord:
    """A record of a source that is a statement: its line there, its text, and its details as `remember` takes them."""

    line: int
    text: str
    details: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SkippedRecord:
    """A record that holds nothing to keep, and what it was."""

    line: int
    what: str


@dataclass(frozen=True, slots=True)
class BadRecord:
    """A record that could not be read, and why."""

    line: int
    why: str


ImportRecord = TurnRecord | MemoryRecord | SkippedRecord | BadRecord


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import did or would do: records by what became of them, and each one it could not use."""

    source: str
    records: int
    turns: int
    memories: int
    known: int
    skipped: Mapping[str, int]
    problems: tuple[tuple[int, str], ...]
    sessions: int
    dry_run: bool


@dataclass(frozen=True, slots=True)
class Stats:
    """Counts of what a handle reads, and the sizes of its files in bytes."""

    scope: str
    turns: int
    sessions: int
    memories: Mapping[str, int]
    kinds: Mapping[str, int]
    entities: int
    relations: int
    tags: int
    changes: int
    first_said_at: datetime | None
    last_said_at: datetime | None
    database_bytes: int
    blob_bytes: int


@dataclass(frozen=True, slots=True)
class Status:
    """How the home is: where, whose, which versions, and every trouble worth a line."""

    home: str
    scope: str
    reads: tuple[str, ...]
    store_id: str
    schema: int
    analyzer: str
    sqlite: str
    durability: str
    search: str
    waiting: Mapping[str, int]
    troubles: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Every setting, resolved. `origins` says where each value came from; docs/settings.md describes them."""

    home: str
    owner: str | None = None
    scope: str | None = None
    reads: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    agent: str | None = None
    project: str | None = None
    actor: str | None = None
    language: str = "auto"
    durability: str = "full"
    busy_timeout_s: float = 30.0
    limit: int = 10
    context_tokens: int = 700
    origins: Mapping[str, str] = field(default_factory=dict)


# ------------------------------------------------------------------ what the store hands back


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """One row of the journal: what was done to which row, by whom, why, and what it overwrote."""

    number: int
    transaction: int
    at: datetime
    actor: str | None
    run: str | None
    operation: str
    action: str
    table: str
    row: int
    count: int
    reason: str | None
    before: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class Posting:
    """
    Where a term occurs, in the scopes asked for.

    documents: how many rows hold it (its document frequency), also when they were not fetched
    ns:        (k,) int64, row numbers, ascending within a scope, each once; k = 0 when not fetched
    counts:    (k,) float64, how often it occurs in the row
    lengths:   (k,) float64, the row's length in words, within 6 %
    """

    term: str
    documents: int
    ns: np.ndarray[Any, Any]
    counts: np.ndarray[Any, Any]
    lengths: np.ndarray[Any, Any]
