"""
Functions without a memory folder: create the embedding model that settings name, split Markdown into passages.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Unpack

from yiku import settings as _settings
from yiku.errors import ModelUnavailable
from yiku.types import Passage, SettingsArguments

if TYPE_CHECKING:
    from yiku.models.api import Embedder

TEXT_BYTES = 8 << 20  # of a text that is split, as of a file that is indexed


def embedder(**settings: Unpack[SettingsArguments]) -> Embedder:
    """
    Return the embedding model that these settings name, for use beside a memory or as its `embedder`.

        yiku.embedder(embed_url="http://127.0.0.1:8080/v1", embed_model="text-embedding-3-small")
        yiku.embedder(search="local")

    No home and no environment is read, and no request is made before its first `embed(texts, role)`.

    Raises SettingsError, ModelUnavailable where no model is named and the local one is not installed.
    """
    from yiku.models import select

    named = _settings.of_arguments(settings)
    if named.embed_url and named.search == "auto":
        named = replace(named, search="api")
    model, why = select.embedder(named)
    if model is None:
        raise ModelUnavailable(why or "search = words asks for no vectors: set search = auto")
    return model


def passages(text: str) -> list[Passage]:
    """
    Split a Markdown text into passages as notes are split: at most 400 tokens each, with at most 80 repeated, and their lines.

    Raises InvalidInput, TooLarge.
    """
    from yiku.flows.common import checks
    from yiku.rules.pages import chunks

    return chunks.chunks(checks.text(text, "text", at_most=TEXT_BYTES, empty=True))
