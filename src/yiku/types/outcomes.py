"""
Outcomes of write operations: what `remember`, `record`, `forget`, `erase` and `undo` return.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from yiku.types.memories import SemanticMemory, Turn
from yiku.types.sessions import Attachment, Episode, Scratchpad
from yiku.types.value import value


@value(frozen=True, slots=True, kw_only=True)
class New:
    """A new statement was stored."""

    kind: ClassVar[Literal["new"]] = "new"
    memory: SemanticMemory
    operation: int = 0


@value(frozen=True, slots=True, kw_only=True)
class Confirmed:
    """The statement was known; its source was added."""

    kind: ClassVar[Literal["confirmed"]] = "confirmed"
    memory: SemanticMemory
    operation: int = 0


@value(frozen=True, slots=True, kw_only=True)
class Replaced:
    """The statement replaced an earlier one of the same slot, which stays in the history."""

    kind: ClassVar[Literal["replaced"]] = "replaced"
    memory: SemanticMemory
    replaced: SemanticMemory
    operation: int = 0


@value(frozen=True, slots=True, kw_only=True)
class Past:
    """The statement is older than the live one: stored as history, replacing nothing."""

    kind: ClassVar[Literal["past"]] = "past"
    memory: SemanticMemory
    current: SemanticMemory
    operation: int = 0


@value(frozen=True, slots=True, kw_only=True)
class Flagged:
    """The statement may contradict others: all are kept and flagged."""

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
    """The statement was not stored: it had been erased, or it retracts something that was never said. `memory` is what was given."""

    kind: ClassVar[Literal["refused"]] = "refused"
    memory: SemanticMemory
    why: str
    operation: int = 0


Outcome = New | Confirmed | Replaced | Past | Flagged | Retracted | Refused


@value(frozen=True, slots=True)
class Recorded:
    """Result of `record`: ids of the new turns, and the number already known."""

    ids: tuple[str, ...]
    known: int = 0
    operation: int = 0
    erased: int = 0  # said before an erasure that took them: not stored


@value(frozen=True, slots=True)
class Forgotten:
    """Memories and turns that `forget` archived, or `restore` brought back."""

    memories: tuple[SemanticMemory, ...]
    turns: tuple[Turn, ...]
    operation: int


@value(frozen=True, slots=True)
class Place:
    """
    One place of the home in an erasure receipt: action, bytes searched, findings.

    unfinished: it could not be cleaned or searched now; `found` then ends with a line that says so
    """

    name: str
    done: str
    bytes: int = 0
    found: tuple[str, ...] = ()
    unfinished: bool = False


@value(frozen=True, slots=True, kw_only=True)
class Erased(Forgotten):
    """
    Result of an erasure, or with `dry_run` its plan: what is deleted, and each place searched.

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
        """Whether nothing erased was found anywhere."""
        kept = (place for place in self.kept if isinstance(place, Place))
        return not self.dry_run and not any(place.found for place in (*self.places, *kept))


@value(frozen=True, slots=True)
class Undone:
    """Result of `undo`: counts of restored memories, turns and records, and its own operation; 0 with `dry_run`."""

    undone: int
    memories: int
    turns: int
    operation: int
    records: int = 0


@value(frozen=True, slots=True)
class SkippedItem:
    """A decision of a run that an undo leaves as it is: its number in the run, its operation, and why."""

    item: int
    operation: int
    why: str


@value(frozen=True, slots=True, kw_only=True)
class RunUndone:
    """
    Result of `undo_run`, or with `dry_run` what it would do.

    items:     the numbers of the decisions taken back; those that were taken back before are not among them
    skipped:   decisions whose memories somebody changed since
    memories, turns, records: how many are as they were before
    operation: by which `undo` brings all of it back; 0 where nothing changed
    """

    run: str
    items: tuple[int, ...] = ()
    skipped: tuple[SkippedItem, ...] = ()
    memories: int = 0
    turns: int = 0
    records: int = 0
    operation: int = 0
    dry_run: bool = False
