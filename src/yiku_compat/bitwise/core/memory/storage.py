"""
SQLiteStorage: store and search the files, chunks and vectors of a workspace, in Yiku's database.

The files of the workspace own their text, and chunks are derived from them. So a chunk that is stored becomes lines of a
document, a file that is stored is indexed as it lies there, and what a caller says of it is compared with that.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self, TypeVar

from yiku import Memory
from yiku.errors import Closed, InvalidInput, ModelError, NotFound, StoreBusy
from yiku.types import EmbedReport, Hit, Note, SyncReport
from yiku_compat.bitwise.core.memory import places
from yiku_compat.bitwise.core.memory.chunker import text_hash
from yiku_compat.bitwise.core.memory.embeddings.adapter import Vectors
from yiku_compat.bitwise.core.memory.embeddings.base import EmbeddingProvider
from yiku_compat.bitwise.core.memory.types import ChunkRecord, FTSSearchResult, VectorSearchResult

T = TypeVar("T")
WAIT_S = 30.0  # for another process or thread that indexes
SOURCES = {"document": "document", "skill": "skill"}  # of Yiku's notes; what is in no other folder is "memory"
ANY = "?"  # a question without words, which its vector stands for


class SQLiteStorage:
    """
    The database of a workspace. Safe to share between threads, and open in several processes.

    db_path: the folder it is in is the workspace; the database itself is Yiku's, `yiku.db`, beside it. An old database
             under this name stays as it is: migration.py reads it
    """

    def __init__(
        self,
        db_path: str | os.PathLike[str],
        vector_enabled: bool = True,
        *,
        embedding_provider: EmbeddingProvider | None = None,
        clock: Any = None,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        if str(db_path) == ":memory:":
            raise InvalidInput("db_path must be a file: the workspace is the folder that it is in")
        self.db_path = Path(db_path).expanduser().absolute()
        self.home = self.db_path.parent
        self.vector_enabled = vector_enabled
        self.vectors = Vectors(embedding_provider) if vector_enabled else None
        self._clock, self._settings = clock, dict(settings or {})
        self._memory: Memory | None = None
        self._words: Memory | None = None
        self._unindexed: set[str] = set()
        self._written: dict[str, places.Written] = {}
        self._lock = threading.RLock()

    # -------------------------------------------------------------- opening

    def initialize(self) -> None:
        """Open the database; make it where it is not there."""
        with self._lock:
            if self._memory is None:
                how: dict[str, Any] = {
                    **self._settings,
                    **({} if self.vector_enabled else {"search": "words", "background": False}),
                }
                self._memory = Memory(self.home, embedder=self.vectors, clock=self._clock, **how)

    @property
    def memory(self) -> Memory:
        """The memory that it works on. Raises Closed before `initialize` and after `close`."""
        if self._memory is None:
            raise Closed("initialize() opens it")
        return self._memory

    def close(self) -> None:
        """Close it for all threads."""
        with self._lock:
            opened, self._memory, self._words = (self._memory, self._words), None, None
            for memory in opened:
                if memory is not None:
                    memory.close()
            if self.vectors is not None:
                self.vectors.close()

    def __enter__(self) -> Self:
        self.initialize()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -------------------------------------------------------------- writing

    def upsert_file(self, path: str, source: str, hash: str, mtime: float, size: int) -> None:
        """
        Index a file of the workspace as it lies there.

        Raises NotFound where it is not there, InvalidInput where it does not have this hash (SHA-256) and size in bytes. Its
        time is read from the file; `mtime` is not needed.
        """
        name = places.place(self.home, path, source)
        content = places.read(self.home / name)
        if content is None:
            raise NotFound(f"{name} is not in the workspace", "Write the file first: the files own their text.")
        if (hash, size) != (text_hash(content), len(content.encode())):
            raise InvalidInput(
                f"{name} has another hash or size than was said: {text_hash(content)}, {len(content.encode())} bytes"
            )
        self.index(name)

    def upsert_chunk(self, chunk: ChunkRecord) -> None:
        """
        Write the lines of a chunk into its document, at their place; its vector counts for these words.

        What is written is found from the next search on. Raises InvalidInput where a file that is no document or skill has other
        lines there.
        """
        name = places.place(self.home, chunk.path, chunk.source)
        lines = chunk.text.split("\n")
        if chunk.start_line < 1:
            raise InvalidInput("a chunk begins at line 1 or later")
        with self._lock:
            self._written[name] = places.put_lines(self.home, name, chunk.start_line - 1, lines, self._written.get(name))
            self._unindexed.add(name)
            if self.vectors is not None and len(chunk.embedding):
                self.vectors.keep(text_hash(chunk.text), chunk.embedding)

    def cache_embedding(self, text_hash: str, provider_key: str, embedding: Sequence[float]) -> None:
        """
        Keep a vector that a caller has, for a text by its SHA-256: it is not asked for again when the text is indexed.

        Raises InvalidInput for the key of another provider: vectors of two models are never mixed.
        """
        if self.vectors is None:
            return
        if provider_key != self.vectors.key:
            raise InvalidInput(f"these vectors are of {provider_key!r}, and those here of {self.vectors.key!r}")
        self.vectors.keep(text_hash, embedding)

    def delete_file(self, path: str, source: str = "document") -> bool:
        """Remove a document or skill from the workspace and from the index. Raises InvalidInput for any other note."""
        name = places.place(self.home, path, source)
        if name.split("/")[0] not in places.WRITABLE:
            raise InvalidInput(f"{name} is read as long as it is there: remove or change the file itself")
        there = (self.home / name).is_file()
        if there:
            (self.home / name).unlink()
            self.sync()
        return there

    def index(self, name: str) -> SyncReport:
        """Index one file of the workspace, by its path there."""
        self._unindexed.discard(name)
        return self._patiently(lambda: self.memory.notes.index_document(self.home / name))

    def index_skill(self, path: str | os.PathLike[str]) -> SyncReport:
        """Index a skill, a file or folder; what lies outside the workspace is copied to its skills first."""
        return self._patiently(lambda: self.memory.notes.index_skill(path))

    def sync(self, *, force: bool = False, wait_s: float = WAIT_S) -> SyncReport:
        """Index what changed in the files of the workspace. Raises StoreBusy where somebody else indexes for longer than that."""
        found = self._patiently(lambda: self.memory.notes.sync(force=force), wait_s)
        self._unindexed.clear()
        return found

    def embed(self) -> EmbedReport | None:
        """Make missing vectors; None where there is no model. Raises ModelError where it fails."""
        if self.vectors is None:
            return None
        if self.vectors.provider is None and not self.vectors.any_kept():
            return None
        return self._patiently(self.memory.admin.embed)

    # -------------------------------------------------------------- searching

    def search_vectors(self, query_vec: Sequence[float], limit: int = 10) -> list[VectorSearchResult]:
        """Return the chunks nearest to a vector, best first; nothing where nothing has vectors."""
        if self.vectors is None:
            return []
        self._catch_up()
        with self.vectors.asking(query_vec):
            found = self.memory.recall(ANY, types=["note"], limit=limit)
        return [VectorSearchResult(**_passage(hit, "vectors")) for hit in found if "vectors" in hit.routes]

    def search_fts(self, query: str, limit: int = 10) -> list[FTSSearchResult]:
        """Return the chunks with words of a question, best first."""
        self._catch_up()
        found = self._by_words().recall(query, types=["note"], limit=limit)
        return [FTSSearchResult(**_passage(hit, "words")) for hit in found if "words" in hit.routes]

    def chunks(self, path: str, source: str = "document") -> list[Note]:
        """Return the chunks of a file. Raises NotFound."""
        return self.memory.agent.note(places.place(self.home, path, source))

    # -------------------------------------------------------------- helpers

    def _catch_up(self) -> None:
        """Index what was stored since the last search, and make the vectors that are at hand."""
        for name in [*self._unindexed]:
            self.index(name)
            try:
                self.embed()
            except ModelError:
                continue  # found by words; `sync` says so

    def _by_words(self) -> Memory:
        """Open the memory without vectors, once."""
        with self._lock:
            if self._words is None:
                self._words = Memory(self.memory.settings.home, search="words", clock=self._clock)
            return self._words

    def _patiently(self, call: Callable[[], T], wait_s: float = WAIT_S) -> T:
        """Call again while another thread or process indexes. Raises StoreBusy in the end."""
        until = time.monotonic() + wait_s
        while True:
            try:
                return call()
            except StoreBusy:
                if time.monotonic() > until:
                    raise
                time.sleep(0.02)


def _passage(hit: Hit, route: str) -> dict[str, Any]:
    """What a result has, scored by one route."""
    note = hit.item
    assert isinstance(note, Note)
    score = round(min(1.0, hit.routes[route][1]), 4)
    lines = {"start_line": note.start_line, "end_line": note.end_line}
    return {
        "chunk_id": note.id,
        "path": note.path,
        "source": SOURCES.get(note.source, "memory"),
        "text": note.text,
        "score": score,
        **lines,
    }
