"""
Put the latest of several hits that answer the same question first, and mark statements that a later one contradicts.

A question names the topic, so this is when statements are compared (rules/finding/said_later.py decides). Nothing is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from yiku.flows.common.handle import Handle
from yiku.flows.find.query import Item, Query
from yiku.rules.finding import rerank, said_later, same_slot
from yiku.rules.finding.supersede import Statement
from yiku.rules.lexicon import built_in
from yiku.rules.statements.clause import Asked
from yiku.rules.statements.question import question
from yiku.rules.text import analyze
from yiku.rules.text.folding import folded
from yiku.types import Episode, Hit, Memories, SemanticMemory, State, Turn, Turns

LEAST = 2  # hits; of fewer nothing can be compared
Compared = tuple[str, str, str]  # an id, what was said later, and what decided


def latest_first(query: Query, found: list[Hit], searched: Sequence[Hit] = ()) -> tuple[list[Hit], list[Compared]]:
    """
    Return the hits reordered; hits contradicted by a later one are marked, with the reason.

    A hit that moves up takes the score of the hit that it passes, so that scores never rise down the list.

    searched: the hits as the search ordered them, where a reranker ordered `found`: the best of both are compared, and its order
              stands but for what was said later
    """
    tops = [[hit for hit in hits[: said_later.POOL] if isinstance(hit.item, (SemanticMemory, Turn))] for hits in (searched, found)]
    pool = [*{hit.id: hit for top in tops for hit in top}.values()]
    if len(pool) < LEAST or query.as_of is not None or query.valid_at is not None or query.question.windows:
        return found, []
    asked = replace(question(query.text, built_in()), around=frozenset(query.around))
    first_found = [hit.id for hit in pool]
    if query.past or asked.before:
        return _reranked(asked, first_found, found) if asked.before and not searched else found, []
    stated = query.handle.store.with_details([hit.item for hit in pool if isinstance(hit.item, SemanticMemory)])
    items: dict[str, Item] = {hit.id: hit.item for hit in pool} | {memory.id: memory for memory in stated}
    after = _said_next(query, [hit.item for hit in pool if isinstance(hit.item, Turn)])
    terms = analyze.question(folded(query.text)).words
    following = {id: _statement(turn) for id, turn in after.items()}
    orders = [said_later.compare_hits(asked, terms, [_statement(items[hit.id]) for hit in top], following) for top in tops if top]
    order = orders[0] if len(orders) == 1 else said_later.together(orders)
    shown = {turn: hit.id for hit in found for turn in _turns(items.get(hit.id, hit.item))}
    order = replace(
        order,
        outdated=tuple(replace(one, later=shown.get(one.later, one.later)) for one in order.outdated),
        before=tuple((shown.get(first, first), second) for first, second in order.before),
    )
    back = {hit.id for hit in pool if _turns(items[hit.id]) and _turns(items[hit.id]) <= order.taken_back}
    found = [replace(hit, taken_back=True) if hit.id in back else hit for hit in found]
    found.sort(key=lambda hit: hit.taken_back)
    marks: dict[str, list[said_later.Outdated]] = {}
    for one in order.outdated:
        marks.setdefault(one.id, []).append(one)
    for place, hit in enumerate(found):
        if clauses := marks.get(hit.id):
            spans = tuple((one.start, one.end) for one in clauses)
            later = next((one.later for one in reversed(clauses) if not one.over), None)
            found[place] = replace(hit, said_later=later, outdated=spans)
    for id, turn in after.items():  # a correction that names nothing is found by what it corrects
        wanted = query.where is None and "turn" in query.types
        if wanted and id in marks and turn.id == marks[id][-1].later and turn.id not in shown:
            place = next(place for place, hit in enumerate(found) if hit.id == id)
            found.insert(place, replace(found[place], item=turn, said_later=None, outdated=(), superseded_by=None))
    for first, second in order.before:
        _move_before(found, first, second)
    if not asked.several:
        _changed_since(asked, found)
        found = _reranked(asked, first_found, found) if not searched else found
        for one in order.outdated:
            _move_before(found, one.later, one.id)
        _in_one_slot(found)
    return found, [(one.id, one.later, one.why) for one in order.outdated]


def _in_one_slot(found: list[Hit]) -> None:
    """Mark and demote hits that a later statement in the same slot contradicts."""
    best = [hit.item for hit in found[: said_later.POOL] if isinstance(hit.item, SemanticMemory) and hit.said_later is None]
    for earlier, later in same_slot.said_later(best).items():
        place = next(place for place, hit in enumerate(found) if hit.id == earlier)
        found[place] = replace(found[place], said_later=later, outdated=((0, len(found[place].text)),))
        _move_before(found, later, earlier)


def _changed_since(asked: Asked, found: list[Hit]) -> None:
    """Promote a later statement of a change by the same speaker that scores about as well; nothing is marked."""
    first, *others = found[: said_later.NEXT + 1]
    if not isinstance(first.item, (SemanticMemory, Turn)):
        return
    before = _statement(first.item)
    later = [
        statement
        for hit in others
        if isinstance(hit.item, (SemanticMemory, Turn))
        and not hit.taken_back
        and hit.relevance >= said_later.AS_WELL * first.relevance
        if (statement := _statement(hit.item)).speaker == before.speaker and _when(statement) > _when(before)
    ]
    newest_first = sorted(later, key=_when, reverse=True)  # so that no more is read than must be
    if change := next((statement for statement in newest_first if said_later.tells_a_change(asked, statement)), None):
        _move_before(found, change.id, first.id)


def _reranked(asked: Asked, first_found: Sequence[str], found: list[Hit]) -> list[Hit]:
    """
    Return the hits with those that were found about as well as the best, by vectors, in the order of rerank.py.

    They change places among themselves, and take the scores of these places. By words alone nothing moves: there the
    order says which words a hit holds, and reranking lost as much as it gained.
    """
    places = [
        place
        for place, hit in enumerate(found)
        if hit.id in first_found and not hit.taken_back and isinstance(hit.item, (SemanticMemory, Turn))
    ]
    if not any("vectors" in found[place].routes for place in places):
        return found
    enough = rerank.NEAR * max(found[place].relevance for place in places)
    places = [place for place in places if found[place].relevance >= enough or place == places[0]]
    candidates = [_candidate(found[place], number, first_found) for number, place in enumerate(places)]
    scores = rerank.scores(asked, candidates)
    best_first = sorted(zip(places, scores, strict=True), key=lambda one: -one[1])
    result = [*found]
    for place, (other, _) in zip(places, best_first, strict=True):
        result[place] = replace(found[other], score=found[place].score)
    return result


def _candidate(hit: Hit, place: int, first_found: Sequence[str]) -> rerank.Candidate:
    item = hit.item
    said = _statement(item)
    by_agent = isinstance(item, Turn) and item.role != "user"
    return rerank.Candidate(
        hit.id, said.text, hit.relevance, _when(said), place, first_found.index(hit.id), by_agent, "slot" in hit.routes
    )


def _when(statement: Statement) -> tuple[datetime, int]:
    return statement.said_at, statement.place


def mark(handle: Handle, memories: Sequence[SemanticMemory]) -> list[SemanticMemory]:
    """Return statements for a list, each with what was said later in its slot."""
    slots = {slot for memory in memories if (slot := same_slot.slot_of(memory)) is not None}
    if not slots:
        return [*memories]
    pairs = ([*{subject for _, subject, _ in slots}], [*{predicate for *_, predicate in slots}])
    select = Memories(pairs=pairs, states=(State.ACTIVE,), current=True, unexpired_at=handle.now())
    rows = [row for row in handle.store.memories(handle.reads(), select) if same_slot.slot_of(row) in slots]
    return among(memories, rows)


def among(memories: Sequence[SemanticMemory], rows: Sequence[SemanticMemory]) -> list[SemanticMemory]:
    """Mark statements that one of these rows contradicts."""
    later = same_slot.said_later(rows)
    return [replace(memory, said_later=later[memory.id]) if memory.id in later else memory for memory in memories]


def _move_before(found: list[Hit], first: str, second: str) -> None:
    """Move the first hit directly before the second, with its score."""
    place = next(place for place, hit in enumerate(found) if hit.id == second)
    hit = next((hit for hit in found[place:] if hit.id == first), None)
    if hit is not None and hit.id != second:
        found.remove(hit)
        found.insert(place, replace(hit, score=found[place].score))


def _speaker(item: Item) -> str:
    if isinstance(item, SemanticMemory):
        return (item.sources[-1].actor if item.sources else None) or "user"
    return item.speaker or item.role if isinstance(item, Turn) else "user"


def _turns(item: Item) -> frozenset[str]:
    """Return the source turns of an item."""
    if isinstance(item, SemanticMemory):
        return frozenset(source.turn for source in item.sources if source.turn)
    return frozenset([item.id]) if isinstance(item, Turn) else frozenset()


def _statement(item: Item) -> Statement:
    text = item.content if isinstance(item, (SemanticMemory, Turn)) else ""
    at = item.ended_at if isinstance(item, Episode) else item.said_at
    return Statement(item.id, text, at, _place(item), _speaker(item))


def _said_next(query: Query, turns: Sequence[Turn]) -> dict[str, Turn]:
    """Return, by turn id, what the speaker said next in the session, at once or after one reply."""
    wanted = [turn.n + step for turn in turns if turn.role == "user" for step in (1, 2)]
    near = {turn.n: turn for turn in query.handle.store.turns(query.scopes, Turns(ns=wanted))} if wanted else {}
    found: dict[str, Turn] = {}
    for turn in turns:
        for step in (1, 2):
            other = near.get(turn.n + step)
            if other is not None and other.session == turn.session and other.role == "user" and other.speaker == turn.speaker:
                found.setdefault(turn.id, other)
    return found


def _place(item: Item) -> int:
    return item.position if isinstance(item, Turn) else item.place if isinstance(item, SemanticMemory) else 0
