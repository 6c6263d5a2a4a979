"""`SyncedBackend`: keep a search backend in sync with the home: add what changed before a search, drop what is gone."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from datetime import datetime

from yiku import types as core
from yiku_compat.openakita.search_backends import SearchBackend
from yiku_compat.openakita.storage import MemoryStorage
from yiku_compat.openakita.types import logical_id

PAGE = 200  # of what changed last
WIDER = 3  # times the limit are asked for, since some may be gone
ROUNDS = 4


class SyncedBackend:
    """A backend over the live memories of a home."""

    def __init__(self, db: MemoryStorage, backend: SearchBackend) -> None:
        self._db, self._backend = db, backend
        self._lock = threading.Lock()
        self._upto: datetime | None = None
        self._seen: set[str] = set()  # versions that were changed at that very time
        for one in (backend, getattr(backend, "first", None)):
            if bind := getattr(one, "bind", None):
                bind(db.memory)

    def put(self, memories: Iterable[core.SemanticMemory]) -> None:
        """Index memories."""
        items = [
            {
                "id": logical_id(one),
                "content": one.content,
                "metadata": {
                    "type": one.kind.value,
                    "subject": one.subject or "",
                    "predicate": one.predicate or "",
                    "tags": list(one.tags),
                },
            }
            for one in memories
        ]
        if items:
            self._backend.batch_add(items)

    def search(self, query: str, limit: int, kinds: set[str] | None) -> list[tuple[core.SemanticMemory, float]]:
        """Return live memories with their scores; one that is gone is removed from the backend."""
        self.refresh()
        only = next(iter(kinds)) if kinds is not None and len(kinds) == 1 else None
        asked, found = limit, list[tuple[core.SemanticMemory, float]]()
        for _ in range(ROUNDS):
            asked *= WIDER
            given = self._backend.search(query, asked, only)
            found = []
            for id, score in given:
                memory = self._db.find(id)
                if memory is None or not memory.live or memory.expired(self._db.now()):
                    self._backend.delete(id)
                elif kinds is None or memory.kind.value in kinds:
                    found.append((memory, score))
                if len(found) == limit:
                    return found
            if len(given) < asked:
                break
        return found

    def refresh(self) -> None:
        """Add what was changed since the last time, newest first."""
        with self._lock:
            upto, seen, fresh = self._upto, self._seen, list[core.SemanticMemory]()
            offset, known = 0, False
            while not known:
                page = self._db.memory.get_all(order="updated", limit=PAGE if upto else 10_000, offset=offset)
                for one in page:
                    if known := upto is not None and one.updated_at < upto:
                        break
                    if one.updated_at != upto or one.id not in seen:
                        fresh.append(one)
                if not page:
                    break
                offset += len(page)
            if fresh:
                newest = max(one.updated_at for one in fresh)
                same = {one.id for one in fresh if one.updated_at == newest}
                self._seen = same | (seen if newest == upto else set())
                self._upto = newest
            self.put(fresh)
