"""
recall: from a question to hits, best first, each with its sources.

Take the question apart; let words and vectors look at every turn and statement of the scopes, and slots find what
is asked for exactly; put them on one scale; fetch the best until enough pass the filter; make hits of them (hits.py),
and say how it came about. Recall writes nothing; whatever shows its hits to a model or a person reports that once,
afterwards.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from yiku.errors import Damaged
from yiku.flows.common import checks, lookup
from yiku.flows.common.handle import Handle
from yiku.flows.find.assemble import Search, best
from yiku.flows.find.embed import Asked, by_words_only, waiting
from yiku.flows.find.embed import question as embedded
from yiku.rules import analyze, ask, attachments, candidates, chunk, fuse, history, keys, score
from yiku.rules.analyze import fold
from yiku.rules.finding import numbers
from yiku.types import (
    Attachment,
    CountAccess,
    Episode,
    Explanation,
    Hit,
    Hits,
    Memories,
    Postings,
    Records,
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
TYPES = ("memory", "turn", "episode", "attachment")
RECORDS: Mapping[str, tuple[type[Episode] | type[Attachment], float]] = {  # with what their words count for beside those of turns
    "episode": (Episode, 0.8),
    "attachment": (Attachment, 1.0),
}
LAST_FILES = 3  # attachments that are shown where a question for one says nothing else
RECENT_FILES = 20  # attachments of a time that the question names, though their words may say nothing
SPARE = 4  # rows fetched beyond the limit, for those that fall away
FETCH_MORE = 4  # times as many rows, when a filter left too few
MICROSECONDS = 1_000_000
TURNS_AROUND = 4  # of the running conversation, whose words help to find what a question leaves out
TALKED_CHARS = 300  # at the end of each of them
TERMS_AROUND = 24
MANY = 100_000  # turns, of which not all are ranked
CANDIDATES = 20_000
SAMPLE = 16_384  # of resemblances, by which it is known how much the best of them have
SURELY_NEAR = 500  # rows with most of the question's words: their vectors are measured however many there are
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
) -> Hits:
    """The best hits for a question; see Memory.recall."""
    now = handle.now()
    text = checks.text(question, "question", at_most=checks.QUESTION_CHARS)
    types = checks.names(types, "types")
    if not types or any(name not in TYPES for name in types):
        checks.refuse("types", f"must name some of {', '.join(TYPES)}")
    running = checks.optional_name(session, "session")
    recorded, valid = checks.optional_time(as_of, "as_of", now=now), checks.optional_time(valid_at, "valid_at", now=now)
    search = Search(
        handle=handle,
        asked=text,
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
        by_records(search)
    hits = best(search) if search.found else ()
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
        said_later=tuple(search.compared),
        weights=dict(fuse.WEIGHTS),
    )
    exact = max((hit.relevance for hit in hits if "slot" in hit.routes), default=0.0)  # what is asked for, word for word
    sure = max(_confidence(search), exact) if hits else 0.0
    search.diagnostics += left_out(handle, search.scopes)
    return Hits(hits, explanation, tuple(search.diagnostics), round(sure, 4))


def _confidence(search: Search) -> float:
    """How sure the evidence makes, without that of statements which are out of recall at the time asked for."""
    if search.scale is None:
        return 0.0
    gone = [n for index, n in search.items if index == "memory" and (index, n) not in search.in_time]  # corrected, or forgotten
    found = [each.without(gone) if index == "memory" else each for index, each in search.evidence.items()]
    terms = search.question.terms
    return fuse.confidence(search.scale, found, len(terms.words) + len(terms.characters))


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
    found = search.handle.store.memories(search.scopes, select)
    if not found and keys.USER not in question.subjects:
        found = _under_another_name(search, select)
    versions = [memory for memory in found if search.past or history.holds(memory, search.now)]
    named = {memory.subject or "" for memory in versions} | candidates.relatives(question.subjects)
    objects = {object_ for memory in versions if (object_ := fold(memory.object or "")) and object_ in question.text}
    for chain in history.by_line(versions).values():
        if not fuse.asks_for(question, chain[-1]):
            continue
        for steps_back, memory in enumerate(reversed(chain)):
            relevance = fuse.slot(memory, question, named=named, steps_back=steps_back, objects=objects)
            if memory.subject == keys.USER and memory.scope != search.handle.scope:
                relevance *= fuse.OF_ANOTHER  # «I» in another scope is somebody else
            key = ("memory", memory.n)
            search.found[key], search.relevance[key], search.items[key] = {"slot": relevance}, relevance, memory


def _under_another_name(search: Search, select: Memories) -> list[SemanticMemory]:
    """The same asked of whom the question names: 小雨 is «my sister», where that was told."""
    owners = lookup.owners(search.handle, search.scopes, search.question.subjects)
    return (
        search.handle.store.memories(search.scopes, replace(select, pairs=(sorted(owners), search.question.predicates)))
        if owners
        else []
    )


def by_evidence(search: Search, text: str) -> None:
    """Turns and statements by their words, their vectors, and what the question says of time, speaker and role."""
    columns, all_heard = _heard(search)
    words = {index: _words(search, index) for index in ("memory", "turn") if index in search.types}
    near = _near(search, text, words)
    if not all_heard:  # what is hidden, or was said later, is no measure for the rest
        if "turn" in words:
            ns, scores, postings = words["turn"]
            _, heard = score.places(columns.ns, ns)
            words["turn"] = ns[heard], scores[heard], postings
        if near is not None:
            heard = near.memories | score.places(columns.ns, near.ns)[1]
            near = Similar(near.ns[heard], near.memories[heard], near.unspaced[heard], near.alike[heard]) if heard.any() else None
    scale = fuse.scale([scores for _, scores, _ in words.values()], near, carries_on=search.question.carries_on)
    shares = None if near is None else (near.ns, near.memories, scale.of_vectors(near.alike))
    found = {}
    if "turn" in search.types:
        found["turn"] = _of_turns(search, columns, words["turn"], shares, scale)
    if "memory" in search.types:
        found["memory"] = _of_memories(words["memory"], shares, scale)
    for index, evidence in found.items():
        _fetched(search, index, evidence)
    search.scale, search.evidence = scale, found


def left_out(handle: Handle, scopes: Sequence[int]) -> list[str]:
    """A line that says how many rows cannot be read; none where all can."""
    count = len(handle.store.unreadable(scopes))
    rows = "1 row cannot be read, and is" if count == 1 else f"{count:,} rows cannot be read, and are"
    return [f"{rows} left out: `yiku check` names what is wrong, `yiku repair` mends it"] if count else []


def by_records(search: Search) -> None:
    """
    Episodes by their words; attachments too, where the question asks for a file, and by the time that it names.

    They grew out of turns, which can answer without them: where they are damaged, a line says so.
    """
    for index, (kind, counts) in RECORDS.items():
        sort = attachments.wants(search.question) if kind is Attachment and search.question.wants_file else None
        if index not in search.types or search.where is not None or (kind is Attachment and not sort and len(search.types) > 1):
            continue
        try:
            best, found = _grown(search, index, kind, files=bool(sort))
        except Damaged as error:
            search.diagnostics.append(f"{index}s are damaged ({error.detail}) and left out: `yiku repair` mends them")
            continue
        for one in found:
            if isinstance(one, Attachment) and sort and not attachments.fits(sort, one):
                continue
            at = one.ended_at if isinstance(one, Episode) else one.said_at
            parts = {"words": counts * best.get(one.n, 0.0)}
            if any(window.since <= at < window.until for window in search.question.windows):
                parts["time"] = 1.0
            total = parts["words"] + fuse.WEIGHTS["time"] * parts.get("time", 0.0)
            found_by = fuse.relevance(total)
            key = (index, one.n)
            search.relevance[key] = fuse.together([found_by, fuse.ASKED_FOR]) if sort else found_by
            search.found[key], search.items[key] = parts, one


def _grown(
    search: Search, index: str, kind: type[Episode] | type[Attachment], *, files: bool
) -> tuple[Mapping[int, float], Sequence[Episode | Attachment]]:
    """The records that a question may mean, and the scores of those with its words. Raises Damaged."""

    def read(select: Records) -> list[Episode | Attachment]:
        return [*search.handle.store.records(kind, search.scopes, select)]

    ns, scores, _ = _words(search, index)
    best = dict(zip(*score.best(ns, scores, search.limit + SPARE), strict=True))
    found = read(Records(ns=list(best))) if best else []
    for window in search.question.windows if files else ():
        when = Records(since=window.since, until=window.until, newest_first=True, limit=RECENT_FILES)
        found += [one for one in read(when) if one.n not in best]
    if files and not found:  # «the file you made» says nothing more of it
        found = read(Records(newest_first=True, limit=LAST_FILES))
    return best, found


def _heard(search: Search) -> tuple[TurnColumns, bool]:
    """The turns of the scopes that are in recall, asked what held at a time those said by then; whether these are all."""
    import numpy as np

    columns = search.handle.store.columns(search.scopes)
    heard = np.ones(len(columns.ns), np.bool_)
    if search.valid_at is not None:
        heard = columns.said_at <= int(search.valid_at.timestamp() * MICROSECONDS)
    if search.as_of is None and (hidden := search.handle.store.hidden(search.scopes)):
        heard &= ~numbers.among(columns.ns, hidden)
    return (columns, True) if heard.all() else (_some(columns, heard), False)


def _some(columns: TurnColumns, which: np.ndarray | slice) -> TurnColumns:
    """These of the turns."""
    return TurnColumns(
        columns.ns[which],
        columns.sessions[which],
        columns.said_at[which],
        columns.user[which],
        columns.speakers[which],
        columns.names,
    )


def _candidates(
    search: Search, columns: TurnColumns, words: tuple[np.ndarray, np.ndarray, Postings], near: Near | None
) -> np.ndarray | slice:
    """Which turns are ranked: all; of very many those with the most words, those that resemble most, and those of its time."""
    import numpy as np

    if len(columns.ns) <= MANY or search.where is not None:
        return slice(None)
    chosen = np.zeros(len(columns.ns), np.bool_)
    chosen[np.flatnonzero(_in_windows(columns, search.question.windows))[-CANDIDATES:]] = True
    best = [np.array(score.best(*words[:2], CANDIDATES)[0], np.int64)]
    if near is not None:
        ns, memories, shares = near
        some = np.sort(shares[:: max(1, len(shares) // SAMPLE)])
        enough = some[-1 - min(CANDIDATES * len(some) // len(shares), len(some) - 1)]
        best.append(ns[(shares >= enough) & ~memories])
    for ns in best:
        places, there = score.places(columns.ns, ns)
        chosen[places[there]] = True
    return np.flatnonzero(chosen)


def _words(search: Search, index: Any) -> tuple[np.ndarray, np.ndarray, Postings]:
    """Rows that hold words of the question, their scores with the statistics of the scopes asked, and the postings."""
    terms = search.question.terms
    past = search.past if index == "memory" else search.as_of is not None
    wanted = (*terms.words, *terms.characters, *search.around)
    written = {other: term for term in wanted for other in analyze.writings(term) if other not in wanted}
    postings = search.handle.store.postings(index, search.scopes, (*wanted, *written), past=past, cap=score.COMMON_ROWS)
    postings = score.in_one_writing(postings, written)
    ns, scores, dropped = score.bm25(postings, _weights(search))
    search.dropped_terms.update(dropped)
    return ns, scores, postings


def _weights(search: Search) -> list[float]:
    terms = search.question.terms
    return [1.0] * len(terms.words) + [score.CHARACTER_WEIGHT] * len(terms.characters) + [score.AROUND_WEIGHT] * len(search.around)


def _near(search: Search, text: str, words: Mapping[str, tuple[np.ndarray, np.ndarray, Postings]]) -> Similar | None:
    """How much everything resembles the question, surely what has its words; None, and a line of why, where that cannot be told."""
    import numpy as np

    asked = embedded(search.handle, text, search.scopes)
    if not isinstance(asked, Asked):
        search.diagnostics += [asked] if asked else []
        return None
    if late := sum(waiting(search.handle, scope, asked.space) for scope in search.handle.own()):
        search.diagnostics.append(by_words_only(late))
    surely = [
        (index == "memory", np.sort(np.array(score.best(ns, scores, SURELY_NEAR)[0], np.int64)))
        for index, (ns, scores, _) in words.items()
    ]
    return search.handle.vectors.similar(
        search.scopes, asked.space, asked.vector, unspaced=chunk.unspaced(text), surely=surely, common=asked.common
    )


def _of_turns(
    search: Search, columns: TurnColumns, words: tuple[np.ndarray, np.ndarray, Postings], near: Near | None, scale: fuse.Scale
) -> fuse.Evidence:
    """What speaks for each turn; what counts as much or recent is of all turns, also where not all are ranked."""
    import numpy as np

    question = search.question
    ns, scores, postings = words
    signals: dict[str, np.ndarray] = {}
    if len(columns.ns):
        among = _candidates(search, columns, words, near)
        sessions = columns.sessions - columns.sessions.min()
        around = score.by_session(postings, _weights(search), columns.ns, sessions, search.dropped_terms)
        fresh = None if question.wants_history else fuse.freshness(columns.said_at, sessions)
        if not question.asks_assistant:
            signals["opening"] = fuse.openings(sessions, columns.user, among)
        columns, sessions = _some(columns, among), sessions[among]
        if around is not None:
            signals["session"] = scale.of_words(around, float(around.max()))[sessions]
        if fresh is not None:
            signals["recency"] = fresh[sessions]
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
    every, *_ = numbers.distinct(np.concatenate([ns, known]))
    vectors = _placed(every, known, near[2][near[1]], np.nan)
    return fuse.evidence(scale, every, _placed(every, ns, scale.of_words(scores), 0.0), vectors, {})


def _placed(every: np.ndarray, ns: np.ndarray, values: np.ndarray, missing: float) -> np.ndarray:
    """Values of some rows, at their places among all of them."""
    import numpy as np

    found = np.full(len(every), missing)
    places, there = score.places(every, ns)
    found[places[there]] = values[there]
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


def report(handle: Handle, hits: Sequence[Hit]) -> None:
    """Say that these hits were shown: their memories count as retrieved, at most once each and day, and their episodes as shown."""
    if isinstance(hits, str) or not isinstance(hits, Sequence) or not all(isinstance(hit, Hit) for hit in hits):
        checks.refuse("hits", "must be the hits of a recall")
    own = [hit.item.n for hit in hits if isinstance(hit.item, SemanticMemory) and hit.item.scope == handle.scope]
    told = [hit.item.n for hit in hits if isinstance(hit.item, Episode) and hit.item.scope == handle.scope]
    if own or told:
        now = handle.now()
        today = now.replace(hour=0, minute=0, second=0, microsecond=0)
        handle.store.apply(handle.writes(), [CountAccess(own, "retrieved", today, told)], handle.cause("retrieved"))
