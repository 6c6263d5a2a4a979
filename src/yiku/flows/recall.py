"""
recall: from a question to hits, best first, each with its sources.

Take the question apart, let each route find candidates (slots, words), fetch those worth it, drop what
is out of recall or outside the filter, fold what says the same, order, and say how it came about.
Recall writes nothing; whatever shows its hits to a model or a person reports that once, afterwards.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice
from typing import Any

from yiku.flows import checks, past
from yiku.flows.handle import Handle
from yiku.rules import analyze, ask, fuse, history, score, slots
from yiku.rules.analyze import fold
from yiku.types import CountAccess, Explanation, Filter, Hit, Hits, Link, Memories, SemanticMemory, State, Turn, Turns

Key = tuple[str, int]  # ("memory" or "turn", row number)
SPARE = 4  # rows fetched beyond the limit, for those that fall away
FETCH_MORE = 4  # times as many rows, when a filter left too few
NEARLY = 20  # characters by which a turn may differ in length from the question that it asks, too
SHARE_FLOOR = 0.08  # of the relevance that words can give; below, a row shares nothing but a common word


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
    found: dict[Key, dict[str, float]] = field(default_factory=dict)
    items: dict[Key, SemanticMemory | Turn] = field(default_factory=dict)
    dropped_terms: set[str] = field(default_factory=set)
    left_out: list[tuple[str, str]] = field(default_factory=list)

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
) -> Hits:
    """The best hits for a question; see Memory.recall."""
    now = handle.now()
    text = checks.text(question, "question", at_most=checks.QUESTION_CHARS)
    types = checks.names(types, "types")
    if not types or any(name not in ("memory", "turn") for name in types):
        checks.refuse("types", "must name memory, turn or both")
    search = Search(
        handle=handle,
        question=ask.analyse(text, handle.settings.names),
        scopes=handle.reads(),
        now=now,
        limit=checks.whole(handle.settings.limit if limit is None else limit, "limit"),
        where=checks.where(where, now=now),
        as_of=checks.optional_time(as_of, "as_of", now=now),
        valid_at=checks.optional_time(valid_at, "valid_at", now=now),
        types=types,
    )
    if search.scopes and search.limit:
        if "memory" in types:
            by_slot(search)
        for index in types:
            by_words(search, index)
    hits = _hits(search) if search.found else ()
    counts = {route: sum(route in routes for routes in search.found.values()) for route in ("slot", "words")}
    by_slots = (item for key, item in search.items.items() if "slot" in search.found[key] and isinstance(item, SemanticMemory))
    slots = tuple(dict.fromkeys(f"{memory.subject} | {memory.predicate}" for memory in by_slots))
    explanation = Explanation(
        terms=(*search.question.terms.words, *search.question.terms.characters),
        dropped_terms=tuple(sorted(search.dropped_terms)),
        slots=slots,
        wants_history=search.question.wants_history,
        routes=counts,
        left_out=tuple(search.left_out),
        weights=fuse.WEIGHTS,
    )
    return Hits(hits, explanation)


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
            _candidate(search, ("memory", memory.n), "slot", relevance, memory)


def by_words(search: Search, index: Any) -> None:
    """Rows that hold the question's words, scored with the statistics of the scopes asked."""
    terms = search.question.terms
    past = search.past if index == "memory" else search.as_of is not None
    postings = search.handle.store.postings(
        index, search.scopes, (*terms.words, *terms.characters), past=past, cap=score.COMMON_ROWS
    )
    weights = [1.0] * len(terms.words) + [score.CHARACTER_WEIGHT] * len(terms.characters)
    ns, scores, dropped = score.bm25(postings, weights)
    search.dropped_terms.update(dropped)
    start, size, kept = 0, search.limit + SPARE, 0
    while start < len(ns) and kept < search.limit:
        found = score.best(ns, scores, start + size)
        relevance = {n: fuse.words(value) for n, value in islice(zip(*found, strict=True), start, None)}
        kept += _fetched(search, index, relevance)
        start, size = start + size, size * FETCH_MORE


def _fetched(search: Search, index: str, relevance: Mapping[int, float]) -> int:
    """Fetch the rows that are good enough; how many passed the filter and may be shown."""
    wanted = [n for n, value in relevance.items() if value >= SHARE_FLOOR]
    if not wanted:
        return search.limit  # what follows is weaker still
    store, kept = search.handle.store, 0
    rows: Sequence[SemanticMemory | Turn]
    if index == "memory":
        rows = store.memories(search.scopes, Memories(ns=wanted, where=search.where))
    else:
        rows = store.turns(search.scopes, Turns(ns=wanted, where=search.where, hidden=search.as_of is not None))
    for row in rows:
        key = (index, row.n)
        _candidate(search, key, "words", relevance[row.n], row)
        kept += isinstance(row, Turn) or search.past or history.recallable(row, search.now)
    return kept


def _candidate(search: Search, key: Key, route: str, relevance: float, item: SemanticMemory | Turn) -> None:
    search.found.setdefault(key, {})[route] = relevance
    search.items.setdefault(key, item)


# ------------------------------------------------------------------ from candidates to hits


def _hits(search: Search) -> tuple[Hit, ...]:
    items = _in_time(search)
    items = _without_echoes(search, items)
    items, replaced = _folded(search, items)
    keys = list(items)
    newer = [0.0] * len(keys) if search.past else fuse.recency([items[key].said_at for key in keys])
    ranks = {route: _ranks(search, route, keys) for route in ("slot", "words")}
    hits = []
    for key, extra in zip(keys, newer, strict=True):
        item, routes = items[key], search.found[key]
        relevance = routes["slot"] if search.question.wants_history and "slot" in routes else fuse.together(routes)
        weight = score.prior(item, search.now) if isinstance(item, SemanticMemory) else score.NEUTRAL_PRIOR
        hits.append(
            Hit(
                item=item,
                relevance=relevance,
                score=score.ranked(relevance, weight) + extra,
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
    for key, item in sorted(items.items(), key=lambda pair: -fuse.together(search.found[pair[0]])):
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
