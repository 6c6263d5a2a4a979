"""
`Handle`: everything a flow needs of a memory (store, settings, scopes, clock, models, paths, ids); `retry_if_stale`.

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
    from yiku.models.api import ChatModel, Embedder, Reranker

T = TypeVar("T")


def local_time() -> datetime:
    """Return the current time in the local offset, the default clock."""
    return datetime.now().astimezone()


class RecentIds:
    """The last ids that were processed, bounded in number. Thread-safe."""

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
    """A memory as one caller sees it. Safe to share between threads."""

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
    learned: RecentIds = field(default_factory=RecentIds)
    read: list[int] = field(default_factory=list)  # turns that were learned from at once, until that is written
    uncopied_since: float | None = (
        None  # when the oldest turn was written that is not in the transcripts yet, on the monotonic clock
    )
    copy_trouble: str | None = None  # why it could not be put there
    run: str | None = None  # the name under which operations that belong together are undone as one
    _model: tuple[Embedder | None, str | None] | None = None
    _reranker: Reranker | None = None
    _last_id: tuple[int, int] = (0, 0)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def now(self) -> datetime:
        """Return the time, in the local offset."""
        return self.clock()

    def embedder(self) -> tuple[Embedder | None, str | None]:
        """Return the embedding model of the settings, or None and a line that says what is missing. Raises ModelError."""
        if self.given is not None:
            return self.given, None
        if self._model is None:
            from yiku.models.select import embedder

            self._model = embedder(self.settings)
        return self._model

    def chat(self) -> ChatModel | None:
        """Return the chat model of the settings, or None. Raises SettingsError."""
        if self.given_chat is None and self.settings.chat_url:
            from yiku.models.select import chat

            self.given_chat = chat(self.settings)
        return self.given_chat

    def reranker(self) -> Reranker | None:
        """Return the reranker of the settings, or None. Raises SettingsError."""
        if self._reranker is None and self.settings.rerank == "api":
            from yiku.models.select import reranker

            self._reranker = reranker(self.settings)
        return self._reranker

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
        return None if number is None else self.paths.vault_of(number)

    @property
    def paths(self) -> Home:
        """The paths of this home."""
        return Home(self.home)

    def scope_seal(self, text: str) -> bytes:
        """Return the seal of a text in this scope."""
        return self.seal(f"{self.scope}\0{text}")

    def line_seal(self, text: str) -> str:
        """Return the seal of a line of a published page in this scope."""
        return self.scope_seal(f"line\0{text}").hex()[:16]

    def seal(self, text: str) -> bytes:
        """Return 16 bytes that identify a text and reveal nothing of it without the home's key."""
        return hashlib.blake2b(text.encode(), digest_size=16, key=self.key).digest()

    def cause(self, operation: str, reason: str | None = None) -> Cause:
        """Return the journal header for an operation of this handle."""
        return Cause(operation, self.now(), actor=self.settings.actor, run=self.run, reason=reason)

    def reads(self) -> list[int]:
        """Return the numbers of the scopes this handle reads, its own first."""
        names = dict.fromkeys((self.scope, PUBLIC, *self.settings.reads))
        return [number for name in names if (number := self.store.scope(name)) is not None]

    def writes(self) -> int:
        """Return the number of the scope this handle writes, creating it if it is new."""
        number = self.store.scope(self.scope)
        if number is None:
            self.store.apply(0, [AddScope(self.scope, learning=LEARNING_VERSION)], self.cause("open scope"))
            number = self.store.scope(self.scope)
        assert number is not None
        return number

    def own(self) -> list[int]:
        """Return the scope this handle writes, for reads before a change; empty if it is unused."""
        number = self.store.scope(self.scope)
        return [] if number is None else [number]

    def first_result(self, key: str, digest: bytes) -> Mapping[str, Any] | None:
        """Return the result of the first call under this idempotency key. Raises IdempotencyMismatch for another call."""
        own = self.own()
        found = self.store.receipt(own[0], key) if own else None
        if found is not None and found[0] != digest:
            raise IdempotencyMismatch(key)
        return found and found[1]

    def new_id(self, now: datetime | None = None) -> str:
        """Return a UUIDv7: 48 bits of milliseconds, 12 of counter, 62 random; increasing per handle."""
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
    """Return a 16-byte hash of a turn's whole content."""
    return hashlib.blake2b(content.encode(), digest_size=16).digest()


def retry_if_stale(handle: Handle, attempt: Callable[[], T]) -> T:
    """
    Decide and apply; if another writer interfered, once more with all other writers locked out.

    The first attempt holds nothing while it decides, so writers do not wait for each other's rules. The
    second cannot be overtaken.
    """
    try:
        return attempt()
    except Stale:
        with handle.store.exclusive():
            return attempt()
