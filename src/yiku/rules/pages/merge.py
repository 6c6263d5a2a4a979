"""
Merge two versions of a text with their common base, by lines (three-way merge).

Lines that stand once in each text are the anchors between which the rest is compared, so that it takes time proportional to
the texts (times a logarithm). Where both changed the same lines in different ways, both versions stay, one behind the other.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

Lines = Sequence[str]


@dataclass(frozen=True, slots=True)
class Merged:
    """The text of both; `clean` says whether nowhere both versions had to stay."""

    text: str
    clean: bool


def merge(base: str, first: str, second: str) -> Merged:
    """What `first` and `second` made of `base`; where they disagree, the lines of `first` stand before those of `second`."""
    old, one, two = (text.split("\n") for text in (base, first, second))
    in_one, in_two = dict(matches(old, one)), dict(matches(old, two))
    result: list[str] = []
    clean = True
    start = left = right = 0
    for place in [*(place for place in range(len(old)) if place in in_one and place in in_two), len(old)]:
        ends = (in_one[place], in_two[place]) if place < len(old) else (len(one), len(two))
        lines, agreed = _between(old[start:place], one[left : ends[0]], two[right : ends[1]])
        result += lines
        clean = clean and agreed
        if place < len(old):
            result.append(old[place])
        start, left, right = place + 1, ends[0] + 1, ends[1] + 1
    return Merged("\n".join(result), clean)


def _between(old: Lines, one: Lines, two: Lines) -> tuple[Lines, bool]:
    """What stands between two lines that all three have."""
    if one in (two, old):
        return two, True
    if two == old:
        return one, True
    known = Counter(one)
    return [*one, *(line for line in two if not _take_line(known, line))], False


def _take_line(known: Counter[str], line: str) -> bool:
    """Whether a line stands there already; each counts once."""
    if known[line] > 0:
        known[line] -= 1
        return True
    return False


def matches(old: Lines, new: Lines) -> list[tuple[int, int]]:
    """Places of lines that two texts share, in the order of both."""
    found: list[tuple[int, int]] = []
    waiting = [(0, len(old), 0, len(new))]
    while waiting:
        low, high, left, right = waiting.pop()
        while low < high and left < right and old[low] == new[left]:
            found.append((low, left))
            low, left = low + 1, left + 1
        while low < high and left < right and old[high - 1] == new[right - 1]:
            high, right = high - 1, right - 1
            found.append((high, right))
        anchors = _anchors(old[low:high], new[left:right])
        places = [(low + at, left + to) for at, to in anchors]
        found += places
        if places:
            ends = [(low - 1, left - 1), *places, (high, right)]
            waiting += [(a + 1, c, b + 1, d) for (a, b), (c, d) in pairwise(ends) if a + 1 < c and b + 1 < d]
    return sorted(found)


def _anchors(old: Lines, new: Lines) -> list[tuple[int, int]]:
    """The longest run of lines that stand once in each text and in the same order: patience."""
    once_old, once_new = Counter(old), Counter(new)
    places = {line: place for place, line in enumerate(new) if once_new[line] == 1}
    pairs = [(place, places[line]) for place, line in enumerate(old) if once_old[line] == 1 and line in places]
    tops: list[int] = []  # the last line of the best run of each length
    rows: list[int] = []
    before = [-1] * len(pairs)
    for row, (_, place) in enumerate(pairs):
        length = bisect_left(tops, place)
        before[row] = rows[length - 1] if length else -1
        tops[length : length + 1] = [place]
        rows[length : length + 1] = [row]
    run: list[tuple[int, int]] = []
    row = rows[-1] if rows else -1
    while row >= 0:
        run.append(pairs[row])
        row = before[row]
    return run[::-1]
