"""
Compute the texts whose keyed hashes recognize erased content, and the words to verify that files are clean.

How a statement is taken out of a text, `rules.redaction` says. What must not come back is written down
as short texts, which the flow turns into keyed hashes before they are kept anywhere. What proves that a
file is clean is a list of texts to look for: those that went, their words, and what an index keeps of words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from itertools import chain
from typing import Any

from yiku.rules.deciding import conflict
from yiku.rules.lexicon import lists
from yiku.rules.privacy import redaction
from yiku.rules.privacy.redaction import WEIGHT, weight
from yiku.rules.statements import keys
from yiku.rules.text import analyze, lazy
from yiku.rules.text.analyze import UNSPACED_RUN
from yiku.rules.text.analyze import hashed_plain as plain
from yiku.rules.text.safe_ends import Range, pieces, safe_sentences, spans
from yiku.rules.text.unmarked import Unmarked, unmarked
from yiku.rules.values import canonical
from yiku.types import SemanticMemory, Turn

WORD_CHARS = 5  # shorter words, and shorter ends of words, stand everywhere and prove nothing; of Chinese, a pair
RUN_PIECES = 6  # that a sentence which comes again may be cut into: "Dr. J. R. Okonkwo lives at No. 12B."
_CLAUSE = re.compile(r"[^:：,，、]+[:：,，、]*|[:：,，、]+")
_ITEM = (  # the marks of a heading or of an item of a list, also behind each other: # - * + • 1. 1、 (1) （一） [x]
    r"^[ \t\u3000>]{0,40}(?:(?:#{1,6}|[-*+•·‣◦▪●–—]|[0-9]{1,9}[.)、．）]|[(（]\w{1,3}[)）]|\[[ xX]\])"
    r"(?:[ \t\u3000]{1,40}|(?=[^\x00-\x7f])|(?<=[、．）]))){1,4}"
)
_FIRST_MARK, _ITEM_MARK = lazy.compile(_ITEM), lazy.compile(_ITEM, re.MULTILINE)
_BAR = lazy.compile(r"(?m)(?<!\\)[|｜]|(?<=\S)\t|(?<=[ \t])#{1,6}[ \t\r]*$|\n[ \t\r]*\n")  # between cells; or a blank line
_WORD = re.compile(r"[0-9A-Za-z\u00c0-\u024f\u0370-\u052f]+")
_NOT_WORDS = frozenset("id line role method scope superseded_by flagged_with turn blob".split())  # ids and our own words


# ------------------------------------------------------------------ what must not come back


def of_statement(memory: SemanticMemory) -> list[str]:
    """Return the seals of a statement: by its words, and by its slot and value."""
    typed = dict.fromkeys((memory.content, _FIRST_MARK.sub("", memory.content)))
    return [*(f"text\0{plain(form)}" for words in typed for form in redaction.forms(words)), *of_value(memory)]


def of_value(memory: SemanticMemory) -> list[str]:
    """
    Return the seals of a statement's slot and value: as it is written, and in its canonical form.

    The first alone is what a home has of erasures by earlier versions. A version number has no other form: 1.2 is not 1.20.
    """
    if not (memory.predicate and memory.object):
        return []
    slot = f"{memory.subject}\0{memory.predicate}"
    found = [f"slot\0{slot}\0{plain(memory.object)}"]
    if keys.tail(memory.predicate) != conflict.VERSION and (form := canonical.form(memory.object, memory.said_at)):
        found.append(f"value\0{slot}\0{form}")
    return found


def of_turn(turn: Turn) -> list[str]:
    """Return the seals of a turn: by its external id, its place and words, and its words alone if they say enough."""
    words = plain(turn.content)
    found = [f"turn\0{turn.session}\0{turn.role}\0{turn.said_at.timestamp():.6f}\0{words}"]
    if turn.external_id is not None:
        found.append(f"external\0{turn.external_id}")
    if weight(words) >= WEIGHT:
        found.append(f"text\0{words}")
    return found


def of_session(session: str) -> str:
    """Return the seal of a session."""
    return f"session\0{session}"


def of_record(id: str) -> str:
    """Return the seal of an episode, a scratchpad or an attachment."""
    return f"record\0{id}"


def of_sentences(text: str) -> list[str]:
    """Return the seals of the telling sentences of a text, cut at ends beyond doubt."""
    return of_parts(safe_sentences(text))


def of_parts(texts: Iterable[str]) -> list[str]:
    """Return the seals of telling sentences, as they were typed, without markup, and without the mark of an item."""
    typed = dict.fromkeys(form for text in texts for form in (text, _FIRST_MARK.sub("", text)))
    every = dict.fromkeys(plain(form) for words in typed for form in redaction.forms(words))
    return [f"text\0{words}" for words in every if weight(words) >= WEIGHT]


def runs(text: str) -> dict[str, list[Range]]:
    """
    Map the seal of every possible sentence of a text to its spans.

    What was one sentence when it was sealed may be several pieces here, or a part of one; so every run of up to RUN_PIECES
    clauses is tried, each sentence and each that is surely one. All of this also without markup, and in each item and cell alone.
    """
    found: dict[str, list[Range]] = {}
    folded = cache(plain)
    for start, end in ((0, len(text)), *_items(text)):
        part = text[start:end]
        _add_runs(found, Unmarked(part, part), start, folded)
        if (seen := unmarked(part)).pieces:
            _add_runs(found, seen, start, folded)
    return found


def _items(text: str) -> Iterator[Range]:
    """Yield what stands behind the mark of a heading or of an item of a list, and each cell of a table."""
    start, is_marked = 0, False
    for match in sorted((*_ITEM_MARK.finditer(text), *_BAR.finditer(text)), key=re.Match.start):
        if match.start() < start:
            continue  # the tab behind a mark
        marks = "\n" not in match[0]  # else a blank line
        if (is_marked or marks) and match.start() - start >= WEIGHT // 2:
            yield start, match.start()
        start, is_marked = match.end(), marks
    if is_marked:
        yield start, len(text)


def _add_runs(found: dict[str, list[Range]], seen: Unmarked, offset: int, folded: Callable[[str], str]) -> None:
    """Add the runs of a text as it reads; `offset`: where its source begins. Folding and mapping back are done once a clause."""
    text = seen.text
    sentences = pieces(text)
    places = spans(chain.from_iterable(map(_CLAUSE.findall, sentences)))
    whole = {*spans(sentences), *spans(safe_sentences(text))}.difference(places)
    read: list[tuple[str, int, int, int]] = []  # the words of each, their weight, and where they stand
    for place in (*places, *whole):
        if said := text[slice(*place)].strip():
            start = text.index(said, *place)
            first, last = seen.span(start, start + len(said)) if seen.pieces else (start, start + len(said))
            read.append((words := folded(said), weight(words), offset + first, offset + last))
    count = len(read) - len(whole)
    for at, (_, _, start, _) in enumerate(read[:count]):
        run, size = "", 0
        for words, more, _, end in read[at : min(at + RUN_PIECES, count)]:
            if words:
                run, size = (f"{run} {words}", size + 1 + more) if run else (words, more)
            if size >= WEIGHT:
                found.setdefault(f"text\0{run}", []).append((start, end))
    for words, size, start, end in read[count:]:
        if size >= WEIGHT:
            found.setdefault(f"text\0{words}", []).append((start, end))


# ------------------------------------------------------------------ what proves that it is gone


def telling_words(texts: Iterable[str]) -> set[str]:
    """Return the index terms that are specific to texts: names, numbers, things; no everyday words."""
    words = {word for text in texts for word in analyze.tokens(text).words if len(word) > 1}
    return {word for word in words - _of_any_talk() if lists.words("erasing.binding").isdisjoint(word)}


@cache
def _of_any_talk() -> frozenset[str]:
    return frozenset(analyze.tokens(" ".join(lists.words("erasing.everyday"))).words)


def strings(value: Any) -> Iterator[str]:
    """Yield every text inside a JSON value or one of our dataclasses, without ids."""
    if isinstance(value, str):
        if not isinstance(value, Enum):
            yield value
    elif isinstance(value, (list, tuple)):
        for entry in value:
            if entry is not None:
                yield from strings(entry)
    elif names := _fields_of_words(value.__class__):
        for name in names:
            if (entry := getattr(value, name)) is not None:
                yield from strings(entry)
    elif isinstance(value, Mapping):
        yield from map(str, value)
        for entry in value.values():
            yield from strings(entry)


def strings_of(text: str) -> list[str]:
    """Return a text, or all texts in it if it is JSON."""
    if text[:1] in ("{", "["):
        with suppress(ValueError, RecursionError):
            return [*strings(json.loads(text)), text]
    return [text]


@cache
def _fields_of_words(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind) if field.name not in _NOT_WORDS) if is_dataclass(kind) else ()


def looked_for(texts: Iterable[str]) -> dict[str, str]:
    """
    Return what to search files for, most specific first, with its index term if it is one.

    Whole texts; their words as said, folded and stemmed; pairs of Chinese characters; and the ends of words,
    since an index keeps of a word only what it has beyond its neighbour.
    """
    words, stems = dict[str, None](), dict[str, None]()
    whole = [text for text in texts if len(text) >= WORD_CHARS or UNSPACED_RUN.search(text)]
    for text in texts:
        words |= dict.fromkeys(word[: analyze.TOKEN_CHARS] for word in _WORD.findall(text) if len(word) >= WORD_CHARS)
        words |= dict.fromkeys(run[: analyze.TOKEN_CHARS] for run in UNSPACED_RUN.findall(text) if len(run) > 1)
        stems |= dict.fromkeys(analyze.tokens(text).words)
    forms = dict.fromkeys([*whole, *sorted(words, key=len, reverse=True)], "")
    for form in list(forms):
        forms.setdefault(analyze.fold(form), "")
    for stem in stems:
        if (len(stem) >= WORD_CHARS and stem.isascii()) or (len(stem) == 2 and UNSPACED_RUN.match(stem)):
            forms.setdefault(stem, stem)
    for word in [*map(analyze.fold, words), *stems]:
        for start in range(1, len(word) - WORD_CHARS + 1) if word.isascii() else ():
            forms.setdefault(word[start:], word if word in stems else "")
    return forms
