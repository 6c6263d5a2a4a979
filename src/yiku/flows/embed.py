"""
embed: what was said becomes vectors, off the caller's path, a batch at a time, in the order in which it came.

The mark of how far a scope is moves with each batch, so whoever is stopped goes on there. A short turn is embedded
behind the turn before it, too. What waits is found by words meanwhile. One process embeds at a time.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from yiku.errors import Damaged, ModelError, ModelUnavailable, ReadOnly, StoreBusy, StoreError, YikuError
from yiku.flows.handle import Handle
from yiku.rules import chunk
from yiku.store.gate import Gate
from yiku.types import EmbedReport, Item, Memories, Turn, Turns, Vector

if TYPE_CHECKING:
    import numpy as np

    from yiku.models.api import Embedder

BATCH = 128  # rows a transaction
LOOK_EACH_S = 1.0  # of the worker in the background
AFTER_TROUBLE_S = 30.0  # that it waits before it asks a model again that failed
COUNTED = 1_000  # statements that wait are counted up to here


@dataclass(frozen=True, slots=True)
class Row:
    """A turn or memory to embed, and the texts that make its vectors: its windows, and one behind the turn before."""

    item: Item
    n: int
    windows: Sequence[str]
    behind: str | None = None

    @property
    def texts(self) -> list[str]:
        return [*self.windows, *([self.behind] if self.behind else [])]


def waiting(handle: Handle, scope: int, space: str) -> int:
    """How many turns and memories of a scope have no vectors yet."""
    turns, memories = handle.vectors.progress(scope, space) or (0, 0)
    columns = handle.store.columns([scope])
    late = len(columns.ns) - int(columns.ns.searchsorted(turns, "right"))
    return late + len(handle.store.memories([scope], Memories(after=memories, limit=COUNTED)))


def embed(
    handle: Handle,
    *,
    budget_s: float | None = None,
    progress: Callable[[int, int], object] | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> EmbedReport:
    """
    Embed what waits in the scope this handle writes, for at most so long.

    progress: told how many are done, of how many
    Raises ModelUnavailable where there is no model, and StoreBusy while another process is embedding.
    """
    model, why = handle.embedder()
    if model is None:
        raise ModelUnavailable(why or "search = words")
    began, own, done = time.monotonic(), handle.own(), 0
    if not own:
        return EmbedReport(model.space, 0, 0)
    lock = Gate(handle.paths.locks / "embedder.lock", 0.0)
    try:
        with lock.held():
            total = waiting(handle, own[0], model.space) + len(handle.vectors.embedded(own[0], model.space).again)
            while total and not stopped() and (budget_s is None or time.monotonic() - began < budget_s):
                batch = _batch(handle, own[0], model)
                if batch is None:
                    break
                done += batch
                if progress is not None:
                    progress(done, max(done, total))
            left = waiting(handle, own[0], model.space) if total else 0
    finally:
        lock.close()
    return EmbedReport(model.space, done, left)


def _batch(handle: Handle, scope: int, model: Embedder) -> int | None:
    """Embed the next rows; how many, or None when nothing waits."""
    erasure = handle.store.last_erasure()

    def still() -> bool:
        return handle.store.last_erasure() == erasure

    try:
        state = handle.vectors.embedded(scope, model.space)
    except Damaged:
        handle.vectors.drop()
        return 0
    again = [n for item, n in state.again if item == "turn"][:BATCH]
    turns = handle.store.turns([scope], Turns(ns=again, hidden=True)) if again else _next_turns(handle, scope, state.turns)
    memories = [] if turns else handle.store.memories([scope], Memories(after=state.memories, limit=BATCH))
    gone = [("turn", n) for n in again if n not in {turn.n for turn in turns}]
    if not turns and not memories and not gone:
        return None
    found = [*_of_turns(handle, scope, turns)]
    found += [Row("memory", memory.n, chunk.windows(memory.content)) for memory in memories]
    vectors = [*_vectors(handle, model, found, still)]
    upto = max((turn.n for turn in turns), default=0) if not again else 0
    handle.vectors.add(
        scope, model.space, vectors, turns=upto, memories=max((memory.n for memory in memories), default=0), still=still
    )
    if again:
        handle.vectors.settled(scope, [("turn", n) for n in again])
    return len(turns) + len(memories)


def _next_turns(handle: Handle, scope: int, after: int) -> list[Turn]:
    """The turns behind the mark, oldest first."""
    ns = handle.store.columns([scope]).ns
    start = int(ns.searchsorted(after, "right"))
    return handle.store.turns([scope], Turns(ns=ns[start : start + BATCH].tolist(), hidden=True))


def _of_turns(handle: Handle, scope: int, turns: Sequence[Turn]) -> Iterator[Row]:
    """Each turn with what is to be embedded of it; a short one also behind the turn before it in its session."""
    columns = handle.store.columns([scope])
    before: dict[int, int] = {}
    for turn in turns:
        if chunk.tokens(turn.content) < chunk.SHORT_TOKENS:
            place = int(columns.ns.searchsorted(turn.n))
            same = (columns.sessions[:place] == columns.sessions[place]).nonzero()[0]
            if len(same):
                before[turn.n] = int(columns.ns[same[-1]])
    known = {turn.n: turn.content for turn in turns}
    if missing := sorted(set(before.values()) - known.keys()):
        known |= {turn.n: turn.content for turn in handle.store.turns([scope], Turns(ns=missing, hidden=True))}
    for turn in turns:
        said = f"{turn.speaker}: {turn.content}" if turn.speaker else turn.content
        if said.strip():
            yield Row("turn", turn.n, chunk.windows(said), chunk.behind(known.get(before.get(turn.n, 0), ""), said))


def _vectors(handle: Handle, model: Embedder, rows: Sequence[Row], still: Callable[[], bool]) -> Iterator[Vector]:
    """The vectors of some rows; a short turn's is the mean of both of its texts."""
    said = _said(handle, model, [text for row in rows for text in row.texts], still)
    place = 0
    for row in rows:
        own = said[place : place + len(row.texts)]
        place += len(own)
        if row.behind:
            together = own[0] + own[1]
            own = [together / max(float((together @ together) ** 0.5), 1e-9)]
        for part, values in enumerate(own):
            yield Vector(row.item, row.n, part, chunk.unspaced(row.windows[0]), values)


def _said(handle: Handle, model: Embedder, texts: Sequence[str], still: Callable[[], bool]) -> list[np.ndarray[Any, Any]]:
    """What the model says of texts, as far as the cache does not know it."""
    if not texts:
        return []
    key = cache_key(model, "passage")
    hashes = [handle.seal(text) for text in texts]
    known = handle.vectors.cached(key, hashes)
    asked = {text: sealed for text, sealed in zip(texts, hashes, strict=True) if sealed not in known}
    if asked:
        fresh = [*zip(asked.values(), model.embed([*asked], "passage"), strict=True)]
        handle.vectors.cache(key, fresh, still)
        known |= dict(fresh)
    return [known[sealed] for sealed in hashes]


def cache_key(model: Embedder, role: str) -> tuple[str, str, str]:
    """Provider, model, and variant of a space."""
    provider, _, rest = model.space.partition(":")
    name, _, variant = rest.partition(":")
    return provider, name, f"{variant}:{role}"


# ------------------------------------------------------------------ questions


def question(handle: Handle, text: str, scopes: Sequence[int]) -> tuple[str, np.ndarray[Any, Any]] | str | None:
    """
    The space and vector of a question; or a line that says why there is none; or None where nobody misses it.

    Raises ModelError where the model was asked for by name, and is not there.
    """
    model, why = handle.embedder()
    if model is None:
        return why if handle.vectors.exist() or handle.settings.embed_url else None
    try:
        if not any(handle.vectors.progress(scope, model.space) for scope in scopes):
            others = [name for name, count in handle.vectors.spaces() if count and name != model.space]
            what = f"the vectors here are of another model ({others[0]})" if others else "nothing is embedded yet"
            return f"searched by words: {what}; yiku embed makes vectors"
        return model.space, model.embed([text], "query")[0]
    except Damaged:
        return "searched by words: the vectors are damaged; yiku embed makes them anew"
    except ModelError as error:
        if handle.settings.search in ("local", "api"):
            raise
        return f"searched by words: {error}"


# ------------------------------------------------------------------ in the background


class Worker(threading.Thread):
    """Embeds what waits as long as its memory is open. Its last trouble is told by `status`."""

    def __init__(self, handle: Handle) -> None:
        super().__init__(name="yiku-embed", daemon=True)
        self._handle = handle
        self._stop = threading.Event()
        self.trouble: str | None = None

    def run(self) -> None:
        pause = 0.0
        while not self._stop.wait(pause):
            pause = LOOK_EACH_S
            try:
                embed(self._handle, stopped=self._stop.is_set)
                self.trouble = None
            except StoreBusy:  # another process is at it
                continue
            except (YikuError, OSError) as error:
                self.trouble, pause = str(error), AFTER_TROUBLE_S
                if isinstance(error, ReadOnly):
                    return

    def stop(self, within_s: float) -> bool:
        """Whether it ended in time."""
        self._stop.set()
        self.join(within_s)
        return not self.is_alive()


def a_moment(handle: Handle, budget_s: float) -> None:
    """A little of what waits, after an answer; troubles are for `status` to tell."""
    with suppress(ModelError, StoreError, OSError):
        embed(handle, budget_s=budget_s)
