"""
A TypedDict of the settings, so that type checkers catch misspelt arguments.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypedDict

from yiku.types.settings import Secret


class SettingsArguments(TypedDict, total=False):
    """The settings that `Memory(…)` takes besides `scope`; docs/settings.md describes them."""

    owner: str
    reads: Sequence[str]
    names: Sequence[str]
    agent: str | None
    project: str | None
    actor: str | None
    language: Literal["auto", "en", "zh"]
    secrets: Literal["mask", "keep"]
    private_folders: Sequence[str]
    vaults: Sequence[str]
    backups: Literal["nightly", "off"]
    nights: Literal["auto", "off"]
    durability: Literal["full", "fast"]
    busy_timeout_s: float
    limit: int
    context_tokens: int
    prompt_tokens: int
    auto_recall: Literal["off", "gated", "always"]
    persona: str | None
    search: Literal["auto", "words", "local", "api"]
    local_vocab: Literal["en+zh", "full"]
    embed_url: str | None
    embed_model: str | None
    embed_key: str | Secret | None
    embed_dimensions: int | None
    embed_query_prefix: str | None
    embed_passage_prefix: str | None
    embed_batch: int
    embed_timeout_s: float
    rerank: Literal["off", "api"]
    rerank_url: str | None
    rerank_model: str | None
    rerank_key: str | Secret | None
    rerank_timeout_s: float
    chat_url: str | None
    chat_model: str | None
    chat_key: str | Secret | None
    chat_timeout_s: float
    chat_max_tokens: int
    learn: Literal["at_once", "later", "off"]
    learn_calls: int
    transcripts: Literal["on", "off"]
    transcript_days: int
    daily_days: int
    watch_debounce_s: float
