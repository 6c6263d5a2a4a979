"""
Rank candidates into hits: drop outdated and duplicate ones, rerank, put corrections first, add sources.

Drop what is out of recall, fold what says the same, put what corrects or may contradict before what it corrects, and
give each its sources.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from yiku.flows.find.as_of import turns_at, visible
from yiku.flows.find.query import Candidate, Candidates, Item, Key, Query
from yiku.flows.find.rerank import Reranked, rerank
from yiku.flows.find.said_later import Compared, latest_first
from yiku.rules.deciding import conflict, history
from yiku.rules.finding import score
from yiku.rules.prompts import persona
from yiku.rules.text import analyze
from yiku.types import Attachment, Episode, Hit, Link, Memories, Note, Origin, SemanticMemory, State, Turn

NEARLY = 20  # characters by which a turn may differ in length from the question that it asks, too
SHOWN_BELOW = 20  # hits below the limit that are named as left out
LeftOut = tuple[str, str]  # an id, and why


@dataclass(frozen=True, slots=True)
class Assembled:
    """
    The hits of a question, best first, with their explanation.

    candidates: all that were looked at, those too that only contradict one that was found
    in_time:    those of them that are in recall at the time asked for
    read:       how many hits a reranker has read; diagnostics: why it has not
    """

    hits: tuple[Hit, ...] = ()
    candidates: Candidates = field(default_factory=dict)
    in_time: Collection[Key] = ()
    left_out: Sequence[LeftOut] = ()
    compared: Sequence[Compared] = ()
    read: int = 0
    diagnostics: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Sifted:
    """Candidates kept, and those left out with a reason."""

    kept: Candidates
    left_out: Sequence[LeftOut]


def assemble(query: Query, candidates: Candidates) -> Assembled:
    """Return the hits of a question from the candidates of all routes."""
    there = _in_time(query, candidates)
    distinct = _without_echoes(query, there.kept)
    stated = _stated(query, distinct.kept)
    rivals, rivals_say = _rivals(query, candidates, distinct.kept, stated)
    every = {**distinct.kept, **rivals}
    corrections = _corrections(query, every, stated)
    corrections = replace(corrections, said_by={**corrections.said_by, **rivals_say})
    folded = _merge_with_sources(query, every, stated)
    hits = _corrections_first(_rank(query, folded.kept, corrections), corrections)
    ordered = rerank(query, hits) if query.pool else Reranked(hits)
    if ordered.read:
        hits, compared = latest_first(query, _corrections_first(ordered.hits, corrections), hits)
    else:
        hits, compared = latest_first(query, hits)
    below = [(hit.id, "below the limit") for hit in hits[query.limit : query.limit + SHOWN_BELOW]]
    return Assembled(
        hits=_with_sources(query, hits[: query.limit]),
        candidates={**candidates, **rivals},
        in_time=there.kept.keys(),
        left_out=[*there.left_out, *distinct.left_out, *folded.left_out, *below],
        compared=compared,
        read=ordered.read,
        diagnostics=() if ordered.trouble is None else (ordered.trouble,),
    )


def _rank(query: Query, candidates: Candidates, corrections: Corrections) -> list[Hit]:
    """Return the candidates as hits, best first, newest first among equals."""
    ranks: dict[str, dict[Key, int]] = {}
    for route in {route for candidate in candidates.values() for route in candidate.routes}:
        by = sorted((key for key in candidates if route in candidates[key].routes), key=lambda key: -candidates[key].routes[route])
        ranks[route] = {key: rank for rank, key in enumerate(by, 1)}
    hits = []
    for key, candidate in candidates.items():
        item, routes = candidate.item, candidate.routes
        relevance = routes["slot"] if query.question.wants_history and "slot" in routes else candidate.relevance
        weight = _prior(query, item)
        moved = persona.weight(query.handle.settings.persona, item.kind) if isinstance(item, SemanticMemory) else 1.0
        hits.append(
            Hit(
                item=item,
                relevance=relevance,
                score=score.ranked(relevance, weight) * moved,  # a persona moves what is found, and stores nothing
                routes={route: (ranks[route][key], value) for route, value in routes.items()},
                sources=(),
                superseded_by=item.superseded_by if isinstance(item, SemanticMemory) else corrections.replaced.get(item.id),
                taken_back=item.id in corrections.taken_back,
            )
        )
    return sorted(hits, key=lambda hit: (-hit.score, -hit.item.n))


def _prior(query: Query, item: Item) -> float:
    """How much a row weighs by itself."""
    match item:
        case SemanticMemory():
            return score.prior(item, query.now)
        case Note():
            return score.NOTE_PRIORS[item.source]
    return score.NEUTRAL_PRIOR


def _in_time(query: Query, candidates: Candidates) -> Sifted:
    """Keep the candidates that are visible, or were recorded or valid at the time asked for."""
    versions = query.question.wants_history
    items = {key: candidate.item for key, candidate in candidates.items()}
    memories = [item for item in items.values() if isinstance(item, SemanticMemory)]
    turns = [item for item in items.values() if isinstance(item, Turn)]
    if query.as_of is not None or query.valid_at is not None:
        memories = visible(query.handle, memories, query.as_of, query.valid_at, versions=versions)
        turns = turns_at(query.handle, turns, query.as_of, query.valid_at)
    elif versions:
        memories = [memory for memory in memories if memory.state is State.ACTIVE]
    else:
        memories = [memory for memory in memories if history.recallable(memory, query.now)]
    then: dict[Key, Item] = {("memory", memory.n): memory for memory in memories}
    then |= {("turn", turn.n): turn for turn in turns}
    then |= {key: item for key, item in items.items() if isinstance(item, (Episode, Attachment, Note)) and _existed_at(query, item)}
    why = "not in recall at that time" if query.past else "superseded, archived or expired"
    return Sifted(
        {key: candidate._replace(item=then[key]) for key, candidate in candidates.items() if key in then},
        [(item.id, why) for key, item in items.items() if key not in then],
    )


def _existed_at(query: Query, item: Episode | Attachment | Note) -> bool:
    """Tell whether a record existed at the time asked for."""
    if isinstance(item, Note):
        return all(at is None or item.said_at <= at for at in (query.as_of, query.valid_at))
    at = item.ended_at if isinstance(item, Episode) else item.said_at
    return (query.as_of is None or item.created_at <= query.as_of) and (query.valid_at is None or at <= query.valid_at)


def _without_echoes(query: Query, candidates: Candidates) -> Sifted:
    """
    Drop turns that only repeat the question, and all but the last of those in which one speaker said the same words.

    The last one takes the place of the best: what is said again holds again, whatever was said between.
    """
    asked = analyze.plain(query.question.text)
    kept, left_out = dict(candidates), list[LeftOut]()
    same: dict[tuple[bytes, str, str, str | None], list[Turn]] = {}
    for key, candidate in sorted(candidates.items(), key=lambda pair: -pair[1].relevance):
        item = candidate.item
        if isinstance(item, Turn):
            if abs(len(item.content) - len(asked)) < NEARLY and analyze.plain(item.content) == asked:
                left_out.append((item.id, "asks the same question"))
                del kept[key]
                continue
            same.setdefault((item.content_hash, item.scope, item.role, item.speaker), []).append(item)
    for turns in (turns for turns in same.values() if len(turns) > 1):
        best, last = kept["turn", turns[0].n], max(turns, key=lambda turn: (turn.said_at, turn.n))
        for turn in turns:
            del kept["turn", turn.n]
        kept["turn", last.n] = best._replace(item=last)
        left_out += [(turn.id, "says the same as another turn") for turn in turns if turn is not last]
    return Sifted(kept, left_out)


def _rivals(
    query: Query, candidates: Candidates, kept: Candidates, stated: Sequence[SemanticMemory]
) -> tuple[dict[Key, Candidate], dict[str, set[str]]]:
    """
    Return later statements that may contradict flagged ones, as candidates of the same relevance.

    candidates: all that the routes found, also what is not kept
    Returns, too, by the id of the statement and of each turn that says it, what says the other, a statement or turns.
    """
    among = (candidate.item for candidate in kept.values() if isinstance(candidate.item, SemanticMemory))
    marked = {memory.n: memory for memory in (*among, *stated) if memory.flagged_with and memory.live}.values()
    if query.past or not marked or "memory" not in query.types:
        return {}, {}
    ids = sorted({id for memory in marked for id in memory.flagged_with})
    select = Memories(ids=ids, states=(State.ACTIVE,), current=True, where=query.where)
    later = query.handle.store.with_details(query.handle.store.memories(query.scopes, select))
    every, rivals, said_by = dict(candidates), dict[Key, Candidate](), dict[str, set[str]]()
    for memory in marked:
        for rival in later:
            if rival.id not in memory.flagged_with or not _stands_before(rival, memory):
                continue
            says = {rival.id, *(source.turn for source in rival.sources if source.turn)}
            for id in (memory.id, *(source.turn for source in memory.sources if source.turn)):
                said_by.setdefault(id, set()).update(says - {id})
            key, known, found = ("memory", rival.n), every.get(("memory", rival.n)), every.get(("memory", memory.n))
            if found is not None and found.relevance > (known.relevance if known else 0.0):
                routes = {**(known.routes if known else {}), "conflict": found.relevance}
                every[key] = rivals[key] = Candidate(rival, routes, found.relevance)
    return rivals, said_by


def _stands_before(rival: SemanticMemory, memory: SemanticMemory) -> bool:
    """Tell whether a rival was said later and nothing confirms the other since."""
    used = memory.last_used is not None and memory.last_used >= rival.said_at
    return (rival.said_at, rival.n) > (memory.said_at, memory.n) and not used and memory.importance <= rival.importance


@dataclass(frozen=True, slots=True)
class Corrections:
    """
    What became of the statements of turns, and of flagged ones.

    replaced:   by what, the turns whose statement no longer holds
    said_by:    for each of these, and of what is marked, what says the newer: a statement or turns
    taken_back: the turns whose statement was
    """

    replaced: Mapping[str, str] = field(default_factory=dict)
    said_by: Mapping[str, Collection[str]] = field(default_factory=dict)
    taken_back: Collection[str] = ()


def _stated(query: Query, candidates: Candidates) -> list[SemanticMemory]:
    """Return what was learned from the candidate turns, with sources."""
    turns = [candidate.item.id for candidate in candidates.values() if isinstance(candidate.item, Turn)]
    if not turns or "memory" not in query.types:
        return []
    select = Memories(sourced_in=turns, states=(State.ACTIVE, State.ARCHIVED, State.JUNK))
    return query.handle.store.with_details(query.handle.store.memories(query.scopes, select))


def _corrections(query: Query, candidates: Candidates, stated: Sequence[SemanticMemory]) -> Corrections:
    """Return what became of the turns' statements; turns with a live one are omitted."""
    if query.past:
        return Corrections()
    said_by: dict[str, set[str]] = {}
    memories = [candidate.item for candidate in candidates.values() if isinstance(candidate.item, SemanticMemory)]
    for memory in memories:
        said_by.setdefault(memory.line, set()).add(memory.id)
    for memory in stated:
        if memory.live:
            said_by.setdefault(memory.line, set()).update(source.turn for source in memory.sources if source.turn)
    holding = {id for ids in said_by.values() for id in ids}
    current = {memory.line: memory for memory in (*stated, *memories) if memory.live}
    replaced, newer, taken_back = dict[str, str](), dict[str, set[str]](), set[str]()
    for memory in stated:
        for id in {source.turn for source in memory.sources if source.turn} - holding:
            if memory.reason == history.RETRACTED and memory.state is State.ARCHIVED:
                taken_back.add(id)
            elif memory.superseded_by and not (memory.line in current and conflict.same_object(memory, current[memory.line])):
                replaced[id], newer[id] = memory.superseded_by, said_by.get(memory.line, set())
    return Corrections(replaced, newer, taken_back)


def _merge_with_sources(query: Query, candidates: Candidates, stated: Sequence[SemanticMemory]) -> Sifted:
    """
    Merge a statement and its source turn into one hit: the better one.

    A turn says more than the statement that was learned from it, and a statement may be all that was asked for. Nothing is left
    out for what is left out itself. A question about the past gets the rest of what a turn said, too.
    """
    turns = {candidate.item.id: candidate.item for candidate in candidates.values() if isinstance(candidate.item, Turn)}
    shown = {one.item.line: key for key, one in candidates.items() if isinstance(one.item, SemanticMemory)}
    same: dict[Key, set[Key]] = {}
    for memory in stated:
        counts = memory.state is State.ACTIVE or (query.valid_at is not None and history.put_away(memory))
        if memory.line not in shown or not counts or (memory.superseded_by and not query.past):
            continue
        for source in (source for source in memory.sources if source.turn in turns):
            turn = turns[source.turn or ""]
            rest = "" if source.start is None or not query.past else turn.content[: source.start] + turn.content[source.end :]
            if not analyze.plain(rest):
                same.setdefault(("turn", turn.n), set()).add(shown[memory.line])
                same.setdefault(shown[memory.line], set()).add(("turn", turn.n))
    kept, left_out, chosen = dict(candidates), list[LeftOut](), set[Key]()
    for key in sorted(same, key=lambda key: (-candidates[key].relevance, key[0] == "turn")):
        if same[key] & chosen:
            item = kept.pop(key).item
            why = "is a source of a statement that is shown" if isinstance(item, Turn) else "is said in a turn that is shown"
            left_out.append((item.id, why))
        else:
            chosen.add(key)
    return Sifted(kept, left_out)


def _corrections_first(found: list[Hit], corrections: Corrections) -> list[Hit]:
    """Move corrections and later rivals directly before the hit that they correct."""
    for id in [hit.id for hit in found if corrections.said_by.get(hit.id)]:
        place = next(place for place, hit in enumerate(found) if hit.id == id)
        correction = next((later for later in found[place:] if later.id in corrections.said_by[id]), None)
        if correction is not None:
            found.remove(correction)
            found.insert(place, replace(correction, score=found[place].score))
    return found


def _with_sources(query: Query, hits: list[Hit]) -> tuple[Hit, ...]:
    """Return the hits with their sources, oldest first."""
    memories = [hit.item for hit in hits if isinstance(hit.item, SemanticMemory)]
    filled = {memory.n: memory for memory in query.handle.store.with_details(memories)}
    done = []
    for hit in hits:
        item = filled[hit.item.n] if isinstance(hit.item, SemanticMemory) else hit.item
        if isinstance(item, Turn):
            links = [Link(id=item.id, session=item.session, speaker=item.speaker, origin=item.origin, said_at=item.said_at)]
        elif isinstance(item, Note):
            links = [
                Link(id=item.id, session=None, speaker=f"{item.path}:{item.start_line}", origin=Origin.FILE, said_at=hit.said_at)
            ]
        elif isinstance(item, (Episode, Attachment)):
            turn = item.first_turn if isinstance(item, Episode) else item.turn
            links = [Link(id=turn, session=item.session, speaker=None, origin=Origin.USER, said_at=hit.said_at)]
        else:
            links = [
                Link(id=source.turn, session=source.session, speaker=source.actor, origin=source.origin, said_at=source.said_at)
                for source in item.sources
                if query.valid_at is None or source.said_at <= query.valid_at
            ]
        done.append(replace(hit, item=item, sources=tuple(sorted(links, key=lambda link: link.said_at))))
    return tuple(done)
