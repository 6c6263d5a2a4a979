"""OpenAkita's settings of search backends, from a mapping or environment variables; creates the backend they name."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from yiku.errors import InvalidInput
from yiku_compat.openakita.search_backends import SearchBackend, create_search_backend


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """
    What a MemoryManager is made with.

    search_backend:         fts5, chromadb or api_embedding
    embedding_api_provider: dashscope or openai; embedding_api_url is another's base URL
    """

    search_backend: str = "fts5"
    embedding_api_provider: str = "dashscope"
    embedding_api_key: str = ""
    embedding_api_model: str = ""
    embedding_api_url: str = ""

    @classmethod
    def from_mapping(cls, given: Mapping[str, Any]) -> Settings:
        """Return settings by their names, in any case. Raises InvalidInput for an unknown name."""
        named = {str(name).casefold(): value for name, value in given.items()}
        if unknown := named.keys() - {one.name for one in fields(cls)}:
            raise InvalidInput(f"there is no setting {', '.join(sorted(unknown))}")
        return cls(**{name: str(value) for name, value in named.items()})

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> Settings:
        """Return settings as environment variables have them: SEARCH_BACKEND, EMBEDDING_API_KEY …"""
        given = os.environ if environment is None else environment
        names = [one.name for one in fields(cls)]
        return cls(**{name: given[name.upper()] for name in names if given.get(name.upper())})

    def backend(self, **more: Any) -> SearchBackend:
        """Create the search backend; `more` goes to it, such as `embedder`."""
        if self.search_backend == "api_embedding":
            more = {
                "provider": self.embedding_api_provider,
                "api_key": self.embedding_api_key or None,
                "model": self.embedding_api_model or None,
                "url": self.embedding_api_url or None,
            } | more
        return create_search_backend(self.search_backend, **more)
