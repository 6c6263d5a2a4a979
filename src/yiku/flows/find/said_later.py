"""
Mark and demote hits and listed rows that a later statement supersedes.

A question names the topic, so this is when statements are compared (rules/finding/said_later.py decides). Nothing is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from yiku.flows.common.handle import Handle
from yiku.flows.find import local_rerank, superseded
from yiku.flows.find.query import Item, Query, place_in_session
from yiku.rules.finding import said_later, same_slot
from yiku.rules.finding.supersede import Statement
from yiku.rules.lexicon import built_in
from yiku.rules.statements.clause import Asked
from yiku.rules.statements.question import question
from yiku.rules.text import analyze
from yiku.rules.text.folding import folded
from yiku.types import Episode, Hit, Memories, SemanticMemory, State, Superseded, Turn, Turns

MOST_READ = 60  # hits and turns that supersede them of which pairs are looked up
LOOKED_BEHIND = 100  # turns of all sessions among which the next ones of a session are looked for
LEAST = 2  # hits, and what was said next; of fewer nothing can be compared
Compared = tuple[str, str, str]  # an id, what was said later, and what decided
_Pair = tuple[str, Superseded, Turn, tuple[int, int]]  # an id, the pair of turns, the later one, and what of the item it is about


def latest_first(query: Query, found: list[Hit], searched: Sequence[Hit] = ()) -> tuple[list[Hit], list[Compared]]:
    """
    Return the hits reordered; hits contradicted by a later one are marked, with the reason.

    A hit that moves up takes the score of the hit that it passes, so that scores never rise down the list.

    searched: the hits as the search ordered them, where a reranker ordered `found`: the best of both are compared, and its order
              stands but for what was said later
    """
    tops = [[hit for hit in hits[: said_later.POOL] if isinstance(hit.item, (SemanticMemory, Turn))] for hits in (searched, found)]
    pool = [*{hit.id: hit for top in tops for hit in top}.values()]
    if not pool or query.as_of is not None or query.valid_at is not None:
        return found, []
    stated = query.handle.store.with_details([hit.item for hit in pool if isinstance(hit.item, SemanticMemory)])
    items: dict[str, Item] = {hit.id: hit.item for hit in pool} | {memory.id: memory for memory in stated}
    after = _said_next(query, _source_turns(query.handle, query.scopes, items))
    if len(pool) + len(after) < LEAST:
        return found, []
    asked = replace(question(query.text, built_in()), around=frozenset(query.around))
    first_found = [hit.id for hit in pool]
    shown = _shown(found, items)
    if query.past or asked.before:
        if asked.before and not searched:
            found = local_rerank.reranked(query, asked, first_found, found)
            for later, earlier in _read_in_pairs(query, items)[0].before:
                _move_before(found, earlier, shown.get(later, later))
        return found, []
    read, followed = _read_in_pairs(query, items)
    order = said_later.together([_by_rules(query, asked, [[items[hit.id] for hit in top] for top in tops if top], after), read])
    if windows := query.question.windows:  # what was said since makes nothing outdated that was said by then
        then = max(window.until for window in windows)
        since = {one.id for one in (*items.values(), *after.values(), *followed.values()) if _statement(one).said_at >= then}
        order, read = order.as_of(since), read.as_of(since)
    outdated = [replace(one, later=shown.get(one.later, one.later)) for one in order.outdated]
    if query.where is None and "turn" in query.types:
        found = _with_later(found, outdated, [*after.items(), *followed.items()], shown)
    found = _marked(found, order.taken_back, outdated, items)
    for first, second in order.before:
        _move_before(found, shown.get(first, first), second)
    if not asked.several:
        found = found if searched or windows else local_rerank.reranked(query, asked, first_found, found)
        for first, second in (*read.before, *((one.later, one.id) for one in outdated)):
            _move_before(found, shown.get(first, first), second)
        _in_one_slot(found)
    return found, [(one.id, one.later, one.why) for one in outdated]


def _shown(found: Sequence[Hit], items: Mapping[str, Item]) -> dict[str, str]:
    """Return by which hit a turn is shown; not where several statements of it are, since one of them says less than the turn."""
    by_turn: dict[str, list[str]] = {}
    for hit in found:
        for turn in _turns(items.get(hit.id, hit.item)):
            by_turn.setdefault(turn, []).append(hit.id)
    return {turn: turn if turn in ids else ids[0] for turn, ids in by_turn.items() if turn in ids or len(ids) == 1}


def _by_rules(query: Query, asked: Asked, tops: Sequence[Sequence[Item]], after: Mapping[str, Turn]) -> said_later.Order:
    """Compare the best hits by what their clauses say. after: what was said next, by the id of a hit"""
    terms = analyze.question(folded(query.text)).words
    following = {id: _statement(turn) for id, turn in after.items()}
    return said_later.together(said_later.compare_hits(asked, terms, [*map(_statement, top)], following) for top in tops)


def _marked(
    found: Sequence[Hit], taken_back: frozenset[str], outdated: Iterable[said_later.Outdated], items: Mapping[str, Item]
) -> list[Hit]:
    """Return the hits with their outdated clauses and what was said later; those behind that were taken back, or whose turns all were."""
    back = taken_back | {id for id, item in items.items() if (turns := _turns(item)) and turns <= taken_back}
    result = sorted((replace(hit, taken_back=True) if hit.id in back else hit for hit in found), key=lambda hit: hit.taken_back)
    marks: dict[str, list[said_later.Outdated]] = {}
    for one in outdated:
        marks.setdefault(one.id, []).append(one)
    for place, hit in enumerate(result):
        if place and hit.score > result[place - 1].score:
            hit = result[place] = replace(hit, score=result[place - 1].score)  # noqa: PLW2901  (it was taken back)
        if clauses := marks.get(hit.id):
            later = next((one.later for one in reversed(clauses) if not one.over), None)
            result[place] = replace(hit, said_later=later, outdated=tuple((one.start, one.end) for one in clauses))
    return result


def _with_later(
    found: Sequence[Hit], outdated: Sequence[said_later.Outdated], later: Iterable[tuple[str, Turn]], shown: dict[str, str]
) -> list[Hit]:
    """
    Return the hits with what supersedes one before it, where the search did not find it.

    later: such turns with the ids of what they supersede; shown: by which hit a turn is shown, to which these are added
    """
    result, last = [*found], {one.id: one.later for one in outdated}
    for id, turn in later:
        place = next((place for place, hit in enumerate(result) if hit.id == shown.get(id, id)), None)
        if place is not None and turn.id == last.get(id) and turn.id not in shown:
            bare = replace(result[place], said_later=None, outdated=(), superseded_by=None, taken_back=False)
            result.insert(place, replace(bare, item=turn))
            shown[turn.id] = turn.id
    return result


def _read_in_pairs(query: Query, items: Mapping[str, Item]) -> tuple[said_later.Order, Mapping[str, Turn]]:
    """
    Return what the local model found of these hits in pairs, if it took part, and the later turns by the hits that are marked.

    What is likely stands behind the later turn; what is as good as certain is marked, too.
    """
    pairs, known, new = list[_Pair](), {*items}, items
    while new and len(known) < MOST_READ:  # what supersedes a hit may be superseded itself
        found = _pairs(query.handle, query.scopes, new)
        new = {turn.id: turn for _, one, turn, _ in found if one.likely >= said_later.READ_MARKED and turn.id not in known}
        known |= new.keys()
        pairs += found
    before = tuple((turn.id, id) for id, one, turn, _ in pairs if one.likely >= said_later.READ_FIRST)
    last = _last(pairs)
    outdated = (
        said_later.Outdated(id, *span, turn.id, f"read in pairs: {one.likely:.2f}", over=False)
        for id, (one, turn, span) in last.items()
    )
    return said_later.Order(tuple(outdated), frozenset(), before), {id: turn for id, (_, turn, _) in last.items()}


def _last(pairs: Sequence[_Pair]) -> Mapping[str, tuple[Superseded, Turn, tuple[int, int]]]:
    """Return, of each item that is superseded as good as certainly, what was said last."""
    sure = [pair for pair in pairs if pair[1].likely >= said_later.READ_MARKED]
    return {id: (one, turn, span) for id, one, turn, span in sorted(sure, key=lambda pair: (pair[2].said_at, pair[2].n))}


def _pairs(handle: Handle, scopes: Sequence[int], items: Mapping[str, Item]) -> list[_Pair]:
    """Return what later turns supersede of items that come from one turn each, as the local model found."""
    of = _source_turns(handle, scopes, items) if (space := superseded.space(handle)) is not None else {}
    if space is None or not of:
        return []
    found = superseded.among(handle, scopes, space, [turn.n for turn in of.values()])
    if not found:
        return []
    later = {turn.n: turn for turn in handle.store.turns(scopes, Turns(ns=sorted({one.later for one in found})))}
    return [
        (id, one, later[one.later], span)
        for id, turn in of.items()
        for one in found
        if one.earlier == turn.n and one.later in later and (span := _in_item(one, items[id], turn))
    ]


def _in_item(one: Superseded, item: Item, turn: Turn) -> tuple[int, int] | None:
    """Return which characters of a hit are superseded: of a statement all, if its words stand there, else nothing."""
    if not isinstance(item, SemanticMemory):
        return one.start, one.end
    length = len(turn.content)
    spans = [(one.start or 0, length if one.end is None else one.end) for one in item.sources if one.turn == turn.id]
    return (0, len(item.content)) if any(start < one.end and end > one.start for start, end in spans) else None


def _in_one_slot(found: list[Hit]) -> None:
    """Mark and demote hits that a later statement in the same slot contradicts."""
    best = [hit.item for hit in found[: said_later.POOL] if isinstance(hit.item, SemanticMemory) and hit.said_later is None]
    for earlier, later in same_slot.said_later(best).items():
        place = next(place for place, hit in enumerate(found) if hit.id == earlier)
        found[place] = replace(found[place], said_later=later, outdated=((0, len(found[place].text)),))
        _move_before(found, later, earlier)


def mark(handle: Handle, memories: Sequence[SemanticMemory]) -> list[SemanticMemory]:
    """Return statements for a list, each with what was said later in its slot, or what the local model read to supersede it."""
    by_slot = _mark_in_slots(handle, memories)
    unmarked = {memory.id: memory for memory in by_slot if memory.said_later is None and memory.state is State.ACTIVE}
    if not unmarked or superseded.space(handle) is None:
        return by_slot
    bare = [memory for memory in unmarked.values() if not memory.sources]
    detailed: dict[str, Item] = {**unmarked, **{memory.id: memory for memory in handle.store.with_details(bare)}}
    last = _last(_pairs(handle, handle.reads(), detailed))
    return [replace(memory, said_later=last[memory.id][1].id) if memory.id in last else memory for memory in by_slot]


def _mark_in_slots(handle: Handle, memories: Sequence[SemanticMemory]) -> list[SemanticMemory]:
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
    """Move the first hit directly before the second, with its score; what corrects a hit may be none itself."""
    place = next((place for place, hit in enumerate(found) if hit.id == second), None)
    if place is None:
        return
    hit = next((hit for hit in found[place:] if hit.id == first), None)
    if hit is not None and hit.id != second:
        found.remove(hit)
        found.insert(place, replace(hit, score=found[place].score))


def _turns(item: Item) -> frozenset[str]:
    """Return the source turns of an item."""
    if isinstance(item, SemanticMemory):
        return frozenset(source.turn for source in item.sources if source.turn)
    return frozenset([item.id]) if isinstance(item, Turn) else frozenset()


def _statement(item: Item) -> Statement:
    """Return an item as the rules compare it."""
    text = item.content if isinstance(item, (SemanticMemory, Turn)) else ""
    speaker = (item.speaker or item.role) if isinstance(item, Turn) else None
    if isinstance(item, SemanticMemory) and item.sources:
        speaker = item.sources[-1].actor
    said_at = item.ended_at if isinstance(item, Episode) else item.said_at
    return Statement(item.id, text, said_at, place_in_session(item), speaker or "user", item.scope)


def _source_turns(handle: Handle, scopes: Sequence[int], items: Mapping[str, Item]) -> Mapping[str, Turn]:
    """Return, by the id of each item that comes from one turn, that turn."""
    single = {id: next(iter(_turns(item))) for id, item in items.items() if len(_turns(item)) == 1}
    read = {item.id: item for item in items.values() if isinstance(item, Turn)}
    if missing := {*single.values()} - read.keys():
        read |= {turn.id: turn for turn in handle.store.turns(scopes, Turns(ids=sorted(missing)))}
    return {id: read[turn] for id, turn in single.items() if turn in read}


def _said_next(query: Query, sources: Mapping[str, Turn]) -> dict[str, Turn]:
    """Return, by the id of an item, what the speaker of its turn said next in the session, at once or after one reply."""
    own = {id: turn for id, turn in sources.items() if turn.role == "user"}
    if not own:
        return {}
    columns, following = query.handle.store.columns(query.scopes), dict[str, list[int]]()
    for id, turn in own.items():
        at = int(columns.ns.searchsorted(turn.n))
        near = slice(at + 1, at + 1 + LOOKED_BEHIND)
        following[id] = (
            columns.ns[near][columns.sessions[near] == columns.sessions[at]][:2].tolist() if at < len(columns.ns) else []
        )
    wanted = sorted({n for ns in following.values() for n in ns})
    near_by = {turn.n: turn for turn in query.handle.store.turns(query.scopes, Turns(ns=wanted))} if wanted else {}
    found: dict[str, Turn] = {}
    for id, turn in own.items():
        for other in (near_by[n] for n in following[id] if n in near_by):
            if other.role == "user" and other.speaker == turn.speaker:
                found.setdefault(id, other)
    return found
