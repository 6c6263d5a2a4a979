"""
Choose the embedding model, the chat model and the reranker from the settings.

Nothing heavy is imported here, and no weight is read: that waits for the first text.
"""

from __future__ import annotations

import platform
import sys
from typing import TYPE_CHECKING, Literal

from yiku.errors import ModelUnavailable, SettingsError
from yiku.models.api import ChatModel, Embedder, Progress, Reranker
from yiku.models.cached import Cached
from yiku.models.prepare import installed
from yiku.types import Settings

if TYPE_CHECKING:
    from yiku.models.endpoint import Endpoint

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
            return _api(settings), None
        case "local":
            if missing := _missing():
                raise ModelUnavailable(missing)
            return _local(settings, progress), None
    if settings.embed_url:
        try:
            return _api(settings), None
        except SettingsError as error:
            return None, f"search by words only: {error.detail}"
    if missing := _missing():
        return None, f"search by words only: {missing}"
    return _local(settings, progress), None


def chat(settings: Settings) -> ChatModel | None:
    """Return the chat model, if an endpoint is set. Raises SettingsError for an incomplete one."""
    if not settings.chat_url:
        return None
    endpoint = _endpoint(settings, "chat", "chat")
    from yiku.models.chat import ApiChat

    return ApiChat(endpoint, max_tokens=settings.chat_max_tokens)


def reranker(settings: Settings) -> Reranker:
    """Return the reranker of an endpoint. Raises SettingsError for an incomplete one."""
    endpoint = _endpoint(settings, "rerank", "reranking")
    from yiku.models.rerank import ApiReranker

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


def _api(settings: Settings) -> Embedder:
    endpoint = _endpoint(settings, "embed", "embeddings")
    from yiku.models.embed import ApiEmbedder

    made = ApiEmbedder(
        endpoint,
        dimensions=settings.embed_dimensions,
        query_prefix=settings.embed_query_prefix or "",
        passage_prefix=settings.embed_passage_prefix or "",
        batch=settings.embed_batch,
    )
    return Cached(made)


def _endpoint(settings: Settings, prefix: Literal["embed", "rerank", "chat"], purpose: str) -> Endpoint:
    """Return the endpoint that the settings of a prefix describe. Raises SettingsError if its address or model is not set."""
    url, model, key, timeout_s = (getattr(settings, f"{prefix}_{part}") for part in ("url", "model", "key", "timeout_s"))
    if not url or not model:
        missing = f"{prefix}_model" if url else f"{prefix}_url"
        raise SettingsError(f"an endpoint for {purpose} needs {missing}, which is not set")
    from yiku.models.endpoint import Endpoint

    return Endpoint(url=url, model=model, key=key.reveal() if key else "", timeout_s=timeout_s)
