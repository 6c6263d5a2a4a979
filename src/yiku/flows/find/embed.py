"""
Compute missing vectors of turns, statements and notes in batches, outside the caller's path; embed a question.

The mark of how far a scope is moves with each batch, so whoever is stopped goes on there. A short turn is embedded
behind the turn before it, too. What waits is found by words meanwhile. One process embeds at a time.

A text that the model refuses must not hold up the others. Where a batch fails and the model answers otherwise, its
halves are tried until that text is found; it is tried again later, a few times, and then passed over and counted.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from yiku.errors import Damaged, ModelError, ModelFailed, ModelUnavailable, ReadOnly, StoreBusy, StoreError, YikuError
from yiku.flows.common import background, checks
from yiku.flows.common.background import Worker
from yiku.flows.common.handle import Handle
from yiku.flows.common.turn_texts import text_of, with_speaker
from yiku.flows.find import superseded
from yiku.flows.keep import transcripts
from yiku.rules.pages import chunks
from yiku.rules.text import chunk
from yiku.store.api import of_notes, one_at_a_time
from yiku.types import EmbedReport, Item, Memories, Note, SemanticMemory, Turn, TurnColumns, Turns, Vector

if TYPE_CHECKING:
    import numpy as np

    from yiku.models.api import Embedder, Role

BATCH = 128  # rows a transaction, and
BATCH_TOKENS = 8_000  # so many tokens, unless a single row has more: a second or two of the local model
LOOK_EACH_S = 1.0  # of the worker in the background
THREAD = "yiku-embed"
COUNTED = 1_000  # statements that wait are counted up to here
KNOWN_TEXT = "ok"  # that any model takes


@dataclass(frozen=True, slots=True)
class Row:
    """A turn or memory to embed, and its texts: windows, and with the preceding turn."""

    item: Item
    n: int
    windows: Sequence[str]
    with_previous: str | None = None

    @property
    def texts(self) -> list[str]:
        return [*self.windows, *([self.with_previous] if self.with_previous else [])]


@dataclass(slots=True)
class Batch:
    """The next rows of a scope, and the progress once they are embedded."""

    scope: int
    space: str
    erasure: int  # the last one when they were read
    rows: list[Row]
    turns: int = 0
    memories: int = 0
    done: list[tuple[Item, int]] = field(default_factory=list)


def waiting(handle: Handle, scope: int, space: str) -> int:
    """Count the turns, memories and notes of a scope without vectors."""
    state = handle.vectors.progress_of(scope, space)
    columns = handle.store.columns([scope])
    late = len(columns.ns) - int(columns.ns.searchsorted(state.turns, "right"))
    late += len(handle.store.memories([scope], Memories(after=state.memories, limit=COUNTED))) + len(state.again)
    notes = handle.vectors.progress_of(scope, of_notes(space))
    return late + handle.store.notes.count([scope], notes.turns) + len(notes.again)


def missing_vectors_note(count: int, why: str = "yiku embed") -> str:
    """Return the line that says how many rows have no vectors."""
    return (
        f"{count:,} {'turn, statement or note is' if count == 1 else 'turns, statements and notes are'} found by words only: {why}"
    )


def embed(
    handle: Handle,
    *,
    budget_s: float | None = None,
    progress: Callable[[int, int], object] | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> EmbedReport:
    """
    Embed pending rows of the handle's scope within a time budget.

    progress: told how many are done, of how many
    Raises ModelUnavailable where there is no model, and StoreBusy while another process is embedding.
    """
    checks.optional_call(progress, "progress")
    checks.optional_seconds(budget_s, "budget_s")
    handle.store.upkeep.about()  # a memory that was closed says so
    began, own, done = time.monotonic(), handle.own(), 0
    model, why = handle.embedder()
    if model is None:
        raise ModelUnavailable(why or "search = words asks for no vectors: set search = auto")
    refused: set[tuple[Item, int]] = set()
    if not own:
        return EmbedReport(model.space, 0, 0)

    def ended() -> bool:
        return stopped() or (budget_s is not None and time.monotonic() - began >= budget_s)

    with one_at_a_time(handle.paths.locks / "embedder.lock", "another process is embedding"):
        total = _pending_rows(handle, own[0], model)
        pairs = superseded.waiting(handle, own[0], model)

        def tell(count: int) -> None:
            if progress is not None:
                progress(count, max(count, total + pairs))

        while total and not ended():
            batch = _next_batch(handle, own[0], model.space, refused)
            if batch is None:
                break
            done += _embed_batch(handle, model, batch, refused)
            tell(done)
        spaces = (model.space, of_notes(model.space))
        for space in spaces:
            handle.vectors.build_files(own[0], space)
        compared = _compare_pairs(handle, own[0], model, ended, lambda count: tell(done + count))
        left = waiting(handle, own[0], model.space) if total else 0
        failed = sum(handle.vectors.progress_of(own[0], space).failed for space in spaces)
        return EmbedReport(model.space, done, left, failed, compared)


def _compare_pairs(
    handle: Handle, scope: int, model: Embedder, stopped: Callable[[], bool], progress: Callable[[int], object]
) -> int:
    """Compare new turns with earlier ones, if the model can; return how many turns were compared."""
    erasure = handle.store.erasures.last()

    def vectors_of(texts: Sequence[str]) -> list[np.ndarray[Any, Any]]:
        return _cached_or_asked(handle, model, texts, lambda: handle.store.erasures.last() == erasure)

    return superseded.compare(superseded.Place(handle, scope, model, vectors_of), stopped, progress)


def _pending_rows(handle: Handle, scope: int, model: Embedder) -> int:
    """
    Count pending rows, resetting unreadable vectors first.

    Where none waits, the model is asked once a process whether its vectors still have the length of those that are there.
    """
    try:
        late = waiting(handle, scope, model.space)
        if late or handle.vectors.fits(model.space) is not False:
            return late
    except Damaged:
        handle.vectors.reset()
        return waiting(handle, scope, model.space)
    handle.vectors.fit(model.space, len(_ask_model(model, [KNOWN_TEXT], "passage")[0]))
    return waiting(handle, scope, model.space)


# ------------------------------------------------------------------ a batch


def _next_batch(handle: Handle, scope: int, space: str, refused: set[tuple[Item, int]]) -> Batch | None:
    """Return the next rows to embed: changed rows, turns, then memories; None if nothing is pending."""
    erasure, state = handle.store.erasures.last(), handle.vectors.progress_of(scope, space)
    if again := [row for row in state.again if row not in refused][:BATCH]:
        turns = handle.store.turns([scope], Turns(ns=[n for item, n in again if item == "turn"], hidden=True))
        memories = handle.store.memories([scope], Memories(ns=[n for item, n in again if item == "memory"]))
        rows = [*_of_turns(handle, scope, turns), *map(_of_memory, memories)]
        return Batch(scope, space, erasure, rows, done=again)
    ns = handle.store.columns([scope]).ns
    start = int(ns.searchsorted(state.turns, "right"))
    if some := ns[start : start + BATCH].tolist():
        rows = [*_of_turns(handle, scope, handle.store.turns([scope], Turns(ns=some, hidden=True)))]
        kept = _within_budget(rows)
        return Batch(scope, space, erasure, kept, turns=some[-1] if len(kept) == len(rows) else kept[-1].n)
    if memories := handle.store.memories([scope], Memories(after=state.memories, limit=BATCH)):
        kept = _within_budget([*map(_of_memory, memories)])
        return Batch(scope, space, erasure, kept, memories=kept[-1].n)
    return _next_notes(handle, scope, of_notes(space), erasure, refused)


def _next_notes(handle: Handle, scope: int, space: str, erasure: int, refused: set[tuple[Item, int]]) -> Batch | None:
    """Return the next notes to embed; their vectors have a space and progress of their own."""
    state, notes = handle.vectors.progress_of(scope, space), handle.store.notes
    if again := [row for row in state.again if row not in refused][:BATCH]:
        return Batch(scope, space, erasure, [*map(_of_note, notes.read([scope], [n for _, n in again]))], done=again)
    if not (some := notes.after(scope, state.turns, BATCH)):
        return None
    kept = _within_budget([*map(_of_note, some)])
    return Batch(scope, space, erasure, kept, turns=kept[-1].n)


def _within_budget(rows: Sequence[Row]) -> list[Row]:
    """Return the first rows that fit a batch; at least one."""
    kept, spent = list[Row](), 0
    for row in rows:
        spent += sum(map(chunk.tokens, row.texts))
        if kept and spent > BATCH_TOKENS:
            break
        kept.append(row)
    return kept


def _embed_batch(handle: Handle, model: Embedder, batch: Batch, refused: set[tuple[Item, int]]) -> int:
    """Embed a batch; return how many rows now have vectors."""

    def is_current() -> bool:
        return handle.store.erasures.last() == batch.erasure

    try:
        vectors, bad = _vectors_or_refused(handle, model, batch.rows, is_current)
        if batch.space not in (model.space, of_notes(model.space)):  # known only now
            return 0
        failed = [(row.item, row.n) for row in bad]
        done = [row for row in batch.done if row not in failed]
        marks = {"turns": batch.turns, "memories": batch.memories}
        added = handle.vectors.add(batch.scope, batch.space, vectors, **marks, is_current=is_current, done=done, refused=failed)
    except Damaged:
        handle.vectors.reset()
        return 0
    if not added:
        return 0
    refused.update(failed)
    return sum(bool(row.texts) for row in batch.rows) - len(bad)


def _vectors_or_refused(
    handle: Handle, model: Embedder, rows: Sequence[Row], is_current: Callable[[], bool]
) -> tuple[list[Vector], list[Row]]:
    """Return vectors, and the rows that the model refuses. Raises ModelError if it refuses everything."""
    try:
        return [*_vectors(handle, model, rows, is_current)], []
    except ModelError as error:
        try:
            _ask_model(model, [KNOWN_TEXT], "passage")
        except ModelError:
            raise error from None
        if len(rows) == 1:
            return [], [*rows]
    half = len(rows) // 2
    vectors, bad = _vectors_or_refused(handle, model, rows[:half], is_current)
    more, worse = _vectors_or_refused(handle, model, rows[half:], is_current)
    return vectors + more, bad + worse


def _of_memory(memory: SemanticMemory) -> Row:
    return Row("memory", memory.n, chunk.windows(memory.content))


def _of_note(note: Note) -> Row:
    return Row("note", note.n, chunk.windows(chunks.passage(note.heading, note.text)))


def _of_turns(handle: Handle, scope: int, turns: Sequence[Turn]) -> Iterator[Row]:
    """Return each turn with its texts; a short one also after the preceding turn of its session."""
    short = [turn.n for turn in turns if chunk.tokens(turn.content) < chunk.SHORT_TOKENS]
    before = _before(handle.store.columns([scope]), short)
    known = {turn.n: text_of(turn) for turn in turns}
    if missing := sorted(set(before.values()) - known.keys()):
        known |= {turn.n: text_of(turn) for turn in handle.store.turns([scope], Turns(ns=missing, hidden=True))}
    for turn in turns:
        said = with_speaker(turn)
        windows = chunk.windows(said) if text_of(turn) else []
        yield Row("turn", turn.n, windows, chunk.with_previous(known.get(before.get(turn.n, 0), ""), said) if windows else None)


def _before(columns: TurnColumns, ns: Sequence[int]) -> dict[int, int]:
    """Return the preceding turn of the session for each of these turns."""
    import numpy as np

    if not ns or not len(columns.ns):
        return {}
    places = columns.ns.searchsorted(ns)
    sessions = columns.sessions[places]
    among = np.flatnonzero(np.isin(columns.sessions[: int(places.max())], sessions))
    found = {}
    for n, place, session in zip(ns, places, sessions, strict=True):
        earlier = among[: among.searchsorted(place)]
        same = earlier[columns.sessions[earlier] == session]
        if len(same):
            found[n] = int(columns.ns[same[-1]])
    return found


# ------------------------------------------------------------------ the model


def _vectors(handle: Handle, model: Embedder, rows: Sequence[Row], is_current: Callable[[], bool]) -> Iterator[Vector]:
    """Return the vectors of some rows; for a short turn the mean of both of its texts."""
    said = _cached_or_asked(handle, model, [text for row in rows for text in row.texts], is_current)
    place = 0
    for row in rows:
        own = said[place : place + len(row.texts)]
        place += len(own)
        if row.with_previous:
            together = own[0] + own[1]
            own = [together / max(float((together @ together) ** 0.5), 1e-9)]
        for part, values in enumerate(own):
            yield Vector(row.item, row.n, part, chunk.is_cjk(row.windows[0]), values)


def _cached_or_asked(
    handle: Handle, model: Embedder, texts: Sequence[str], is_current: Callable[[], bool]
) -> list[np.ndarray[Any, Any]]:
    """Return vectors of texts, from the cache or the model."""
    if not texts:
        return []
    key = cache_key(model.space, "passage")
    hashes = [handle.seal(text) for text in texts]
    known = handle.vectors.cached(key, hashes)
    asked = {text: sealed for text, sealed in zip(texts, hashes, strict=True) if sealed not in known}
    if asked:
        fresh = _ask_model(model, [*asked], "passage")
        if any(len(values) != fresh.shape[1] for values in known.values()):  # the model has changed under its name
            asked, known = dict(zip(texts, hashes, strict=True)), {}
            fresh = _ask_model(model, [*asked], "passage")
        found = [*zip(asked.values(), fresh, strict=True)]
        handle.vectors.cache(cache_key(model.space, "passage"), found, is_current)
        known |= dict(found)
    return [known[sealed] for sealed in hashes]


def _ask_model(model: Embedder, texts: Sequence[str], role: Role) -> np.ndarray[Any, Any]:
    """Return a unit vector for each text: (len(texts), dimensions). Raises ModelError."""
    import numpy as np

    found = np.asarray(model.embed(texts, role), np.float32)
    if found.ndim != 2 or len(found) != len(texts) or not found.shape[1]:
        raise ModelFailed(f"{model.space} made an array of shape {found.shape} of {len(texts)} texts")
    lengths = np.linalg.norm(found, axis=1, keepdims=True)
    if not np.isfinite(lengths).all() or not lengths.all():
        raise ModelFailed(f"{model.space} made a vector that is not finite, or zero")
    unit: np.ndarray[Any, Any] = found / lengths
    return unit


def cache_key(space: str, role: Role) -> tuple[str, str, str]:
    """Return provider, model and variant of a space, for one role."""
    provider, _, rest = space.partition(" ")
    name, _, variant = rest.partition(" ")
    return provider, name, f"{variant} {role}".strip()


# ------------------------------------------------------------------ questions


class EmbeddedQuestion(NamedTuple):
    """Space and vector of a question, a source of the space's mean vectors, and whether confidence was fitted to it."""

    space: str
    vector: np.ndarray[Any, Any]
    common: Callable[[], np.ndarray[Any, Any]] | None
    calibrated: bool


def question(handle: Handle, text: str, scopes: Sequence[int]) -> EmbeddedQuestion | str | None:
    """
    Embed a question; or return a line that says why not, or None if there is nothing to miss.

    Raises ModelError or StoreError where the model was asked for by name, and it or its vectors cannot be read.
    """
    model, why = handle.embedder()
    if model is None:
        return why if handle.vectors.exist() or handle.settings.embed_url else None
    try:
        space = model.space
        length = handle.vectors.load(scopes, space) or handle.vectors.load(scopes, of_notes(space))
        if length is None:
            others = handle.vectors.other_spaces(space)
            what = f"the vectors here are of another model ({others[0]})" if others else "nothing is embedded yet"
            return f"searched by words: {what}; yiku embed makes vectors"
        vector = _ask_model(model, [text], "query")[0]
        if len(vector) != length or model.space != space:
            return f"searched by words: {space} has changed since these vectors were made; yiku embed recomputes them"
        return EmbeddedQuestion(space, vector, getattr(model, "common", None), getattr(model, "calibrated", False))
    except (ModelError, StoreError) as error:
        if handle.settings.search in ("local", "api"):
            raise
        if isinstance(error, Damaged):
            return "searched by words: the vectors are damaged; yiku embed recomputes them"
        return f"searched by words: {error.detail}"


# ------------------------------------------------------------------ in the background


def in_background(handle: Handle) -> Worker:
    """Start a thread that embeds pending rows, and appends to the transcripts."""
    due = 0.0  # when to embed, on the monotonic clock

    def look(worker: Worker) -> float:
        nonlocal due
        transcripts.try_catch_up(handle)
        if time.monotonic() >= due:
            due = time.monotonic() + _look(worker)
        return max(0.0, min(LOOK_EACH_S, due - time.monotonic()))

    return Worker(handle, THREAD, look)


def _look(worker: Worker) -> float:
    """Embed what waits; how many seconds later it is worth to look again."""
    try:
        report = embed(worker.handle, stopped=worker.ended)
    except StoreBusy:  # another process is at it
        return LOOK_EACH_S
    except (YikuError, OSError) as error:
        worker.trouble = str(error)
        if isinstance(error, ReadOnly):
            worker.end()
        return background.AFTER_TROUBLE_S
    worker.trouble = None
    refused = report.waiting and not report.done  # for now
    return background.AFTER_TROUBLE_S if refused else LOOK_EACH_S
