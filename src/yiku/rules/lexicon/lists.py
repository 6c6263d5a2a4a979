"""
Search texts for word lists of the lexicon, and look up labels shown to people.

They stand in the files `asking`, `clock`, `erasing`, `forms`, `identity`, `night`, `records` and `secrets` of each language, a list a line,
and are named `file.list`. What a list means is decided by whoever looks for it. A table of lists gives its words the names of their lists:
what numbers, units, months and things are worth as values.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from yiku.rules.lexicon import built_in
from yiku.rules.text.analyze import UNSPACED_RUN

# A word between spaces ends where no letter or digit follows: of Latin, Greek or Cyrillic, since a wide class takes 4 ms to compile.
_EDGES = "(?<![0-9a-z\u00df-\u052f])", "(?![0-9a-z\u00df-\u052f])"
_SIGNS = re.compile(r"[\W_]*")


@cache
def words(*names: str) -> frozenset[str]:
    """Return the words of lists in all languages, folded."""
    return frozenset(word for name in names for word in built_in().lists[name])


@cache
def named(table: str) -> Mapping[str, str]:
    """Map the words of a table of lists to the names of their lists: in `times.month` march → 3."""
    start = f"{table}."
    every = built_in().lists.items()
    return {word: name.removeprefix(start) for name, told in every if name.startswith(start) for word in told}


@cache
def looked_for(*names: str) -> re.Pattern[str]:
    """
    Return the pattern of any word of some lists in a folded text, longest first.

    A word with spaces around it is found whole; one of a script without spaces also inside a run.
    """
    longest = sorted(words(*names), key=lambda word: (-len(word), word))
    spaced = [re.escape(word) for word in longest if not UNSPACED_RUN.match(word)]
    others = [re.escape(word) for word in longest if UNSPACED_RUN.match(word)]
    return re.compile("|".join([*others, *([f"{_EDGES[0]}(?:{'|'.join(spaced)}){_EDGES[1]}"] if spaced else [])]) or r"(?!)")


def has(folded: str, *names: str) -> bool:
    """Whether a folded text has a word of one of these lists."""
    return looked_for(*names).search(folded) is not None


def at_start(folded: str, *names: str, at: int = 0) -> int:
    """Return the end of a list word that begins at a place, the place itself if there is none."""
    if folded[at : at + 1] not in _beginnings(*names):  # ten times faster than to try the words
        return at
    match = looked_for(*names).match(folded, at)
    return match.end() if match else at


@cache
def _beginnings(*names: str) -> frozenset[str]:
    return frozenset(word[0] for word in words(*names))


def at_end(folded: str, *names: str) -> str:
    """Return the longest list word that a folded text ends with, or an empty string."""
    known = words(*names)
    for start in range(max(0, len(folded) - max(map(len, known), default=0)), len(folded)):
        word = folded[start:]
        if word in known and looked_for(*names).match(folded, start):
            return word
    return ""


def made_of(folded: str, *names: str) -> bool:
    """Whether a folded text consists of list words and punctuation, with at least one word."""
    place = found = 0
    while (place := _SIGNS.match(folded, place).end()) < len(folded):  # type: ignore[union-attr]  # it matches anything
        behind = at_start(folded, *names, at=place)
        if behind == place:
            return False
        place, found = behind, found + 1
    return found > 0


def label(name: str, language: str) -> str:
    """Return a label in a language by name: `episode.goal`."""
    return built_in().labels[language][name]


def label_or(name: str, language: str, otherwise: str) -> str:
    """Return a label in a language, or something else where there is none of this name."""
    return built_in().labels[language].get(name, otherwise)


def languages() -> tuple[str, ...]:
    """Return the codes of the languages that have labels."""
    return tuple(built_in().labels)
