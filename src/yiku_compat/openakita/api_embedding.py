"""
APIEmbeddingBackend: search statements by the cosine of an online embedding model.

The vectors are Yiku's own: kept in the home's file of vectors, which is the cache, and erased with what they stand for. Only
texts that have none are sent.
"""

from __future__ import annotations

import contextlib
from typing import Any

from yiku import Memory
from yiku.errors import InvalidInput, ModelError, StoreBusy
from yiku_compat.openakita.types import logical_id

PROVIDERS = {  # base URL and model of each
    "dashscope": ("https://dashscope.aliyuncs.com/compatible-mode/v1", "text-embedding-v3"),
    "openai": ("https://api.openai.com/v1", "text-embedding-3-small"),
}
ROUTE = "vectors"  # the route of a hit whose score is the cosine
WIDER = 4  # times the limit are asked for, since hits by words alone have no cosine


class APIEmbeddingBackend:
    """Search by an endpoint that speaks OpenAI's protocol. It needs a home to search: `bind`, which the store calls."""

    backend_type = "api_embedding"

    def __init__(
        self,
        *,
        api_key: str | None = None,
        model: str | None = None,
        provider: str = "dashscope",
        url: str | None = None,
        dimensions: int | None = None,
        timeout_s: float = 20.0,
    ) -> None:
        """`url` is the base URL of another provider. Nothing is sent before the first search. Raises InvalidInput."""
        if url is None and provider not in PROVIDERS:
            raise InvalidInput(f"there is no provider {provider!r}; there are {', '.join(PROVIDERS)}")
        known = PROVIDERS.get(provider, ("", ""))
        self._key, self._url, self._model = api_key, url or known[0], model or known[1]
        self._more: dict[str, Any] = {"embed_timeout_s": timeout_s} | ({"embed_dimensions": dimensions} if dimensions else {})
        self._memory: Memory | None = None
        self.why = "no API key is set" if url is None and not api_key else "no store has it yet"

    @property
    def available(self) -> bool:
        """Whether the last request was answered, and there are a key and a store."""
        return not self.why

    def bind(self, memory: Memory) -> None:
        """Search the home of this memory. Does nothing without a key."""
        if self.why == "no store has it yet":
            more: dict[str, Any] = {"embed_key": self._key} if self._key else {}
            self._memory = Memory(
                memory.settings.home,
                scope=memory.scope,
                create=False,
                search="api",
                embed_url=self._url,
                embed_model=self._model,
                **more,
                **self._more,
            )
            self.why = ""

    def search(self, query: str, limit: int = 10, filter_type: str | None = None) -> list[tuple[str, float]]:
        """See SearchBackend. The score is the cosine; where the endpoint does not answer, nothing, and `why` says so."""
        if self._memory is None or not query.strip() or limit < 1:
            return []
        where = {"kind": str(filter_type).casefold()} if filter_type else None
        try:
            with contextlib.suppress(StoreBusy):  # another process embeds
                self._memory.admin.embed()
            hits = self._memory.recall(query, limit=limit * WIDER, where=where, types=["memory"])
        except ModelError as error:
            self.why = error.detail or type(error).__name__
            return []
        self.why = ""
        found = {logical_id(hit.item): hit.routes[ROUTE][1] for hit in hits if ROUTE in hit.routes}  # type: ignore[arg-type]
        return sorted(found.items(), key=lambda one: -one[1])[:limit]

    def add(self, memory_id: str, content: str, metadata: dict[str, Any]) -> bool:
        """Nothing to do: what is in the home is embedded before the next search."""
        return self._memory is not None

    def batch_add(self, items: list[dict[str, Any]]) -> int:
        """See `add`."""
        return len(items) if self._memory is not None else 0

    def delete(self, memory_id: str) -> bool:
        """Nothing to do: what is not in the home is not found."""
        return self._memory is not None

    def retry(self) -> bool:
        """Let the next search ask the endpoint again after a failure."""
        if self._memory is not None:
            self.why = ""
        return self.available

    def close(self) -> None:
        """Close the handle on the home."""
        if self._memory is not None:
            self._memory.close()
            self._memory, self.why = None, "is closed"
