"""
The Store protocol: one write method, reads, and the groups learning, notes, nights, erasures, upkeep.

`apply` is the only write: all of its changes or none, and only if what the decision rested on still
holds. Reads take the numbers of the scopes that may be seen; no read crosses them. The changes and the
selections are values, so a flow says what it wants without knowing how it lies in tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, Protocol, Self, TypeVar

from yiku.types import (
    Applied,
    Attachment,
    Cause,
    Change,
    ChangeRow,
    ConflictSet,
    Copied,
    Episode,
    Expect,
    HeldText,
    Job,
    LearningState,
    Memories,
    ModelCall,
    NightItem,
    NightRun,
    Note,
    NoteFile,
    PageVersion,
    Postings,
    Records,
    Scratchpad,
    SemanticMemory,
    Session,
    SqlRows,
    Turn,
    TurnColumns,
    Turns,
)

R = TypeVar("R", bound=Episode | Scratchpad | Attachment)
Index = Literal["turn", "tool", "memory", "episode", "attachment", "note"]
Spoken = Literal["turn", "note"]


class Journal(Protocol):
    """The journal, as the code that applies changes sees it (store/write.py)."""

    cause: Cause
    transaction: int  # the number of its first row

    def note(self, action: str, table: str, row: int, before: dict[str, Any] | None = None, *, count: int = 1) -> int:
        """Write a journal row and return its number."""


class Learning(Protocol):
    """Learning progress, the job queue and model usage."""

    def upto(self, scope: int) -> int:
        """Return the number of the last turn processed by learning."""

    def extracted(self, scope: int, ns: Sequence[int]) -> set[int]:
        """Return which of these turns were processed individually, ahead of `upto`."""

    def waiting(self, scope: int) -> int:
        """Count the turns of a scope that are not processed yet."""

    def state(self, scope: int) -> LearningState:
        """Return the rule version with which a scope was last read, and the progress of a rereading."""

    def compressions(self, scope: int, ns: Sequence[int]) -> Mapping[int, str]:
        """Return which of these turns left a host's context, with the ids of their episodes."""

    def jobs(self, scope: int, *, ns: Sequence[int] | None = None, dead: bool | None = None) -> list[Job]:
        """Return the queue of a scope, in the order in which jobs are due."""

    def spent(self, scope: int, *, since: datetime | None = None, session: str | None = None) -> list[ModelCall]:
        """Return recorded model calls, oldest first."""


class Notes(Protocol):
    """The files of the vault as they were indexed, and their passages."""

    def files(self, scope: int, paths: Sequence[str] | None = None) -> list[NoteFile]:
        """All files of a scope, or those with these paths, by path."""

    def of_file(self, scope: int, file_n: int) -> list[Note]:
        """The passages of a file, in order."""

    def read(self, scopes: Sequence[int], ns: Sequence[int]) -> list[Note]:
        """Passages by their numbers."""

    def after(self, scope: int, n: int, limit: int) -> list[Note]:
        """The first passages behind a number."""

    def ending(self, scopes: Sequence[int], end: str, limit: int) -> list[Note]:
        """Passages whose ids end so."""

    def exist(self, scopes: Sequence[int]) -> bool:
        """Whether there are any passages."""

    def count(self, scopes: Sequence[int], after: int = 0) -> int:
        """How many passages there are behind a number."""


class Nights(Protocol):
    """The runs of the night, and what they decided."""

    def runs(self, scope: int, *, id: str | None = None, limit: int | None = None) -> list[NightRun]:
        """Return the runs of a scope, newest first."""

    def items(self, scope: int, run: str, *, after: int = 0, limit: int | None = None) -> list[NightItem]:
        """Return the decisions of a run behind a number, in order."""

    def counts(self, scope: int, run: str) -> Mapping[str, int]:
        """Return how many decisions of each action a run has written down."""

    def decided(self, scope: int, action: str) -> set[str]:
        """Return the ids about which some run decided this."""

    def untold(self, scope: int, until: datetime) -> list[str]:
        """Return the sessions whose last turn was said until a time, and of which no episode tells to the end."""

    def summarized(self, scope: int, ns: Sequence[int]) -> dict[int, list[int]]:
        """Return which statements each of these summaries was made from, by their numbers."""

    def stale(self, scope: int) -> list[int]:
        """Return the live summaries of which a source is not live any more, by number."""


class Erasures(Protocol):
    """Tombstones, and searching for leftovers of an erasure."""

    def all(self) -> list[dict[str, Any]]:
        """Return every erasure as a JSON object: id, number, scope, at, rows, seals, done."""

    def last(self) -> int:
        """Return the number of the last erasure; 0 if there was none."""

    def known(self, ids: Sequence[str]) -> set[str]:
        """Return which of these erasures were applied to this store."""

    def tombstoned(self, seals: Sequence[bytes]) -> Mapping[bytes, datetime]:
        """Return which of these seals are tombstones, and since when."""

    def texts(self, scope: int, at_least: int, spoken: Spoken | None = None) -> Iterator[list[HeldText]]:
        """
        Yield the texts in any column of a scope, except what an index finds, by columns of some thousand rows.

        at_least: characters, shorter ones are left out; spoken: what the index of turns, or of notes, knows instead
        """

    def texts_in_rows(self, texts: Sequence[str]) -> set[str]:
        """Return those texts that some row contains."""

    def needles_in_rows(self, needles: Iterable[bytes]) -> set[bytes]:
        """Return those needles that occur within a field of some row or index."""

    def found(self, needles: Sequence[bytes]) -> tuple[int, set[bytes]]:
        """Search the store's files; return the bytes read and the needles found."""

    def scrub(self, *, rewrite: bool = False) -> bool:
        """
        Delete derived files and empty the WAL, after rewriting the database if `rewrite`.
        """


class Upkeep(Protocol):
    """Operations on the whole store: totals, SQL, backup, restore."""

    def ensure_open(self) -> None:
        """Raise Closed after `close`, and StoreMismatch if the path now names another file."""

    def about(self) -> Mapping[str, Any]:
        """Return store id, schema, analyzer, SQLite version, durability and size in bytes."""

    def counts(self, scopes: Sequence[int]) -> Mapping[str, Any]:
        """Return the counts that `stats` shows."""

    def review_counts(self, scopes: Sequence[int]) -> tuple[int, int]:
        """Return the number of unconfirmed memories and of contradicting live ones."""

    def sql(
        self,
        scopes: Sequence[int],
        sql: str,
        values: Sequence[Any] | Mapping[str, Any],
        *,
        views: Mapping[str, str],
        limit: int,
        timeout_s: float,
        now: datetime,
        vectors: Path | None = None,
    ) -> SqlRows:
        """Run one select statement over the rows of these scopes (store/query.py). Raises InvalidInput, TooLarge."""

    def merge(self) -> None:
        """
        Merge each search index into one segment, and write the column files of large scopes.
        """

    def copied(self, path: Path) -> Copied:
        """Copy one snapshot to a file and verify it before it is renamed. Raises Stale, Damaged."""

    def since(self, last: Mapping[str, int]) -> Mapping[str, int]:
        """Count the turns, memories and changes after these numbers."""

    def restore(self, prepared: Self, cause: Cause, scope: int, sweep: Callable[[], None]) -> int:
        """
        The content of a prepared store becomes this one's, in one transaction; the number of the row in the journal of
        the scope, which has this number there.

        sweep: takes out of the prepared store what was erased since it was copied. `exclusive` is held.
        """

    def resume_numbering(self, before: Path, mark: tuple[str, int] | None, cause: Cause, scope: int) -> int:
        """Continue the numbering of a store that can no longer be opened, as `restore` does."""


class Store(Protocol):
    """Rows, and the five groups. Raises subclasses of StoreError, and Closed after `close`."""

    store_id: str  # 32 hexadecimal digits
    key: bytes  # of the journal's digests

    @property
    def read_only(self) -> bool:
        """Whether the store cannot be written."""

    @property
    def learning(self) -> Learning:
        """Learning progress and the job queue."""

    @property
    def notes(self) -> Notes:
        """The index of notes."""

    @property
    def nights(self) -> Nights:
        """Runs of the night and their decisions."""

    @property
    def erasures(self) -> Erasures:
        """Tombstones and searching for leftovers."""

    @property
    def upkeep(self) -> Upkeep:
        """Operations on the whole store."""

    def scope(self, name: str) -> int | None:
        """Return the number of a scope; None if nothing was ever written to it."""

    def scopes(self) -> list[tuple[int, str, str | None]]:
        """Return number, name and label of each scope, oldest first."""

    def apply(self, scope: int, changes: Sequence[Change], cause: Cause, expect: Expect | None = None) -> Applied:
        """Apply all changes in one transaction of one scope. Raises Stale, writing nothing, if `expect` does not hold."""

    def marks(self, scope: int, slots: Iterable[str], hashes: Iterable[bytes]) -> Expect:
        """Return the last change numbers of these slots and texts, for an expectation."""

    def exclusive(self) -> AbstractContextManager[None]:
        """Keep all other threads and processes from writing; the holder may."""

    def conflict_set(self, scope: int, new: SemanticMemory) -> ConflictSet:
        """Return what a new statement must be compared with: its slot's neighbours, or rows with its words. Raises Damaged."""

    def memories(self, scopes: Sequence[int], select: Memories) -> list[SemanticMemory]:
        """Return versions, without sources, entities, relations and tags; unreadable rows are skipped."""

    def count(self, scopes: Sequence[int], select: Memories) -> int:
        """Count the versions in a selection regardless of its page, including unreadable ones."""

    def version(self, scope: int, id: str) -> SemanticMemory:
        """Return one version by id, with details. Raises NotFound, Damaged."""

    def turn(self, scopes: Sequence[int], id: str) -> Turn:
        """Return one turn by id. Raises NotFound, Damaged."""

    def with_details(self, memories: Sequence[SemanticMemory]) -> list[SemanticMemory]:
        """Return the same versions with sources, entities, relations and tags."""

    def turns(self, scopes: Sequence[int], select: Turns) -> list[Turn]:
        """Return turns, in order; unreadable rows are skipped."""

    def unreadable(self, scopes: Sequence[int]) -> Mapping[str, str]:
        """Return rows skipped as unreadable since the store was opened: id to reason."""

    def postings(self, index: Index, scopes: Sequence[int], terms: Sequence[str], *, past: bool, cap: int) -> Postings:
        """Return where each term occurs; with `past` in hidden rows too. Terms with over `cap` rows are only counted."""

    def columns(self, scopes: Sequence[int]) -> TurnColumns:
        """Return the ranking columns of every turn of the scopes."""

    def hidden(self, scopes: Sequence[int], *, limit: int | None = None) -> list[int]:
        """Return the hidden turns of the scopes, or some of them: with a limit of 1, whether there are any."""

    def records(self, kind: type[R], scopes: Sequence[int], select: Records) -> list[R]:
        """Return episodes, scratchpads or attachments."""

    def page_versions(self, scope: int, page: str) -> list[PageVersion]:
        """The versions of MEMORY.md or USER.md that are known, oldest first."""

    def retrieved_since(self, scope: int, since: datetime) -> list[SemanticMemory]:
        """Return live statements retrieved since a time."""

    def sessions(self, scope: int, *, id: str | None = None, limit: int | None = None) -> list[Session]:
        """Return sessions, newest first."""

    def journal(
        self,
        scopes: Sequence[int],
        *,
        transaction: int | None = None,
        run: str | None = None,
        table: str | None = None,
        row_ns: Sequence[int] | None = None,
        since: datetime | None = None,
        after: int | None = None,
        limit: int | None = None,
    ) -> list[ChangeRow]:
        """Return journal rows, newest first, or oldest first after a number. Raises Damaged if a transaction is incomplete."""

    def receipt(self, scope: int, key: str) -> tuple[bytes, Mapping[str, Any]] | None:
        """Return digest and result of the call made under an idempotency key."""

    def shorten_busy_timeout(self) -> None:
        """Wait at most two seconds for other writers from now on: the store is about to close."""

    def close(self) -> None:
        """Release the files. Idempotent."""
