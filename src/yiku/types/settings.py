"""
`Settings`: the resolved configuration of a data folder; `Secret`: a string that is never printed or logged.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Literal

from yiku.types.value import value


class Secret:
    """A string that is revealed on request only: never printed, logged or serialized."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """Return the secret."""
        return self._text

    def __repr__(self) -> str:
        return f"…{self._text[-4:]}" if len(self._text) >= 16 else "…"  # enough to tell two keys apart

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._text == self._text

    def __hash__(self) -> int:
        return hash(self._text)


@value(frozen=True, slots=True, kw_only=True)
class Settings:
    """
    Resolved settings; `origins` says where each value came from. See docs/settings.md.

    unknown_variables: what begins with YIKU_ in the environment, and is no setting
    """

    home: str
    owner: str | None = None
    scope: str | None = None
    reads: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    agent: str | None = None
    project: str | None = None
    actor: str | None = None
    language: str = "auto"
    secrets: str = "mask"
    private_folders: tuple[str, ...] = ()
    vaults: tuple[str, ...] = ()
    backups: str = "nightly"
    nights: str = "auto"
    durability: str = "full"
    busy_timeout_s: float = 30.0
    limit: int = 10
    context_tokens: int = 700
    prompt_tokens: int = 3_000
    auto_recall: Literal["off", "gated", "always"] = "gated"
    persona: str | None = None
    search: str = "auto"
    local_vocab: Literal["en+zh", "full"] = "en+zh"
    embed_url: str | None = None
    embed_model: str | None = None
    embed_key: Secret | None = None
    embed_dimensions: int | None = None
    embed_query_prefix: str | None = None
    embed_passage_prefix: str | None = None
    embed_batch: int = 64
    embed_timeout_s: float = 20.0
    rerank: Literal["off", "api"] = "off"
    rerank_url: str | None = None
    rerank_model: str | None = None
    rerank_key: Secret | None = None
    rerank_timeout_s: float = 5.0
    chat_url: str | None = None
    chat_model: str | None = None
    chat_key: Secret | None = None
    chat_timeout_s: float = 60.0
    chat_max_tokens: int = 4_096
    learn: Literal["at_once", "later", "off"] = "at_once"
    learn_calls: int = 5
    transcripts: Literal["on", "off"] = "on"
    transcript_days: int = 30
    daily_days: int = 7
    watch_debounce_s: float = 1.0
    origins: Mapping[str, str] = field(default_factory=dict)
    unknown_variables: tuple[str, ...] = ()
