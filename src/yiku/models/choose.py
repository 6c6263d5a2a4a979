"""
Which embedder the settings mean. An explicit choice that cannot be met is an error; `auto` does without, and says so.

Nothing heavy is imported here, and no weight is read: that waits for the first text.
"""

from __future__ import annotations

import platform
import sys

from yiku.errors import ModelUnavailable, SettingsError
from yiku.models.api import Embedder, Progress
from yiku.models.cached import Cached
from yiku.models.prepare import installed
from yiku.types import Settings

_NO_WHEEL = "the local model has no package for this machine: set embed_url and embed_model to use an endpoint"


def embedder(settings: Settings, *, progress: Progress | None = None) -> tuple[Embedder | None, str | None]:
    """
    The embedder, and why there is none when `auto` found none.

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
            return _local(progress), None
    if settings.embed_url:
        try:
            return _endpoint(settings), None
        except SettingsError as error:
            return None, f"search by words only: {error.detail}"
    if missing := _missing():
        return None, f"search by words only: {missing}"
    return _local(progress), None


def _missing() -> str | None:
    """Why there is no local model, and what to do about it."""
    if installed():
        return None
    machine = (sys.platform, platform.machine())
    if machine in {("linux", "x86_64"), ("linux", "aarch64"), ("darwin", "arm64")}:
        return "pip install 'yiku[local]' adds a local model"
    return _NO_WHEEL


def _local(progress: Progress | None) -> Embedder:
    from yiku.models.e5 import LocalE5

    return Cached(LocalE5(progress=progress))


def _endpoint(settings: Settings) -> Embedder:
    if not settings.embed_url or not settings.embed_model:
        missing = "embed_model" if settings.embed_url else "embed_url"
        raise SettingsError(f"an endpoint for embeddings needs {missing}, which is not set")
    from yiku.models.embed import ApiEmbedder, Endpoint

    endpoint = Endpoint(
        url=settings.embed_url,
        model=settings.embed_model,
        key=settings.embed_key.reveal() if settings.embed_key else "",
        dimensions=settings.embed_dimensions,
        query_prefix=settings.embed_query_prefix or "",
        passage_prefix=settings.embed_passage_prefix or "",
        batch=settings.embed_batch,
        timeout_s=settings.embed_timeout_s,
    )
    return Cached(ApiEmbedder(endpoint))
