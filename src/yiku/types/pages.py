"""
Types of published pages: known versions of MEMORY.md and USER.md, and reports of publishing and reading edits.
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal, NamedTuple

from yiku.types.memories import SemanticMemory
from yiku.types.value import value


class Entry(NamedTuple):
    """A line of a version: the whole id of its memory, empty where it has none, and the seal of its text."""

    id: str
    seal: str


@value(frozen=True, slots=True)
class PageVersion:
    """
    The managed region of a page as it was written, or as it was read after somebody had edited it.

    page: MEMORY.md or USER.md; version: as its marker has it; digest: of just this text
    """

    page: str
    version: str
    digest: str
    entries: tuple[Entry, ...]


@value(frozen=True, slots=True)
class KeepPageVersion:
    """A version is kept; those of this page that are older than a time go, but for the last."""

    version: PageVersion
    older_than: datetime


@value(frozen=True, slots=True)
class PageReport:
    """
    What became of one page.

    path:    in the home; action: written, unchanged, held (nothing was read or written, `why` says what to do) or missing
    shown:   statements in the region; omitted: how many it has no room for
    changed: statements corrected by edits; added: by new lines; removed: memories that left use because their lines are gone
    own:     pieces of text that could not become a statement: they stand below the region now
    """

    path: str
    action: Literal["written", "unchanged", "held", "missing"]
    why: str | None = None
    shown: int = 0
    omitted: int = 0
    changed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    own: tuple[str, ...] = ()

    @property
    def edits(self) -> int:
        """How many lines were read as edits."""
        return len(self.changed) + len(self.added) + len(self.removed) + len(self.own)


@value(frozen=True, slots=True)
class Edited:
    """A memory after somebody edited its text. `merged`: what was told meanwhile stands in it; else it is history."""

    memory: SemanticMemory
    merged: bool


@value(frozen=True, slots=True)
class PublishReport:
    """What `publish` did. `operations`: those that edits came to; `undo` of any of them takes back all."""

    pages: tuple[PageReport, ...]
    operations: tuple[int, ...] = ()
