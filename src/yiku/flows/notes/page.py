"""
Read and chunk one file of the vault, and compute the changes to its rows in the notes index.

Private parts and secrets are taken out before anything is indexed, and so is the managed region of MEMORY.md and USER.md, which
repeats what memory holds; every line keeps its number. A passage whose text and headings are as they were keeps its row.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from hashlib import blake2b, sha256
from pathlib import Path

from yiku.files import notes as files
from yiku.files.notes import Seen
from yiku.flows.common import intake
from yiku.flows.common.handle import Handle
from yiku.rules.pages import chunks, region
from yiku.rules.pages.chunks import index_tokens, tokens_of
from yiku.types import IndexFile, NewChunk, Note, NoteFile, Passage

BINARY_BYTES = 8_192  # at the start of a file, in which a NUL says that it is no text
NOON = timedelta(hours=12)
EARLIEST, LATEST = 0, 4_102_444_800  # seconds, 1970 to 2100: other times of files are mistakes


@dataclass(frozen=True, slots=True)
class Page:
    """A file as it is now, and its passages."""

    file: NoteFile
    chunks: Sequence[Passage]

    @property
    def size(self) -> int:
        """Characters that enter the index."""
        return sum(len(chunk.text) for chunk in self.chunks)


def page(handle: Handle, root: Path, path: str) -> Page:
    """Read a file. Raises FileNotFoundError, and OSError for an unreadable file."""
    seen_ns = time.time_ns()
    seen, content = files.read(root, path)
    text, status, detail = text_of(content)
    file = NoteFile(
        path=path,
        source=files.source_of(path) or "document",
        hash=b"" if content is None else sha256(content).digest(),
        size=seen.size,
        mtime_ns=seen.mtime_ns,
        ctime_ns=seen.ctime_ns,
        inode=seen.inode,
        seen_ns=seen_ns,
        status=status,
        detail=detail,
        said_at=_said_at(handle, seen),
        indexed_at=handle.now(),
        rules=chunks.VERSION,
    )
    if path in files.PAGES:
        text = _outside(text)
    return Page(file, chunks.chunks(intake.clean_page(handle, text)))


def text_of(content: bytes | None) -> tuple[str, str, str | None]:
    """The text of a file, or why it has none: text, status, detail."""
    if content is None:
        return "", "too large", f"over {files.LARGEST_BYTES >> 20} MiB: split it"
    if b"\0" in content[:BINARY_BYTES]:
        return "", "not text", "it holds NUL bytes"
    try:
        return content.decode("utf-8-sig").replace("\r\n", "\n"), "indexed", None
    except UnicodeDecodeError as error:
        return "", "not text", f"it is not UTF-8 (byte {error.start:,}): save it as UTF-8"


def _outside(text: str) -> str:
    """What people wrote, in the lines in which it stands."""
    kept = region.outside(text)
    lines = text.split("\n")
    return "\n".join(line if any(first <= place <= last for first, last in kept) else "" for place, line in enumerate(lines, 1))


def _said_at(handle: Handle, seen: Seen) -> datetime:
    """The day of a log, at noon; else when the file was changed, in the local offset."""
    zone = handle.now().tzinfo
    if day := files.day_of(seen.path):
        try:
            return datetime.fromisoformat(day).replace(tzinfo=zone) + NOON
        except ValueError:  # such as 2026-13-01
            pass
    seconds = min(max(seen.mtime_ns // 1_000_000_000, EARLIEST), LATEST)
    return datetime.fromtimestamp(seconds, UTC).astimezone(zone)


# ------------------------------------------------------------------ what changes


def reindexed(read: Page, before: NoteFile | None, held: Sequence[Note]) -> IndexFile:
    """
    What a file changes in the index.

    before, held: how it was indexed, under this path or the one that it had, and its passages there
    """
    rows: dict[tuple[str, str], list[Note]] = defaultdict(list)
    for note in reversed(held):
        rows[note.heading, note.text].append(note)
    counts: dict[tuple[str, str], int] = defaultdict(int)
    moved: dict[int, tuple[str, int, int]] = {}
    new: list[NewChunk] = []
    for chunk in read.chunks:
        words = chunk.heading, chunk.text
        counts[words] += 1
        id = chunk_id(read.file.path, chunk, counts[words])
        if rows[words]:
            note = rows[words].pop()
            if (note.id, note.start_line, note.end_line) != (id, chunk.start_line, chunk.end_line):
                moved[note.n] = (id, chunk.start_line, chunk.end_line)
        else:
            new.append(NewChunk(id, chunk.start_line, chunk.end_line, chunk.heading, chunk.text, index_tokens(*words)))
    gone = [note for left in rows.values() for note in left]
    file = replace(read.file, n=before.n if before else 0)
    return IndexFile(file, before.hash if before else b"", tokens_of(gone), moved, new)


def chunk_id(path: str, chunk: Passage, count: int) -> str:
    """The id of a passage, a UUIDv8: the same as long as path, headings and text are; `count` tells equal ones of a file apart."""
    words = "\0".join((path, chunk.heading, chunk.text, str(count)))
    digest = int.from_bytes(blake2b(words.encode(errors="replace"), digest_size=16).digest())
    text = f"{digest & ~(0xF << 76 | 0x3 << 62) | 0x8 << 76 | 0x2 << 62:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
