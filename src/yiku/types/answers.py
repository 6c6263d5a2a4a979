"""
What a caller gets: outcomes, hits, contexts, reports, and the settings.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from yiku.types.words import Origin, SemanticMemory, Turn

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
