"""
Match many groups of words against many texts at once: a group matches a text that contains all its words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from yiku.rules.privacy.erasure import strings_of
from yiku.rules.text import analyze
from yiku.rules.text.unmarked import may_split_words, unmarked

MANY_WORDS, GRAM = 32, 3  # from so many words, a text is compared only with those that share three characters with it
_Groups = dict[str, list[tuple[int, set[str]]]]  # by a word of each: its place, and its other words
APART = "\n\n"  # between texts that are looked through together


class WordGroups:
    """
    Groups of folded words to look for, in folded texts, with and without markup.

    split: only in texts in which marks may split words, and without these
    """

    def __init__(self, groups: Sequence[Sequence[str]], *, split: bool = False) -> None:
        wanted = {place: {*words} for place, words in enumerate(groups) if words}
        self._reads = _without_marks if split else _in_both_forms
        self._by_word = _by_rarest(wanted)
        self._by_gram = _by_gram(self._by_word) if len(self._by_word) >= MANY_WORDS else None
        self.shortest = min((sum(map(len, words)) for words in wanted.values()), default=0)  # characters of one group

    def __bool__(self) -> bool:
        return bool(self._by_word)

    def among(self, texts: Sequence[str]) -> Iterator[tuple[int, tuple[int, ...]]]:
        """Yield the place of each text that contains all words of a group, with the places of those groups."""
        likely: Iterable[str] = self._by_word
        if self._by_gram is None:  # a first pass by one word of each
            together = self._reads(texts)
            likely = [word for word in self._by_word if word in together]
        for place, text in enumerate(texts) if likely else ():
            small = self._reads([text])
            if self._by_gram is not None:
                likely = [word for gram in self._by_gram.keys() & (_grams(small) | {""}) for word in self._by_gram[gram]]
            if matching := _holds(small, likely, self._by_word):
                yield place, matching


def _in_both_forms(texts: Iterable[str]) -> str:
    parts = [part for text in texts for part in strings_of(text)]
    seen = [unmarked(part) for part in parts]
    return _fold_together([*parts, *(one.text for one in seen if one.pieces)])


def _without_marks(texts: Iterable[str]) -> str:
    parts = [part for text in texts for part in strings_of(text) if may_split_words(part)]
    return _fold_together([unmarked(part).text for part in parts])


def _fold_together(parts: Sequence[str]) -> str:
    """Fold texts as one: those in ASCII apart, which takes a tenth of the time."""
    plain, others = [part for part in parts if part.isascii()], [part for part in parts if not part.isascii()]
    return APART.join([analyze.fold(APART.join(plain)), analyze.fold(APART.join(others))])


def _by_rarest(wanted: Mapping[int, set[str]]) -> _Groups:
    """
    Key the groups by their rarest word, the longest of those.

    Versions of one statement share most of their words: by these every text would be compared with all of them.
    """
    shared = Counter(word for words in wanted.values() for word in words)
    found: _Groups = {}
    for place, words in wanted.items():
        rarest = min(words, key=lambda word: (shared[word], -len(word), word))
        found.setdefault(rarest, []).append((place, words - {rarest}))
    return found


def _by_gram(words: Iterable[str]) -> dict[str, list[str]]:
    """Key words by the three characters that the fewest of them share; a shorter word by the empty string."""
    grams = {word: _grams(word) for word in words}
    shared = Counter(gram for each in grams.values() for gram in each)
    found: dict[str, list[str]] = {"": []}
    for word, each in grams.items():
        found.setdefault(min(each, key=lambda gram: (shared[gram], gram), default=""), []).append(word)
    return found


def _grams(text: str) -> set[str]:
    return {text[start : start + GRAM] for start in range(len(text) - GRAM + 1)}


def _holds(text: str, likely: Iterable[str], wanted: _Groups) -> tuple[int, ...]:
    """Return the groups whose words all occur in a folded text, of those keyed by some words."""
    found = [word for word in likely if word in text]
    return tuple(sorted(place for word in found for place, others in wanted[word] if all(other in text for other in others)))
