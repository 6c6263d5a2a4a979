"""
Reports of learning, import, export, backup, check, repair and status.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from typing import Literal

from yiku.types.memories import SemanticMemory
from yiku.types.sessions import Episode, Scratchpad
from yiku.types.value import value


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
