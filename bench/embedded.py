"""
Embedding cache on disk that outlives the run and the checkout.

The file is one SQLite table, `v(key, vec)`: the key is the SHA-256 of space, role and text, the vector float32. It
lies in the user's cache folder, so that nothing of others' data comes near the project, and a text is never
embedded twice, whichever set, system or ablation asks for it.
"""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import apsw
import numpy as np
from datasets import Case

from yiku.rules.text import chunk

BATCH = 64  # texts between two commits, and in the sample that the estimate rests on
LOOKED_UP = 500  # keys a query


class Embedder(Protocol):
    """What a Memory takes: vectors of unit length, all of one space."""

    space: str

    def embed(self, texts: Sequence[str], role: str) -> np.ndarray: ...

    def close(self) -> None: ...


def default_path() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "yiku-bench" / "vectors.db"


class Cached:
    """An embedder that asks another only for what it has never seen."""

    def __init__(self, embedder: Embedder, path: Path, *, compares: bool = True) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.real, self.space = embedder, embedder.space
        self._compares = compares
        self._lock = threading.Lock()
        self._connection = apsw.Connection(str(path))
        self._connection.set_busy_timeout(60_000)
        self._connection.pragma("journal_mode", "wal")
        self._connection.execute("create table if not exists v (key blob primary key, vec blob) without rowid")

    def key(self, text: str, role: str) -> bytes:
        return hashlib.sha256(f"{self.space}\0{role}\0{text}".encode()).digest()

    def embed(self, texts: Sequence[str], role: str) -> np.ndarray:
        """(n, d) float32 of unit length, in the order of the texts."""
        with self._lock:
            keys = [self.key(text, role) for text in texts]
            held = self._held(keys)
            fresh = {key: text for key, text in zip(keys, texts, strict=True) if key not in held}
            items = list(fresh.items())
            for start in range(0, len(items), BATCH):
                batch = items[start : start + BATCH]
                vectors = self.real.embed([text for _, text in batch], role).astype(np.float32)
                rows = [(key, vector.tobytes()) for (key, _), vector in zip(batch, vectors, strict=True)]
                with self._connection:
                    self._connection.executemany("insert or ignore into v values (?, ?)", rows)
                held.update(rows)
        return np.stack([np.frombuffer(held[key], np.float32) for key in keys]) if keys else np.empty((0, 0), np.float32)

    def missing(self, texts: Sequence[str], role: str) -> list[str]:
        """The texts that have no vector yet, once each."""
        keyed = {self.key(text, role): text for text in texts}
        cached = self._held(list(keyed))
        return [text for key, text in keyed.items() if key not in cached]

    @property
    def common(self) -> Any:
        """What texts of each script have in common, where the embedder knows it."""
        return getattr(self.real, "common", None)

    @property
    def calibrated(self) -> bool:
        """Whether confidence was fitted to the embedder."""
        return getattr(self.real, "calibrated", False)

    @property
    def compares(self) -> str:
        """The name of the embedder's model of pairs, or empty: a pair takes longer than a vector, and is not kept here."""
        return getattr(self.real, "compares", "") if self._compares else ""

    def superseded(self, pairs: Sequence[tuple[str, str]]) -> Any:
        """What the embedder says of pairs."""
        return self.real.superseded(pairs)

    def close(self) -> None:
        """A memory closes what it was given; this one is shared, and closed by `done`."""

    def done(self) -> None:
        self.real.close()
        self._connection.close()

    def _held(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        found: dict[bytes, bytes] = {}
        for start in range(0, len(keys), LOOKED_UP):
            some = keys[start : start + LOOKED_UP]
            sql = f"select key, vec from v where key in ({', '.join('?' * len(some))})"
            found.update(self._connection.execute(sql, some))
        return found


# ------------------------------------------------------------------ the first run


def texts(cases: Sequence[Case]) -> Iterator[tuple[str, str]]:
    """(role, text) of all that the product and the baselines embed of these cases."""
    for case in cases:
        for session in case.sessions:
            before = ""
            for turn in session.turns:
                yield from (("passage", window) for window in chunk.windows(turn.said))
                if extended := chunk.with_previous(before, turn.said):
                    yield "passage", extended
                before = turn.text
        yield from (("query", question.text) for question in case.questions)


def fill(
    cached: Cached, cases: Sequence[Case], say: Callable[[str], None], track: Callable[[Sequence[Any]], Iterator[Any]]
) -> None:
    """Embed what is missing, with an estimate first; may be stopped at any time, and goes on where it was."""
    wanted: dict[str, dict[str, None]] = {"query": {}, "passage": {}}
    for role, text in texts(cases):
        wanted[role][text] = None
    missing = [(role, text) for role, some in wanted.items() for text in cached.missing(list(some), role)]
    if not missing:
        return
    missing.sort(key=lambda pair: (pair[0], len(pair[1])))  # of one length together: nothing is padded in vain
    middle = len(missing) // 2
    sample = [text for _, text in missing[middle : middle + BATCH]]
    since = time.perf_counter()
    cached.embed(sample, missing[middle][0])
    rate = sum(map(chunk.tokens, sample)) / (time.perf_counter() - since)
    tokens = sum(chunk.tokens(text) for _, text in missing)
    say(
        f"{len(missing):,} texts to embed, {tokens / 1e6:.1f} million tokens: about {tokens / rate / 60:,.0f} minutes"
        f" at {rate:,.0f} tokens a second. May be stopped: it goes on where it was."
    )
    for role in ("query", "passage"):
        some = [text for kind, text in missing if kind == role]
        for start in track(range(0, len(some), BATCH)):
            cached.embed(some[start : start + BATCH], role)
