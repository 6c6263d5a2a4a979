"""
What words are about, by one name in both languages: a concept of the lexicon, a stem, the pairs of unknown characters.
"""

from __future__ import annotations

from collections.abc import Sequence

from yiku.rules import analyze
from yiku.rules.lexicon.flags import DAY, EMPTY
from yiku.rules.text.words import Word


def content(own: Sequence[Word]) -> frozenset[str]:
    """The content words, without those that bind, ask, or tell of time and change."""
    found: set[str] = set()
    for word in own:
        if word.entry.means:
            found.update(word.entry.means)
        elif word.sign or word.flags & (EMPTY | DAY):
            continue
        elif not word.cjk:
            found.update(analyze.tokens(word.text).words)
        else:
            run = word.text
            found.update([run[i : i + 2] for i in range(len(run) - 1)] or [run])
    return frozenset(found)
