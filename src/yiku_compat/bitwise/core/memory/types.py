"""Types of the memory module: chunks, search results, settings of chunking and of hybrid search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from yiku.errors import InvalidInput, YikuError

TOKENS, OVERLAP = 400, 80  # of a chunk; Yiku splits notes so and no other way


class MemoryDisabled(YikuError):
    """This part of memory is switched off in config.json. Switch it on there and start again."""


@dataclass(frozen=True, slots=True)
class ChunkConfig:
    """How notes are split. Raises InvalidInput for other sizes than Yiku's."""

    tokens: int = TOKENS
    overlap: int = OVERLAP

    def __post_init__(self) -> None:
        if (self.tokens, self.overlap) != (TOKENS, OVERLAP):
            raise InvalidInput(f"chunking: notes are split into {TOKENS} tokens with {OVERLAP} repeated; other sizes are not there")


@dataclass(frozen=True, slots=True)
class HybridConfig:
    """
    Weights of hybrid search, and what a route must give a hit at least (0 to 1 of the best of that route).

    enabled: False searches by meaning alone, and by words where nothing has vectors
    """

    enabled: bool = True
    vector_weight: float = 0.7
    text_weight: float = 0.3
    min_score: float = 0.5

    def __post_init__(self) -> None:
        values = (self.vector_weight, self.text_weight, self.min_score)
        if any(isinstance(value, bool) or not 0 <= value <= 1 for value in values) or not any(values[:2]):
            raise InvalidInput("hybrid_search: weights and min_score must be numbers from 0 to 1, and not both weights 0")


@dataclass(frozen=True, slots=True)
class MemoryChunk:
    """A part of a text with its lines, from 1; `hash` is the SHA-256 of its text."""

    text: str
    start_line: int
    end_line: int
    hash: str
    heading: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkRecord:
    """A row of `chunks`. updated_at: milliseconds since 1970."""

    id: str
    path: str
    source: str = "memory"
    start_line: int
    end_line: int
    hash: str
    model: str = ""
    text: str
    embedding: Sequence[float] = ()
    updated_at: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """What every search result has."""

    chunk_id: str
    path: str
    source: str
    start_line: int
    end_line: int
    text: str
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorSearchResult(Passage):
    """A chunk found by meaning; `score` is 1 for what is as near as anything could be expected to be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FTSSearchResult(Passage):
    """A chunk found by words; `score` is BM25 as a share of the best."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult(Passage):
    """A chunk found by either route, with what each gave; `is_long_term` if it stands in MEMORY.md."""

    vector_score: float | None = None
    text_score: float | None = None

    @property
    def is_long_term(self) -> bool:
        """Whether it stands in MEMORY.md."""
        return self.path == "MEMORY.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexResult:
    """
    What became of a file.

    path:   where it lies in the workspace; chunks: how many it has in the index
    status: indexed, unchanged, skipped, removed or missing; `why` says more
    """

    path: str
    source: str
    chunks: int = 0
    status: str = "indexed"
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactResult:
    """Daily logs that moved to the archive (new path by the old one), those with a digest, those that stayed and why."""

    archived: Mapping[str, str] = field(default_factory=dict)
    summarized: Sequence[str] = ()
    kept: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncResult:
    """What a sync did, by path; `embedded` chunks got vectors, `trouble` says why others did not."""

    added: Sequence[str] = ()
    changed: Sequence[str] = ()
    removed: Sequence[str] = ()
    held: Sequence[str] = ()
    failed: Mapping[str, str] = field(default_factory=dict)
    unchanged: int = 0
    chunks: int = 0
    embedded: int = 0
    trouble: str = ""
