"""
What is written to a store and read from it: changes, what they rest on, selections, journal rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from yiku.types.learning import Job, ModelCall
from yiku.types.memories import Access, Kind, SemanticMemory, Source, State, Tokens, Turn
from yiku.types.sessions import Attachment, Episode, Scratchpad
from yiku.types.value import value

if TYPE_CHECKING:
    import numpy as np

# ------------------------------------------------------------------ what changes


@value(frozen=True, slots=True)
class AddScope:
    """A scope gets a number. Adding one that exists changes nothing. learning: as of `LearningState.version`, where it is known."""

    name: str
    label: str | None = None
    learning: int = 0


@value(frozen=True, slots=True)
class AddTurns:
    """Turns go to the end of their sessions, in this order; those whose external id is known are left out."""

    turns: Sequence[Turn]
    tokens: Sequence[Tokens]
    tool_tokens: Sequence[Tokens | None] = ()


@value(frozen=True, slots=True)
class AddMemory:
    """A new version row with its sources, entities, relations and tags."""

    memory: SemanticMemory
    tokens: Tokens


@value(frozen=True, slots=True)
class UpdateMemory:
    """Columns of one version row get new values; the journal keeps the old ones. Tokens are those of the row."""

    n: int
    columns: Mapping[str, Any]
    tokens: Tokens


@value(frozen=True, slots=True)
class AddSource:
    """One more source of an existing version."""

    n: int
    source: Source


@value(frozen=True, slots=True)
class SetTurnHidden:
    """A turn leaves recall (at a time) or comes back (None). Its text stays."""

    n: int
    hidden_at: datetime | None
    tokens: Tokens


@value(frozen=True, slots=True)
class CountAccess:
    """
    Access counters go up by one; with `since`, only where the last access of this kind was earlier.

    episodes: the numbers of those that were shown
    """

    ns: Sequence[int]
    access: Access
    since: datetime | None = None
    episodes: Sequence[int] = ()


@value(frozen=True, slots=True)
class Receipt:
    """The result of a call under an idempotency key, written with what the call changed."""

    key: str
    digest: bytes
    result: Mapping[str, Any]


@value(frozen=True, slots=True)
class RemoveSources:
    """Sources of a version that belong to another: the journal keeps them."""

    n: int
    seqs: Sequence[int]


@value(frozen=True, slots=True)
class ErasedRow:
    """A row that is erased: its number, its id, and the tokens that it is indexed with."""

    n: int
    id: str
    tokens: Tokens
    tool_tokens: Tokens | None = None


@value(frozen=True, slots=True)
class RedactedTurn:
    """
    A turn of which something is erased: as it was, and what is left of it.

    cuts: in its whole content, from which character to which, and how many stand there now
    """

    gone: ErasedRow
    turn: Turn
    tokens: Tokens
    tool_tokens: Tokens | None = None
    cuts: Sequence[tuple[int, int, int]] = ()


class HeldText(NamedTuple):
    """
    A text that stands in a column of a row.

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
    Rows go for good, with everything that hangs on them.

    records: ids of episodes, scratchpads and attachments by their tables; images: numbers of journal rows that keep older
    forms of them; sessions: names of those whose state goes; texts: what
    stands in rows that stay, and what comes in its place; seals: keyed hashes of what must not come back; rows: ids of
    what went, without a word of it
    """

    memories: Sequence[ErasedRow] = ()
    turns: Sequence[ErasedRow] = ()
    blanked: Sequence[RedactedTurn] = ()
    records: Mapping[str, Sequence[str]] = field(default_factory=dict)
    images: Sequence[int] = ()
    sessions: Sequence[str] = ()
    texts: Sequence[tuple[HeldText, str | None]] = ()
    whole_scope: bool = False
    seals: Sequence[bytes] = ()
    rows: Mapping[str, Any] = field(default_factory=dict)


@value(frozen=True, slots=True)
class Erasure:
    """The receipt of an erasure, once every copy has been dealt with."""

    number: int
    receipt: Mapping[str, Any]


@value(frozen=True, slots=True)
class Lift:
    """What was erased may be kept again: its tombstones go."""

    seals: Sequence[bytes]


Record = Episode | Scratchpad | Attachment


@value(frozen=True, slots=True)
class Put:
    """A record is kept under its id, with what it is found by; an older form of it must be as this one was read (`changed`)."""

    record: Record
    tokens: Tokens | None = None


@value(frozen=True, slots=True)
class Drop:
    """A record goes; the journal keeps it."""

    record: Record


@value(frozen=True, slots=True)
class Learned:
    """
    Learning has dealt with these turns, or with all up to a number.

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
    With which version of the rules the turns of a scope were last read, and the run that reads them with a newer one.

    version: 0 where nothing says so: the scope is older than such versions, or came with an import
    target:  the version of the run under way; run: its name in the journal; upto: the last turn that it has read
    """

    version: int = 0
    target: int = 0
    run: str | None = None
    upto: int = 0


@value(frozen=True, slots=True)
class SetLearning:
    """How far the turns of a scope were read again."""

    state: LearningState


@value(frozen=True, slots=True)
class MarkCompressed:
    """These turns left a host's context, and which episode tells of them."""

    turns: Sequence[int]
    episode: str


@value(frozen=True, slots=True)
class SetSession:
    """What a host keeps for a session; a session that is not there is made."""

    id: str
    columns: Mapping[str, Any]  # of variables, task, closed_at


@value(frozen=True, slots=True)
class AddJobs:
    """Work is queued, as far as it does not stand there already."""

    jobs: Sequence[Job]


@value(frozen=True, slots=True)
class ClaimJobs:
    """
    Take so many jobs that are free, and due unless all are wanted, until a time; their rows are what it did.

    held: numbers of the jobs whose leases count, for one who knows that nobody else is at work; None: every lease counts
    """

    until: datetime
    limit: int
    session: str | None = None
    due: bool = True
    held: Sequence[int] | None = None


@value(frozen=True, slots=True)
class KeepReply:
    """What a model said of a job. Raises Stale for who has an older fence."""

    job: Job
    reply: str


@value(frozen=True, slots=True)
class EndJob:
    """A job is done; or, with an error, due again at a time, or dead. Raises Stale for who has an older fence."""

    job: Job
    error: str | None = None
    due_at: datetime | None = None


@value(frozen=True, slots=True)
class Spend:
    """What a model was asked for, and what that took."""

    call: ModelCall


@value(frozen=True, slots=True)
class Replayed:
    """What an operation did in another store, done here as it was done there: under its own header in the journal."""

    changes: Sequence[Change]
    cause: Cause


Change = (
    AddScope
    | AddTurns
    | AddMemory
    | UpdateMemory
    | AddSource
    | RemoveSources
    | SetTurnHidden
    | CountAccess
    | Receipt
    | Erase
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
)


@value(frozen=True, slots=True)
class Expect:
    """
    What a decision rested on: last change numbers of rows, of slots, of texts, and of (subject, predicate) pairs.

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
    What a new statement meets in its scope, and what a decision on that rests on.

    same:      live rows of its kind with the same words, when it fills no slot, or is the first of its slot
    previous:  the last active version of its slot said before it or with it, with its sources if it was confirmed later
    following: the first active version said after it; live: the live one
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
    """Who changes something, in which operation and why: the header of each journal row."""

    operation: str
    at: datetime
    actor: str | None = None
    run: str | None = None
    reason: str | None = None


@value(frozen=True, slots=True)
class Applied:
    """What a transaction did: its number (0 when nothing changed), the rows of each change in order, its last journal row."""

    transaction: int
    rows: tuple[tuple[int, ...], ...] = ()
    last: int = 0


# ------------------------------------------------------------------ what is read


@value(frozen=True, slots=True)
class Condition:
    """A field compared with a value; metadata fields are written metadata.key."""

    field: str
    operator: str
    value: Any


@value(frozen=True, slots=True)
class Group:
    """Filters that hold all ("and"), at least one ("or") or none ("not")."""

    how: Literal["and", "or", "not"]
    parts: tuple[Filter, ...]


Filter = Condition | Group


@value(frozen=True, slots=True, kw_only=True)
class Memories:
    """Which memory rows to read: every given condition must hold; None and () ask nothing."""

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
    relation: tuple[str | None, str | None, str | None] | None = None  # of which a row states one; None asks nothing
    sourced_in: Sequence[str] | None = None  # ids of turns
    states: Sequence[State] = ()
    current: bool = False  # not superseded
    live_kind: Kind | None = None  # active and current rows of this kind, found by an index of just these
    unexpired_at: datetime | None = None  # neither expired nor past its days at this time
    where: Filter | None = None
    since: datetime | None = None
    until: datetime | None = None
    order: Literal["n", "said", "confirmed", "updated"] = "n"
    newest_first: bool = False
    limit: int | None = None
    offset: int = 0


@value(frozen=True, slots=True, kw_only=True)
class Turns:
    """Which turns to read: every given condition must hold; None and () ask nothing."""

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
    hidden: bool = False  # also those that left recall
    where: Filter | None = None
    beyond: int | None = None  # a position in the session: only what stands behind it
    order: Literal["n", "said", "position"] = "n"
    newest_first: bool = False
    limit: int | None = None
    offset: int = 0


@value(frozen=True, slots=True, kw_only=True)
class Records:
    """Which records to read: every given condition must hold; None and () ask nothing."""

    ns: Sequence[int] | None = None
    ids: Sequence[str] | None = None
    suffix: str | None = None
    sessions: Sequence[str] | None = None
    turns: Sequence[str] | None = None  # of attachments: ids of their turns
    user: str | None = None  # of scratchpads
    since: datetime | None = None
    until: datetime | None = None
    newest_first: bool = False
    limit: int | None = None


# ------------------------------------------------------------------ what the store hands back


@value(frozen=True, slots=True)
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


@value(frozen=True, slots=True)
class Copied:
    """What a copy of the store holds: whose it is; last number and count of turns, memories, changes; the blobs it names."""

    store_id: str
    rows: Mapping[str, tuple[int, int]]
    blobs: frozenset[str]


@value(frozen=True, slots=True)
class Posting:
    """
    Where a term occurs, in the scopes asked for.

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
    """One posting a term, and how many documents and words the scopes asked have in that index."""

    found: Sequence[Posting]
    documents: int
    words: int
