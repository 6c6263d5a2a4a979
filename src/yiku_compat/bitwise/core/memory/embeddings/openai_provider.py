"""OpenAIEmbeddingProvider: embeddings by any endpoint with OpenAI's API."""

from __future__ import annotations

import yiku
from yiku_compat.bitwise.core.memory.embeddings.base import CoreProvider

OPENAI_URL = "https://api.openai.com/v1"
MODEL = "text-embedding-3-small"


class OpenAIEmbeddingProvider(CoreProvider):
    """
    An endpoint of OpenAI, Zhipu or another service with the same API. Nothing is sent before the first text.

    base_url: of the service, without /embeddings
    """

    def __init__(
        self,
        api_key: str | None = None,
        model: str = MODEL,
        base_url: str = OPENAI_URL,
        *,
        dimensions: int | None = None,
        timeout_s: float = 60.0,
        id: str = "openai",
    ) -> None:
        embedder = yiku.embedder(
            search="api",
            embed_url=base_url,
            embed_model=model,
            embed_key=api_key,
            embed_dimensions=dimensions,
            embed_timeout_s=timeout_s,
        )
        super().__init__(id, model, embedder)
