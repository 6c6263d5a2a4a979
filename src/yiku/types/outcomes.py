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
