"""
Cache recent question vectors in memory: `recall` and `context` often embed the same question.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from yiku.models.api import Embedder, Role
from yiku.models.fork_lock import Guarded

if TYPE_CHECKING:
    from yiku.models.api import Vectors

KEPT = 512  # questions; 0.8 MB at 384 dimensions


class Cached(Guarded):
    """An embedder that caches single questions; passages are not cached."""

    def __init__(self, inner: Embedder) -> None:
        super().__init__()
        self.inner = inner
        self._kept: OrderedDict[str, Vectors] = OrderedDict()

    @property
    def space(self) -> str:
        """See Embedder."""
        return self.inner.space

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        """See Embedder. Returns a copy, so that a caller may change it."""
        if role != "query" or len(texts) != 1:
            return self.inner.embed(texts, role)
        with self._lock:
            if (found := self._kept.get(texts[0])) is not None:
                self._kept.move_to_end(texts[0])
                return found.copy()
        found = self.inner.embed(texts, role)
        with self._lock:
            self._kept[texts[0]] = found.copy()
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return found

    @property
    def common(self) -> Callable[[], Vectors] | None:
        """See Embedder."""
        return getattr(self.inner, "common", None)

    @property
    def calibrated(self) -> bool:
        """See Embedder."""
        return getattr(self.inner, "calibrated", False)

    @property
    def compares(self) -> str:
        """See Embedder."""
        return getattr(self.inner, "compares", "")

    def superseded(self, pairs: Sequence[tuple[str, str]]) -> Vectors:
        """See Embedder."""
        found: Vectors = self.inner.superseded(pairs)  # type: ignore[attr-defined]
        return found

    def close(self) -> None:
        """See Embedder."""
        with self._lock:
            self._kept.clear()
        self.inner.close()
