"""
Verify erasure: search the live database and WAL for raw bytes through SQLite's VFS, and rows for texts.

The live files are read through SQLite's own file layer: to open them beside it and close them again would
drop the locks of this process. What was found may also be what some row has a right to say: `texts_in_rows`
looks through the rows with the same search.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

if TYPE_CHECKING:
    import numpy as np

CHUNK_BYTES = 1 << 22
SLICE_BYTES = 1 << 18
SHORTEST_BYTES, NUMBER_BYTES = 5, 8  # of a needle: shorter ones are not looked for; of its beginning, which is hashed
FEW = 24  # needles: 45 ms each for 76 MB, where the pass for all of them takes 1 to 2 s
TABLE_BITS = 18  # four small tables stay in the cache
SPREAD = 0x9E3779B97F4A7C15  # 2 ** 64 / the golden ratio: neighbours are hashed far apart
# What rows say, by table, and what of it is text. The journal counts only for rows that are there: its images
# of others are what an erasure must take.
SAID = {
    "sqlite_schema": "name sql",
    "meta": "key",
    "scopes": "name label",
    "sessions": "id",
    "memories": "id kind standing state content subject predicate object slot basis flag priority reason origin method metadata agent"
    " project external_id",
    "memory_sources": "text actor session origin",
    "memory_entities": "entity",
    "memory_relations": "subject relation_type object",
    "memory_tags": "name",
    "changes": "actor run operation action tbl",
    "receipts": "key result",
    "erasures": "rows receipt",
    "conversation_turns": "id role content speaker tool_calls tool_results external_id parent agent project metadata origin actor",
    "session_state": "id variables task",
    "extraction_queue": "kind session error reply",
    "model_calls": "purpose session model outcome",
    "episodes": "id session summary goal outcome outcome_reason action_nodes entities tools_used decisions linked_memory_ids tags source"
    " method tokens",
    "scratchpad": "id user_id current_focus active_projects recent open_questions next_steps overrides",
    "attachments": "id session filename original_filename mime_type local_path url description transcription extracted_text tags tokens",
    "files": "path source status detail rules",
    "chunks": "id heading text",
    "published": "page",
    "runs": "id mode counts",
    "night_items": "run action ids reason evidence",
}
SAID |= {f"{name}_index_config": "k" for name in ("turn", "tool", "memory", "episode", "attachment", "note")}  # SQLite's own words
_ACCENTS = re.compile("[\u0300-\u036f]")
_ACCENTED = re.compile("[\u00c0-\u024f\u0300-\u036f\u0386-\u04ff\u1e00-\u1fff]")  # what may have them
IMAGES = """
    select reason, before from changes c where (reason is not null or before is not null) and case
    when tbl in ('memories', 'memory_sources') then exists (select 1 from memories m where m.n = c.row_n)
    when tbl = 'episodes' then exists (select 1 from episodes r where r.n = c.row_n)
    when tbl = 'scratchpad' then exists (select 1 from scratchpad r where r.n = c.row_n)
    when tbl = 'attachments' then exists (select 1 from attachments r where r.n = c.row_n)
    else exists (select 1 from conversation_turns t where t.n = c.row_n) end"""


def search_live(path: Path, needles: Sequence[bytes]) -> tuple[int, set[bytes]]:
    """Search the live database and its WAL; return the bytes read and the needles found."""
    total, found = 0, set[bytes]()
    for suffix, flag in (("", apsw.SQLITE_OPEN_MAIN_DB), ("-wal", apsw.SQLITE_OPEN_WAL)):
        side_file = Path(f"{path}{suffix}")
        if side_file.exists() and side_file.stat().st_size:
            read, seen = search(_live(str(side_file), flag), needles)
            total, found = total + read, found | seen
    return total, found


def _live(name: str, flag: int) -> Iterator[bytes]:
    """Yield the pages of an open database, or of its WAL."""
    layer = "unix" if sys.platform in ("linux", "darwin") else ""
    file = apsw.VFSFile(layer, name, [flag | apsw.SQLITE_OPEN_READONLY, 0])
    try:
        size, at = file.xFileSize(), 0
        while at < size:
            yield file.xRead(min(CHUNK_BYTES, size - at), at)
            at += CHUNK_BYTES
    finally:
        file.xClose()


def texts_in_rows(connection: apsw.Connection, texts: Sequence[str]) -> set[str]:
    """Return those texts that some row contains, ignoring case, width and accents."""
    left = {form.encode() for text in texts for form in (text, fold(text))}
    for piece in _row_texts(connection):
        left -= search([piece], left)[1]
        if not left:
            break
    return {text for text in texts if not {text.encode(), fold(text).encode()} <= left}


def needles_in_rows(connection: apsw.Connection, needles: Iterable[bytes]) -> set[bytes]:
    """
    Return those needles that occur in a field of some row, including the shadow tables of an index.

    In the file the fields of a row stand side by side: the last byte of a number and `open` look like `popen`.
    """
    left = set(needles)
    found = set[bytes]()
    tables = connection.execute("select name from sqlite_schema where type = 'table' and rootpage > 0").fetchall()
    for (table,) in tables:
        for row in connection.execute(f'select * from "{table}"') if left else ():
            fields = [value.encode() if isinstance(value, str) else value for value in row if isinstance(value, (str, bytes))]
            found |= {needle for needle in left if any(needle in field for field in fields)}
        left -= found
    return found


def _row_texts(connection: apsw.Connection) -> Iterator[bytes]:
    """Yield every text of every row, as stored and folded."""
    queries = [f"select {', '.join(columns.split())} from {table}" for table, columns in SAID.items()]
    waiting, size = [], 0
    for sql in (IMAGES, *queries):
        for row in connection.execute(sql):
            text = "\0".join([value for value in row if isinstance(value, str)])
            waiting += [text, fold(text)]
            size += len(text)
            if size > CHUNK_BYTES:
                yield "\0".join(waiting).encode()
                waiting, size = [], 0
    yield "\0".join(waiting).encode()


def fold(text: str) -> str:
    """Fold the width, case and accents of a text."""
    if text.isascii():
        return text.lower()
    text = unicodedata.normalize("NFKC", text).casefold()
    if not _ACCENTED.search(text):
        return text
    decomposed = unicodedata.normalize("NFD", text)
    return unicodedata.normalize("NFC", _ACCENTS.sub("", decomposed))


class Needles:
    """
    Byte strings to search for, prepared once for any number of searches; those under SHORTEST_BYTES are not looked for.

    Few are looked for one by one. Many in one pass: the first five to eight bytes at each place are hashed, and only
    where a needle begins with such a hash is it compared. What was found is looked for no more, so common words cost little.
    """

    def __init__(self, needles: Iterable[bytes]) -> None:
        wanted = {needle for needle in needles if len(needle) >= SHORTEST_BYTES}
        self.count, self.longest = len(wanted), max(map(len, wanted), default=1)
        if len(wanted) <= FEW:
            self.heads: list[_NeedleList] | list[_NeedlesByPrefix] = [_NeedleList(wanted)]
        else:
            self.heads = [_NeedlesByPrefix(wanted, size) for size in range(SHORTEST_BYTES, NUMBER_BYTES + 1)]


def search(pieces: Iterable[bytes], needles: Iterable[bytes] | Needles) -> tuple[int, set[bytes]]:
    """Search a stream of bytes; return its length and the needles found, also across chunk boundaries."""
    wanted = needles if isinstance(needles, Needles) else Needles(needles)
    heads = [copy(head) for head in wanted.heads]
    total, found, tail = 0, set[bytes](), b""
    for piece in pieces:
        total += len(piece)
        for start in range(0, len(piece), SLICE_BYTES) if len(found) < wanted.count else ():
            window = tail + piece[start : start + SLICE_BYTES]
            for group in heads:
                found |= group.pop_found(window)
            tail = window[max(0, len(window) - wanted.longest + 1) :]
    return total, found


class _NeedleList:
    """A few needles not found yet, searched one by one."""

    def __init__(self, needles: set[bytes]) -> None:
        self.needles = needles

    def pop_found(self, window: bytes) -> set[bytes]:
        """Remove and return the needles that occur in a window of bytes."""
        found = {needle for needle in self.needles if needle in window}
        self.needles = self.needles - found
        return found


class _NeedlesByPrefix:
    """Needles of one length (8 bytes or more) not found yet, keyed by their first 8 bytes."""

    def __init__(self, needles: Iterable[bytes], size: int) -> None:
        import numpy as np

        self.size, self.is_shared = size, False
        self.needles: dict[bytes, dict[int, set[bytes]]] = {}  # by length: versions of a statement begin with the same bytes
        for needle in needles:
            if min(len(needle), NUMBER_BYTES) == size:
                self.needles.setdefault(needle[:size], {}).setdefault(len(needle), set()).add(needle)
        self.mask = np.uint64((1 << 8 * size) - 1)
        self.counts = np.zeros(1 << TABLE_BITS, np.uint16)  # of heads with each hash
        np.add.at(self.counts, self._hashed(_numbers(b"".join(head.ljust(NUMBER_BYTES, b"\0") for head in self.needles), 0)), 1)

    def _hashed(self, numbers: np.ndarray) -> np.ndarray:
        import numpy as np

        hashed: np.ndarray = ((numbers & self.mask) * np.uint64(SPREAD)) >> np.uint64(64 - TABLE_BITS)
        return hashed

    def pop_found(self, window: bytes) -> set[bytes]:
        """Remove and return the needles that occur in a window of bytes."""
        import numpy as np

        found = set[bytes]()
        padded = window + bytes(NUMBER_BYTES)
        for first in range(NUMBER_BYTES) if self.needles else ():
            places = np.flatnonzero(self.counts[self._hashed(_numbers(padded, first))]) * NUMBER_BYTES + first
            for place in places.tolist():
                head = window[place : place + self.size]
                lengths = self.needles.get(head, {})
                if here := {part for length, those in lengths.items() if (part := window[place : place + length]) in those}:
                    found |= here
                    self._without(head, here)
        return found

    def __copy__(self) -> _NeedlesByPrefix:
        other = object.__new__(_NeedlesByPrefix)
        other.size, other.mask = self.size, self.mask
        other.needles, other.counts, other.is_shared = dict(self.needles), self.counts, True
        return other

    def _without(self, head: bytes, found: set[bytes]) -> None:
        """Look for some needles no more; what other copies look for stays as it is."""
        lengths = {length: left for length, those in self.needles[head].items() if (left := those - found)}
        if lengths:
            self.needles[head] = lengths
        else:
            del self.needles[head]
            if self.is_shared:
                self.counts, self.is_shared = self.counts.copy(), False
            self.counts[self._hashed(_numbers(head.ljust(NUMBER_BYTES, b"\0"), 0))] -= 1


def _numbers(content: bytes, first: int) -> np.ndarray:
    """Return the bytes from an offset on as 64-bit numbers."""
    import numpy as np

    return np.frombuffer(content, "<u8", count=(len(content) - first) // NUMBER_BYTES, offset=first)
