"""
A question under way, and the way from what its routes found to hits.

Drop what is out of recall, fold what says the same, put what corrects or may contradict before what it corrects, and
give each its sources.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from yiku.flows.common.handle import Handle
from yiku.flows.find.as_of import shown, turns_at
from yiku.flows.find.said_later import latest_first
from yiku.rules import analyze, ask, conflict, fuse, history, score
from yiku.types import Attachment, Episode, Filter, Hit, Link, Memories, Origin, SemanticMemory, State, Turn

Item = SemanticMemory | Turn | Episode | Attachment
Key = tuple[str, int]  # (type, row number)
NEARLY = 20  # characters by which a turn may differ in length from the question that it asks, too


@dataclass(slots=True)
class Search:
    """One question under way: what was asked, what each route found and why, what was left out."""

    handle: Handle
    asked: str
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
    items: dict[Key, Item] = field(default_factory=dict)
    dropped_terms: set[str] = field(default_factory=set)
    left_out: list[tuple[str, str]] = field(default_factory=list)
    compared: list[tuple[str, str, str]] = field(default_factory=list)  # an id, what was said later, and what decided
    diagnostics: list[str] = field(default_factory=list)
    scale: fuse.Scale | None = None
    evidence: dict[str, fuse.Evidence] = field(default_factory=dict)  # of turns and statements, whichever are asked for
    in_time: Collection[Key] = ()  # which of the items are in recall at the time asked for

    @property
    def past(self) -> bool:
        """Whether rows out of recall may be wanted."""
        return self.question.wants_history or self.as_of is not None or self.valid_at is not None


def best(search: Search) -> tuple[Hit, ...]:
    """The hits of a question of which the routes found what they can, best first."""
    items = _in_time(search)
    items = _without_echoes(search, items)
    stated = _stated(search, items)
    rivals = _with_rivals(search, items, stated)
    corrections = _corrections(search, items, stated)
    corrections.said_by |= rivals
    items = _folded(search, items, stated)
    keys = list(items)
    ranks = {route: _ranks(search, route, keys) for route in {route for key in keys for route in search.found[key]}}
    found = []
    for key in keys:
        item, routes = items[key], search.found[key]
        relevance = routes["slot"] if search.question.wants_history and "slot" in routes else search.relevance[key]
        weight = score.prior(item, search.now) if isinstance(item, SemanticMemory) else score.NEUTRAL_PRIOR
        found.append(
            Hit(
                item=item,
                relevance=relevance,
                score=score.ranked(relevance, weight),
                routes={route: (ranks[route][key], value) for route, value in routes.items()},
                sources=(),
                superseded_by=item.superseded_by if isinstance(item, SemanticMemory) else corrections.replaced.get(item.id),
                taken_back=item.id in corrections.taken_back,
            )
        )
    found.sort(key=lambda hit: (-hit.score, -hit.item.n))
    found = _corrections_first(found, corrections)
    found = latest_first(search, found)
    search.left_out += [(hit.id, "below the limit") for hit in found[search.limit : search.limit + 20]]
    return _sourced(search, found[: search.limit])


def _in_time(search: Search) -> dict[Key, Item]:
    """The candidates that are in recall, or that were recorded, or that held, at the time asked for."""
    items, versions = search.items, search.question.wants_history
    memories = [item for item in items.values() if isinstance(item, SemanticMemory)]
    turns = [item for item in items.values() if isinstance(item, Turn)]
    if search.as_of is not None or search.valid_at is not None:
        memories = shown(search.handle, memories, search.as_of, search.valid_at, versions=versions)
        turns = turns_at(search.handle, turns, search.as_of, search.valid_at)
    elif versions:
        memories = [memory for memory in memories if memory.state is State.ACTIVE]
    else:
        memories = [memory for memory in memories if history.recallable(memory, search.now)]
    then: dict[Key, Item] = {("memory", memory.n): memory for memory in memories}
    then |= {("turn", turn.n): turn for turn in turns}
    then |= {key: item for key, item in items.items() if isinstance(item, (Episode, Attachment)) and _was_there(search, item)}
    why = "not in recall at that time" if search.past else "superseded, archived or expired"
    search.left_out += [(item.id, why) for key, item in items.items() if key not in then]
    search.in_time = then.keys()
    return {key: then[key] for key in items if key in then}


def _was_there(search: Search, item: Episode | Attachment) -> bool:
    """Whether a record was there at the time asked for."""
    at = item.ended_at if isinstance(item, Episode) else item.said_at
    return (search.as_of is None or item.created_at <= search.as_of) and (search.valid_at is None or at <= search.valid_at)


def _without_echoes(search: Search, items: dict[Key, Item]) -> dict[Key, Item]:
    """Without turns that only ask the same question, and with one turn for several of the same words."""
    asked = analyze.plain(search.question.text)
    kept: dict[Key, Item] = {}
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


def _with_rivals(search: Search, items: dict[Key, Item], stated: Sequence[SemanticMemory]) -> dict[str, set[str]]:
    """
    With each statement that is marked what was said later and may contradict it.

    Returns, by the id of the statement and of each turn that says it, what says the other, a statement or turns.
    """
    shown = (item for item in items.values() if isinstance(item, SemanticMemory))
    marked = {memory.n: memory for memory in (*shown, *stated) if memory.flagged_with and memory.live}.values()
    if search.past or not marked or "memory" not in search.types:
        return {}
    ids = sorted({id for memory in marked for id in memory.flagged_with})
    select = Memories(ids=ids, states=(State.ACTIVE,), current=True, where=search.where)
    rivals = search.handle.store.filled(search.handle.store.memories(search.scopes, select))
    said_by: dict[str, set[str]] = {}
    for memory in marked:
        for rival in rivals:
            if rival.id not in memory.flagged_with or not _stands_before(rival, memory):
                continue
            says = {rival.id, *(source.turn for source in rival.sources if source.turn)}
            for id in (memory.id, *(source.turn for source in memory.sources if source.turn)):
                said_by.setdefault(id, set()).update(says - {id})
            key, value = ("memory", rival.n), search.relevance.get(("memory", memory.n), 0.0)
            if value > search.relevance.get(key, 0.0):
                search.relevance[key], items[key] = value, rival
                search.found.setdefault(key, {})["conflict"] = value
    return said_by


def _stands_before(rival: SemanticMemory, memory: SemanticMemory) -> bool:
    """Whether of two that may contradict each other this one was said later, and nothing since speaks for the other."""
    used = memory.last_used is not None and memory.last_used >= rival.said_at
    return (rival.said_at, rival.n) > (memory.said_at, memory.n) and not used and memory.importance <= rival.importance


@dataclass(slots=True)
class Corrections:
    """
    What became of the statements of turns, and of the marked ones.

    replaced:   by what, the turns whose statement no longer holds
    said_by:    for each of these, and of what is marked, what says the newer: a statement or turns
    taken_back: the turns whose statement was
    """

    replaced: dict[str, str] = field(default_factory=dict)
    said_by: dict[str, set[str]] = field(default_factory=dict)
    taken_back: set[str] = field(default_factory=set)


def _stated(search: Search, items: Mapping[Key, Item]) -> list[SemanticMemory]:
    """What was learned from the turns among the candidates, with its sources."""
    turns = [item.id for item in items.values() if isinstance(item, Turn)]
    if not turns or "memory" not in search.types:
        return []
    select = Memories(sourced_in=turns, states=(State.ACTIVE, State.ARCHIVED))
    return search.handle.store.filled(search.handle.store.memories(search.scopes, select))


def _corrections(search: Search, items: Mapping[Key, Item], stated: Sequence[SemanticMemory]) -> Corrections:
    """What became of the statements of turns; a turn of which one still holds is not spoken of."""
    found, said_by = Corrections(), dict[str, set[str]]()
    if search.past:
        return found
    for item in items.values():
        if isinstance(item, SemanticMemory):
            said_by.setdefault(item.line, set()).add(item.id)
    for memory in stated:
        if memory.live:
            said_by.setdefault(memory.line, set()).update(source.turn for source in memory.sources if source.turn)
    holding = {id for ids in said_by.values() for id in ids}
    current = {memory.line: memory for memory in (*stated, *items.values()) if isinstance(memory, SemanticMemory) and memory.live}
    for memory in stated:
        for id in {source.turn for source in memory.sources if source.turn} - holding:
            if memory.reason == history.RETRACTED and memory.state is State.ARCHIVED:
                found.taken_back.add(id)
            elif memory.superseded_by and not (memory.line in current and conflict.same_object(memory, current[memory.line])):
                found.replaced[id], found.said_by[id] = memory.superseded_by, said_by.get(memory.line, set())
    return found


def _folded(search: Search, items: dict[Key, Item], stated: Sequence[SemanticMemory]) -> dict[Key, Item]:
    """
    A statement and its source turn are one hit: the one that answers better.

    A turn says more than the statement that was learned from it, and a statement may be all that was asked for.
    """
    turns = {item.id: key for key, item in items.items() if isinstance(item, Turn)}
    shown = {item.line: key for key, item in items.items() if isinstance(item, SemanticMemory)}
    kept = dict(items)
    for memory in stated:
        if memory.line not in shown or memory.state is not State.ACTIVE or (memory.superseded_by and not search.past):
            continue
        said = shown[memory.line]
        for id in {source.turn for source in memory.sources if source.turn in turns}:
            if search.relevance[said] >= search.relevance[turns[id]]:
                if kept.pop(turns[id], None) is not None:
                    search.left_out.append((id, "is a source of a statement that is shown"))
            elif turns[id] in kept and kept.pop(said, None) is not None:
                search.left_out.append((memory.id, "is said in a turn that is shown"))
    return kept


def _corrections_first(found: list[Hit], corrections: Corrections) -> list[Hit]:
    """With what corrects a hit, or was said later and may contradict it, directly before it, if it stood behind it."""
    for id in [hit.id for hit in found if corrections.said_by.get(hit.id)]:
        place = next(place for place, hit in enumerate(found) if hit.id == id)
        behind = next((later for later in found[place:] if later.id in corrections.said_by[id]), None)
        if behind is not None:
            found.remove(behind)
            found.insert(place, replace(behind, score=found[place].score))
    return found


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
        elif isinstance(item, (Episode, Attachment)):
            turn = item.first_turn if isinstance(item, Episode) else item.turn
            links = [Link(id=turn, session=item.session, speaker=None, origin=Origin.USER, said_at=hit.said_at)]
        else:
            links = [Link(id=s.turn, session=s.session, speaker=s.actor, origin=s.origin, said_at=s.said_at) for s in item.sources]
        done.append(replace(hit, item=item, sources=tuple(sorted(links, key=lambda link: link.said_at))))
    return tuple(done)
