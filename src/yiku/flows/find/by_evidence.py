"""
Retrieve and score turns and statements by words, vectors, time, speaker and role.

Every turn and statement of the scopes is looked at. Words and vectors are put on one scale (rules/finding/fuse.py) and added up, and the
best rows are fetched, until enough of them pass the filter.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from yiku.flows.find.embed import EmbeddedQuestion, missing_vectors_note, waiting
from yiku.flows.find.embed import question as embedded
from yiku.flows.find.query import Candidate, Candidates, Key, Query
from yiku.rules.deciding import history
from yiku.rules.finding import ask, fuse, numbers, said_later, score
from yiku.rules.text import analyze, chunk
from yiku.rules.text.analyze import fold
from yiku.types import Memories, Posting, Postings, SemanticMemory, Similar, Turn, TurnColumns, Turns

if TYPE_CHECKING:
    import numpy as np

Near = tuple["np.ndarray", "np.ndarray", "np.ndarray"]  # row numbers, whether a memory's, shares of the vectors' evidence
SPARE = 4  # rows fetched beyond the limit, for those that fall away
FETCH_MORE = 4  # times as many rows, when a filter left too few
MICROSECONDS = 1_000_000
MANY = 100_000  # turns, of which not all are ranked
CANDIDATES = 20_000
SAMPLE = 16_384  # of resemblances, by which it is known how much the best of them have
TOLD_AFTER = 0.8, 0.6, 0.4  # of the share of a time, on the days after it: "on Saturday we went sailing"
PERHAPS_ASKED, ASKED = 24, 6  # of the best turns: looked at for whether somebody else goes on, read for whether they ask
SURELY_NEAR = 500  # rows with most of the question's words: their vectors are measured however many there are


class Words(NamedTuple):
    """Rows that contain words of the question, with scores, postings and dropped terms."""

    ns: np.ndarray
    scores: np.ndarray
    postings: Postings
    dropped: Collection[str]


@dataclass(frozen=True, slots=True)
class Found:
    """
    The candidates of a route, or of all.

    scale, evidence: by which it is known how sure that makes; of turns, statements and notes, whichever are asked for
    asked: the vector of the question, where there is one
    """

    candidates: Candidates = field(default_factory=dict)
    dropped_terms: Collection[str] = ()
    diagnostics: Sequence[str] = ()
    scale: fuse.Scale | None = None
    evidence: Mapping[str, fuse.Evidence] = field(default_factory=dict)
    asked: EmbeddedQuestion | None = None


def by_evidence(query: Query) -> Found:
    """Return candidates by words, vectors, and the time, speaker and role in the question."""
    columns, all_heard = _visible_turns(query)
    words = {index: by_words(query, index) for index in ("memory", "turn") if index in query.types}
    asked, diagnostics = _embed_question(query)
    near = None if asked is None else near_to(query, asked, asked.space, words)
    if not all_heard:  # what is hidden, or was said later, is no measure for the rest
        if "turn" in words:
            _, visible = score.places(columns.ns, words["turn"].ns)
            words["turn"] = words["turn"]._replace(ns=words["turn"].ns[visible], scores=words["turn"].scores[visible])
        if near is not None:
            visible = near.memories | score.places(columns.ns, near.ns)[1]
            near = (
                Similar(near.ns[visible], near.memories[visible], near.is_cjk[visible], near.alike[visible])
                if visible.any()
                else None
            )
    scale = fuse.scale(
        [each.scores for each in words.values()],
        near,
        carries_on=query.question.carries_on,
        calibrated=asked is not None and asked.calibrated,
    )
    shares = None if near is None else (near.ns, near.memories, scale.of_vectors(near.alike))
    dropped = {term for each in words.values() for term in each.dropped}
    evidence = {}
    if "turn" in words:
        evidence["turn"] = _of_turns(query, columns, words["turn"], shares, scale, dropped=dropped)
    if "memory" in words:
        evidence["memory"] = _of_memories(words["memory"], shares, scale)
    candidates = {key: found for index, each in evidence.items() for key, found in _fetch(query, index, each).items()}
    return Found(candidates, dropped, diagnostics, scale, evidence, asked)


def _visible_turns(query: Query) -> tuple[TurnColumns, bool]:
    """Return the visible turns of the scopes, up to `valid_at`; and whether these are all."""
    import numpy as np

    columns = query.handle.store.columns(query.scopes)
    visible = np.ones(len(columns.ns), np.bool_)
    if query.valid_at is not None:
        visible = columns.said_at <= int(query.valid_at.timestamp() * MICROSECONDS)
    if query.as_of is None and (hidden := query.handle.store.hidden(query.scopes)):
        visible &= ~numbers.among(columns.ns, hidden)
    return (columns, True) if visible.all() else (_subset(columns, visible), False)


def _subset(columns: TurnColumns, which: np.ndarray | slice) -> TurnColumns:
    """Return the columns of some turns."""
    return TurnColumns(
        columns.ns[which],
        columns.sessions[which],
        columns.said_at[which],
        columns.user[which],
        columns.speakers[which],
        columns.names,
    )


def _candidates(query: Query, columns: TurnColumns, words: Words, near: Near | None) -> np.ndarray | slice:
    """Return the turns to rank: all, or of very many the best by words, vectors and time."""
    import numpy as np

    if len(columns.ns) <= MANY or query.where is not None:
        return slice(None)
    chosen = np.zeros(len(columns.ns), np.bool_)
    chosen[np.flatnonzero(_in_windows(columns, query.question.windows))[-CANDIDATES:]] = True
    best = [np.array(score.best(words.ns, words.scores, CANDIDATES)[0], np.int64)]
    if near is not None:
        ns, memories, shares = near
        some = np.sort(shares[:: max(1, len(shares) // SAMPLE)])
        enough = some[-1 - min(CANDIDATES * len(some) // len(shares), len(some) - 1)]
        best.append(ns[(shares >= enough) & ~memories])
    for ns in best:
        places, there = score.places(columns.ns, ns)
        chosen[places[there]] = True
    return np.flatnonzero(chosen)


def by_words(query: Query, index: Any) -> Words:
    """Return rows that contain words of the question, scored with the statistics of these scopes."""
    terms = query.question.terms
    past = query.past if index == "memory" else query.as_of is not None
    wanted = (*terms.words, *terms.characters, *query.around)
    written = {other: term for term in wanted for other in analyze.writings(term) if other not in wanted}
    postings = score.in_one_writing(_look_up(query, index, wanted, written, past=past), written)
    ns, scores, dropped = score.bm25(postings, _weights(query))
    return Words(ns, scores, postings, dropped)


def _look_up(query: Query, index: Any, wanted: Sequence[str], written: Mapping[str, str], *, past: bool) -> Postings:
    """
    Look up terms, and those of their other writings that may occur.

    Chinese characters come first: a pair is nowhere where one of its characters is not, and need not be looked up.
    """

    def found(some: Sequence[str]) -> Postings:
        return query.handle.store.postings(index, query.scopes, some, past=past, cap=score.COMMON_ROWS)

    characters = dict.fromkeys([*query.question.terms.characters, *(other for other in written if len(other) == 1)])
    if not characters:
        return found([*wanted, *written])
    first = found([*characters])
    absent = {one.term: one for one in first.found if not one.documents}
    rest = found([term for term in (*wanted, *written) if term not in characters and absent.keys().isdisjoint(term)])
    known = {one.term: one for one in (*first.found, *rest.found)}
    known |= {
        term: Posting(term, 0, one.ns, one.lengths) for one in islice(absent.values(), 1) for term in wanted if term not in known
    }
    return replace(first, found=[known[term] for term in (*wanted, *(other for other in written if other in known))])


def _weights(query: Query) -> list[float]:
    terms = query.question.terms
    return [1.0] * len(terms.words) + [score.CHARACTER_WEIGHT] * len(terms.characters) + [score.AROUND_WEIGHT] * len(query.around)


def _embed_question(query: Query) -> tuple[EmbeddedQuestion | None, list[str]]:
    """Return the vector of the question, or None and a note why there is none; a note, too, if vectors are missing."""
    asked = embedded(query.handle, query.text, query.scopes)
    if not isinstance(asked, EmbeddedQuestion):
        return None, [asked] if asked else []
    late = sum(waiting(query.handle, scope, asked.space) for scope in query.handle.own())
    return asked, [missing_vectors_note(late)] if late else []


def near_to(query: Query, asked: EmbeddedQuestion, space: str, words: Mapping[str, Words]) -> Similar | None:
    """Return the similarity of everything in a space to the question, always of what has its words."""
    import numpy as np

    always_score = [
        (index == "memory", np.sort(np.array(score.best(each.ns, each.scores, SURELY_NEAR)[0], np.int64)))
        for index, each in words.items()
    ]
    return query.handle.vectors.similar(
        query.scopes, space, asked.vector, is_cjk=chunk.is_cjk(query.text), always_score=always_score, common=asked.common
    )


def _of_turns(
    query: Query, columns: TurnColumns, words: Words, near: Near | None, scale: fuse.Scale, *, dropped: Collection[str]
) -> fuse.Evidence:
    """Return the evidence for each turn; common and recent ones are judged over all turns."""
    import numpy as np

    question = query.question
    signals: dict[str, np.ndarray] = {}
    among: np.ndarray | slice = slice(None)
    if len(columns.ns):
        among = _candidates(query, columns, words, near)
        sessions = columns.sessions - columns.sessions.min()
        around = score.by_session(words.postings, _weights(query), columns.ns, sessions, dropped)
        fresh = None if question.wants_history else fuse.freshness(columns.said_at, sessions)
        if not question.asks_assistant:
            signals["opening"] = fuse.openings(sessions, columns.user, among)
        columns, sessions = _subset(columns, among), sessions[among]
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
    shares = spread(columns.ns, words.ns, scale.of_words(words.scores), 0.0)
    vectors = None
    if near is not None:
        turns = ~near[1]
        vectors = spread(columns.ns, near[0][turns], near[2][turns], np.nan)
    if len(columns.names) > 1:
        signals["asked"] = _of_questions_before(query, columns, fuse.evidence(scale, columns.ns, shares, vectors, {}).total, among)
    return fuse.evidence(scale, columns.ns, shares, vectors, signals)


def _of_questions_before(query: Query, columns: TurnColumns, own: np.ndarray, among: np.ndarray | slice) -> np.ndarray:
    """
    Return for each turn what the question just before it tells, where people talk with each other.

    Of the best turns it is read whether they ask. What people answer says little of what was asked: "How was the race?" "2:14:08".
    own: the evidence of what each turn tells itself; among: the places of the turns in their scopes
    """
    import numpy as np

    found = np.zeros(len(columns.ns))
    some = np.flatnonzero(own > 0)
    if len(some) > PERHAPS_ASKED:
        some = some[np.argpartition(-own[some], PERHAPS_ASKED)[:PERHAPS_ASKED]]
    best = some[np.lexsort((-some, -own[some]))]
    before = fuse.answered(best, columns.sessions, columns.user, columns.speakers, among)[:ASKED]
    if len(before):
        rows = query.handle.store.turns(query.scopes, Turns(ns=columns.ns[before].tolist(), hidden=query.as_of is not None))
        places, _ = score.places(columns.ns, np.array([row.n for row in rows if ask.asks(row.content)], np.int64))
        found[places + 1] = own[places]
    return found


def _of_memories(words: Words, near: Near | None, scale: fuse.Scale) -> fuse.Evidence:
    """Return the evidence for each statement."""
    import numpy as np

    ns, scores = words.ns, words.scores
    if near is None:
        return fuse.evidence(scale, ns, scale.of_words(scores), None, {})
    known = near[0][near[1]]
    every, *_ = numbers.distinct(np.concatenate([ns, known]))
    vectors = spread(every, known, near[2][near[1]], np.nan)
    return fuse.evidence(scale, every, spread(every, ns, scale.of_words(scores), 0.0), vectors, {})


def spread(every: np.ndarray, ns: np.ndarray, values: np.ndarray, missing: float) -> np.ndarray:
    """Spread values of some rows over the places of all."""
    import numpy as np

    found = np.full(len(every), missing)
    places, there = score.places(every, ns)
    found[places[there]] = values[there]
    return found


def _in_windows(columns: TurnColumns, windows: Sequence[Any]) -> np.ndarray:
    """Return 1 for turns said in a time window of the question, less for those of the days after it, which may tell of it."""
    import numpy as np

    inside = np.zeros(len(columns.ns))
    for window in windows:
        since, until = (int(at.timestamp() * MICROSECONDS) for at in (window.since, window.until))
        for days, share in enumerate((1.0, *TOLD_AFTER)):
            within = (columns.said_at >= since) & (columns.said_at < until + days * fuse.DAY_MICROSECONDS)
            inside[within] = np.maximum(inside[within], share)
    return inside


def _fetch(query: Query, index: str, evidence: fuse.Evidence) -> Candidates:
    """Fetch rows, best first, until enough of them pass the filter."""
    store, fetched = query.handle.store, dict[Key, Candidate]()
    rows: Sequence[SemanticMemory | Turn]
    most = max(query.limit, query.pool, said_later.POOL)  # what is compared is the same, whatever the limit
    start, size, kept = 0, most + SPARE, 0
    while kept < most:
        places = evidence.best_first(start + size)[start:]
        if not len(places):
            break
        place_of = {int(evidence.ns[place]): int(place) for place in places}
        if index == "memory":
            rows = store.memories(query.scopes, Memories(ns=list(place_of), where=query.where))
        else:
            rows = store.turns(query.scopes, Turns(ns=list(place_of), where=query.where, hidden=query.as_of is not None))
        for row in rows:
            place = place_of[row.n]
            parts = {name: float(part[place]) for name, part in evidence.parts.items() if part[place] > 0}
            fetched[index, row.n] = Candidate(row, parts, fuse.relevance(float(evidence.total[place])))
            kept += not isinstance(row, SemanticMemory) or query.past or history.recallable(row, query.now)
        start, size = start + size, size * FETCH_MORE
    return fetched
