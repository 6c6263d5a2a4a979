"""
Adapt an embedding provider, or vectors that a caller already has, to Yiku's embedder protocol.

Providers are asynchronous and Yiku is not: their calls run on an event loop of their own, so it does not matter whether
the caller has one that is running.
"""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from yiku.errors import ModelUnavailable, YikuError
from yiku_compat.bitwise.core.memory.chunker import text_hash
from yiku_compat.bitwise.core.memory.embeddings.base import EmbeddingProvider

if TYPE_CHECKING:
    import numpy as np

T = TypeVar("T")
KEPT = 10_000  # vectors of a caller, until Yiku has asked for them
SHORT_HASH = 16  # characters of a hash, as callers often have it
NOBODY = "given"


class Vectors:
    """An embedding model as Yiku has it. Thread-safe."""

    def __init__(self, provider: EmbeddingProvider | None) -> None:
        self.provider = provider
        self._known: OrderedDict[str, Sequence[float]] = OrderedDict()
        self._asked = threading.local()
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    @property
    def space(self) -> str:
        """The provider and its model."""
        return f"{_word(self.provider.id)} {_word(self.provider.model)}" if self.provider else f"{NOBODY} vectors"

    @property
    def key(self) -> str:
        """The provider and its model, as `embedding_cache.provider_key` has them."""
        return f"{self.provider.id}:{self.provider.model}" if self.provider else NOBODY

    def embed(self, texts: Sequence[str], role: str) -> np.ndarray[Any, Any]:
        """Return a unit vector for each text. Raises ModelUnavailable."""
        import numpy as np

        asked = getattr(self._asked, "vector", None)
        if role == "query" and asked is not None:
            found = [asked]
        elif role == "query":
            found = [self._answer(text) for text in texts]
        else:
            found = self._passages(texts)
        rows = np.asarray(found, np.float32)
        unit: np.ndarray[Any, Any] = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
        return unit

    @contextmanager
    def asking(self, vector: Sequence[float]) -> Iterator[None]:
        """Answer any question of this thread with this vector."""
        self._asked.vector = vector
        try:
            yield
        finally:
            self._asked.vector = None

    def keep(self, digest: str, vector: Sequence[float]) -> None:
        """Keep the vector of a text that has this hash, or one that begins so."""
        with self._lock:
            self._known[digest] = [*vector]
            while len(self._known) > KEPT:
                self._known.popitem(last=False)

    def kept(self, text: str) -> Sequence[float] | None:
        """Return the vector that a caller gave for a text; a heading above it counts as absent, too."""
        with self._lock:
            for words in (text, text.partition("\n")[2]):
                digest = text_hash(words)
                for known in (digest, digest[:SHORT_HASH]):
                    if words and known in self._known:
                        return self._known[known]
        return None

    def any_kept(self) -> bool:
        """Tell whether a caller gave any vectors."""
        return bool(self._known)

    def close(self) -> None:
        """End the event loop."""
        with self._lock:
            loop, self._loop = self._loop, None
            thread, self._thread = self._thread, None
        if loop is not None and thread is not None:
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()

    def _passages(self, texts: Sequence[str]) -> list[Sequence[float]]:
        found = {text: vector for text in texts if (vector := self.kept(text)) is not None}
        missing = [text for text in dict.fromkeys(texts) if text not in found]
        if missing and self.provider is None:
            raise ModelUnavailable("there is no embedding provider, and no vector was given for some of the texts")
        if missing and self.provider is not None:
            vectors = self._run(self.provider.embed_batch(missing))
            if len(vectors) != len(missing):
                raise ModelUnavailable(f"{self.key} made {len(vectors)} vectors of {len(missing)} texts")
            found |= dict(zip(missing, vectors, strict=True))
        return [found[text] for text in texts]

    def _answer(self, text: str) -> Sequence[float]:
        if self.provider is None:
            raise ModelUnavailable("there is no embedding provider to embed the question")
        return self._run(self.provider.embed_query(text))

    def _run(self, call: Coroutine[Any, Any, T]) -> T:
        """Wait for a call on the loop; what a provider of somebody's raises is that it is unavailable."""
        try:
            return asyncio.run_coroutine_threadsafe(call, self._started()).result()
        except YikuError:
            raise
        except Exception as error:
            raise ModelUnavailable(f"{self.key}: {error or type(error).__name__}") from error

    def _started(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, name="bitwise embeddings", daemon=True)
                self._thread.start()
            return self._loop


def _word(name: str) -> str:
    """A name without spaces, which part the name of a space."""
    return "_".join(name.split()) or "unnamed"
