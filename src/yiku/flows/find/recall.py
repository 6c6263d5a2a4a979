"""
Answer a question with ranked hits and their sources, from all search routes.

Take the question apart. Each route gives its candidates: slots find what is asked for exactly, words and vectors look at every
turn and statement of the scopes, and the best are fetched until enough pass the filter; episodes and attachments are found by their
words. assemble.py makes hits of them, and the answer says how it came about. Recall writes nothing; whatever shows its hits to a
model or a person reports that once, afterwards.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from yiku.errors import Damaged
from yiku.flows.common import checks, lookup
from yiku.flows.common.forgotten import remembered
from yiku.flows.common.handle import Handle
from yiku.flows.find import rerank
from yiku.flows.find.assemble import Assembled, assemble
from yiku.flows.find.by_evidence import SPARE, Found, Words, by_evidence, by_words
from yiku.flows.find.by_notes import by_notes
from yiku.flows.find.query import Candidate, Candidates, Key, Query
from yiku.rules.deciding import history
from yiku.rules.finding import ask, candidates, fuse, score
from yiku.rules.sessions import attachments
from yiku.rules.statements import keys
from yiku.rules.statements.subjects import of_speaker
from yiku.rules.text import analyze
from yiku.rules.text.analyze import fold
from yiku.types import (
    Attachment,
    Condition,
    Context,
    CountAccess,
    Episode,
    Explanation,
    Filter,
    Group,
    Hit,
    Hits,
    Memories,
    Records,
    SemanticMemory,
    State,
    Turns,
)

TYPES = ("memory", "turn", "episode", "attachment", "note")
RECORDS: Mapping[str, tuple[type[Episode] | type[Attachment], float]] = {  # with what their words count for beside those of turns
    "episode": (Episode, 0.8),
    "attachment": (Attachment, 1.0),
}
LAST_FILES = 3  # attachments that are shown where a question for one says nothing else
RECENT_FILES = 20  # attachments of a time that the question names, though their words may say nothing
TURNS_AROUND = 4  # of the running conversation, whose words help to find what a question leaves out
TALKED_CHARS = 300  # at the end of each of them
TERMS_AROUND = 24
SURELY = 0.8  # of the words of an event, to take the time at which it was told for its own


def recall(
    handle: Handle,
    question: str,
    *,
    limit: int | None = None,
    where: Mapping[str, Any] | None = None,
    as_of: datetime | str | None = None,
    valid_at: datetime | str | None = None,
    types: Sequence[str] = TYPES,
    session: str | None = None,
    reranked: bool = False,
) -> Hits:
    """
    The best hits for a question; see Memory.recall.

    reranked: a reranker orders them, if the settings name one: for what is asked, not for what is looked up by the way
    """
    now = handle.now()
    text = checks.question(question)
    types = checks.names(types, "types")
    if not types or any(name not in TYPES for name in types):
        checks.refuse("types", f"must name some of {', '.join(TYPES)}")
    running = checks.optional_name(session, "session")
    recorded, valid = checks.optional_time(as_of, "as_of", now=now), checks.optional_time(valid_at, "valid_at", now=now)
    asked = ask.analyse(text, handle.settings.names, valid or recorded or now)
    query = Query(
        handle=handle,
        text=text,
        question=asked,
        scopes=handle.reads(),
        now=now,
        limit=checks.integer(handle.settings.limit if limit is None else limit, "limit"),
        where=checks.where(where, now=now),
        as_of=recorded,
        valid_at=valid,
        types=types,
        past=asked.wants_history or recorded is not None or valid is not None,
        pool=rerank.MOST if reranked and handle.settings.rerank != "off" else 0,
    )
    if not (query.scopes and query.limit):
        return _answer(query, Found(), Found())
    query = query._replace(around=_conversation_terms(query, running), question=_resolve_event_time(query))
    slots = by_slot(query) if "memory" in types else {}
    found, records = by_evidence(query), by_records(query)
    notes = by_notes(query, found)
    return _answer(
        query,
        replace(
            found,
            candidates={**_merge(slots, found.candidates), **records.candidates, **notes.candidates},
            dropped_terms={*found.dropped_terms, *records.dropped_terms, *notes.dropped_terms},
            diagnostics=(*found.diagnostics, *records.diagnostics, *notes.diagnostics),
        ),
        notes,
    )


def _answer(query: Query, found: Found, notes: Found) -> Hits:
    """Assemble hits, explanation and confidence."""
    answer = assemble(query, found.candidates) if found.candidates else Assembled()
    by_slots = [one.item for one in answer.candidates.values() if "slot" in one.routes and isinstance(one.item, SemanticMemory)]
    question = query.question
    explanation = Explanation(
        terms=(*question.terms.words, *question.terms.characters),
        dropped_terms=tuple(sorted(found.dropped_terms)),
        slots=tuple(dict.fromkeys(f"{memory.subject} | {memory.predicate}" for memory in by_slots)),
        wants_history=question.wants_history,
        windows=tuple(window.text for window in question.windows),
        routes=dict(Counter(route for one in answer.candidates.values() for route in one.routes).most_common())
        | ({rerank.ROUTE: answer.read} if answer.read else {}),
        left_out=tuple(answer.left_out),
        said_later=tuple(answer.compared),
        weights=dict(fuse.WEIGHTS),
    )
    exact = max((hit.relevance for hit in answer.hits if "slot" in hit.routes), default=0.0)  # what is asked for, word for word
    sure = max(_confidence(query, found, answer), _confidence(query, notes, answer), exact) if answer.hits else 0.0
    diagnostics = (*found.diagnostics, *answer.diagnostics, *left_out(query.handle, query.scopes))
    judged = found.scale is not None and found.scale.calibrated and not found.diagnostics
    asks_more = query.question.windows or any(index == "attachment" for index, _ in found.candidates)  # for a time, a file
    fits = sure >= fuse.TOO_FAR or not judged or bool(asks_more)
    return Hits(answer.hits, explanation, diagnostics, round(sure, 4), fits)


def _confidence(query: Query, found: Found, answer: Assembled) -> float:
    """Return the confidence of the evidence, without statements hidden at the time asked for."""
    if found.scale is None:
        return 0.0
    gone = [n for index, n in found.candidates if index == "memory" and (index, n) not in answer.in_time]  # corrected, or forgotten
    evidence = [each.without(gone) if index == "memory" else each for index, each in found.evidence.items()]
    terms = query.question.terms
    return fuse.confidence(found.scale, evidence, len(terms.words) + len(terms.characters))


def _conversation_terms(query: Query, session: str | None) -> tuple[str, ...]:
    """Return words of the last turns of the running conversation that the question may leave out."""
    if session is None:
        return ()
    last = query.handle.store.turns(query.handle.own(), Turns(session=session, newest_first=True, limit=TURNS_AROUND))
    own = {*query.question.terms.words, *query.question.terms.characters}
    words = (word for turn in last for word in analyze.question(turn.content[-TALKED_CHARS:]).words)
    return tuple(dict.fromkeys(word for word in words if word not in own))[:TERMS_AROUND]


def _resolve_event_time(query: Query) -> ask.Question:
    """Resolve a time relative to an event, such as `the week before we moved`."""
    hinge = query.question.anchored
    if hinge is None:
        return query.question
    event = recall(query.handle, hinge.event, limit=1, as_of=query.as_of, valid_at=query.valid_at)
    if not event or event[0].routes.get("words", (0, 0.0))[1] < SURELY:
        return query.question
    return replace(query.question, windows=(*query.question.windows, hinge.window(event[0].said_at)))


# ------------------------------------------------------------------ routes


def by_slot(query: Query) -> Candidates:
    """Return statements whose subject and predicate the question names."""
    question = query.question
    if not question.subjects or not question.predicates:
        return {}
    select = Memories(
        pairs=(question.subjects, question.predicates),
        states=() if query.as_of or query.valid_at else (State.ACTIVE,),
        current=not query.past,
        where=query.where if query.valid_at is None or query.as_of else _held(query.where, query.valid_at),
    )
    found = query.handle.store.memories(query.scopes, select)
    if not found and keys.USER not in question.subjects:
        owners = lookup.resolve_names(query.handle, query.scopes, question.subjects)  # 小雨 is my sister, where that was told
        found = (
            query.handle.store.memories(query.scopes, replace(select, pairs=(sorted(owners), question.predicates)))
            if owners
            else []
        )
    if query.valid_at and not query.as_of:  # with that the journal says what each was
        found = [memory for memory in found if memory.state is State.ACTIVE or history.put_away(memory)]
    versions = [memory for memory in found if query.past or history.holds(memory, query.now)]
    named = {memory.subject or "" for memory in versions} | candidates.relatives(question.subjects)
    objects = {object_ for memory in versions if (object_ := fold(memory.object or "")) and object_ in question.text}
    slots: dict[Key, Candidate] = {}
    for chain in history.by_line(versions).values():
        if not fuse.asks_for(question, chain[-1]):
            continue
        for steps_back, memory in enumerate(reversed(chain)):
            relevance = fuse.slot(memory, question, named=named, steps_back=steps_back, objects=objects)
            if memory.scope != query.handle.scope and of_speaker(memory.subject or ""):
                relevance *= fuse.OF_ANOTHER  # `I` and `my sister` in another scope are somebody else
            slots["memory", memory.n] = Candidate(memory, {"slot": relevance}, relevance)
    return slots


def _held(where: Filter | None, at: datetime) -> Filter:
    """Return a filter, and that a version is live, or was put away after a time and held until then."""
    lasted = Group("or", (Condition("expires_at", "exists", False), Condition("expires_at", "gt", at)))
    put_away = (Condition("state", "in", (State.ARCHIVED, State.JUNK)), Condition("updated_at", "gt", at))
    then = (*put_away, Condition("said_at", "lte", at), lasted)
    held = Group("or", (Condition("state", "eq", State.ACTIVE), Group("and", then)))
    return held if where is None else Group("and", (where, held))


def _merge(slots: Candidates, found: Candidates) -> Candidates:
    """Merge the candidates of all routes; duplicates keep their best relevance."""
    both = dict(slots)
    for key, one in found.items():
        if (known := slots.get(key)) is not None:
            one = Candidate(known.item, {**known.routes, **one.routes}, fuse.combine([known.relevance, one.relevance]))  # noqa: PLW2901
        both[key] = one
    return both


def left_out(handle: Handle, scopes: Sequence[int]) -> list[str]:
    """Return a line that says how many rows are unreadable, if any."""
    count = len(handle.store.unreadable(scopes))
    rows = "1 row cannot be read, and is" if count == 1 else f"{count:,} rows cannot be read, and are"
    return [f"{rows} left out: `yiku check` shows the damage, `yiku repair` repairs it"] if count else []


def by_records(query: Query) -> Found:
    """
    Return episodes by their words, and attachments if the question asks for a file.

    They grew out of turns, which can answer without them: where they are damaged, a line says so.
    """
    candidates, dropped, diagnostics = dict[Key, Candidate](), set[str](), list[str]()
    for index, (kind, counts) in RECORDS.items():
        sort = attachments.wants(query.question) if kind is Attachment and query.question.wants_file else None
        if index not in query.types or query.where is not None or (kind is Attachment and not sort and len(query.types) > 1):
            continue
        try:
            words = by_words(query, index)
            dropped.update(words.dropped)
            best, found = _find_records(query, kind, words, files=bool(sort))
        except Damaged as error:
            diagnostics.append(f"{index}s are damaged ({error.detail}) and left out: `yiku repair` mends them")
            continue
        for one in found:
            if isinstance(one, Attachment) and sort and not attachments.fits(sort, one):
                continue
            at = one.ended_at if isinstance(one, Episode) else one.said_at
            parts = {"words": counts * best.get(one.n, 0.0)}
            if any(window.since <= at < window.until for window in query.question.windows):
                parts["time"] = 1.0
            found_by = fuse.relevance(parts["words"] + fuse.WEIGHTS["time"] * parts.get("time", 0.0))
            candidates[index, one.n] = Candidate(one, parts, fuse.combine([found_by, fuse.ASKED_FOR]) if sort else found_by)
    return Found(candidates, dropped, diagnostics)


def _find_records(
    query: Query, kind: type[Episode] | type[Attachment], words: Words, *, files: bool
) -> tuple[Mapping[int, float], Sequence[Episode | Attachment]]:
    """Return records that match, with scores. Raises Damaged."""

    def read(select: Records) -> list[Episode | Attachment]:
        return [*query.handle.store.records(kind, query.scopes, select)]

    best = dict(zip(*score.best(words.ns, words.scores, query.limit + SPARE), strict=True))
    found = read(Records(ns=list(best))) if best else []
    for window in query.question.windows if files else ():
        when = Records(since=window.since, until=window.until, newest_first=True, limit=RECENT_FILES)
        found += [one for one in read(when) if one.n not in best]
    if files and not found:  # `the file you made` says nothing more of it
        found = read(Records(newest_first=True, limit=LAST_FILES))
    return best, found if query.as_of is not None else remembered(query.handle, query.scopes, found)


def report_shown(handle: Handle, hits: Sequence[Hit] | Context) -> None:
    """Count these hits, or those and the rules of a context, as retrieved, at most once each per day."""
    hits, rules = (hits.hits, hits.rules) if isinstance(hits, Context) else (hits, ())
    if isinstance(hits, str) or not isinstance(hits, Sequence) or not all(isinstance(hit, Hit) for hit in hits):
        checks.refuse("hits", "must be the hits of a recall")
    own = [
        item.n for item in (*rules, *(hit.item for hit in hits)) if isinstance(item, SemanticMemory) and item.scope == handle.scope
    ]
    episodes = [hit.item.n for hit in hits if isinstance(hit.item, Episode) and hit.item.scope == handle.scope]
    if own or episodes:
        now = handle.now()
        today = now.replace(hour=0, minute=0, second=0, microsecond=0)
        handle.store.apply(handle.writes(), [CountAccess(own, "retrieved", today, episodes)], handle.cause("retrieved"))
