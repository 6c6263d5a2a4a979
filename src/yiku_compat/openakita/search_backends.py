"""
The SearchBackend protocol, FTS5Backend, WithFallback, and the factory `create_search_backend`.

The index is the document's pluggable one, beside Yiku's own: it lies in memory, is filled from the home when it is first
asked, and follows what changes there, so no second copy of what was said is on the disk. A hit that is not live is left out.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from typing import Any, Protocol, runtime_checkable

import apsw

from yiku.errors import InvalidInput
from yiku_compat.openakita.api_embedding import APIEmbeddingBackend
from yiku_compat.openakita.segment import Segmenter
from yiku_compat.openakita.vector_store import ChromaDBBackend

_log = logging.getLogger(__name__)
WORDS = ("content", "subject", "predicate", "tags")  # columns of the index


@runtime_checkable
class SearchBackend(Protocol):
    """A search index over statements: ids with scores, the best first and highest."""

    def search(self, query: str, limit: int = 10, filter_type: str | None = None) -> list[tuple[str, float]]:
        """Return ids and scores between 0 and 1."""
        ...

    def add(self, memory_id: str, content: str, metadata: dict[str, Any]) -> bool:
        """Index a statement, again if it is there; metadata may have type, subject, predicate, tags."""
        ...

    def delete(self, memory_id: str) -> bool:
        """Remove a statement; False if it was not there."""
        ...

    def batch_add(self, items: list[dict[str, Any]]) -> int:
        """Index several: `id`, `content`, `metadata` each. Return how many."""
        ...

    @property
    def available(self) -> bool:
        """Whether it can be asked now."""
        ...

    @property
    def backend_type(self) -> str:
        """fts5, chromadb or api_embedding."""
        ...


class FTS5Backend:
    """
    Full-text search with an FTS5 table of its own: words ranked by bm25, the default.

    Chinese is cut into words before it is written and before it is asked: by jieba if that is installed, else into single
    characters and pairs. `jieba=False` does without it.
    """

    backend_type = "fts5"
    available = True

    def __init__(self, jieba: bool | None = None) -> None:
        self.segmenter = Segmenter(jieba)
        self._lock = threading.Lock()
        self._table = apsw.Connection(":memory:")
        self._table.execute(
            "create table ids (n integer primary key, id text not null unique, type text not null);"
            f"create virtual table words using fts5({', '.join(WORDS)}, tokenize = 'unicode61 remove_diacritics 2')"
        )

    def search(self, query: str, limit: int = 10, filter_type: str | None = None) -> list[tuple[str, float]]:
        """See SearchBackend. Each token of the query is quoted, so nothing in it is syntax; any of them may match."""
        tokens = dict.fromkeys(self.segmenter.tokens(query))
        if not tokens or limit < 1:
            return []
        asked = " OR ".join('"' + token.replace('"', '""') + '"' for token in tokens)
        wanted = "" if filter_type is None else str(filter_type).casefold()
        with self._lock:
            rows: list[tuple[Any, ...]] = self._table.execute(
                "select ids.id, bm25(words) from words join ids on ids.n = words.rowid"
                " where words match ? and (? = '' or ids.type = ?) order by 2, ids.n desc limit ?",
                (asked, wanted, wanted, limit),
            ).fetchall()
        return [(id, _score(rank)) for id, rank in rows]

    def add(self, memory_id: str, content: str, metadata: dict[str, Any]) -> bool:
        """See SearchBackend."""
        return self.batch_add([{"id": memory_id, "content": content, "metadata": metadata}]) == 1

    def batch_add(self, items: list[dict[str, Any]]) -> int:
        """See SearchBackend. One transaction."""
        written = [self._row(item) for item in items]
        with self._lock, self._table:
            for id, type, words in written:
                self._remove(id)
                self._table.execute("insert into ids (id, type) values (?, ?)", (id, type))
                n = self._table.last_insert_rowid()
                self._table.execute(f"insert into words (rowid, {', '.join(WORDS)}) values (?, ?, ?, ?, ?)", (n, *words))
        return len(written)

    def delete(self, memory_id: str) -> bool:
        """See SearchBackend."""
        with self._lock, self._table:
            gone = self._remove(memory_id)
        return gone

    def indexed(self, memory_id: str) -> dict[str, str]:
        """Return what was written for a statement: its columns, cut into tokens."""
        with self._lock:
            found: list[tuple[Any, ...]] = self._table.execute(
                f"select {', '.join(WORDS)} from words where rowid = (select n from ids where id = ?)", (memory_id,)
            ).fetchall()
        return dict(zip(WORDS, found[0], strict=True)) if found else {}

    def _row(self, item: Mapping[str, Any]) -> tuple[str, str, tuple[str, ...]]:
        noted = item.get("metadata") or {}
        tags = noted.get("tags") or ()
        texts = (item["content"], noted.get("subject") or "", noted.get("predicate") or "", " ".join(map(str, tags)))
        return str(item["id"]), str(noted.get("type") or "").casefold(), tuple(self.segmenter.cut(str(text)) for text in texts)

    def _remove(self, memory_id: str) -> bool:
        found = self._table.execute("delete from ids where id = ? returning n", (memory_id,)).fetchall()
        for (n,) in found:
            self._table.execute("delete from words where rowid = ?", (n,))
        return bool(found)


def _score(rank: float) -> float:
    """Return a score that is higher for better hits; bm25 is negative, and lower for them."""
    return abs(rank) / (1.0 + abs(rank))


Maker = Callable[..., SearchBackend]


def create_search_backend(backend_type: str = "fts5", **kwargs: Any) -> SearchBackend:
    """
    Create a search backend: "fts5", "chromadb" or "api_embedding".

    One that is not available gives way to FTS5: that is logged, and `.degraded` of what is returned has the reason.
    Raises InvalidInput for an unknown type.
    """
    makers: Mapping[str, Maker] = {"fts5": FTS5Backend, "chromadb": ChromaDBBackend, "api_embedding": APIEmbeddingBackend}
    name = str(backend_type).strip().casefold()
    if name not in makers:
        raise InvalidInput(f"there is no search backend {backend_type!r}; there are {', '.join(makers)}")
    return WithFallback(makers[name](**kwargs)) if name != "fts5" else FTS5Backend(**kwargs)


class WithFallback:
    """A backend with FTS5 behind it: both are filled, and FTS5 is asked while the other is not available."""

    def __init__(self, first: SearchBackend) -> None:
        self.first = first
        self.fallback = FTS5Backend()
        self._told: str | None = None

    @property
    def degraded(self) -> str | None:
        """Why FTS5 answers instead; None if it does not."""
        return None if self.first.available else f"{self.first.backend_type}: {getattr(self.first, 'why', 'is not available')}"

    @property
    def backend_type(self) -> str:
        """The type of the backend that answers now."""
        return self.fallback.backend_type if self.degraded else self.first.backend_type

    @property
    def available(self) -> bool:
        """Always: FTS5 is."""
        return True

    def search(self, query: str, limit: int = 10, filter_type: str | None = None) -> list[tuple[str, float]]:
        """See SearchBackend."""
        if self.degraded is None:
            found = self.first.search(query, limit, filter_type)
            if self.degraded is None:
                self._told = None
                return found
        self._tell()
        return self.fallback.search(query, limit, filter_type)

    def add(self, memory_id: str, content: str, metadata: dict[str, Any]) -> bool:
        """See SearchBackend."""
        self.first.add(memory_id, content, metadata)
        return self.fallback.add(memory_id, content, metadata)

    def batch_add(self, items: list[dict[str, Any]]) -> int:
        """See SearchBackend."""
        self.first.batch_add(items)
        return self.fallback.batch_add(items)

    def delete(self, memory_id: str) -> bool:
        """See SearchBackend."""
        return any([self.first.delete(memory_id), self.fallback.delete(memory_id)])

    def close(self) -> None:
        """Close what holds something."""
        for one in (self.first, self.fallback):
            if close := getattr(one, "close", None):
                close()

    def _tell(self) -> None:
        """Log why another backend answers, once for each reason."""
        if self._told != (why := self.degraded):
            self._told = why
            _log.warning("search degrades to fts5: %s", why)
