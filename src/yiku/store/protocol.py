"""
What a store must do: one way to write, a few ways to read. Every store passes tests/store/contract.py.

`apply` is the only write: all of its changes or none, and only if what the decision rested on still
holds. Reads take the numbers of the scopes that may be seen; no read crosses them. The changes and the
selections are values, so a flow says what it wants without knowing how it lies in tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
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
    PageVersion,
    Postings,
    Records,
    Scratchpad,
    SemanticMemory,
    Session,
    Turn,
    TurnColumns,
    Turns,
)

R = TypeVar("R", bound=Episode | Scratchpad | Attachment)
Index = Literal["turn", "tool", "memory", "episode", "attachment", "note"]


class Journal(Protocol):
    """What the code that makes changes tells of them, inside their transaction (store/write.py)."""

    cause: Cause
    transaction: int  # the number of its first row

    def note(self, action: str, table: str, row: int, before: dict[str, Any] | None = None, *, count: int = 1) -> int:
        """One row of the journal; its number."""


class Learning(Protocol):
    """How far learning has come, its queue, and what models took."""

    def upto(self, scope: int) -> int:
        """The number of the turn up to which learning has dealt with all."""

    def extracted(self, scope: int, ns: Sequence[int]) -> set[int]:
        """Which of these turns learning has dealt with ahead of that."""

    def waiting(self, scope: int) -> int:
        """How many turns of a scope nothing was learned from, neither at once nor since."""

    def state(self, scope: int) -> LearningState:
        """With which version of the rules the turns of a scope were last read, and how far a run with a newer one came."""

    def compressions(self, scope: int, ns: Sequence[int]) -> Mapping[int, str]:
        """Which of these turns left a host's context, and the ids of the episodes that tell of them."""

    def jobs(self, scope: int, *, ns: Sequence[int] | None = None, dead: bool | None = None) -> list[Job]:
        """The queue of a scope: what is due first, first."""

    def spent(self, scope: int, *, since: datetime | None = None, session: str | None = None) -> list[ModelCall]:
        """What models were asked for, oldest first."""


class Erasures(Protocol):
    """What was erased, and whether any of it is left."""

    def all(self) -> list[dict[str, Any]]:
        """Every erasure as a JSON object: id, number, scope, at, rows, seals, done."""

    def last(self) -> int:
        """The number of the last erasure; 0 while nothing was erased."""

    def known(self, ids: Sequence[str]) -> set[str]:
        """Which of these erasures were done here."""

    def tombstoned(self, seals: Sequence[bytes]) -> Mapping[bytes, datetime]:
        """Which of these seals stand for something that was erased, and since when."""

    def texts_containing(self, scope: int, groups: Sequence[Sequence[str]]) -> list[HeldText]:
        """The texts in any column of a scope's rows that hold all words of some of these groups, but for what was said in turns."""

    def texts_in_rows(self, texts: Sequence[str]) -> set[str]:
        """Those texts that some row holds."""

    def held(self, needles: Iterable[bytes]) -> set[bytes]:
        """Which of the needles stand in a field of some row, of an index, too, and not only where two fields meet."""

    def found(self, needles: Sequence[bytes]) -> tuple[int, set[bytes]]:
        """Bytes of the store's files, and which of the needles are in them."""

    def scrub(self, *, rewrite: bool = False) -> bool:
        """
        Remove the files that were made of rows beside them, and empty the WAL, with `rewrite` after writing the database anew;
        False when a reader kept it from being emptied.
        """


class Upkeep(Protocol):
    """The store as a whole: how much there is, copies of it, the way back to one."""

    def about(self) -> Mapping[str, Any]:
        """Store id, schema, analyzer, SQLite version, durability, size in bytes."""

    def counts(self, scopes: Sequence[int]) -> Mapping[str, Any]:
        """How much there is of everything, for `stats`."""

    def review_counts(self, scopes: Sequence[int]) -> tuple[int, int]:
        """How many memories wait to be confirmed, and how many live ones contradict each other."""

    def merge(self) -> None:
        """
        Write each search index as one segment: a question then looks in one place for each of its words. And the columns of
        each large scope as a file, for the first answer of a process.
        """

    def copied(self, path: Path) -> Copied:
        """Copy all of it, as it is at one moment, to a file; the copy is read back before it gets its name. Raises Stale, Damaged."""

    def since(self, last: Mapping[str, int]) -> Mapping[str, int]:
        """How many turns, memories and changes there are behind these numbers."""

    def restore(self, prepared: Self, cause: Cause, scope: int, sweep: Callable[[], None]) -> int:
        """
        The content of a prepared store becomes this one's, in one transaction; the number of the row in the journal of
        the scope, which has this number there.

        sweep: takes out of the prepared store what was erased since it was copied. `exclusive` is held.
        """

    def resume_numbering(self, before: Path, mark: tuple[str, int] | None, cause: Cause, scope: int) -> int:
        """Go on from where a store was that cannot be opened any more, by its file and its mark; as `put_back` does."""


class Store(Protocol):
    """Rows, and the groups of verbs. Raises the errors under StoreError, and Closed after `close`."""

    store_id: str  # 32 hexadecimal digits
    key: bytes  # of the journal's digests

    @property
    def read_only(self) -> bool:
        """Whether nothing can be written here."""

    @property
    def learning(self) -> Learning:
        """How far learning has come."""

    @property
    def erasures(self) -> Erasures:
        """What was erased."""

    @property
    def upkeep(self) -> Upkeep:
        """The store as a whole."""

    def scope(self, name: str) -> int | None:
        """The number of a scope; None while nothing was ever written to it."""

    def scopes(self) -> list[tuple[int, str, str | None]]:
        """Number, name and label of each scope, oldest first."""

    def apply(self, scope: int, changes: Sequence[Change], cause: Cause, expect: Expect | None = None) -> Applied:
        """All changes in one transaction of one scope. Raises Stale, and writes nothing, if `expect` does not hold."""

    def marks(self, scope: int, slots: Iterable[str], hashes: Iterable[bytes]) -> Expect:
        """The last change numbers of these slots and texts, to decide on."""

    def exclusive(self) -> AbstractContextManager[None]:
        """While this is held no other thread or process writes; the holder may."""

    def conflict_set(self, scope: int, new: SemanticMemory) -> ConflictSet:
        """What a new statement meets: its slot's neighbours, or rows with its words. Raises Damaged where one cannot be read."""

    def memories(self, scopes: Sequence[int], select: Memories) -> list[SemanticMemory]:
        """Version rows, without their sources, entities, relations and tags; without those that are `unreadable`."""

    def count(self, scopes: Sequence[int], select: Memories) -> int:
        """How many version rows a selection has, whatever its page; with those that cannot be read."""

    def version(self, scope: int, id: str) -> SemanticMemory:
        """One version by its id, whole. Raises NotFound, Damaged."""

    def turn(self, scopes: Sequence[int], id: str) -> Turn:
        """One turn by its id. Raises NotFound, Damaged."""

    def with_details(self, memories: Sequence[SemanticMemory]) -> list[SemanticMemory]:
        """The same rows with their sources, entities, relations and tags."""

    def turns(self, scopes: Sequence[int], select: Turns) -> list[Turn]:
        """Turns, in order; without those that are `unreadable`."""

    def unreadable(self, scopes: Sequence[int]) -> Mapping[str, str]:
        """Rows of these scopes that were met since the store was opened and cannot be read, by id with the reason: they were left out."""

    def postings(self, index: Index, scopes: Sequence[int], terms: Sequence[str], *, past: bool, cap: int) -> Postings:
        """Where each term occurs; with `past` also out of recall. Terms with over `cap` rows are only counted."""

    def columns(self, scopes: Sequence[int]) -> TurnColumns:
        """What ranking asks of every turn of the scopes."""

    def hidden(self, scopes: Sequence[int]) -> list[int]:
        """The turns of the scopes that are out of recall."""

    def records(self, kind: type[R], scopes: Sequence[int], select: Records) -> list[R]:
        """Episodes, scratchpads or attachments."""

    def page_versions(self, scope: int, page: str) -> list[PageVersion]:
        """The versions of MEMORY.md or USER.md that are known, oldest first."""

    def retrieved_since(self, scope: int, since: datetime) -> list[SemanticMemory]:
        """Live statements that were shown to somebody since."""

    def sessions(self, scope: int, *, id: str | None = None, limit: int | None = None) -> list[Session]:
        """Sessions, the newest first."""

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
        """Rows of the journal, newest first; those after a number oldest first. Of one transaction or run all, or Damaged."""

    def receipt(self, scope: int, key: str) -> tuple[bytes, Mapping[str, Any]] | None:
        """Digest and result of the call made under an idempotency key."""

    def shorten_busy_timeout(self) -> None:
        """Wait from now on at most two seconds for other writers: the store is about to be closed."""

    def close(self) -> None:
        """Let go of the files. Closing twice is allowed."""
