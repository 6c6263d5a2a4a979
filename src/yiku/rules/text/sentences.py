"""
Split text into sentences with offsets that tile it.

A sentence ends at a mark that ends one, with the quotes and brackets that close behind it and the space up to the
next, or at a line break. A full stop ends none behind an abbreviation, an initial, a number in front of a small letter
or a month, or inside a name, a number or an address. One pass; what is longer than LONGEST is cut at a space or comma.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from yiku.rules.lexicon import Lexicon
from yiku.rules.text.analyze import UNSPACED
from yiku.rules.text.folding import folded

STOPS, ASKING = ".!。！", "?？"  # what ends a sentence, and a question
MARKS = STOPS + ASKING  # for those who only take them off
WIDE_STOP = "。"  # what a sentence without spaces is closed with
LONGEST = 600  # characters of a sentence; longer ones are cut in pieces
CLOSING = "\"'”’」』）)]】"  # what may stand between a mark and the space behind it
_RUN = rf"[.!?。！？…]*+[{re.escape(CLOSING)}]*+"
# In the group what may stand inside a sentence. One class comes first, which is what makes looking for it fast.
_STOPS = re.compile(rf"[.!?。！？…;；\n](?:(?<=[。！？；]){_RUN}\s*|(?<=\n)\s*|({_RUN}))")
_WIDE = frozenset("。！？；")
_ANYWHERE = frozenset("。！？；;")  # what may end one without a space
_AT_A_SPACE = frozenset(("!", "?", ";"))  # these end a sentence at any space
_BACKWARDS = re.compile(rf"(?:(?![{UNSPACED}])[^\W_])+(?:\.(?:(?![{UNSPACED}])[^\W_])+)*")  # a word, read from its end
_SPACE = re.compile(r"\s*")
_SOFT = re.compile(r"[ ,，、]")
BEFORE = 24  # characters in front of a stop in which its word is looked for


@dataclass(frozen=True, slots=True)
class Sentence:
    """
    The span of a sentence, and whether it asks.

    start, end:  with the space behind it: sentences tile their text
    stop:        where its words end, before the space
    asks:        whether it ends with a question mark
    """

    start: int
    end: int
    stop: int
    asks: bool


def sentences(text: str, lexicon: Lexicon) -> list[Sentence]:
    """Return the sentences of a text, tiling it, none longer than LONGEST."""
    found: list[Sentence] = []
    start = 0
    for end in ends(text, lexicon):
        found += _pieces(text, start, end, lexicon)
        start = end
    return found


def split(text: str, lexicon: Lexicon) -> list[str]:
    """Return the text of each sentence with trailing space, however long."""
    return [text[start:end] for start, end in pairwise((0, *ends(text, lexicon)))]


def ends(text: str, lexicon: Lexicon) -> Iterator[int]:
    """Yield the ends of sentences, trailing space included; the last is the end of the text."""
    end = 0
    for stop in _STOPS.finditer(text):
        if stop.start() < end:  # a line break in the space behind the last sentence
            continue
        if stop.lastindex is None:
            yield (end := stop.end())
        elif _is_end(text, stop, lexicon):
            yield (end := _SPACE.match(text, stop.end()).end())  # type: ignore[union-attr]
    if end < len(text):
        yield len(text)


def possible_ends(text: str) -> Iterator[int]:
    """Yield every place where a sentence may end, even after an abbreviation; a superset of `ends`."""
    end = 0
    for stop in _STOPS.finditer(text):
        if stop.start() < end:
            continue
        after = text[stop.end() : stop.end() + 1]
        if stop.lastindex is None or not after or after.isspace() or is_wide(after) or not _ANYWHERE.isdisjoint(stop[0]):
            yield (end := _SPACE.match(text, stop.end()).end())  # type: ignore[union-attr]
    if end < len(text):
        yield len(text)


def _is_end(text: str, stop: re.Match[str], lexicon: Lexicon) -> bool:
    """Whether an ambiguous mark ends a sentence here."""
    mark, after = stop[0], text[stop.end() : stop.end() + 1]
    if after and not after.isspace() and not is_wide(after):
        return not _WIDE.isdisjoint(mark)
    if mark in _AT_A_SPACE or not _WIDE.isdisjoint(mark):
        return True
    if mark.startswith(("…", "..")):
        return not after or after == "\n" or text[stop.end() : stop.end() + 2].strip().isupper()
    return mark[0] != "." or mark.rstrip(CLOSING) != "." or not _goes_on(text, stop, lexicon)


def _goes_on(text: str, stop: re.Match[str], lexicon: Lexicon) -> bool:
    """Whether a full stop belongs to its word: an abbreviation, an initial, an ordinal."""
    at = stop.start()
    word = text[max(0, at - BEFORE) : at].rpartition(" ")[2]
    if not (word.isascii() and word.isalpha()):
        found = _BACKWARDS.match(text[max(0, at - BEFORE) : at][::-1])
        if found is None:
            return False
        word = found[0][::-1]
    name, follows = folded(word), text[stop.end() : stop.end() + 12].lstrip()
    if not follows:
        return False
    if lexicon.is_abbreviation(name):
        return follows[0].isalnum() or follows[0] in "(\"'“"
    if name.isdigit():
        first = folded(follows.split(" ", 1)[0]).strip(".,")
        return follows[0].islower() or lexicon.is_month(first) or (len(name) <= 3 and _opens_a_line(text, at - len(word)))
    return len(name) == 1 and name.isalpha() and not lexicon.is_person(name) and follows[0].isupper()


def _opens_a_line(text: str, place: int) -> bool:
    """Whether only space precedes a place on its line."""
    return text[max(0, place - BEFORE) : place].rpartition("\n")[2].isspace()


def is_wide(character: str) -> bool:
    """Whether a character is East Asian, twice as wide as a letter."""
    return character >= "\u2e80"


def _pieces(text: str, start: int, end: int, lexicon: Lexicon) -> Iterator[Sentence]:
    """Yield a sentence, or its pieces if it is too long."""
    while end - start > LONGEST:
        window = text[start + LONGEST // 2 : start + LONGEST]
        place = max((match.end() for match in _SOFT.finditer(window)), default=len(window))
        cut = start + LONGEST // 2 + place
        yield _sentence(text, start, cut, lexicon)
        start = cut
    if start < end:
        yield _sentence(text, start, end, lexicon)


def _sentence(text: str, start: int, end: int, lexicon: Lexicon) -> Sentence:
    stop = start + len(text[start:end].rstrip())
    last = text[max(start, stop - 4) : stop].rstrip("".join(("\"')]”’」』）】 ~～!！", *lexicon.endings["laugh"])))
    return Sentence(start, end, stop, last.endswith(("?", "？")))
