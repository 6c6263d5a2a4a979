"""
Choose the embedding model, the chat model and the reranker from the settings.

Nothing heavy is imported here, and no weight is read: that waits for the first text.
"""

from __future__ import annotations

import platform
import sys

from yiku.errors import ModelUnavailable, SettingsError
from yiku.models.api import ChatModel, Embedder, Progress, Reranker
from yiku.models.cached import Cached
from yiku.models.prepare import installed
from yiku.types import Settings

_NO_WHEEL = "the local model has no package for this machine: set embed_url and embed_model to use an endpoint"


def embedder(settings: Settings, *, progress: Progress | None = None) -> tuple[Embedder | None, str | None]:
    """
    Return the embedder, or None and the reason `auto` found none.

    progress: is told while the local model is made ready, once
    Raises ModelUnavailable for a local model that is not installed, SettingsError for an endpoint that is not described.
    """
    match settings.search:
        case "words":
            return None, None
        case "api":
            return _endpoint(settings), None
        case "local":
            if missing := _missing():
                raise ModelUnavailable(missing)
            return _local(settings, progress), None
    if settings.embed_url:
        try:
            return _endpoint(settings), None
        except SettingsError as error:
            return None, f"search by words only: {error.detail}"
    if missing := _missing():
        return None, f"search by words only: {missing}"
    return _local(settings, progress), None


def chat(settings: Settings) -> ChatModel | None:
    """Return the chat model, if an endpoint is set. Raises SettingsError for an incomplete one."""
    if not settings.chat_url:
        return None
    if not settings.chat_model:
        raise SettingsError("an endpoint for chat needs chat_model, which is not set")
    from yiku.models.chat import ApiChat
    from yiku.models.endpoint import Endpoint

    endpoint = Endpoint(
        url=settings.chat_url,
        model=settings.chat_model,
        key=settings.chat_key.reveal() if settings.chat_key else "",
        timeout_s=settings.chat_timeout_s,
    )
    return ApiChat(endpoint, max_tokens=settings.chat_max_tokens)


def reranker(settings: Settings) -> Reranker:
    """Return the reranker of an endpoint. Raises SettingsError for an incomplete one."""
    if not settings.rerank_url or not settings.rerank_model:
        missing = "rerank_model" if settings.rerank_url else "rerank_url"
        raise SettingsError(f"an endpoint for reranking needs {missing}, which is not set")
    from yiku.models.endpoint import Endpoint
    from yiku.models.rerank import ApiReranker

    endpoint = Endpoint(
        url=settings.rerank_url,
        model=settings.rerank_model,
        key=settings.rerank_key.reveal() if settings.rerank_key else "",
        timeout_s=settings.rerank_timeout_s,
    )
    return ApiReranker(endpoint)


def _missing() -> str | None:
    """Return why there is no local model, and what to do."""
    if installed():
        return None
    machine = (sys.platform, platform.machine())
    if machine in {("linux", "x86_64"), ("linux", "aarch64"), ("darwin", "arm64")}:
        return "pip install '.[local]' in a checkout adds a local model"
    return _NO_WHEEL


def _local(settings: Settings, progress: Progress | None) -> Embedder:
    from yiku.models.e5 import LocalE5

    return Cached(LocalE5(progress=progress, vocab=settings.local_vocab))


def _endpoint(settings: Settings) -> Embedder:
    if not settings.embed_url or not settings.embed_model:
        missing = "embed_model" if settings.embed_url else "embed_url"
        raise SettingsError(f"an endpoint for embeddings needs {missing}, which is not set")
    from yiku.models.embed import ApiEmbedder
    from yiku.models.endpoint import Endpoint

    endpoint = Endpoint(
        url=settings.embed_url,
        model=settings.embed_model,
        key=settings.embed_key.reveal() if settings.embed_key else "",
        timeout_s=settings.embed_timeout_s,
    )
    made = ApiEmbedder(
        endpoint,
        dimensions=settings.embed_dimensions,
        query_prefix=settings.embed_query_prefix or "",
        passage_prefix=settings.embed_passage_prefix or "",
        batch=settings.embed_batch,
    )
    return Cached(made)
