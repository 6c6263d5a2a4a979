"""
Read and validate config.json in the application's format, and derive Yiku's settings from it.

A key that is no part of the format is an error that names it. A model is asked only where its `api_key` is given: without keys
everything works by words and rules, or with a local model where one is installed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from yiku.errors import InvalidInput
from yiku_compat.bitwise.core.memory.embeddings.openai_provider import MODEL, OPENAI_URL
from yiku_compat.bitwise.core.memory.types import ChunkConfig, HybridConfig

T = TypeVar("T")
NAME = "config.json"
PLACEHOLDER = "sk-..."  # of the example file
LARGEST_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Llm:
    """A chat model, for digests of old logs."""

    model: str = "gpt-4o-mini"
    api_key: str = field(default="", repr=False)
    base_url: str = OPENAI_URL


@dataclass(frozen=True, slots=True)
class Embedding:
    """An embedding model."""

    model: str = MODEL
    api_key: str = field(default="", repr=False)
    base_url: str = OPENAI_URL


@dataclass(frozen=True, slots=True)
class Sync:
    """Whether the files are watched while the application runs, and how long they must be quiet."""

    watch: bool = True
    watch_debounce_ms: int = 1000


@dataclass(frozen=True, slots=True)
class ShortTerm:
    """Daily logs, and after how many days they are archived."""

    enabled: bool = True
    retention_days: int = 7


@dataclass(frozen=True, slots=True)
class MemoryPart:
    """The part `memory`."""

    enabled: bool = True
    workspace_dir: str = "~/.bitwiseai"
    db_path: str = "~/.bitwiseai/memory.db"
    vector_enabled: bool = True
    chunking: ChunkConfig = field(default_factory=ChunkConfig)
    hybrid_search: HybridConfig = field(default_factory=HybridConfig)
    sync: Sync = field(default_factory=Sync)
    short_term: ShortTerm = field(default_factory=ShortTerm)


@dataclass(frozen=True, slots=True)
class Config:
    """A whole config.json."""

    llm: Llm = field(default_factory=Llm)
    embedding: Embedding = field(default_factory=Embedding)
    memory: MemoryPart = field(default_factory=MemoryPart)

    def in_workspace(self, folder: str | os.PathLike[str]) -> Config:
        """Return it for another workspace."""
        place = os.fspath(folder)
        return replace(self, memory=replace(self.memory, workspace_dir=place, db_path=os.path.join(place, "memory.db")))

    def settings(self) -> dict[str, Any]:
        """Return the settings of Yiku that it amounts to."""
        memory = self.memory
        found: dict[str, Any] = {"daily_days": memory.short_term.retention_days, "background": memory.sync.watch}
        found["watch_debounce_s"] = min(60.0, max(0.05, memory.sync.watch_debounce_ms / 1000))
        if self.llm.api_key:
            found |= {"chat_url": self.llm.base_url, "chat_model": self.llm.model, "chat_key": self.llm.api_key}
        return found

    def to_json(self) -> str:
        """Return it as the file has it, without keys."""
        whole = asdict(self)
        for part in ("llm", "embedding"):
            whole[part]["api_key"] = PLACEHOLDER
        return json.dumps(whole, ensure_ascii=False, indent=2)


def load(path: str | os.PathLike[str] | None = None) -> Config:
    """
    Read a config.json, by default `~/.bitwiseai/config.json` if there is one.

    Raises InvalidInput for a file that is not there or is no JSON, an unknown key, or a value of another kind.
    """
    place = Path(path if path is not None else Path(MemoryPart().workspace_dir) / NAME).expanduser()
    try:
        content = place.read_bytes()
    except OSError as error:
        if path is None and isinstance(error, FileNotFoundError):
            return Config()
        raise InvalidInput(f"{place}: {error.strerror or error}") from error
    try:
        if len(content) > LARGEST_BYTES:
            raise ValueError("it is too large")
        return parse(json.loads(content.decode("utf-8-sig")))
    except (ValueError, RecursionError) as error:
        detail = error.detail if isinstance(error, InvalidInput) else str(error)
        raise InvalidInput(f"{place}: {detail}") from error


def parse(given: object) -> Config:
    """Return the configuration that a parsed JSON object is. Raises InvalidInput."""
    return _part(Config(), given, "")


def _part(default: T, given: object, where: str) -> T:
    """A part of the configuration with what is given in place of its defaults."""
    if not isinstance(given, Mapping):
        raise InvalidInput(f"{where or 'the file'} must be an object")
    assert is_dataclass(default)
    known = {one.name for one in fields(default)}
    if unknown := sorted(str(name) for name in given if name not in known):
        raise InvalidInput(f"{where}{'.' if where else ''}{unknown[0]} is unknown; known are {', '.join(sorted(known))}")
    values = {name: _value(getattr(default, name), value, f"{where}.{name}".lstrip(".")) for name, value in given.items()}
    return replace(default, **values)  # type: ignore[type-var]


def _value(default: object, given: object, where: str) -> object:
    if is_dataclass(default):
        return _part(default, given, where)
    if isinstance(default, float) and isinstance(given, int) and not isinstance(given, bool):
        given = float(given)
    if type(given) is not type(default):
        raise InvalidInput(f"{where} must be a {type(default).__name__}, not {str(given)[:60]!r}")
    return "" if given == PLACEHOLDER else given
