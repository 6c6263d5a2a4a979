"""
Classify whether a clause is worth keeping, by a logistic regression over its words and form.

`rules/lexicon/weights.py` has the weights. They come from clauses of real talk that a reader judged, alone, as something
to know next month or not (bench/learning/worth.tsv), by `scripts/fit_worth.py`, a logistic regression. A feature without a
weight says nothing, so a text of a language that nobody judged is scored by how it is said alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from math import fsum

from yiku.rules.lexicon.weights import ENOUGH, WEIGHTS
from yiku.rules.statements.clause import USER, Clause, Tense
from yiku.rules.statements.moods import COLONS
from yiku.rules.statements.read import CLOSES
from yiku.rules.statements.subjects import is_person
from yiku.rules.text.analyze import UNSPACED_RUN, fold, tokens

_CLOSES = {**CLOSES, "》": "《"}  # a title, too
LEAST = 2  # content words: who has only "I am back" knows nothing
LONG = 6  # content words: a clause with more of them counts as this long
_OPENS = 2  # words or wide characters that a clause begins with are a feature of their own


def is_worth_keeping(text: str, clause: Clause) -> bool:
    """Whether most readers would keep a clause, by its score."""
    headed = text[clause.sentence[0] : clause.start].rstrip()[-1:] in COLONS  # an entry of a list or a form
    whole = len(clause.content) >= LEAST and not headed and _is_closed(text[clause.start : clause.end])
    return whole and score(text, clause) >= ENOUGH


def _is_closed(quote: str) -> bool:
    """Whether all quotes and brackets of a clause are balanced."""
    return quote.count('"') % 2 == 0 and all(quote.count(closes) == quote.count(opens) for closes, opens in _CLOSES.items())


def score(text: str, clause: Clause) -> float:
    """Return the log odds that a reader would keep a clause."""
    return fsum(WEIGHTS.get(feature, 0.0) for feature in features(text, clause))  # in any order the same


def features(text: str, clause: Clause) -> set[str]:
    """Return the features of a clause: `=past` its form, `bought` its words, `^i just` its beginning, `week$` its end."""
    return {*_manner(clause), *_words(fold(text[clause.start : clause.end]))}


def _manner(clause: Clause) -> Iterator[str]:
    somebody = "user" if clause.subject == USER else "kin" if "'s " in clause.subject else ""
    yield f"={somebody or ('named' if is_person(clause.subject) else 'thing' if clause.subject else 'nobody')}"
    yield f"={clause.tense}"
    yield f"=holds {min(len(clause.content), LONG)}"
    yield from (f"=value {value.sort}" for value in clause.values)
    yield from (f"=slot {slot.predicate}" for slot in clause.slots)
    for name in ("hedged", "denied", "possible", "alone", "explicit", "habit", "event", "meant", "cue"):
        if getattr(clause, name):
            yield f"={name}"
    if clause.start == clause.sentence[0]:
        yield "=first"
    if clause.end >= clause.sentence[1] - 1:
        yield "=last"
    if clause.tense is not Tense.NOW and any(value.dated for value in clause.values):
        yield "=dated"


def _words(folded: str) -> Iterator[str]:
    """Yield the word features of a clause: stems, pairs of words, pairs of Chinese characters."""
    said: list[str] = []
    for place, run in enumerate(UNSPACED_RUN.split(folded)):
        if place % 2:
            found = [*run]
            yield from map("".join, pairwise(run))
        else:
            found = [next(iter(tokens(word).words), word) for word in run.replace(",", " ").split()]
        yield from found
        yield from map(" ".join, pairwise(found[: 0 if place % 2 else None]))
        said += found
    if said:
        yield f"^{' '.join(said[:_OPENS])}"
        yield f"{' '.join(said[-_OPENS:])}$"
        yield f"{said[-1]}$"
