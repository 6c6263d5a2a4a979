"""
Parse a question: its search terms, candidate slots, the times and things it names, and what it wants.

A want changes how hits are ranked, never which exist: the past, several sessions at once (a count, a sum, an order of
events), what somebody likes, a file, or what the other side of a talk said. It is told by the lists of
`lexicon/*/asking.toml` and by the classes of the words. A message that tells something and asks for none of these
carries on with a matter: `I'm back, the setup is done`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise
from typing import Literal, get_args

from yiku.rules.finding import candidates
from yiku.rules.lexicon import built_in, lists
from yiku.rules.lexicon import flags as F
from yiku.rules.statements.question import asks_how_it_was, what_came_after
from yiku.rules.text.analyze import QUESTION_CHARS, fold, question
from yiku.rules.text.sentences import ASKING, is_wide, sentences
from yiku.rules.text.words import Word, content, flags_of, words
from yiku.rules.values import when
from yiku.types import Tokens

LONGEST_ASKED = 300  # characters; a longer message hardly asks for one slot
LONG_ENOUGH = 60  # characters, a wide one counting as three, of a message that carries on; shorter ones are questions, too
NEAR, NEAR_WIDE = 16, 5  # characters in which a word follows another, with spaces and without
SortOfFile = Literal["voice", "video", "picture", "document"]


@dataclass(frozen=True, slots=True)
class Question:
    """
    A parsed question.

    subjects × predicates are the slots it may ask for; hinted are the predicates that it asks for beyond doubt.
    things are the content words of what it names, unless it asks what that is. windows are the times that it names,
    anchored a time that hangs on an event.
    """

    said: str
    text: str  # folded
    terms: Tokens
    subjects: tuple[str, ...] = ()
    predicates: tuple[str, ...] = ()
    hinted: tuple[str, ...] = ()
    things: frozenset[str] = frozenset()
    wants_history: bool = False
    wants_count: bool = False  # several sessions at once: how many, in total, which came first
    wants_preference: bool = False  # an answer that what somebody likes should shape
    wants_file: bool = False
    asks_assistant: bool = False  # what the other side of the talk said
    asks_who: bool = False  # which may be answered by a name
    carries_on: bool = False  # tells something, in the middle of a matter
    windows: tuple[when.Window, ...] = ()
    anchored: when.Anchored | None = None


def analyse(text: str, names: Sequence[str] = (), now: datetime | None = None) -> Question:
    """Parse a question; `names` are what the owner is called. Without `now` no times are parsed."""
    folded = fold(text).strip()
    beginning = folded[:QUESTION_CHARS]
    asking, telling = _read(beginning)
    found = sorted([*asking, *telling], key=lambda word: word.start)
    other_side = _asks_the_other_side(beginning, found)
    tells = not other_side and _is_long(beginning) and bool(flags_of(telling) & (F.SPEAKER | F.MY))
    plain = Question(text, folded, question(text), asks_assistant=other_side)
    if len(folded) > LONGEST_ASKED:
        return replace(plain, carries_on=tells)
    asking = asking or found
    runs = [*candidates.runs(folded, found)]
    hinted = candidates.predicates(folded, asking)
    who = _asks_who(found)
    named = {run for run, _ in runs if len(run) > 1} | candidates.other_names(found, hinted) | ({"name"} if who else set())
    history = not other_side and asks_how_it_was(folded, asking, built_in())
    several = lists.has(folded, "asking.several")
    advice = not other_side and _has(folded, "asking.advice")
    windows = when.windows(text, now) if now else ()
    return replace(
        plain,
        terms=_without(plain.terms, folded, what_came_after(folded, found)) if history else plain.terms,
        subjects=tuple(sorted(candidates.subjects(folded, found, runs, names))),
        predicates=tuple(sorted(named)),
        hinted=tuple(sorted(hinted)),
        things=frozenset() if flags_of(asking) & F.WHAT else content([word for word in asking if not word.flags & F.KIN]),
        wants_history=history,
        wants_count=several,
        wants_preference=advice,
        wants_file=_has(folded, "asking.file") or (lists.has(folded, "asking.handed") and sort_of_file(folded) is not None),
        asks_who=who,
        carries_on=tells and not (history or several or advice or windows),
        windows=windows,
        anchored=when.anchored(text) if now else None,
    )


def asks(text: str) -> bool:
    """Whether a turn asks something, with or without a question mark."""
    return text.endswith(tuple(ASKING)) or bool(_read(fold(text[:QUESTION_CHARS]))[0])


def sort_of_file(folded: str) -> SortOfFile | None:
    """Return the sort of file that a text names, None where it names none in particular."""
    return next((sort for sort in get_args(SortOfFile) if lists.has(folded, f"asking.{sort}")), None)


def _read(folded: str) -> tuple[list[Word], list[Word]]:
    """Return the words of the sentences that ask, and those of the others."""
    asking: list[Word] = []
    telling: list[Word] = []
    for one in sentences(folded, built_in()):
        found = words(folded, one.start, one.stop, built_in())
        (asking if one.asks or _asks(found) else telling).extend(found)
    return asking, telling


def _without(terms: Tokens, folded: str, some: Sequence[Word]) -> Tokens:
    """Return the search terms of a question without some of its words, or all if it has no others."""
    kept, at = list[str](), 0
    for word in some:
        kept.append(folded[at : word.start])
        at = max(at, word.end)
    left = question(" ".join([*kept, folded[at:]])) if some else terms
    return left if left.words or left.characters else terms


def _asks(found: Sequence[Word]) -> bool:
    """Whether a sentence without a question mark asks: by its first telling word, in Chinese by any word."""
    asks, leads = F.ASKS | F.ASKS_FIRST, F.LEAD | F.JOIN | F.ALSO | F.REQUEST
    first = True
    for word in found:
        if word.flags & asks and (first or word.cjk):
            return True
        first = first and bool(word.sign or word.inside or word.flags & leads)
    return False


def _is_long(folded: str) -> bool:
    wide = 0 if folded.isascii() else sum(map(is_wide, folded))
    return len(folded) + 2 * wide >= LONG_ENOUGH


def _has(folded: str, wanted: str) -> bool:
    """Whether a text has a word of a list, outside phrases in which it means something else."""
    meant = lists.words(wanted)
    return any(match[0] in meant for match in lists.looked_for(wanted, f"{wanted}_else").finditer(folded))


def _asks_who(found: Sequence[Word]) -> bool:
    """Whether it asks who somebody is: who is, 是谁."""
    be = F.BE | F.WAS
    return any(one.flags & F.WHO and two.flags & be for pair in pairwise(found) for one, two in (pair, pair[::-1]))


def _asks_the_other_side(folded: str, found: Sequence[Word]) -> bool:
    """Whether it asks what the assistant said: you suggested, your answer, our last chat."""
    if lists.has(folded, "asking.talked"):
        return True
    if any(_follows(folded, last.end(), "asking.talk") for last in lists.looked_for("asking.last").finditer(folded)):
        return True
    return any(
        (word.flags & F.YOU and _follows(folded, word.end, "asking.told"))
        or (word.flags & F.YOUR and _follows(folded, word.end, "asking.reply"))
        for word in found
    )


def _follows(folded: str, end: int, wanted: str) -> bool:
    """Whether a word of a list follows, with no punctuation and at most one word in between."""
    reach = NEAR_WIDE if is_wide(folded[end : end + 1]) else NEAR
    match = lists.looked_for(wanted).search(folded, end, end + reach)
    between = folded[end : match.start()].split() if match else []
    return match is not None and len(between) <= 1 and all(word.isalnum() for word in between)
