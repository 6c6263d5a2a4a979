"""
Detect with a local model, in the background, which turns later turns supersede; look up the stored results.

A turn of the user is compared with the earlier turns of its speaker that are most like it, and with what that speaker said
just before it in the session; with later ones, too, where these were recorded first, as before an import. The model reads both
texts together and says how likely the later one means that the earlier no longer holds (models/supersession.py). How far a
scope is compared is kept with each batch, as for vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, cast

from yiku.errors import ModelError, StoreError
from yiku.flows.common.handle import Handle
from yiku.flows.common.turn_texts import text_of, with_speaker
from yiku.rules.lexicon import built_in
from yiku.rules.text import chunk
from yiku.rules.text.sentences import sentences
from yiku.store.api import of_pairs
from yiku.types import Superseded, Turn, TurnColumns, Turns

if TYPE_CHECKING:
    import numpy as np

    from yiku.models.api import Embedder, Vectors

BATCH = 8  # turns a transaction: a second of the local model
NEAREST = 4  # earlier turns that are compared with one
BEFORE = 2  # turns of its speaker just before it in the session
LIKELY = 0.2  # what is found is kept from here on
PIECE_TOKENS = 80  # of a long turn, which is compared piece by piece, as sentences allow
PIECES = 3
SENTENCES = 6  # of an earlier turn, of which the one that no longer holds is looked for


class Comparing(Protocol):
    """What an embedder has that compares pairs, too: see models/api.py."""

    compares: str

    def superseded(self, pairs: Sequence[tuple[str, str]]) -> Vectors: ...


@dataclass(frozen=True, slots=True)
class Place:
    """Where turns are compared: the scope, the model that made its vectors, and its vectors of some texts as they are stored."""

    handle: Handle
    scope: int
    model: Embedder
    vectors_of: Callable[[Sequence[str]], list[np.ndarray[Any, Any]]]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two turns, the earlier first, and the piece of the later one that is read."""

    earlier: Turn
    later: Turn
    piece: str


def comparing(model: Embedder | None) -> Comparing | None:
    """Return the model if it compares pairs."""
    return cast("Comparing", model) if getattr(model, "compares", "") else None


def waiting(handle: Handle, scope: int, model: Embedder) -> int:
    """Count the turns of a scope that were not compared yet; none where the model does not compare."""
    compares = comparing(model)
    if compares is None:
        return 0
    state, ns = handle.vectors.progress_of(scope, of_pairs(compares.compares)), handle.store.columns([scope]).ns
    return len(ns) - int(ns.searchsorted(state.turns, "right")) + len(state.again)


def compare(place: Place, stopped: Callable[[], bool], progress: Callable[[int], object]) -> int:
    """Compare the turns of a scope that have vectors and were not compared yet; return how many were. progress: is told it."""
    compares, done = comparing(place.model), 0
    handle, scope = place.handle, place.scope
    while compares is not None and not stopped():
        space, erasure = of_pairs(compares.compares), handle.store.erasures.last()
        state = handle.vectors.progress_of(scope, space)
        columns = handle.store.columns([scope])
        embedded = handle.vectors.progress_of(scope, place.model.space)
        redacted = any(item == "turn" for item, _ in embedded.again)  # since this run embedded: without its vector it is not near
        again = [] if redacted else state.again[:BATCH]
        ns = (
            [n for item, n in again if item == "turn"]
            if again
            else [n for n in _after(columns, state.turns) if n <= embedded.turns]
        )
        if not ns and not again:
            break
        turns = handle.store.turns([scope], Turns(ns=ns, hidden=True))
        found = [*_found(compares, [*_pairs(place, columns, turns)])]
        added = handle.vectors.add_superseded(
            scope,
            space,
            found,
            turns=0 if again else ns[-1],
            done=again,
            is_current=lambda: handle.store.erasures.last() == erasure,  # noqa: B023  (asked before the next batch)
        )
        done += len(ns) if added else 0
        progress(done)
    return done


def _after(columns: TurnColumns, n: int) -> list[int]:
    start = int(columns.ns.searchsorted(n, "right"))
    return [int(one) for one in columns.ns[start : start + BATCH]]


def _pairs(place: Place, columns: TurnColumns, turns: Sequence[Turn]) -> Iterator[Pair]:
    """Yield the pairs to compare: each turn of the user with the earlier ones that it may supersede, and the later ones recorded first."""
    own = [turn for turn in turns if turn.role == "user" and text_of(turn)]
    if not own:
        return
    vectors = place.vectors_of([chunk.windows(with_speaker(turn))[0] for turn in own])
    near = {turn.n: _near(place, columns, turn, vector) for turn, vector in zip(own, vectors, strict=True)}
    wanted = sorted({n for some in near.values() for n in some})
    known = {turn.n: turn for turn in place.handle.store.turns([place.scope], Turns(ns=wanted))} if wanted else {}
    for turn in own:
        for other in (known[n] for n in near[turn.n] if n in known):
            if text_of(other) and other.content != turn.content:
                earlier, later = sorted((other, turn), key=lambda one: (one.said_at, one.n))
                yield from (Pair(earlier, later, piece) for piece in chunk.windows(later.content, PIECE_TOKENS)[:PIECES])


def _near(place: Place, columns: TurnColumns, turn: Turn, vector: np.ndarray[Any, Any]) -> list[int]:
    """
    Return the earlier turns of the speaker that are most like a turn, and the last ones before it in its session.

    With them those later ones that are most like it and were recorded before it.
    """
    import numpy as np

    at = int(columns.ns.searchsorted(turn.n))
    if at >= len(columns.ns) or columns.ns[at] != turn.n:
        return []
    said_at = columns.said_at[at]
    own = columns.user & (columns.speakers == columns.speakers[at])
    earlier = own & ((columns.said_at < said_at) | ((columns.said_at == said_at) & (columns.ns < turn.n)))
    before = np.flatnonzero(earlier & (columns.sessions == columns.sessions[at]))[-BEFORE:]
    found = [int(n) for n in columns.ns[before]]
    common = getattr(place.model, "common", None)
    is_cjk = chunk.is_cjk(turn.content)
    similar = place.handle.vectors.similar([place.scope], place.model.space, vector, is_cjk=is_cjk, common=common)
    if similar is not None:
        for those in (earlier, own & (columns.said_at > said_at) & (columns.ns < turn.n)):
            allowed = ~similar.memories & np.isin(similar.ns, columns.ns[those])
            order = np.argsort(-similar.alike[allowed], kind="stable")[:NEAREST]
            found += [int(n) for n in similar.ns[allowed][order]]
    return [*dict.fromkeys(found)]


def _found(model: Comparing, pairs: Sequence[Pair]) -> Iterator[Superseded]:
    """Yield the likely pairs, of two turns the likeliest piece, with the sentence of the earlier turn that is superseded."""
    likely: dict[tuple[int, int], tuple[float, Pair]] = {}
    for pair, value in zip(pairs, model.superseded([(pair.earlier.content, pair.piece) for pair in pairs]), strict=True):
        of, score = (pair.earlier.n, pair.later.n), float(value)
        if score >= LIKELY and score > likely.get(of, (0.0, pair))[0]:
            likely[of] = score, pair
    for score, pair in likely.values():
        yield Superseded(pair.earlier.n, pair.later.n, score, *_superseded_part(model, pair))


def _superseded_part(model: Comparing, pair: Pair) -> tuple[int, int]:
    """Return where the sentence of the earlier turn stands that the later turn supersedes."""
    text = pair.earlier.content
    parts = sentences(text, built_in())[:SENTENCES]
    if len(parts) < 2:
        return 0, len(text)
    starts = [0, *(one.end for one in parts)]
    spans = [(start, one.end) for start, one in zip(starts, parts, strict=False)]
    scores = model.superseded([(text[start:end].strip() or text, pair.piece) for start, end in spans])
    start, end = spans[int(scores.argmax())]
    return start + len(text[start:end]) - len(text[start:end].lstrip()), start + len(text[start:end].rstrip())


# ------------------------------------------------------------------ when a question is asked


def space(handle: Handle) -> str | None:
    """Return the space of the model that compares pairs in this home; None if there is none, or nothing was embedded."""
    try:
        model = comparing(handle.embedder()[0]) if handle.vectors.exist() else None
    except ModelError:  # whoever embedded the question has said so
        return None
    return None if model is None else of_pairs(model.compares)


def among(handle: Handle, scopes: Sequence[int], space: str, turns: Sequence[int]) -> list[Superseded]:
    """Return what later turns supersede of these turns, as the model of a space found; the likeliest first."""
    try:
        return handle.vectors.superseded(scopes, space, turns)
    except StoreError:  # vectors can be made again: without them nothing is marked
        return []
