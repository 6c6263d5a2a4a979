"""
Results of a search: hits with their sources, the explanation of their order, and a packed context.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

from yiku.types.memories import Origin, SemanticMemory, Turn
from yiku.types.notes import Note
from yiku.types.sessions import Attachment, Episode
from yiku.types.value import value

REPR_CHARS = 50  # of a hit's text, so that it fits a line of a terminal


@value(frozen=True, slots=True, kw_only=True)
class Link:
    """A source of a hit: a turn or a statement, who said it and when."""

    id: str | None
    session: str | None
    speaker: str | None
    origin: Origin
    said_at: datetime


@value(frozen=True, slots=True, kw_only=True)
class Hit:
    """
    One search result: item, relevance (0 to 1), rank score, and sources.

    relevance: how well the search found it, on one scale; a reranker changes the order and not this
    routes:    what found it: its rank there, and its relevance there; of `rerank` the score that the reranker gave, on its scale
    """

    item: SemanticMemory | Turn | Episode | Attachment | Note
    relevance: float
    score: float
    routes: Mapping[str, tuple[int, float]]
    sources: tuple[Link, ...]
    superseded_by: str | None = None  # what is said now instead; of a turn, what its statement was replaced by
    taken_back: bool = False  # of a turn: `just kidding` was said of its statement
    said_later: str | None = None  # the id of a memory or turn that was said later and answers the question otherwise
    outdated: tuple[tuple[int, int], ...] = ()  # the clauses of its text of which that holds, as (start, end)

    def __repr__(self) -> str:
        """One line: type, short id, relevance, date, and the start of the text."""
        text = " ".join(self.text.split())
        text = text if len(text) <= REPR_CHARS else f"{text[: REPR_CHARS - 1]}…"
        later = f", said later: #{self.said_later[-8:]}" if self.said_later else ""
        return f"<{self.type} #{self.id[-8:]} {self.relevance:.2f} {self.said_at:%Y-%m-%d} {text!r}{later}>"

    @property
    def type(self) -> Literal["memory", "turn", "episode", "attachment", "note"]:
        """The type of the item."""
        match self.item:
            case Turn():
                return "turn"
            case Episode():
                return "episode"
            case Attachment():
                return "attachment"
            case Note():
                return "note"
        return "memory"

    @property
    def id(self) -> str:
        """The item's id."""
        return self.item.id

    @property
    def text(self) -> str:
        """The item's text."""
        match self.item:
            case Episode():
                return self.item.summary or self.item.goal
            case Attachment():
                known = (self.item.description, self.item.transcription, self.item.extracted_text)
                return f"{self.item.filename}: {next(filter(None, known), self.item.local_path or self.item.url or '')}"
            case Note():
                return self.item.text
        return self.item.content

    @property
    def said_at(self) -> datetime:
        """When it was said; for an episode, when it ended."""
        return self.item.ended_at if isinstance(self.item, Episode) else self.item.said_at


@value(frozen=True, slots=True)
class Explanation:
    """
    How a result came about: terms, slots, hits per route, what was left out and why.

    said_later: of two hits that answer the same question the id of the earlier, that of the later, and what decided
    """

    terms: tuple[str, ...]
    dropped_terms: tuple[str, ...]
    slots: tuple[str, ...]
    wants_history: bool
    windows: tuple[str, ...]
    routes: Mapping[str, int]
    left_out: tuple[tuple[str, str], ...]
    weights: Mapping[str, float]
    said_later: tuple[tuple[str, str, str], ...] = ()


@value(frozen=True, slots=True)
class Hits(Sequence[Hit]):
    """
    Search results, best first, with diagnostics and explanation.

    confidence: how sure it is that what is asked for is among them, 0 to 1: that the topic is there, not that an answer is right
    fits:       whether any of it comes near the question; if not, `context` shows nothing
    """

    hits: tuple[Hit, ...]
    explanation: Explanation
    diagnostics: tuple[str, ...] = ()
    confidence: float = 0.0
    fits: bool = True

    def __repr__(self) -> str:
        return f"<{len(self.hits)} hits, confidence {self.confidence:.2f}>"

    @property
    def confident(self) -> bool:
        """Whether an answer is likely; nine in ten answerable questions pass."""
        return self.confidence >= 0.5

    def __len__(self) -> int:
        return len(self.hits)

    def __getitem__(self, index: Any) -> Any:
        return self.hits[index]

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    @property
    def text(self) -> str:
        """The texts of all hits, one per line."""
        return "\n".join(hit.text for hit in self.hits)


@value(frozen=True, slots=True)
class Context:
    """
    Packed text for a prompt: estimated tokens, included hits, number omitted.

    diagnostics:    what was missing when it was looked for, a line each
    confidence:     how sure it is that what was asked for is in it, as of Hits
    rules:          the standing rules at the beginning of the text, newest first; none of them is among the hits
    rules_left_out: how many more there are that did not fit their share of the budget
    """

    text: str
    tokens: int
    hits: tuple[Hit, ...]
    omitted: int
    diagnostics: tuple[str, ...] = ()
    confidence: float = 0.0
    rules: tuple[SemanticMemory, ...] = ()
    rules_left_out: int = 0

    def __str__(self) -> str:
        return self.text
