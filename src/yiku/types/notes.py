"""
Types of the index of Markdown notes: files, passages, index updates, and the report of a sync.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Literal, NamedTuple

from yiku.types.memories import Tokens
from yiku.types.pages import PageReport
from yiku.types.value import value

NoteSource = Literal["memory", "daily", "archive", "document", "skill"]


@value(frozen=True, slots=True, kw_only=True)
class Note:
    """
    A passage of a file: what is found.

    path:     of the file, relative to the vault
    source:   what the file is: MEMORY.md, a daily log, an archived log, a document or a skill
    heading:  the headings that it stands under, the highest first
    start_line, end_line: its lines in the file, from 1
    said_at:  the day of a log; else when the file was last changed
    """

    id: str
    scope: str
    path: str
    source: NoteSource
    heading: str
    start_line: int
    end_line: int
    text: str
    said_at: datetime
    n: int = 0


class Passage(NamedTuple):
    """
    A passage of a text, as notes are split.

    start_line, end_line: where it begins and ends, from 1; of a line that was cut it may hold only a part
    heading: the headings that it stands under, the highest first
    """

    start_line: int
    end_line: int
    heading: str
    text: str


@value(frozen=True, slots=True, kw_only=True)
class NoteFile:
    """
    A file as it was when it was indexed.

    hash:   SHA-256 of what it holds
    size, mtime_ns, ctime_ns, inode: as the file system had them; seen_ns: when that was read
    said_at: the day of a log; else when the file was last changed
    status: "indexed", or why it is not: "too large", "not text", "unreadable"; detail says more
    rules:  the version of those that cut it; chunks: how many passages it has in the index
    """

    path: str
    source: NoteSource
    hash: bytes
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    seen_ns: int
    status: str
    detail: str | None
    said_at: datetime
    indexed_at: datetime
    rules: str
    chunks: int = 0
    n: int = 0


@value(frozen=True, slots=True)
class NewChunk:
    """A passage that enters the index, with its tokens."""

    id: str
    start_line: int
    end_line: int
    heading: str
    text: str
    tokens: Tokens


@value(frozen=True, slots=True)
class IndexFile:
    """
    A file is as told here. Its number is 0 where it is new; else it must still have the hash `was`, or Stale is raised.

    gone:  numbers of passages that it no longer has, with the tokens that they are indexed with
    moved: the number of each that it still has: its id, first and last line
    new:   those that it did not have
    """

    file: NoteFile
    was: bytes = b""
    gone: Mapping[int, Tokens] | None = None
    moved: Mapping[int, tuple[str, int, int]] | None = None
    new: Sequence[NewChunk] = ()


@value(frozen=True, slots=True)
class DropFile:
    """A file is no longer there, nor are its passages, by number with their tokens. Raises Stale unless it has the hash `was`."""

    n: int
    was: bytes
    gone: Mapping[int, Tokens]


@value(frozen=True, slots=True)
class EmptyNotes:
    """The index of notes of every scope is emptied: it is made anew from the files."""


@value(frozen=True, slots=True, kw_only=True)
class SyncReport:
    """
    What a sync did, by path.

    unchanged: how many files are as they were and indexed; renamed: by the new path, the old one
    held:       files that are gone, and so many that their passages stay until `force` says that it is meant
    failed:     files that are not indexed, and why: in a whole sync those that earlier ones could not index, too
    pages:      what people changed in MEMORY.md and USER.md, if these are published
    operations: those that these edits came to; `undo` of any of them takes back all
    """

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    held: tuple[str, ...] = ()
    renamed: Mapping[str, str] | None = None
    unchanged: int = 0
    chunks: int = 0
    failed: Mapping[str, str] | None = None
    took_s: float = 0.0
    pages: tuple[PageReport, ...] = ()
    operations: tuple[int, ...] = ()

    @property
    def anything(self) -> bool:
        """Whether the index is another one now."""
        return bool(self.added or self.changed or self.removed or self.renamed)
