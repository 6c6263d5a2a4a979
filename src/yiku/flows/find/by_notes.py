"""
Retrieve and score notes by words and vectors, on the same scale as turns and statements.

If turns or statements were found, their scale applies: notes, however many, do not change how turns are ranked.
"""

from __future__ import annotations

from dataclasses import replace

from yiku.flows.find.by_evidence import SPARE, Found, by_words, near_to, spread
from yiku.flows.find.query import Candidate, Key, Query
from yiku.rules.finding import fuse, numbers
from yiku.store.api import of_notes
from yiku.types import Note


def by_notes(query: Query, talk: Found) -> Found:
    """
    Return passages of notes that may answer the question.

    talk: what was found among turns and statements, and the scale of that
    """
    import numpy as np

    if "note" not in query.types or query.where is not None or not query.handle.store.notes.exist(query.scopes):
        return Found()
    words = by_words(query, "note")
    near = None if talk.asked is None else near_to(query, talk.asked, of_notes(talk.asked.space), {"note": words})
    if not len(words.ns) and near is None:
        return Found(dropped_terms=words.dropped)
    calibrated = talk.asked is not None and talk.asked.calibrated
    scale = _scale(talk, fuse.scale([words.scores], near, carries_on=query.question.carries_on, calibrated=calibrated))
    every = words.ns if near is None else numbers.distinct(np.concatenate([words.ns, near.ns]))[0]
    shares = spread(every, words.ns, scale.of_words(words.scores), 0.0)
    vectors = None
    if scale.near is not None:  # what has none yet is found by its words, as strongly
        vectors = np.full(len(every), np.nan) if near is None else spread(every, near.ns, scale.of_vectors(near.alike), np.nan)
    evidence = fuse.evidence(scale, every, shares, vectors, {})
    places = {int(evidence.ns[place]): int(place) for place in evidence.best_first(max(query.limit, query.pool) + SPARE)}
    candidates = dict[Key, Candidate]()
    for note in query.handle.store.notes.read(query.scopes, sorted(places)):
        place = places[note.n]
        parts = {name: float(part[place]) for name, part in evidence.parts.items() if part[place] > 0}
        total = float(evidence.total[place])
        if _in_time(query, note):
            parts["time"] = 1.0
            total += scale.weight("time")
        candidates["note", note.n] = Candidate(note, parts, fuse.relevance(total))
    return Found(candidates, words.dropped, scale=scale, evidence={"note": evidence})


def _scale(talk: Found, notes_scale: fuse.Scale) -> fuse.Scale:
    """Return the scale of turns and statements; that of notes alone if no turn or statement was scored."""
    if talk.scale is None or not any(len(each.ns) for each in talk.evidence.values()):
        return notes_scale
    if talk.scale.near is not None:
        return talk.scale
    return replace(talk.scale, near=notes_scale.near, calibrated=notes_scale.calibrated)


def _in_time(query: Query, note: Note) -> bool:
    """Tell whether a note is a daily log of a day that the question names."""
    of_a_day = note.source in ("daily", "archive")
    return of_a_day and any(window.since <= note.said_at < window.until for window in query.question.windows)
