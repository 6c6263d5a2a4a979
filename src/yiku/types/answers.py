"""
What a caller gets: outcomes, hits, contexts, reports, and the settings.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from typing import Any, ClassVar, Literal

from yiku.types.sessions import Attachment, Episode, Scratchpad
from yiku.types.value import value
from yiku.types.words import Origin, SemanticMemory, Turn

REPR_CHARS = 50  # of a hit's text, so that it fits a line of a terminal

# ------------------------------------------------------------------ what is answered


@value(frozen=True, slots=True, kw_only=True)
class New:
    """Nothing like it was known."""

    kind: ClassVar[Literal["new"]] = "new"
    memory: SemanticMemory
    operation: int = 0


@value(frozen=True, slots=True, kw_only=True)
class Confirmed:
    """It was known; the source was added."""

    kind: ClassVar[Literal["confirmed"]] = "confirmed"
    memory: SemanticMemory
    operation: int = 0


@value(frozen=True, slots=True, kw_only=True)
class Replaced:
    """It retires an earlier statement of the same slot, which stays reachable as history."""

    kind: ClassVar[Literal["replaced"]] = "replaced"
    memory: SemanticMemory
    replaced: SemanticMemory
    operation: int = 0


@value(frozen=True, slots=True, kw_only=True)
class Past:
    """It was said before what is live now: kept as history, it retires nothing."""

    kind: ClassVar[Literal["past"]] = "past"
    memory: SemanticMemory
    current: SemanticMemory
    operation: int = 0


@value(frozen=True, slots=True, kw_only=True)
class Flagged:
    """It may contradict others, and nothing says which is right: all are kept, each marked."""

    kind: ClassVar[Literal["flagged"]] = "flagged"
    memory: SemanticMemory
    others: tuple[SemanticMemory, ...]
    operation: int = 0


@value(frozen=True, slots=True, kw_only=True)
class Retracted:
    """
    It takes back what was told before it, as `just kidding` does: that is archived, and what held before holds again.

    memory:  what was taken back
    current: the version before it, live again
    said:    what the same sentence states beside that, now kept or confirmed
    """

    kind: ClassVar[Literal["retracted"]] = "retracted"
    memory: SemanticMemory
    current: SemanticMemory | None = None
    said: SemanticMemory | None = None
    operation: int = 0


@value(frozen=True, slots=True, kw_only=True)
class Refused:
    """It was not kept: it had been erased, or takes back what nobody said. `memory` is what was told, and is nowhere."""

    kind: ClassVar[Literal["refused"]] = "refused"
    memory: SemanticMemory
    why: str
    operation: int = 0


Outcome = New | Confirmed | Replaced | Past | Flagged | Retracted | Refused


@value(frozen=True, slots=True)
class Recorded:
    """What `record` stored: the ids of the new turns, and how many were known already."""

    ids: tuple[str, ...]
    known: int = 0
    operation: int = 0
    erased: int = 0  # said before an erasure that took them: not stored


@value(frozen=True, slots=True)
class Forgotten:
    """What `forget` took out of memory, or `restore` brought back."""

    memories: tuple[SemanticMemory, ...]
    turns: tuple[Turn, ...]
    operation: int


@value(frozen=True, slots=True)
class Place:
    """One place of the home after an erasure: what was done there, how much was looked through, what was still found."""

    name: str
    done: str
    bytes: int = 0
    found: tuple[str, ...] = ()


@value(frozen=True, slots=True, kw_only=True)
class Erased(Forgotten):
    """
    What an erasure took, or with `dry_run` would take, and the proof: each place of the home, looked through in raw bytes.

    memories and turns are gone for good. redacted: turns that lost a sentence. kept: statements that have other sources still,
    and places in the store where the same sentence stands and cannot be taken out.
    widened: ids of redacted turns that lost whole paragraphs, or all, since it is said there in words nobody can point at.
    records: episodes, scratchpads and attachments that go; of a scratchpad only the lines that say it.
    """

    redacted: tuple[Turn, ...]
    kept: tuple[SemanticMemory | Place, ...] = ()
    records: tuple[Episode | Scratchpad | Attachment, ...] = ()
    widened: tuple[str, ...] = ()
    places: tuple[Place, ...] = ()
    looked_for: int = 0  # texts, words and fragments of words
    out_of_reach: tuple[str, ...] = ()
    dry_run: bool = False

    @property
    def clean(self) -> bool:
        """Whether nothing of it was found anywhere."""
        kept = (place for place in self.kept if isinstance(place, Place))
        return not self.dry_run and not any(place.found for place in (*self.places, *kept))


@value(frozen=True, slots=True)
class Undone:
    """What `undo` took back: how many memories, turns and records (episodes and the like), and the operation that it was itself."""

    undone: int
    memories: int
    turns: int
    operation: int
    records: int = 0


@value(frozen=True, slots=True, kw_only=True)
class Link:
    """Where a hit comes from: a turn or a statement, who said it and when."""

    id: str | None
    session: str | None
    speaker: str | None
    origin: Origin
    said_at: datetime


@value(frozen=True, slots=True, kw_only=True)
class Hit:
    """One answer: what it is, how relevant (0 to 1), its place in the order, and its sources."""

    item: SemanticMemory | Turn | Episode | Attachment
    relevance: float
    score: float
    routes: Mapping[str, tuple[int, float]]
    sources: tuple[Link, ...]
    superseded_by: str | None = None  # what is said now instead; of a turn, what its statement was replaced by
    taken_back: bool = False  # of a turn: `just kidding` was said of its statement
    said_later: str | None = None  # the id of a memory or turn that was said later and answers the question otherwise
    outdated: tuple[tuple[int, int], ...] = ()  # the clauses of its text of which that holds, as (start, end)

    def __repr__(self) -> str:
        """One line: its type, the end of its id, how relevant it is, when it was said, and how its text begins."""
        text = " ".join(self.text.split())
        text = text if len(text) <= REPR_CHARS else f"{text[: REPR_CHARS - 1]}…"
        later = f", said later: #{self.said_later[-8:]}" if self.said_later else ""
        return f"<{self.type} #{self.id[-8:]} {self.relevance:.2f} {self.said_at:%Y-%m-%d} {text!r}{later}>"

    @property
    def type(self) -> Literal["memory", "turn", "episode", "attachment"]:
        """What sort of thing was found."""
        match self.item:
            case Turn():
                return "turn"
            case Episode():
                return "episode"
            case Attachment():
                return "attachment"
        return "memory"

    @property
    def id(self) -> str:
        """Its id."""
        return self.item.id

    @property
    def text(self) -> str:
        """What it says."""
        match self.item:
            case Episode():
                return self.item.summary or self.item.goal
            case Attachment():
                known = (self.item.description, self.item.transcription, self.item.extracted_text)
                return f"{self.item.filename}: {next(filter(None, known), self.item.local_path or self.item.url or '')}"
        return self.item.content

    @property
    def said_at(self) -> datetime:
        """When it was said; of an episode when it ended."""
        return self.item.ended_at if isinstance(self.item, Episode) else self.item.said_at


@value(frozen=True, slots=True)
class Explanation:
    """
    How an answer came about: the terms and slots asked for, what each route found, what was left out and why.

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
    Hits, best first, with what the search could not do and how it came to this order.

    confidence: how sure it is that what is asked for is among them, 0 to 1: that the topic is there, not that an answer is right
    """

    hits: tuple[Hit, ...]
    explanation: Explanation
    diagnostics: tuple[str, ...] = ()
    confidence: float = 0.0

    def __repr__(self) -> str:
        return f"<{len(self.hits)} hits, confidence {self.confidence:.2f}>"

    @property
    def confident(self) -> bool:
        """Whether an answer can be expected; nine in ten questions that have one pass."""
        return self.confidence >= 0.5

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


@value(frozen=True, slots=True, kw_only=True)
class LearnReport:
    """
    What learning did: how many turns and questions to a model, what became of what they say, and what is left.

    outcomes: how many statements were new, confirmed, replaced, flagged, retracted …
    waiting:  turns and questions that wait; dead: questions that failed for good, until `learn(everything=True)`
    """

    turns: int = 0
    jobs: int = 0
    outcomes: Mapping[str, int] = field(default_factory=dict)
    waiting: int = 0
    dead: int = 0
    model: str | None = None
    seconds: float = 0.0
    troubles: tuple[str, ...] = ()


@value(frozen=True, slots=True, kw_only=True)
class Relearned:
    """
    What reading all turns again changed, or with `dry_run` would change.

    turns:     of the user, read in this call; left: those that wait for the next
    archived:  what the rules do not learn any more; learned: what they learn now, and was not known
    unflagged: what is not marked as a contradiction any more; unpinned: what is no rule
    outcomes:  as of `LearnReport`
    operation: by which `undo` takes back all of the run, over several calls too; 0 where nothing changed
    """

    turns: int = 0
    left: int = 0
    archived: tuple[SemanticMemory, ...] = ()
    learned: tuple[SemanticMemory, ...] = ()
    unflagged: tuple[SemanticMemory, ...] = ()
    unpinned: tuple[SemanticMemory, ...] = ()
    outcomes: Mapping[str, int] = field(default_factory=dict)
    operation: int = 0
    dry_run: bool = False
    seconds: float = 0.0
    troubles: tuple[str, ...] = ()


@value(frozen=True, slots=True)
class Compressed:
    """What became of messages that left a host's context: their episode, how many were recorded now and before, what was learned."""

    episode: Episode | None
    recorded: int
    known: int
    outcomes: Mapping[str, int]


@value(frozen=True, slots=True)
class Ended:
    """
    What became of a session: its episode, the scratchpad, how many memories ended with it, what was learned.

    model: what a model did, where there is one
    """

    episode: Episode | None
    scratchpad: Scratchpad
    expired: int
    outcomes: Mapping[str, int]
    model: LearnReport | None = None


@value(frozen=True, slots=True)
class ToReview:
    """A memory that somebody should look at, why, and what it contradicts."""

    memory: SemanticMemory
    why: Literal["unconfirmed", "conflict", "belief"]
    others: tuple[SemanticMemory, ...] = ()


@value(frozen=True, slots=True)
class EmbedReport:
    """
    How many turns and memories were embedded in which space, and how many wait still.

    failed: those that are found by words only, because the model refused them each time
    """

    space: str
    done: int
    waiting: int
    failed: int = 0


@value(frozen=True, slots=True)
class Context:
    """
    A packed text for a prompt, its estimated tokens, what went in, and how much did not fit.

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


@value(frozen=True, slots=True)
class TurnRecord:
    """A record of a source that is a turn: its line there, and the turn as `record` takes it."""

    line: int
    turn: Mapping[str, Any]


@value(frozen=True, slots=True)
class MemoryRecord:
    """A record of a source that is a statement: its line there, its text, and its details as `remember` takes them."""

    line: int
    text: str
    details: Mapping[str, Any]


@value(frozen=True, slots=True)
class SkippedRecord:
    """A record that holds nothing to keep, and what it was."""

    line: int
    what: str


@value(frozen=True, slots=True)
class BadRecord:
    """A record that could not be read, and why."""

    line: int
    why: str


@value(frozen=True, slots=True)
class OperationRecord:
    """An operation of another store, of Yiku's own export: its line, its scope with label, its header, and its changes by line."""

    line: int
    scope: str
    label: str | None
    header: Mapping[str, Any]
    changes: tuple[tuple[int, Mapping[str, Any]], ...]


ImportRecord = TurnRecord | MemoryRecord | SkippedRecord | BadRecord | OperationRecord


@value(frozen=True, slots=True)
class ImportReport:
    """
    What an import did or would do: records by what became of them, and each one it could not use.

    lowered: how many statements, rules, pins and turns are believed less than the file says, because it is not trusted
    """

    source: str
    records: int
    turns: int
    memories: int
    known: int
    skipped: Mapping[str, int]
    problems: tuple[tuple[int, str], ...]
    sessions: int
    dry_run: bool
    lowered: Mapping[str, int] = field(default_factory=dict)


@value(frozen=True, slots=True)
class Exported:
    """What an export wrote: where, which scopes, how many of each; `missing` are blobs and rows that could not be read."""

    path: str
    scopes: tuple[str, ...]
    turns: int
    memories: int
    operations: int
    bytes: int
    seconds: float
    missing: tuple[str, ...] = ()


@value(frozen=True, slots=True, kw_only=True)
class Backup:
    """A backup that was made and read back: where, how large, what it holds; `changes` is the number of the last change in it."""

    path: str
    bytes: int
    turns: int
    memories: int
    changes: int
    seconds: float
    verified: bool = True
    left_out: tuple[str, ...] = ()  # links and the like in the home, which are not copied; blobs that were missing already


@value(frozen=True, slots=True, kw_only=True)
class BackupFile:
    """A backup that lies in the home."""

    name: str
    made_at: datetime
    bytes: int


@value(frozen=True, slots=True, kw_only=True)
class Restored:
    """
    What restoring a backup did, or would do.

    changes, turns, memories: what the store has, and the backup has not; None when the store cannot be asked
    kept:    the backup of the store as it was before, by which this can be taken back
    aside:   where the damaged file lies, when the store could not be opened
    missing: blobs that the backup names and the home has no more
    """

    name: str
    made_at: datetime
    changes: int | None
    turns: int | None
    memories: int | None
    kept: str | None = None
    aside: str | None = None
    missing: tuple[str, ...] = ()
    operation: int = 0
    dry_run: bool = False


@value(frozen=True, slots=True)
class Checked:
    """What a check looked at, how much of each, what is wrong and what is worth knowing, in words."""

    depth: str
    looked_at: Mapping[str, int]
    problems: tuple[str, ...]
    notes: tuple[str, ...]
    seconds: float


@value(frozen=True, slots=True)
class Repaired:
    """
    What a repair found wrong, and what it came to.

    rows: of each table, how many came from where; lost: what was found nowhere; kept: where the damaged file lies
    mended: rows of which one thing could not be read, and what
    """

    problems: tuple[str, ...]
    rows: Mapping[str, Mapping[str, int]]
    lost: tuple[str, ...]
    kept: str | None
    dry_run: bool
    mended: tuple[str, ...] = ()


@value(frozen=True, slots=True)
class Stats:
    """Counts of what a handle reads, and the sizes of its files in bytes. queue: questions to a model, those that failed too."""

    scope: str
    turns: int
    sessions: int
    memories: Mapping[str, int]
    kinds: Mapping[str, int]
    entities: int
    relations: int
    tags: int
    episodes: int
    attachments: int
    queue: int
    changes: int
    first_said_at: datetime | None
    last_said_at: datetime | None
    database_bytes: int
    blob_bytes: int


@value(frozen=True, slots=True)
class Status:
    """
    How the home is: where, whose, which versions, and every trouble worth a line.

    search:  what questions are asked with: words, or the space of a model
    missing: what a search by words could have besides, and how
    """

    home: str
    scope: str
    reads: tuple[str, ...]
    store_id: str
    schema: int
    analyzer: str
    sqlite: str
    durability: str
    disk: str
    search: str
    missing: str | None
    waiting: Mapping[str, int]
    troubles: tuple[str, ...]


class Secret:
    """A text that shows itself to whoever asks for it by name, and to nothing else: not printed, logged or made JSON."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """The text."""
        return self._text

    def __repr__(self) -> str:
        return f"…{self._text[-4:]}" if len(self._text) >= 16 else "…"  # enough to tell two keys apart

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._text == self._text

    def __hash__(self) -> int:
        return hash(self._text)


@value(frozen=True, slots=True, kw_only=True)
class Settings:
    """
    Every setting, resolved. `origins` says where each value came from; docs/settings.md describes them.

    unknown_variables: what begins with YIKU_ in the environment, and is no setting
    """

    home: str
    owner: str | None = None
    scope: str | None = None
    reads: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    agent: str | None = None
    project: str | None = None
    actor: str | None = None
    language: str = "auto"
    secrets: str = "mask"
    private_folders: tuple[str, ...] = ()
    backups: str = "nightly"
    durability: str = "full"
    busy_timeout_s: float = 30.0
    limit: int = 10
    context_tokens: int = 700
    search: str = "auto"
    embed_url: str | None = None
    embed_model: str | None = None
    embed_key: Secret | None = None
    embed_dimensions: int | None = None
    embed_query_prefix: str | None = None
    embed_passage_prefix: str | None = None
    embed_batch: int = 64
    embed_timeout_s: float = 20.0
    chat_url: str | None = None
    chat_model: str | None = None
    chat_key: Secret | None = None
    chat_timeout_s: float = 60.0
    chat_max_tokens: int = 4_096
    learn: Literal["at_once", "later", "off"] = "at_once"
    learn_calls: int = 5
    origins: Mapping[str, str] = field(default_factory=dict)
    unknown_variables: tuple[str, ...] = ()
