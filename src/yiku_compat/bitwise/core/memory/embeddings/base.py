"""EmbeddingProvider, the base class of embedding models, and CoreProvider, which wraps an embedder of Yiku."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from typing import Any


class EmbeddingProvider(ABC):
    """An embedding model with asynchronous calls; write a subclass to use a model of your own."""

    @property
    @abstractmethod
    def id(self) -> str:
        """The service, such as "openai"."""

    @property
    @abstractmethod
    def model(self) -> str:
        """The name of the model. Vectors of two models are never compared."""

    @abstractmethod
    async def embed_query(self, text: str) -> list[float]:
        """Return the vector of a question."""

    @abstractmethod
    async def embed_batch(self, texts: list[str]) -> list[list[float]]:
        """Return the vectors of texts that may answer, in their order."""


class CoreProvider(EmbeddingProvider):
    """A provider over an embedding model of Yiku."""

    def __init__(self, id: str, model: str, embedder: Any) -> None:
        self._id, self._model, self.embedder = id, model, embedder

    @property
    def id(self) -> str:
        """See EmbeddingProvider."""
        return self._id

    @property
    def model(self) -> str:
        """See EmbeddingProvider."""
        return self._model

    async def embed_query(self, text: str) -> list[float]:
        """See EmbeddingProvider. Raises ModelError."""
        return (await asyncio.to_thread(self._vectors, [text], "query"))[0]

    async def embed_batch(self, texts: list[str]) -> list[list[float]]:
        """See EmbeddingProvider. Raises ModelError."""
        return await asyncio.to_thread(self._vectors, texts, "passage") if texts else []

    def _vectors(self, texts: list[str], role: str) -> list[list[float]]:
        found: Any = self.embedder.embed(texts, role).tolist()
        return list(found)
