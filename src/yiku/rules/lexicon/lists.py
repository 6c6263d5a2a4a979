"""
Words that are looked for in a text, and not read: what a question wants, what is promised, which day it is.

They stand in the files `asking`, `clock`, `forms`, `records` and `secrets` of each language, a list a line, and are named
`file.list`. What a list means is decided by whoever looks for it.
"""

from __future__ import annotations

import re
from functools import cache

from yiku.rules.analyze import UNSPACED, UNSPACED_RUN
from yiku.rules.lexicon import built_in

_EDGES = rf"(?<![^\W_{UNSPACED}])", rf"(?![^\W_{UNSPACED}])"  # a word between spaces ends where no letter or digit follows


@cache
def words(*names: str) -> frozenset[str]:
    """The words of some lists in all languages, folded."""
    return frozenset(word for name in names for word in built_in().lists[name])


@cache
def looked_for(*names: str) -> re.Pattern[str]:
    """
    Any word of some lists, wherever it stands in a folded text; the longest first.

    A word with spaces around it is found whole; one of a script without spaces also inside a run.
    """
    longest = sorted(words(*names), key=lambda word: (-len(word), word))
    spaced = [re.escape(word) for word in longest if not UNSPACED_RUN.match(word)]
    others = [re.escape(word) for word in longest if UNSPACED_RUN.match(word)]
    return re.compile("|".join([*others, *([f"{_EDGES[0]}(?:{'|'.join(spaced)}){_EDGES[1]}"] if spaced else [])]) or r"(?!)")


def has(folded: str, *names: str) -> bool:
    """Whether a folded text has a word of one of these lists."""
    return looked_for(*names).search(folded) is not None
