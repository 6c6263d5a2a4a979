"""
ChromaDBBackend: search statements by a local embedding model, in an in-memory table of sqlite-vec.

Optional: it needs the library and a model. It is filled in the background; until then, and where either is missing, it is not
available, and FTS5 answers.
"""

from __future__ import annotations

import importlib
import threading
from typing import Any, Protocol

import apsw

from yiku.errors import ModelError

BATCH = 64  # texts that are embedded at a time
WIDER = 8  # neighbours are filtered by type afterwards


class Embedder(Protocol):
    """Makes unit vectors of texts; role is query or passage."""

    def embed(self, texts: Any, role: Any) -> Any:
        """Return a float32 row for each text."""
        ...


class VectorStore:
    """Unit vectors by id in a table of sqlite-vec. Raises ImportError without it."""

    def __init__(self, dimensions: int) -> None:
        library = importlib.import_module("sqlite_vec")
        self._lock = threading.Lock()
        self._table = apsw.Connection(":memory:")
        self._table.enable_load_extension(True)
        self._table.load_extension(library.loadable_path())
        self._table.enable_load_extension(False)
        self._table.execute("create table ids (n integer primary key, id text not null unique, type text not null)")
        self._table.execute(f"create virtual table vectors using vec0(vector float[{int(dimensions)}] distance_metric=cosine)")

    def put(self, id: str, type: str, vector: bytes) -> None:
        """Store a vector, in place of that of the same id."""
        with self._lock, self._table:
            self._remove(id)
            self._table.execute("insert into ids (id, type) values (?, ?)", (id, type))
            self._table.execute("insert into vectors (rowid, vector) values (?, ?)", (self._table.last_insert_rowid(), vector))

    def remove(self, id: str) -> bool:
        """Remove a vector; False if it was not there."""
        with self._lock, self._table:
            gone = self._remove(id)
        return gone

    def nearest(self, vector: bytes, limit: int, type: str = "") -> list[tuple[str, float]]:
        """Return ids and cosines of the nearest, the nearest first."""
        with self._lock:
            rows: list[tuple[Any, ...]] = self._table.execute(
                "select ids.id, ids.type, distance from vectors join ids on ids.n = vectors.rowid"
                " where vector match ? and k = ? order by distance",
                (vector, limit * WIDER if type else limit),
            ).fetchall()
        return [(id, 1.0 - distance) for id, kind, distance in rows if not type or kind == type][:limit]

    def __len__(self) -> int:
        with self._lock:
            return int(self._table.execute("select count(*) from ids").get)

    def _remove(self, id: str) -> bool:
        found = self._table.execute("delete from ids where id = ? returning n", (id,)).fetchall()
        for (n,) in found:
            self._table.execute("delete from vectors where rowid = ?", (n,))
        return bool(found)


class ChromaDBBackend:
    """
    Search by a local model. The name is the documents'; the library behind it is sqlite-vec.

    embedder:   the model, an object with `embed(texts, role)`
    background: embed in a thread; else before `add` returns
    """

    backend_type = "chromadb"

    def __init__(self, embedder: Embedder | None = None, *, background: bool = True) -> None:
        self._embedder, self._background = embedder, background
        self._store: VectorStore | None = None
        self._waiting: dict[str, tuple[str, str]] = {}
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self.why = "" if embedder is not None else "there is no local model; give embedder="
        try:
            importlib.import_module("sqlite_vec")
        except ImportError:
            self.why = "sqlite-vec is not installed; pip install sqlite-vec"

    @property
    def available(self) -> bool:
        """Whether all that was added is embedded."""
        if not self.why or self.why.startswith("embeds"):
            self.why = f"embeds {len(self._waiting)} texts" if self._waiting else ""
        return not self.why

    def search(self, query: str, limit: int = 10, filter_type: str | None = None) -> list[tuple[str, float]]:
        """See SearchBackend. The score is the cosine."""
        if not self.available or self._store is None or not query.strip() or limit < 1:
            return []
        assert self._embedder is not None
        try:
            vector = self._embedder.embed([query], "query")[0].astype("float32").tobytes()
        except ModelError as error:
            self.why = error.detail
            return []
        return self._store.nearest(vector, limit, str(filter_type or "").casefold())

    def add(self, memory_id: str, content: str, metadata: dict[str, Any]) -> bool:
        """See SearchBackend."""
        return self.batch_add([{"id": memory_id, "content": content, "metadata": metadata}]) == 1

    def batch_add(self, items: list[dict[str, Any]]) -> int:
        """See SearchBackend. Texts are embedded in the background."""
        if self._embedder is None or (self.why and not self.why.startswith("embeds")):
            return 0
        with self._lock:
            for item in items:
                type = str((item.get("metadata") or {}).get("type") or "").casefold()
                self._waiting[str(item["id"])] = (type, str(item["content"]))
            running = self._thread is not None and self._thread.is_alive()
            if self._background and not running:
                self._thread = threading.Thread(target=self._embed, name="yiku-vectors", daemon=True)
                self._thread.start()
        if not self._background:
            self._embed()
        return len(items)

    def delete(self, memory_id: str) -> bool:
        """See SearchBackend."""
        with self._lock:
            waited = self._waiting.pop(memory_id, None) is not None
        return (self._store is not None and self._store.remove(memory_id)) or waited

    def ready(self, timeout_s: float | None = None) -> bool:
        """Wait until all is embedded, or for so long; tell whether it is."""
        if (thread := self._thread) is not None:
            thread.join(timeout_s)
        return self.available

    def _embed(self) -> None:
        """Embed what waits, some at a time."""
        assert self._embedder is not None
        while True:
            with self._lock:
                some = list(self._waiting.items())[:BATCH]
                if not some:
                    self._thread = None  # whoever adds from here on starts another
                    return
            try:
                vectors = self._embedder.embed([text for _, (_, text) in some], "passage")
            except ModelError as error:
                self.why = error.detail or "the model failed"
                return
            if self._store is None:
                self._store = VectorStore(len(vectors[0]))
            for (id, (type, text)), vector in zip(some, vectors, strict=True):
                with self._lock:
                    if self._waiting.get(id) != (type, text):
                        continue  # changed or deleted meanwhile
                    del self._waiting[id]
                self._store.put(id, type, vector.astype("float32").tobytes())
