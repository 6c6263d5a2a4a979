"""
What words are about, by one name in both languages: a concept of the lexicon, a stem, the pairs of unknown characters.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from yiku.rules.lexicon.flags import DAY, EMPTY
from yiku.rules.text import analyze
from yiku.rules.text.words import Word


def content(own: Iterable[Word]) -> frozenset[str]:
    """The content words, without those that bind, ask, or tell of time and change."""
    found: set[str] = set()
    for word in own:
        if word.about is None:
            word.about = _about(word)
        found.update(word.about)
    return frozenset(found)


def _about(word: Word) -> Sequence[str]:
    if word.entry.means:
        return word.entry.means
    if word.sign or word.flags & (EMPTY | DAY):
        return ()
    if not word.cjk:
        return analyze.tokens(word.text).words
    run = word.text
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]
