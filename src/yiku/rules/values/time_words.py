"""
Tokenize the time words of a text, with their classes in clock.toml and times.toml.

The longest word of the lexicon is taken at each place, in a run of characters, too, so a longer word that only looks
like a time hides it: 圣诞树. A number is read with what stands right behind it: 18th, 3月, 二〇二五年.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Set
from functools import cache
from typing import Any, NamedTuple

from yiku.rules.lexicon import built_in, lists
from yiku.rules.lexicon.flags import BIT, MONTH, UNIT

YEARS = range(1900, 2100)  # that a number of four digits may be
MONTHS = 12
CENTURY = 2000  # of a year in two digits
NAMES = frozenset(("unit", "month", "date", "year", "decade", "day", "recent", "season", "quarter", "holiday", "weekday"))
_PIECES = NAMES | {"number", "vague", "count", "ordinal", "shift", "ago", "past", "part"}
_LOOKED_FOR = ("event", "hold")  # tables of clock.toml with other words
_WORDS = re.compile(r"[a-z]+|[^\x00-\x7f]")
_DIGIT = re.compile(r"[0-9]")
_RAW = re.compile(r"([0-9]+)|[a-z][a-z0-9_]*|[^\sa-z0-9]")
_DATE = re.compile(
    r"(?:(\d{4}(?=[-/.])|\d\d?(?=[/.]))([-/.])(\d\d?)(?:\2(\d+))?|(20\d\d)(\d\d)(\d\d))(?:t[\d:.]+z?)?(?![\w/]|[-.]\d)", re.ASCII
)
_NEXT_WORD = re.compile(r" ?([a-z]+|[^\s!-~])")
_FREE = re.compile(r"(?<![0-9a-z][./:])(?<![_#+@])(?<![a-z]-)[0-9]")  # no part of a name: PROJ-118
_GLUED = re.compile(r"[%:_a-z]|[./][0-9]")  # behind a number that is part of a name

Pieces = Mapping[str, Any]


class Token(NamedTuple):
    """
    A time word in its place.

    pieces:   what it tells of a time, by class: {"month": 3}
    says:     its other classes: what it makes of the times beside it
    adjacent: nothing stands between it and the token before it
    sure:     it is a time by itself, as words of a script without spaces are
    """

    start: int
    end: int
    pieces: Pieces
    says: Mapping[str, str]
    adjacent: bool
    sure: bool = True


class _Vocabulary(NamedTuple):
    """
    The words of times.

    words:    pieces and other classes of each, and whether it is a time by itself
    lengths:  of the words that begin with a word or character, longest first
    digits:   the characters that numbers are written with
    heads:    one word, or character, of each that names days
    starts:   a number, a word, or a character that one of these words begins with
    """

    words: Mapping[str, tuple[Pieces, Mapping[str, str], bool]]
    lengths: Mapping[str, tuple[int, ...]]
    digits: frozenset[str]
    heads: frozenset[str]
    starts: re.Pattern[str]

    def longest(self, small: str, start: int, first: str) -> str:
        """Return the longest word that begins here with these letters, or nothing."""
        for length in self.lengths.get(first, ()):
            word, after = small[start : start + length], small[start + length : start + length + 1]
            if word in self.words and not (after.isascii() and after.isalnum() and word[-1].isascii() and word[-1].isalnum()):
                return word
        return ""


@cache
def _vocabulary() -> _Vocabulary:
    classes: dict[str, dict[str, Any]] = defaultdict(dict)
    for word, entry in built_in().words.items():
        if entry.flags & (MONTH | BIT["weekday"]):
            means = next(int(each) for each in entry.means if each.isdigit())
            classes[word]["month" if entry.flags & MONTH else "weekday"] = means
    for name, words in built_in().lists.items():
        file, table, value = [*name.split(".", 2), "", ""][:3]
        if file == "clock" and table not in _LOOKED_FOR:
            for word in words:
                classes[word][table] = int(value) if value.lstrip("-").isdigit() else value
    for word, n in _numbers().items():
        classes[word]["number"] = n
    digits = {word for word, each in classes.items() if [*each] == ["number"] and not word.isascii() and each["number"] % 1 == 0}
    lengths: dict[str, set[int]] = {digit: set() for digit in digits}
    heads = set()
    for word in classes.keys() - digits:
        raw = [match[0] for match in _RAW.finditer(word)]
        lengths.setdefault(raw[0], set()).add(len(word))
        if not NAMES.isdisjoint(classes[word]) or "mark" in classes[word]:
            heads.add(max((each for each in reversed(raw) if each not in digits), key=len, default=raw[0]))
    return _Vocabulary(
        {word: (_some(each, _PIECES), _some(each, each.keys() - _PIECES), _is_sure(word, each)) for word, each in classes.items()},
        {first: tuple(sorted(each, reverse=True)) for first, each in lengths.items()},
        frozenset(digits),
        frozenset(heads),
        re.compile(f"([0-9]+)|[a-z][a-z0-9_]*|[{re.escape(''.join(first for first in lengths if len(first) == 1))}]"),
    )


def _some(classes: Mapping[str, Any], names: Set[str]) -> dict[str, Any]:
    return {name: value for name, value in classes.items() if name in names}


def _is_sure(word: str, classes: Mapping[str, Any]) -> bool:
    return not word.isascii() or classes.get("name") == "sure"


def may_name_days(small: str) -> bool:
    """Whether a folded text may name a day; cheap, and false for most questions."""
    heads = _vocabulary().heads
    return _DIGIT.search(small) is not None or not heads.isdisjoint(_WORDS.findall(small))


def tokens(small: str) -> list[Token]:
    """Return the words of times in a folded text, in order."""
    vocabulary = _vocabulary()
    words, lengths, digits, _, starts = vocabulary
    found: list[Token] = []
    before, end = None, 0
    for raw in starts.finditer(small):
        first = raw[0]
        if first not in lengths and raw.lastindex is None:
            continue
        start = raw.start()
        if start < end:
            continue
        adjacent = before is not None and not (start > end and small[end:start].strip())
        word = vocabulary.longest(small, start, first)
        numeral = first if raw.lastindex else _numeral(small, start, digits) if first in digits else ""
        if len(numeral) > len(word):
            before = _number(small, start, numeral, before if adjacent else None, vocabulary)
        elif word:
            pieces, says, sure = words[word]
            before = Token(start, start + len(word), pieces, says, adjacent, sure)
        else:
            continue
        found.append(before)
        end = before.end
    return found


def _numeral(small: str, start: int, digits: frozenset[str]) -> str:
    end = start
    while end < len(small) and small[end] in digits:
        end += 1
    return small[start:end]


@cache
def _numbers() -> dict[str, float]:
    """Return the values of number words; four for a few."""
    worth = {word: float(name) for word, name in lists.named("clock.number").items()}
    return {word: int(n) if n.is_integer() else n for word, n in worth.items()}


def _worth(numeral: str) -> int:
    """Return the value of digits in either script: 25, 二十五, 二〇二五."""
    if numeral.isdecimal():
        return int(numeral)
    total = ones = 0
    for digit in (int(_numbers()[character]) for character in numeral):
        total, ones = (total + (ones or 1) * 10, 0) if digit == 10 else (total, ones * 10 + digit)
    return total + ones


def _number(small: str, start: int, numeral: str, before: Token | None, vocabulary: _Vocabulary) -> Token:
    """Return a number with its suffix; without pieces if it is not part of a time."""
    end, n = start + len(numeral), _worth(numeral)
    following = _NEXT_WORD.match(small, end)
    word = vocabulary.longest(small, following.start(1), following[1]) if following else ""
    pieces, says, _ = vocabulary.words.get(word, ({}, {}, False))
    mark = says.get("mark") if small.startswith(word, end) else None
    entry = built_in().words.get(following[1]) if following and not word else None
    touched = numeral.isascii() and (small[max(0, start - 1) : start] + small[end : end + 1]).strip()
    meaning: Pieces = {}
    if touched and not _FREE.match(small, start):
        mark = None
    elif (touched or len(numeral) == len("20250118")) and (dated := _DATE.match(small, start)):
        meaning, doubt = _date(*dated.groups())
        return Token(start, dated.end(), meaning, {"doubt": doubt} if doubt else {}, before is not None)
    elif before and before.end == start and "nth" in before.says:
        meaning = {"ordinal": n}
    elif mark == "year" and n not in YEARS:  # 24年3月, but 三年前
        is_year = len(numeral) == 2 and small[end + len(word) : end + len(word) + 1].isdecimal()
        meaning = {"year": CENTURY + n} if is_year else {"number": n, "unit": "year"}
    elif mark and (mark != "month" or 1 <= n <= MONTHS):
        meaning = {mark: n}
    elif not mark and not (touched and _GLUED.match(small, end)) and not (entry and entry.flags & UNIT):
        meaning = {"year" if len(numeral) == len("2025") and n in YEARS and "unit" not in pieces else "number": n}
    end += len(word) if mark else 0
    return Token(start, end, meaning, {}, before is not None, not small[end - 1].isascii())


def _date(one: str, sign: str, two: str, three: str | None, *whole: str) -> tuple[Pieces, str]:
    """Return the pieces of a date in digits (2025-01-18, 2025-01, 18.01.2025, 1/18), and what else it may be."""
    if whole[0]:
        return dict(zip(("year", "month", "date"), map(int, whole), strict=True)), ""
    a, b, c = int(one), int(two), int(three) if three else None
    if len(one) == len("2025"):
        whole_month = {"year": a, "month": b} if b <= MONTHS and (c or sign != ".") else {}
        return {**whole_month, "date": c} if c else whole_month, "version" if sign == "." else ""
    if sign == "." or a > MONTHS:  # the day stands first
        a, b = b, a
    elif a != b <= MONTHS:
        return {}, ""
    if c is None:
        return ({"month": a, "date": b} if sign == "/" else {}), "fraction"
    return {"year": c + (CENTURY if c < 100 else 0), "month": a, "date": b}, ""
