"""
Find tags such as <private> in any spelling (case, width, escapes, invisible characters), with source offsets.

    <private>   < PRIVATE >   ＜ｐｒｉｖａｔｅ＞   &lt;private&gt;   &#60;private&#62;   <pri\u200bvate>   <private reason="…">

All of these are one tag. So a text is looked at as it reads: without invisible signs, and with one character for each escaped
bracket; each character knows its place in the text. No pattern here repeats without a bound but over single characters, so
it takes time proportional to the length of the text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from yiku.rules.text import lazy
from yiku.types.invisible import UNSEEN

LESS, GREATER, OVER = "\ue000\ue001\ue002"  # stand for an escaped <, > and /
OPEN, SHUT, SLASHES = f"<＜﹤{LESS}", f">＞﹥{GREATER}", f"/／⁄∕{OVER}"  # inside a class
BRACKET = lazy.compile(r"[<＜﹤\\]|&(?:[Aa#LlGg])")  # a text without any of these has no tag in it
DASH = "‐‑‒–—―−﹣－_＿-"  # inside a class, at its end
GAP = r"\s{0,32}+"  # what may stand between the parts of a mark

_CONTROL = lazy.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_ESCAPED = lazy.compile(
    r"(?i)&(?:amp;){0,4}+(?:(lt|#0{0,6}60|#x0{0,6}3c)|(gt|#0{0,6}62|#x0{0,6}3e)|sol|#0{0,6}47|#x0{0,6}2f);?|\\{1,4}(?:u00|x)3(?:(c)|e)"
)
_INVISIBLE = lazy.compile(f"[{UNSEEN}]+")
_OPENED = lazy.compile(f"[{OPEN}]{GAP}([{SLASHES}])?{GAP}")
_ENDS_NAME = lazy.compile(rf"[\s/／{SHUT}]")
_REST = lazy.compile(rf"[^<＜﹤{SHUT}]{{0,300}}+[{SHUT}]")


class Seen(NamedTuple):
    """
    A text without invisible and escaped characters, and the offsets of the rest.

    source: as it was typed
    places: of each character its beginning and its end in the source; None where all stand where they are
    """

    text: str
    source: str
    places: tuple[list[int], list[int]] | None = None

    def span(self, start: int, end: int) -> tuple[int, int]:
        """A span of at least one character, in the source."""
        return (start, end) if self.places is None else (self.places[0][start], self.places[1][end - 1])

    def said(self, start: int, end: int) -> str:
        """What was typed there."""
        return self.source[slice(*self.span(start, end))] if start < end else ""

    def has_gap(self, at: int) -> bool:
        """Whether something invisible stands in front of a character."""
        return self.places is not None and self.places[0][at] > self.places[1][at - 1]


class Tag(NamedTuple):
    """A tag: whether it closes, and what follows its name."""

    start: int
    end: int
    name: str
    closes: bool
    more: str


def may_hold(text: str, word: str) -> bool:
    """Whether a text may hold a tag with this lower-case word in its name; a cheap test."""
    if not BRACKET.search(text):
        return False
    return not text.isascii() or _CONTROL.search(text) is not None or word in text.lower()


def seen(text: str) -> Seen:
    """Normalize a text as a model reads it."""
    escaped = _ESCAPED.finditer(text) if "&" in text or "\\" in text else ()
    cuts = [(*match.span(), _character(match)) for match in escaped]
    if not cuts and not _INVISIBLE.search(text):
        return Seen(text, text)
    parts: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for (_, begin, _), (end, stop, character) in pairwise([(0, 0, ""), *cuts, (len(text), len(text), "")]):
        edges = [begin, *(edge for match in _INVISIBLE.finditer(text, begin, end) for edge in match.span()), end]
        for first, last in zip(edges[::2], edges[1::2], strict=True):
            parts.append(text[first:last])
            starts += range(first, last)
            ends += range(first + 1, last + 1)
        if character:
            parts.append(character)
            starts.append(end)
            ends.append(stop)
    return Seen("".join(parts), text, (starts, ends))


def _character(match: re.Match[str]) -> str:
    if match[0].startswith("\\"):
        return LESS if match[3] else GREATER
    return LESS if match[1] else GREATER if match[2] else OVER


def spelled(text: str, at: int, name: str) -> int:
    """Return the end of a name at a place, in any case and width; 0 if it is not there."""
    for letter in name:
        character = text[at : at + 1]
        if letter == "-":
            at += bool(character) and (character.isspace() or character in DASH)
        elif character == letter or (character and unicodedata.normalize("NFKC", character).lower() == letter):
            at += 1
        else:
            return 0
    return at


def tags(text: str, *names: str) -> Iterator[Tag]:
    """Yield the tags of these names, in order; a dash in a name matches any dash, a space or nothing."""
    read, after = seen(text), 0
    for opened in _OPENED.finditer(read.text):
        name, end = next(((name, end) for name in names if (end := spelled(read.text, opened.end(), name))), ("", 0))
        rest = _REST.match(read.text, end) if end and opened.start() >= after else None
        if rest and (_ENDS_NAME.match(read.text, end) or read.has_gap(end)):
            after = rest.end()
            yield Tag(*read.span(opened.start(), after), name, opened[1] is not None, read.said(end, after - 1))
