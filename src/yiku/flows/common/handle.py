"""
What a flow is handed: the store, the scope it writes, the scopes it reads, the clock, fresh ids.

A handle writes one scope and reads it, `public`, and the further scopes its settings name. The numbers
of scopes are looked up once; a scope gets its number when something is first written to it.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from yiku.errors import IdempotencyMismatch, Stale
from yiku.files.vault import Home
from yiku.rules.learning.reread import LEARNING_VERSION
from yiku.rules.privacy.scopes import PUBLIC
from yiku.store.api import Store, Vectors
from yiku.types import AddScope, Cause, Settings

if TYPE_CHECKING:
    from yiku.models.api import ChatModel, Embedder

T = TypeVar("T")


def local_time() -> datetime:
    """The clock of every handle that is not given another."""
    return datetime.now().astimezone()


class Recent:
    """The last so many ids that something was done with: turns from which this process learned. Safe to share between threads."""

    MOST = 10_000

    def __init__(self) -> None:
        self._ids: dict[str, None] = {}

    def __contains__(self, id: object) -> bool:
        return id in self._ids

    def add(self, id: str) -> None:
        if len(self._ids) >= self.MOST:
            self._ids = {}
        self._ids[id] = None


@dataclass(slots=True)
class Handle:
    """One memory as seen by one caller. Safe to share between threads."""

    store: Store
    settings: Settings
    scope: str
    clock: Callable[[], datetime]
    home: str
    vectors: Vectors
    key: bytes = b""
    given: Embedder | None = None
    given_chat: ChatModel | None = None
    put_off: str | None = None  # why a turn could not be learned from when it was recorded; until `learn` has been at it
    learned: Recent = field(default_factory=Recent)
    read: list[int] = field(default_factory=list)  # turns that were learned from at once, until that is written
    run: str | None = None  # the name under which operations that belong together are undone as one
    _model: tuple[Embedder | None, str | None] | None = None
    _last_id: tuple[int, int] = (0, 0)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def now(self) -> datetime:
        """The time, in the local offset."""
        return self.clock()

    def embedder(self) -> tuple[Embedder | None, str | None]:
        """The model that makes vectors, by the settings; else None, and a line that says what is missing. Raises ModelError."""
        if self.given is not None:
            return self.given, None
        if self._model is None:
            from yiku.models.select import embedder

            self._model = embedder(self.settings)
        return self._model

    def chat(self) -> ChatModel | None:
        """The model that reads and writes text, by the settings; None without one. Raises SettingsError."""
        if self.given_chat is None and self.settings.chat_url:
            from yiku.models.select import chat

            self.given_chat = chat(self.settings)
        return self.given_chat

    @property
    def blobs(self) -> Path:
        """The folder of long contents."""
        return Path(self.home) / "blobs"

    @property
    def vault(self) -> Path | None:
        """The folder of this scope's Markdown files: the home itself for its owner; None for a scope that has none."""
        if self.scope == self.settings.owner:
            return Path(self.home)
        number = self.store.scope(self.scope) if self.scope in self.settings.vaults else None
        return None if number is None else Path(self.home) / "scopes" / str(number)

    @property
    def paths(self) -> Home:
        """Where everything of this home lies."""
        return Home(self.home)

    def sealed(self, text: str) -> bytes:
        """The seal of a text as it is said in this scope."""
        return self.seal(f"{self.scope}\0{text}")

    def seal(self, text: str) -> bytes:
        """16 bytes that stand for a text, and say nothing of it to who has not the home's key."""
        return hashlib.blake2b(text.encode(), digest_size=16, key=self.key).digest()

    def cause(self, operation: str, reason: str | None = None) -> Cause:
        """The journal's header for what this call does."""
        return Cause(operation, self.now(), actor=self.settings.actor, run=self.run, reason=reason)

    def reads(self) -> list[int]:
        """The numbers of the scopes this handle may see: its own first."""
        names = dict.fromkeys((self.scope, PUBLIC, *self.settings.reads))
        return [number for name in names if (number := self.store.scope(name)) is not None]

    def writes(self) -> int:
        """The number of the one scope this handle writes, made now if it is new."""
        number = self.store.scope(self.scope)
        if number is None:
            self.store.apply(0, [AddScope(self.scope, learning=LEARNING_VERSION)], self.cause("open scope"))
            number = self.store.scope(self.scope)
        assert number is not None
        return number

    def own(self) -> list[int]:
        """The scope this handle writes, for reads that precede a change; empty while it is unused."""
        number = self.store.scope(self.scope)
        return [] if number is None else [number]

    def first_result(self, key: str, digest: bytes) -> Mapping[str, Any] | None:
        """What the first call under this idempotency key came to. Raises IdempotencyMismatch if it was another call."""
        own = self.own()
        found = self.store.receipt(own[0], key) if own else None
        if found is not None and found[0] != digest:
            raise IdempotencyMismatch(key)
        return found and found[1]

    def new_id(self, now: datetime | None = None) -> str:
        """A UUIDv7: 48 bits of milliseconds, 12 of a count within one, 62 of chance. Ids of a handle are in order."""
        milliseconds = int((now or self.clock()).timestamp() * 1000)
        with self._lock:
            last, count = self._last_id
            if milliseconds > last:
                count = 0
            else:  # the same millisecond, or a clock that went back
                milliseconds, count = (last, count + 1) if count < 0xFFF else (last + 1, 0)
            self._last_id = milliseconds, count
        chance = int.from_bytes(os.urandom(8)) >> 2
        text = f"{milliseconds << 80 | 0x7 << 76 | count << 64 | 0x2 << 62 | chance:032x}"
        return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def content_hash(content: str) -> bytes:
    """What a turn's whole content is told again by: 16 bytes."""
    return hashlib.blake2b(content.encode(), digest_size=16).digest()


def retry_if_stale(handle: Handle, attempt: Callable[[], T]) -> T:
    """
    Decide and apply; if what the decision rested on has changed meanwhile, decide once more with every other writer waiting.

    The first attempt holds nothing while it decides, so writers do not wait for each other's rules. The
    second cannot be overtaken.
    """
    try:
        return attempt()
    except Stale:
        with handle.store.exclusive():
            return attempt()
