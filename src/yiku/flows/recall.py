"""
recall: from a question to hits, best first, each with its sources.

Take the question apart; let words and vectors look at every turn and statement of the scopes, and slots find what
is asked for exactly; put them on one scale; fetch the best until enough pass the filter; drop what is out of
recall, fold what says the same, and say how it came about. Recall writes nothing; whatever shows its hits to a
model or a person reports that once, afterwards.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from yiku.flows import checks, past
from yiku.flows.embed import question as embedded
from yiku.flows.embed import waiting
from yiku.flows.handle import Handle
from yiku.rules import analyze, ask, chunk, fuse, history, score, slots
from yiku.rules.analyze import fold
from yiku.types import (
    CountAccess,
    Explanation,
    Filter,
    Hit,
    Hits,
    Link,
    Memories,
    Postings,
    SemanticMemory,
    Similar,
    State,
    Turn,
    TurnColumns,
    Turns,
)

if TYPE_CHECKING:
    import numpy as np

Near = tuple["np.ndarray", "np.ndarray", "np.ndarray"]  # row numbers, whether a memory's, shares of the vectors' evidence
Key = tuple[str, int]  # ("memory" or "turn", row number)
SPARE = 4  # rows fetched beyond the limit, for those that fall away
FETCH_MORE = 4  # times as many rows, when a filter left too few
NEARLY = 20  # characters by which a turn may differ in length from the question that it asks, too
MICROSECONDS = 1_000_000
TURNS_AROUND = 4  # of the running conversation, whose words help to find what a question leaves out
TALKED_CHARS = 300  # at the end of each of them
TERMS_AROUND = 24
SURELY = 0.8  # of the words of an event, to take the time at which it was told for its own


@dataclass(slots=True)
class Search:
    """One question under way: what was asked, what each route found, what was left out."""

    handle: Handle
    question: ask.Question
    scopes: list[int]
    now: datetime
    limit: int
    where: Filter | None
    as_of: datetime | None
    valid_at: datetime | None
    types: Sequence[str]
    around: Sequence[str] = ()
    found: dict[Key, dict[str, float]] = field(default_factory=dict)
    relevance: dict[Key, float] = field(default_factory=dict)
    items: dict[Key, SemanticMemory | Turn] = field(default_factory=dict)
    dropped_terms: set[str] = field(default_factory=set)
    left_out: list[tuple[str, str]] = field(default_factory=list)
    diagnostics: list[str] = field(default_factory=list)
    confidence: float = 0.0

    @property
    def past(self) -> bool:
        """Whether rows out of recall may be wanted."""
        return self.question.wants_history or self.as_of is not None or self.valid_at is not None


def recall(
    handle: Handle,
    question: str,
    *,
    limit: int | None = None,
    where: Mapping[str, Any] | None = None,
    as_of: datetime | str | None = None,
    valid_at: datetime | str | None = None,
    types: Sequence[str] = ("memory", "turn"),
    session: str | None = None,
) -> Hits:
    """The best hits for a question; see Memory.recall."""
    now = handle.now()
    text = checks.text(question, "question", at_most=checks.QUESTION_CHARS)
    types = checks.names(types, "types")
    if not types or any(name not in ("memory", "turn") for name in types):
        checks.refuse("types", "must name memory, turn or both")
    running = checks.optional_name(session, "session")
    recorded, valid = checks.optional_time(as_of, "as_of", now=now), checks.optional_time(valid_at, "valid_at", now=now)
    search = Search(
        handle=handle,
        question=ask.analyse(text, handle.settings.names, valid or recorded or now),
        scopes=handle.reads(),
        now=now,
        limit=checks.whole(handle.settings.limit if limit is None else limit, "limit"),
        where=checks.where(where, now=now),
        as_of=recorded,
        valid_at=valid,
        types=types,
    )
    if search.scopes and search.limit:
        search.around = _talked_of(search, running)
        search.question = _anchored(search)
        if "memory" in types:
            by_slot(search)
        by_evidence(search, text)
    hits = _hits(search) if search.found else ()
    counts = Counter(route for routes in search.found.values() for route in routes)
    by_slots = (item for key, item in search.items.items() if "slot" in search.found[key] and isinstance(item, SemanticMemory))
    slots = tuple(dict.fromkeys(f"{memory.subject} | {memory.predicate}" for memory in by_slots))
    explanation = Explanation(
        terms=(*search.question.terms.words, *search.question.terms.characters),
        dropped_terms=tuple(sorted(search.dropped_terms)),
        slots=slots,
        wants_history=search.question.wants_history,
        windows=tuple(window.text for window in search.question.windows),
        routes=dict(counts.most_common()),
        left_out=tuple(search.left_out),
        weights=dict(fuse.WEIGHTS),
    )
    exact = max((hit.relevance for hit in hits if "slot" in hit.routes), default=0.0)  # what is asked for, word for word
    sure = max(search.confidence, exact) if hits else 0.0
    return Hits(hits, explanation, tuple(search.diagnostics), round(sure, 4))


def _talked_of(search: Search, session: str | None) -> tuple[str, ...]:
    """Words of the last turns of the running conversation, which the question may leave out."""
    if session is None:
        return ()
    last = search.handle.store.turns(search.handle.own(), Turns(session=session, newest_first=True, limit=TURNS_AROUND))
    own = {*search.question.terms.words, *search.question.terms.characters}
    words = (word for turn in last for word in analyze.question(turn.content[-TALKED_CHARS:]).words)
    return tuple(dict.fromkeys(word for word in words if word not in own))[:TERMS_AROUND]


def _anchored(search: Search) -> ask.Question:
    """The question with the time that hangs on an event, where the event is found: «the week before we moved»."""
    hinge = search.question.anchored
    if hinge is None:
        return search.question
    event = recall(search.handle, hinge.event, limit=1, as_of=search.as_of, valid_at=search.valid_at)
    if not event or event[0].routes.get("words", (0, 0.0))[1] < SURELY:
        return search.question
    return replace(search.question, windows=(*search.question.windows, hinge.window(event[0].said_at)))


# ------------------------------------------------------------------ routes


def by_slot(search: Search) -> None:
    """Statements whose subject and predicate the question names."""
    question = search.question
    if not question.subjects or not question.predicates:
        return
    select = Memories(
        pairs=(question.subjects, question.predicates),
        states=() if search.as_of else (State.ACTIVE,),
        current=not search.past,
        where=search.where,
    )
    versions = search.handle.store.memories(search.scopes, select)
    named = {memory.subject or "" for memory in versions}
    objects = {object_ for memory in versions if (object_ := fold(memory.object or "")) and object_ in question.text}
    for chain in history.by_line(versions).values():
        for steps_back, memory in enumerate(reversed(chain)):
            relevance = fuse.slot(memory, question, named=named, steps_back=steps_back, objects=objects)
            if memory.subject == slots.USER and memory.scope != search.handle.scope:
                relevance *= fuse.ONLY_THE_OWNER  # «I» in another scope is somebody else
            key = ("memory", memory.n)
            search.found[key], search.relevance[key], search.items[key] = {"slot": relevance}, relevance, memory


def by_evidence(search: Search, text: str) -> None:
    """Turns and statements by their words, their vectors, and what the question says of time, speaker and role."""
    columns = _heard(search)
    words = {index: _words(search, index) for index in search.types}
    near = _near(search, text)
    if search.valid_at is not None:  # what was said later is no measure for what was said till then
        if "turn" in words:
            ns, scores, postings = words["turn"]
            heard = _there(columns.ns, ns)
            words["turn"] = ns[heard], scores[heard], postings
        if near is not None:
            heard = near.memories | _there(columns.ns, near.ns)
            near = Similar(near.ns[heard], near.memories[heard], near.unspaced[heard], near.alike[heard])
    far_out = None if near is None else fuse.deviations(near.alike)
    scale = fuse.scale([scores for _, scores, _ in words.values()], far_out, None if near is None else near.unspaced)
    shares = None if near is None or far_out is None else (near.ns, near.memories, scale.of_vectors(far_out))
    found = {}
    if "turn" in search.types:
        found["turn"] = _of_turns(search, columns, words["turn"], shares, scale)
    if "memory" in search.types:
        found["memory"] = _of_memories(words["memory"], shares, scale)
    for index, evidence in found.items():
        _fetched(search, index, evidence)
    search.confidence = fuse.confidence(scale, [*found.values()])


def _heard(search: Search) -> TurnColumns:
    """The turns of the scopes; asked what held at a time, those said by then."""
    columns = search.handle.store.columns(search.scopes)
    if search.valid_at is None:
        return columns
    by_then = columns.said_at <= int(search.valid_at.timestamp() * MICROSECONDS)
    return TurnColumns(
        columns.ns[by_then],
        columns.sessions[by_then],
        columns.said_at[by_then],
        columns.user[by_then],
        columns.speakers[by_then],
        columns.names,
    )


def _words(search: Search, index: Any) -> tuple[np.ndarray, np.ndarray, Postings]:
    """Rows that hold words of the question, their scores with the statistics of the scopes asked, and the postings."""
    terms = search.question.terms
    past = search.past if index == "memory" else search.as_of is not None
    wanted = (*terms.words, *terms.characters, *search.around)
    postings = search.handle.store.postings(index, search.scopes, wanted, past=past, cap=score.COMMON_ROWS)
    ns, scores, dropped = score.bm25(postings, _weights(search))
    search.dropped_terms.update(dropped)
    return ns, scores, postings


def _weights(search: Search) -> list[float]:
    terms = search.question.terms
    return [1.0] * len(terms.words) + [score.CHARACTER_WEIGHT] * len(terms.characters) + [score.AROUND_WEIGHT] * len(search.around)


def _near(search: Search, text: str) -> Similar | None:
    """How much everything resembles the question; None, and a line of why, where that cannot be told."""
    asked = embedded(search.handle, text, search.scopes)
    if not isinstance(asked, tuple):
        search.diagnostics += [asked] if asked else []
        return None
    space, vector = asked
    if late := sum(waiting(search.handle, scope, space) for scope in search.handle.own()):
        search.diagnostics.append(f"{late:,} turns and statements are found by words only until they are embedded: yiku embed")
    return search.handle.vectors.similar(search.scopes, space, vector, unspaced=chunk.unspaced(text))


def _of_turns(
    search: Search, columns: TurnColumns, words: tuple[np.ndarray, np.ndarray, Postings], near: Near | None, scale: fuse.Scale
) -> fuse.Evidence:
    """What speaks for each turn of the scopes."""
    import numpy as np

    question = search.question
    ns, scores, postings = words
    signals: dict[str, np.ndarray] = {}
    if len(columns.ns):
        sessions = columns.sessions - columns.sessions.min()
        around = score.by_session(postings, _weights(search), columns.ns, sessions, search.dropped_terms)
        if around is not None:
            signals["session"] = scale.of_words(around, float(around.max()))[sessions]
        if not question.wants_history:
            signals["recency"] = fuse.session_ranks(columns.said_at, sessions)
    if question.windows:
        signals["time"] = _in_windows(columns, question.windows)
    wanted = columns.user != question.asks_assistant
    signals["role"] = wanted * (fuse.ASKED_OF_IT if question.asks_assistant else 1.0)
    named = [place for place, name in enumerate(columns.names) if fold(name) in question.text]
    if len(named) == 1:
        signals["speaker"] = (columns.speakers == named[0]).astype(np.float64)
    shares = _placed(columns.ns, ns, scale.of_words(scores), 0.0)
    vectors = None
    if near is not None:
        turns = ~near[1]
        vectors = _placed(columns.ns, near[0][turns], near[2][turns], np.nan)
    return fuse.evidence(scale, columns.ns, shares, vectors, signals)


def _of_memories(words: tuple[np.ndarray, np.ndarray, Postings], near: Near | None, scale: fuse.Scale) -> fuse.Evidence:
    """What speaks for each statement."""
    import numpy as np

    ns, scores, _ = words
    if near is None:
        return fuse.evidence(scale, ns, scale.of_words(scores), None, {})
    known = near[0][near[1]]
    every = np.union1d(ns, known)
    vectors = _placed(every, known, near[2][near[1]], np.nan)
    return fuse.evidence(scale, every, _placed(every, ns, scale.of_words(scores), 0.0), vectors, {})


def _there(every: np.ndarray, ns: np.ndarray) -> np.ndarray:
    """Which of these numbers are among all, both ascending."""
    import numpy as np

    if not len(every):
        return np.zeros(len(ns), np.bool_)
    found: np.ndarray = every[np.minimum(np.searchsorted(every, ns), len(every) - 1)] == ns
    return found


def _placed(every: np.ndarray, ns: np.ndarray, values: np.ndarray, missing: float) -> np.ndarray:
    """Values of some rows, at their places among all of them."""
    import numpy as np

    found = np.full(len(every), missing)
    there = _there(every, ns)
    found[np.searchsorted(every, ns[there])] = values[there]
    return found


def _in_windows(columns: TurnColumns, windows: Sequence[Any]) -> np.ndarray:
    """1 for turns said in a time that the question names."""
    import numpy as np

    inside = np.zeros(len(columns.ns))
    for window in windows:
        since, until = (int(at.timestamp() * MICROSECONDS) for at in (window.since, window.until))
        inside[(columns.said_at >= since) & (columns.said_at < until)] = 1.0
    return inside


def _fetched(search: Search, index: str, evidence: fuse.Evidence) -> None:
    """Fetch rows, best first, until enough of them pass the filter."""
    start, size, kept = 0, search.limit + SPARE, 0
    while kept < search.limit:
        places = evidence.best_first(start + size)[start:]
        if not len(places):
            return
        kept += _read(search, index, evidence, {int(evidence.ns[place]): int(place) for place in places})
        start, size = start + size, size * FETCH_MORE


def _read(search: Search, index: str, evidence: fuse.Evidence, places: Mapping[int, int]) -> int:
    """Fetch these rows; how many passed the filter and may be shown."""
    store, kept = search.handle.store, 0
    rows: Sequence[SemanticMemory | Turn]
    if index == "memory":
        rows = store.memories(search.scopes, Memories(ns=list(places), where=search.where))
    else:
        rows = store.turns(search.scopes, Turns(ns=list(places), where=search.where, hidden=search.as_of is not None))
    for row in rows:
        key, place = (index, row.n), places[row.n]
        parts = {name: float(part[place]) for name, part in evidence.parts.items() if part[place] > 0}
        found = fuse.relevance(float(evidence.total[place]))
        search.relevance[key] = fuse.together([search.relevance[key], found]) if key in search.relevance else found
        search.found.setdefault(key, {}).update(parts)
        search.items.setdefault(key, row)
        kept += isinstance(row, Turn) or search.past or history.recallable(row, search.now)
    return kept


# ------------------------------------------------------------------ from candidates to hits


def _hits(search: Search) -> tuple[Hit, ...]:
    items = _in_time(search)
    items = _without_echoes(search, items)
    items, replaced = _folded(search, items)
    keys = list(items)
    ranks = {route: _ranks(search, route, keys) for route in {route for key in keys for route in search.found[key]}}
    hits = []
    for key in keys:
        item, routes = items[key], search.found[key]
        relevance = routes["slot"] if search.question.wants_history and "slot" in routes else search.relevance[key]
        weight = score.prior(item, search.now) if isinstance(item, SemanticMemory) else score.NEUTRAL_PRIOR
        hits.append(
            Hit(
                item=item,
                relevance=relevance,
                score=score.ranked(relevance, weight),
                routes={route: (ranks[route][key], value) for route, value in routes.items()},
                sources=(),
                superseded_by=item.superseded_by if isinstance(item, SemanticMemory) else replaced.get(item.id),
            )
        )
    hits.sort(key=lambda hit: (-hit.score, -hit.item.n))
    search.left_out += [(hit.id, "below the limit") for hit in hits[search.limit : search.limit + 20]]
    return _sourced(search, hits[: search.limit])


def _in_time(search: Search) -> dict[Key, SemanticMemory | Turn]:
    """The candidates that are in recall, or that were recorded, or that held, at the time asked for."""
    items, versions = search.items, search.question.wants_history
    memories = [item for item in items.values() if isinstance(item, SemanticMemory)]
    turns = [item for item in items.values() if isinstance(item, Turn)]
    if search.as_of is not None or search.valid_at is not None:
        memories = past.shown(search.handle, memories, search.as_of, search.valid_at, versions=versions)
        turns = past.turns(search.handle, turns, search.as_of, search.valid_at)
    elif versions:
        memories = [memory for memory in memories if memory.state is State.ACTIVE]
    else:
        memories = [memory for memory in memories if history.recallable(memory, search.now)]
    then: dict[Key, SemanticMemory | Turn] = {("memory", memory.n): memory for memory in memories}
    then |= {("turn", turn.n): turn for turn in turns}
    why = "not in recall at that time" if search.past else "superseded, archived or expired"
    search.left_out += [(item.id, why) for key, item in items.items() if key not in then]
    return {key: then[key] for key in items if key in then}


def _without_echoes(search: Search, items: dict[Key, SemanticMemory | Turn]) -> dict[Key, SemanticMemory | Turn]:
    """Without turns that only ask the same question, and with one turn for several of the same words."""
    asked = analyze.plain(search.question.text)
    kept: dict[Key, SemanticMemory | Turn] = {}
    seen: set[bytes] = set()
    for key, item in sorted(items.items(), key=lambda pair: -search.relevance[pair[0]]):
        if isinstance(item, Turn):
            if abs(len(item.content) - len(asked)) < NEARLY and analyze.plain(item.content) == asked:
                search.left_out.append((item.id, "asks the same question"))
                continue
            if item.content_hash in seen:
                search.left_out.append((item.id, "says the same as another turn"))
                continue
            seen.add(item.content_hash)
        kept[key] = item
    return kept


def _folded(search: Search, items: dict[Key, SemanticMemory | Turn]) -> tuple[dict[Key, SemanticMemory | Turn], dict[str, str]]:
    """A statement and its source turn are one hit: the statement. Also: turns whose statement was replaced, by what."""
    turns = {item.id: key for key, item in items.items() if isinstance(item, Turn)}
    if not turns or "memory" not in search.types:
        return items, {}
    stated = search.handle.store.filled(
        search.handle.store.memories(search.scopes, Memories(sourced_in=list(turns), states=(State.ACTIVE,)))
    )
    shown = {item.line for item in items.values() if isinstance(item, SemanticMemory)}
    live = {turn for memory in stated if memory.live for source in memory.sources if (turn := source.turn) in turns}
    replaced: dict[str, str] = {}
    kept = dict(items)
    for memory in stated:
        for id in {source.turn for source in memory.sources if source.turn in turns}:
            if memory.line in shown:
                kept.pop(turns[id], None)
                search.left_out.append((id, "is a source of a statement that is shown"))
            elif memory.superseded_by and id not in live and not search.past:
                replaced[id] = memory.superseded_by
    return kept, replaced


def _ranks(search: Search, route: str, keys: Sequence[Key]) -> dict[Key, int]:
    found = [key for key in keys if route in search.found[key]]
    return {key: rank for rank, key in enumerate(sorted(found, key=lambda key: -search.found[key][route]), 1)}


def _sourced(search: Search, hits: list[Hit]) -> tuple[Hit, ...]:
    """The hits with their sources, oldest first; a statement without a turn is its own source."""
    memories = [hit.item for hit in hits if isinstance(hit.item, SemanticMemory)]
    filled = {memory.n: memory for memory in search.handle.store.filled(memories)}
    done = []
    for hit in hits:
        item = filled[hit.item.n] if isinstance(hit.item, SemanticMemory) else hit.item
        if isinstance(item, Turn):
            links = [Link(id=item.id, session=item.session, speaker=item.speaker, origin=item.origin, said_at=item.said_at)]
        else:
            links = [Link(id=s.turn, session=s.session, speaker=s.actor, origin=s.origin, said_at=s.said_at) for s in item.sources]
        done.append(replace(hit, item=item, sources=tuple(sorted(links, key=lambda link: link.said_at))))
    return tuple(done)


def report(handle: Handle, hits: Sequence[Hit]) -> None:
    """Say that these hits were shown: their memories count as retrieved, at most once each and day."""
    if isinstance(hits, str) or not isinstance(hits, Sequence) or not all(isinstance(hit, Hit) for hit in hits):
        checks.refuse("hits", "must be the hits of a recall")
    own = [hit.item.n for hit in hits if isinstance(hit.item, SemanticMemory) and hit.item.scope == handle.scope]
    if own:
        now = handle.now()
        today = now.replace(hour=0, minute=0, second=0, microsecond=0)
        handle.store.apply(handle.writes(), [CountAccess(own, "retrieved", since=today)], handle.cause("retrieved"))
