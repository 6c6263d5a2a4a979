"""Embedding providers."""

from yiku_compat.bitwise.core.memory.embeddings.base import EmbeddingProvider
from yiku_compat.bitwise.core.memory.embeddings.local_provider import LocalEmbeddingProvider
from yiku_compat.bitwise.core.memory.embeddings.openai_provider import OpenAIEmbeddingProvider

__all__ = ["EmbeddingProvider", "LocalEmbeddingProvider", "OpenAIEmbeddingProvider"]
