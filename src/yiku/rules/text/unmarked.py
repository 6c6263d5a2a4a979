"""
Strip Markdown, tags and invisible characters from a text, mapping each character back to its original offset.

    我家的**吉布拉**水泵   un<b>believ</b>able   the [Gibra](https://…) pump   Gi\u200bbra   R&amp;D   > quoted 我家的\n> 水泵

Left out are marks of emphasis, code and links with their targets, HTML tags, invisible characters, and space inside of a run of
Chinese; an escaped character stands for itself. Two texts that read the same are the same here, so a sentence that was erased is
found whatever somebody wrote into it. What is left is for comparing, never for showing: a formula may lose its signs, too.

No pattern here repeats without a bound but over single characters, so it takes time proportional to the length of the text.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from html import unescape
from typing import NamedTuple

from yiku.rules.text import lazy
from yiku.rules.text.analyze import UNSPACED
from yiku.types.invisible import UNSEEN

_MAY_BEGIN = lazy.compile(rf"[&*~`=_\\<>!\[\]{UNSEEN}]")  # found ten times faster than a mark
_MARKS = {  # by their first character
    "&": lazy.compile(
        r"&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][0-9A-Za-z]{1,31});"
    ),  # the only one that stands for something
    **dict.fromkeys("*~`", lazy.compile(r"[*~`]{1,200}")),
    "=": lazy.compile(r"={2,200}"),
    "_": lazy.compile(r"_(?:(?<![0-9A-Za-z]_)(?<![0-9A-Za-z]\\_)|(?![0-9A-Za-z]))"),  # in snake_case it is a letter
    "\\": lazy.compile(r"\\(?=[!-/:-@\[-`{-~])"),
    "<": lazy.compile(r"<(?:/?[A-Za-z][0-9A-Za-z-]{0,40}(?:\s[^<>]{0,500})?/?|!--[^<>]{0,500}--)>|<"),
    ">": lazy.compile(r">"),
    "[": lazy.compile(r"\[\^[^\[\]\n]{1,40}\]|\[\[[^\[\]|\n]{1,200}\||\["),
    "!": lazy.compile(r"!\["),
    "]": lazy.compile(  # with where a link leads
        r"\]\([^()\n]{0,500}(?:\([^()\n]{0,200}\)[^()\n]{0,200}){0,3}\)|\]\[[^\[\]\n]{0,200}\]|\]"
    ),
}
_UNSEEN = lazy.compile(f"[{UNSEEN}]{{1,200}}")
_IN_CHINESE = lazy.compile(rf"[{UNSPACED}]([ \t\u3000]{{0,16}}(?:[ \t\u3000]|\r?\n[ \t\u3000]{{0,16}}))(?=[{UNSPACED}])")

_SPLITS = {  # where they stand inside of a word, by their first character
    "&": lazy.compile(r"&(?=#|\w{2,32};)"),
    **dict.fromkeys("*~`=", lazy.compile(r"(?<=\w)[*~`=_]{1,8}(?=[\w<&\[\\]|[^\x00-\x7f])")),
    "_": lazy.compile(rf"(?<=[{UNSPACED}])_"),
    "\\": lazy.compile(r"(?<=\w)\\(?=[!-/:-@\[-`{-~])"),
    **dict.fromkeys("<[]", lazy.compile(r"(?<=\w)[<\[\]]")),
    ">": lazy.compile(r"(?<=\n)>"),
}
_BEHIND_A_LETTER = lazy.compile(r"(?<=\w)[^\n]")

Cut = tuple[int, int, str]  # a range, and what it stands for


class Piece(NamedTuple):
    """A run of what is left: its place there, and its span in the source. An entity stands for all that it says at once."""

    at: int
    start: int
    end: int
    is_entity: bool


class Unmarked(NamedTuple):
    """
    A text without marks.

    pieces: in order; empty where nothing was left out
    """

    text: str
    source: str
    pieces: tuple[Piece, ...] = ()

    def span(self, start: int, end: int) -> tuple[int, int]:
        """A span of at least one character, in the source."""
        return (self._origin(start)[0], self._origin(end - 1)[1]) if self.pieces else (start, end)

    def _origin(self, at: int) -> tuple[int, int]:
        piece = self.pieces[bisect_right(self.pieces, at, key=lambda one: one.at) - 1]
        place = piece.start + at - piece.at
        return (piece.start, piece.end) if piece.is_entity else (place, place + 1)

    def widen(self, start: int, end: int) -> tuple[int, int]:
        """A span of the source with the marks around it, if there are some at both ends."""
        if not self.pieces:
            return start, end
        before = bisect_left(self.pieces, start, key=lambda one: one.start)
        after = bisect_right(self.pieces, end, key=lambda one: one.end)
        first = min(self.pieces[before - 1].end, start) if before else 0
        last = max(self.pieces[after].start, end) if after < len(self.pieces) else len(self.source)
        return (first, last) if first < start and end < last else (start, end)


def unmarked(text: str) -> Unmarked:
    """Leave out what only formats a text."""
    cuts = [*_marks(text)]
    found = _without(text, cuts) if cuts else Unmarked(text, text)
    if found.text.isascii():
        return found
    inside = [(*found.span(*match.span(1)), "") for match in _IN_CHINESE.finditer(found.text)]
    return _without(text, _merge_cuts([*cuts, *inside])) if inside else found


def may_split_words(text: str) -> bool:
    """Tell whether marks may stand inside of a word: then an index does not know that word."""
    within = any(_SPLITS.get(begin[0], _BEHIND_A_LETTER).match(text, begin.start()) for begin in _MAY_BEGIN.finditer(text))
    return within or (not text.isascii() and _IN_CHINESE.search(text) is not None)


def _marks(text: str) -> Iterator[Cut]:
    at = 0
    while begin := _MAY_BEGIN.search(text, at):
        at = begin.end()
        if match := _MARKS.get(begin[0], _UNSEEN).match(text, begin.start()):
            sign = unescape(match[0]) if match[0].startswith("&") else ""
            if sign != match[0]:
                yield *match.span(), "" if _UNSEEN.match(sign) else sign
            at = match.end()


def _merge_cuts(cuts: Iterable[Cut]) -> list[Cut]:
    """Cuts in order, without those that another one covers."""
    found: list[Cut] = []
    for cut in sorted(cuts, key=lambda one: (one[0], -one[1])):
        if not found or cut[1] > found[-1][1]:
            found.append(cut)
    return found


def _without(text: str, cuts: Iterable[Cut]) -> Unmarked:
    """Replace ranges of a text."""
    parts: list[str] = []
    pieces: list[Piece] = []
    length = done = 0
    for start, end, sign in (*cuts, (len(text), len(text), "")):
        if done < start:
            pieces.append(Piece(length, done, start, False))
            parts.append(text[done:start])
            length += start - done
        if sign:
            pieces.append(Piece(length, start, end, True))
            parts.append(sign)
            length += len(sign)
        done = end
    return Unmarked("".join(parts), text, tuple(pieces))
