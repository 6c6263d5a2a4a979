"""LocalEmbeddingProvider: embeddings by Yiku's local model, on this machine."""

from __future__ import annotations

import yiku
from yiku_compat.bitwise.core.memory.embeddings.base import CoreProvider


class LocalEmbeddingProvider(CoreProvider):
    """multilingual-e5-small, of `pip install '.[local]'` in a checkout. Raises ModelUnavailable where it is not installed."""

    def __init__(self) -> None:
        super().__init__("local", "multilingual-e5-small", yiku.embedder(search="local"))
