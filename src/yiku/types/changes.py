"""
Types of the store interface: changes, optimistic-lock expectations, row selections, journal rows, postings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from yiku.types.learning import Job, ModelCall
from yiku.types.memories import Access, Kind, SemanticMemory, Source, State, Tokens, Turn
from yiku.types.nights import CiteSources, KeepItem, KeepRun
from yiku.types.notes import DropFile, EmptyNotes, IndexFile
from yiku.types.pages import KeepPageVersion
from yiku.types.sessions import Attachment, Episode, Scratchpad
from yiku.types.value import value

if TYPE_CHECKING:
    import numpy as np

# ------------------------------------------------------------------ what changes


@value(frozen=True, slots=True)
class AddScope:
    """Create a scope; existing ones are unchanged. learning: initial `LearningState.version`, if known."""

    name: str
    label: str | None = None
    learning: int = 0


@value(frozen=True, slots=True)
class AddTurns:
    """Append turns to their sessions, in order; known external ids are skipped."""

    turns: Sequence[Turn]
    tokens: Sequence[Tokens]
    tool_tokens: Sequence[Tokens | None] = ()


@value(frozen=True, slots=True)
class AddMemory:
    """Add a version with its sources, entities, relations and tags."""

    memory: SemanticMemory
    tokens: Tokens


@value(frozen=True, slots=True)
class UpdateMemory:
    """Update columns of a version; the journal keeps the old values. Tokens are those of the row."""

    n: int
    columns: Mapping[str, Any]
    tokens: Tokens


@value(frozen=True, slots=True)
class AddSource:
    """Add a source to a version."""

    n: int
    source: Source


@value(frozen=True, slots=True)
class SetTurnHidden:
    """Hide a turn at a time, or show it again (None)."""

    n: int
    hidden_at: datetime | None
    tokens: Tokens


@value(frozen=True, slots=True)
class CountAccess:
    """
    Increment access counters; with `since`, only if the last access of the kind was earlier, or under a clock that ran ahead.

    episodes: the numbers of those that were shown
    """

    ns: Sequence[int]
    access: Access
    since: datetime | None = None
    episodes: Sequence[int] = ()


RETRACTION = "retract"  # how the key of a retraction begins, before the id of its turn; kept as long as that


@value(frozen=True, slots=True)
class Receipt:
    """The result of a call under an idempotency key, written with its changes."""

    key: str
    digest: bytes
    result: Mapping[str, Any]


@value(frozen=True, slots=True)
class RemoveSources:
    """Remove sources that belong to another version; the journal keeps them."""

    n: int
    seqs: Sequence[int]


@value(frozen=True, slots=True)
class ErasedRow:
    """A row to erase: number, id, and its index tokens."""

    n: int
    id: str
    tokens: Tokens
    tool_tokens: Tokens | None = None


@value(frozen=True, slots=True)
class RedactedTurn:
    """
    A turn to redact: before and after.

    cuts: in its whole content, from which character to which, and how many stand there now
    """

    gone: ErasedRow
    turn: Turn
    tokens: Tokens
    tool_tokens: Tokens | None = None
    cuts: Sequence[tuple[int, int, int]] = ()


class HeldText(NamedTuple):
    """
    A text in a column of a row.

    key: the row's own; id: the row's, or that of the memory that it belongs to
    way: how it can be taken out there: by emptying the column, with the whole row, or not
    groups: the places of those groups of words, of all that were asked for, that the text may hold
    """

    table: str
    column: str
    key: tuple[Any, ...]
    id: str | None
    text: str
    way: Literal["empty", "row", "kept"]
    groups: tuple[int, ...] = ()


@value(frozen=True, slots=True, kw_only=True)
class Erase:
    """
    Erase rows with everything that depends on them.

    records: ids of episodes, scratchpads and attachments by their tables; images: numbers of journal rows that keep older
    forms of them; sessions: names of those whose state goes; texts: what
    stands in rows that stay, and what comes in its place; seals: keyed hashes of what must not come back; rows: ids of
    what went, without a word of it; notes: passages that leave the index, by number with their tokens
    """

    memories: Sequence[ErasedRow] = ()
    turns: Sequence[ErasedRow] = ()
    blanked: Sequence[RedactedTurn] = ()
    records: Mapping[str, Sequence[str]] = field(default_factory=dict)
    images: Sequence[int] = ()
    notes: Mapping[int, Tokens] = field(default_factory=dict)
    sessions: Sequence[str] = ()
    texts: Sequence[tuple[HeldText, str | None]] = ()
    whole_scope: bool = False
    seals: Sequence[bytes] = ()
    rows: Mapping[str, Any] = field(default_factory=dict)


@value(frozen=True, slots=True)
class Purge:
    """Remove memories whose grace is over, with everything that depends on them. Not an erasure: they may be told again."""

    memories: Sequence[ErasedRow]


@value(frozen=True, slots=True)
class Prune:
    """
    Drop what nothing refers to any more: unused tags, and what is older than a time of the others that are counted.

    The receipts of retractions stay, so that one that was undone is not done again.

    kept: the decision that is written down with it, and with the counts as its evidence, if anything was dropped
    """

    COUNTED = ("tags", "receipts", "accesses", "page_versions", "decisions")

    older_than: datetime
    kept: KeepItem | None = None


@value(frozen=True, slots=True)
class Erasure:
    """Write the receipt of an erasure after every copy is done."""

    number: int
    receipt: Mapping[str, Any]


@value(frozen=True, slots=True)
class Lift:
    """Remove tombstones, so that erased content may be stored again."""

    seals: Sequence[bytes]


Record = Episode | Scratchpad | Attachment


@value(frozen=True, slots=True)
class Put:
    """Insert or update a record with its tokens. Stale unless the stored one is `changed` as read."""

    record: Record
    tokens: Tokens | None = None


@value(frozen=True, slots=True)
class Drop:
    """Delete a record; the journal keeps it."""

    record: Record


@value(frozen=True, slots=True)
class Learned:
    """
    Mark these turns as processed, or all up to a number.

    read:  turns that were learned from when they were recorded; their files and their questions to a model are still due
    Raises Stale where one of `turns` was dealt with before, or learning did not stand at `since`.
    """

    turns: Sequence[int] = ()
    read: Sequence[int] = ()
    upto: int | None = None
    since: int = 0


@value(frozen=True, slots=True)
class LearningState:
    """
    The rule version with which a scope was last read, and a rereading in progress.

    version: 0 where nothing says so: the scope is older than such versions, or came with an import
    target:  the version of the run under way; run: its name in the journal; upto: the last turn that it has read
    offered: the last turn that was queued for an agent to read, where no model does
    """

    version: int = 0
    target: int = 0
    run: str | None = None
    upto: int = 0
    offered: int = 0


@value(frozen=True, slots=True)
class SetLearning:
    """Set the progress of a rereading."""

    state: LearningState


@value(frozen=True, slots=True)
class MarkCompressed:
    """Mark turns as having left a host's context, with their episode."""

    turns: Sequence[int]
    episode: str


@value(frozen=True, slots=True)
class SetSession:
    """Set state of a session, creating it if needed."""

    id: str
    columns: Mapping[str, Any]  # of variables, task, closed_at


@value(frozen=True, slots=True)
class AddJobs:
    """Queue jobs that are not queued yet."""

    jobs: Sequence[Job]


@value(frozen=True, slots=True)
class ClaimJobs:
    """
    Lease free jobs until a time, only due ones unless all are wanted; the result is their rows.

    held: numbers of the jobs whose leases count, for one who knows that nobody else is at work; None: every lease counts
    """

    until: datetime
    limit: int
    session: str | None = None
    due: bool = True
    excluded: Sequence[int] | None = None


@value(frozen=True, slots=True)
class KeepReply:
    """Store a model's reply to a job. Raises Stale for an older fence."""

    job: Job
    reply: str


@value(frozen=True, slots=True)
class EndJob:
    """Finish a job, or with an error postpone or kill it. Raises Stale for an older fence."""

    job: Job
    error: str | None = None
    due_at: datetime | None = None


@value(frozen=True, slots=True)
class Spend:
    """Record the usage of a model call."""

    call: ModelCall


@value(frozen=True, slots=True)
class Replayed:
    """Changes of an operation in another store, replayed under its own header."""

    changes: Sequence[Change]
    cause: Cause


Change = (
    AddScope
    | KeepPageVersion
    | KeepRun
    | KeepItem
    | CiteSources
    | AddTurns
    | AddMemory
    | UpdateMemory
    | AddSource
    | RemoveSources
    | SetTurnHidden
    | CountAccess
    | Receipt
    | Erase
    | Purge
    | Prune
    | Erasure
    | Lift
    | Put
    | Drop
    | Learned
    | SetLearning
    | MarkCompressed
    | SetSession
    | AddJobs
    | ClaimJobs
    | EndJob
    | KeepReply
    | Spend
    | Replayed
    | IndexFile
    | DropFile
    | EmptyNotes
)


@value(frozen=True, slots=True)
class Expect:
    """
    What a decision depends on: last change numbers of rows, slots, texts and (subject, predicate) pairs.

    0 means that none was there. `erasure` is the number of the last erasure, when the decision looked at what was erased.
    """

    rows: Mapping[int, int] = field(default_factory=dict)
    slots: Mapping[str, int] = field(default_factory=dict)
    hashes: Mapping[bytes, int] = field(default_factory=dict)
    pairs: Mapping[tuple[str, str], int] = field(default_factory=dict)
    erasure: int | None = None


@value(frozen=True, slots=True, kw_only=True)
class ConflictSet:
    """
    What a new statement must be compared with, and the expectation of that decision.

    same:      live rows of its kind with the same words, when it fills no slot, or is the first of its slot
    previous:  the last active version of its slot said before it or with it, with its sources if it was confirmed later
    following: the first active version said after it; live: the live one
               (a flow adds versions between these that a night has put away since)
    rivals:    live rows of its subject and predicate, when it is the first of its slot and cardinality is unknown
    """

    expect: Expect
    same: Sequence[SemanticMemory] = ()
    previous: SemanticMemory | None = None
    following: SemanticMemory | None = None
    live: SemanticMemory | None = None
    rivals: Sequence[SemanticMemory] = ()


@value(frozen=True, slots=True)
class Cause:
    """Who changes something, in which operation and why: the header of journal rows."""

    operation: str
    at: datetime
    actor: str | None = None
    run: str | None = None
    reason: str | None = None


@value(frozen=True, slots=True)
class Applied:
    """Result of a transaction: its number (0 if nothing changed), rows of each change, last journal row."""

    transaction: int
    rows: tuple[tuple[int, ...], ...] = ()
    last: int = 0


# ------------------------------------------------------------------ what is read


@value(frozen=True, slots=True)
class Condition:
    """A comparison of a field with a value; metadata fields are written metadata.key."""

    field: str
    operator: str
    value: Any


@value(frozen=True, slots=True)
class Group:
    """A group of filters: all ("and"), any ("or") or none ("not")."""

    how: Literal["and", "or", "not"]
    parts: tuple[Filter, ...]


Filter = Condition | Group


@value(frozen=True, slots=True, kw_only=True)
class Memories:
    """A selection of memory rows: all given conditions hold; None and () are ignored."""

    ns: Sequence[int] | None = None
    after: int | None = None  # a row's number
    ids: Sequence[str] | None = None
    suffix: str | None = None
    line: str | None = None
    slot: str | None = None
    pairs: tuple[Sequence[str], Sequence[str]] | None = None  # subjects, predicates
    hash: bytes | None = None
    entities: Sequence[str] | None = None  # of which a row has one
    external_id: str | None = None
    summarizing: Sequence[int] | None = None  # numbers of statements that a summary was made from
    relation: tuple[str | None, str | None, str | None] | None = None  # of which a row states one; None asks nothing
    sourced_in: Sequence[str] | None = None  # ids of turns
    states: Sequence[State] = ()
    current: bool = False  # not superseded
    live_kind: Kind | None = None  # active and current rows of this kind, found by an index of just these
    unexpired_at: datetime | None = None  # neither expired nor past its days at this time
    ended_at: datetime | None = None  # expired, or past its days, at this time, with superseded ones left out
    where: Filter | None = None
    since: datetime | None = None
    until: datetime | None = None
    said_after: tuple[datetime, int, int] | None = None  # time, place and number: only what comes behind these in the order "said"
    said_before: tuple[datetime, int, int] | None = None
    order: Literal["n", "said", "confirmed", "updated"] = "n"
    newest_first: bool = False
    limit: int | None = None
    offset: int = 0


@value(frozen=True, slots=True, kw_only=True)
class Turns:
    """A selection of turns: all given conditions hold; None and () are ignored."""

    ns: Sequence[int] | None = None
    after: int | None = None  # a row's number
    ids: Sequence[str] | None = None
    suffix: str | None = None
    session: str | None = None
    external_ids: Sequence[str] | None = None
    roles: Sequence[str] = ()
    tool: str | None = None
    blob: str | None = None  # whose content, or a tool's result, lies in this blob
    since: datetime | None = None
    until: datetime | None = None
    said_after: tuple[datetime, int, int] | None = (
        None  # time, position and number: only what comes behind these in the order "said"
    )
    said_before: tuple[datetime, int, int] | None = None
    hidden: bool = False  # also those that left recall
    where: Filter | None = None
    beyond: int | None = None  # a position in the session: only what stands behind it
    order: Literal["n", "said", "position"] = "n"
    newest_first: bool = False
    limit: int | None = None
    offset: int = 0


@value(frozen=True, slots=True, kw_only=True)
class Records:
    """A selection of records: all given conditions hold; None and () are ignored."""

    ns: Sequence[int] | None = None
    ids: Sequence[str] | None = None
    suffix: str | None = None
    sessions: Sequence[str] | None = None
    turns: Sequence[str] | None = None  # of attachments: ids of their turns
    user: str | None = None  # of scratchpads
    after: int | None = None  # a row's number
    since: datetime | None = None
    until: datetime | None = None
    newest_first: bool = False
    limit: int | None = None


# ------------------------------------------------------------------ what the store hands back


@value(frozen=True, slots=True)
class ChangeRow:
    """A journal row: what was done to which row, by whom, why, and the previous values."""

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


@value(frozen=True, slots=True)
class Copied:
    """Contents of a store's copy: identity, last number and count of each table, blobs."""

    store_id: str
    rows: Mapping[str, tuple[int, int]]
    blobs: frozenset[str]


@value(frozen=True, slots=True)
class Posting:
    """
    The rows in which a term occurs.

    documents: how many rows hold it (its document frequency), also when they were not fetched
    ns:        (k,) int64, row numbers, ascending within a scope and side, each once; k = 0 when not fetched
    lengths:   (k,) float64, the row's length in words, within 6 %
    """

    term: str
    documents: int
    ns: np.ndarray[Any, Any]
    lengths: np.ndarray[Any, Any]


@value(frozen=True, slots=True)
class Postings:
    """One posting per term, with the index totals of the scopes."""

    found: Sequence[Posting]
    documents: int
    words: int
