"""
Reports of operations (learning, sessions, embedding, import, export, backup, check, repair), `stats` and `status`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from typing import Literal

from yiku.types.daily import Watching
from yiku.types.memories import SemanticMemory
from yiku.types.sessions import Episode, Scratchpad
from yiku.types.value import value


@value(frozen=True, slots=True, kw_only=True)
class LearnReport:
    """
    Report of learning: turns, model jobs, outcomes, and what is pending.

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
    Report of rereading all turns, or with `dry_run` what it would change.

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


@value(frozen=True, slots=True, kw_only=True)
class Ingested:
    """
    Report of recording the inbox: events read, turns stored, sessions compressed and ended, and what is left.

    known:      turns that were recorded before; skipped: events that were not recorded, by reason
    unreadable: lines that were set aside in inbox/unreadable.jsonl; waiting: events that are left
    """

    events: int = 0
    turns: int = 0
    known: int = 0
    compressed: int = 0
    ended: int = 0
    skipped: Mapping[str, int] = field(default_factory=dict)
    unreadable: int = 0
    waiting: int = 0
    seconds: float = 0.0


@value(frozen=True, slots=True)
class Compressed:
    """Report of compression: episode, messages recorded now and before, outcomes."""

    episode: Episode | None
    recorded: int
    known: int
    outcomes: Mapping[str, int]


@value(frozen=True, slots=True)
class Ended:
    """
    Report of a session's end: episode, scratchpad, expired memories, outcomes.

    model: what a model did, where there is one
    """

    episode: Episode | None
    scratchpad: Scratchpad
    expired: int
    outcomes: Mapping[str, int]
    model: LearnReport | None = None


@value(frozen=True, slots=True)
class ToReview:
    """A memory to review: the reason, and what it contradicts."""

    memory: SemanticMemory
    why: Literal["unconfirmed", "conflict", "belief"]
    others: tuple[SemanticMemory, ...] = ()


@value(frozen=True, slots=True)
class EmbedReport:
    """
    Report of embedding: space, rows done, pending and failed.

    failed:   those that are found by words only, because the model refused them each time
    compared: turns that the model read together with earlier ones, to find which of these no longer hold
    """

    space: str
    done: int
    waiting: int
    failed: int = 0
    compared: int = 0


@value(frozen=True, slots=True)
class ImportReport:
    """
    Report of an import: record counts by result, and each problem.

    lowered: how many statements, rules, pins and turns are believed less than the file says, because it is not trusted
    notes:   how many files came in as notes, new or edited since
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
    notes: int = 0


@value(frozen=True, slots=True)
class SqlRows:
    """Rows of a select statement, with the names of their columns; `truncated` if there are more."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str | int | float | bytes | None, ...], ...]
    truncated: bool


@value(frozen=True, slots=True)
class Exported:
    """Report of an export: path, scopes, counts; `missing` are unreadable blobs and rows."""

    path: str
    scopes: tuple[str, ...]
    turns: int
    memories: int
    operations: int
    bytes: int
    seconds: float
    missing: tuple[str, ...] = ()


@value(frozen=True, slots=True, kw_only=True)
class ExportedPages:
    """
    Report of an export as pages for a person: folder, scope, counts of pages and of what they show.

    memories: statements that hold; `forgotten` ones are left out
    """

    path: str
    scope: str
    pages: int
    memories: int
    episodes: int
    turns: int
    forgotten: int = 0


@value(frozen=True, slots=True, kw_only=True)
class Backup:
    """Report of a verified backup: path, size, contents; `changes` is the number of its last change."""

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
    """A backup in the home."""

    name: str
    made_at: datetime
    bytes: int


@value(frozen=True, slots=True, kw_only=True)
class Restored:
    """
    Report of restoring a backup, or its plan.

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
    """Report of a check: items checked, problems, notes."""

    depth: str
    looked_at: Mapping[str, int]
    problems: tuple[str, ...]
    notes: tuple[str, ...]
    seconds: float


@value(frozen=True, slots=True)
class Repaired:
    """
    Report of a repair: problems found, and the result.

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
    """Counts of what a handle reads, and file sizes in bytes. notes: indexed files; queue: pending and failed model jobs."""

    scope: str
    turns: int
    sessions: int
    memories: Mapping[str, int]
    kinds: Mapping[str, int]
    entities: int
    relations: int
    tags: int
    episodes: int
    notes: int
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
    State of the home: path, owner, versions, and troubles.

    search:  what questions are asked with: words, or the space of a model
    missing: what a search by words could have besides, and how
    watching: who follows the notes, or died of it
    reranked_by: the model that orders the best hits, and its address
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
    watching: Watching | None = None
    reranked_by: str | None = None
