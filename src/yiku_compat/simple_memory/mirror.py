"""
In-memory set of all tag names, to find the tags that occur in a text.

Names are kept by their first two characters with the lengths that occur, so a text is scanned in time that grows with the
text and not with the number of names. A Latin name matches whole words only (`art` is not in `start`), case is
ignored, and a single Chinese character is no tag to search by.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable


class TagMirror:
    """Tag names by their folded form."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._names: dict[str, set[str]] = {}
        self._lengths: dict[str, set[int]] = {}
        for name in names:
            self.add(name)

    def __len__(self) -> int:
        return sum(map(len, self._names.values()))

    def __contains__(self, name: str) -> bool:
        return name in self._names.get(folded(name), ())

    def add(self, name: str) -> None:
        """Add a tag."""
        key = folded(name)
        if key:
            self._names.setdefault(key, set()).add(name)
            self._lengths.setdefault(key[:2], set()).add(len(key))

    def found_in(self, text: str) -> set[str]:
        """Return the tags that stand in a text."""
        whole, found = folded(text), set[str]()
        for start in range(len(whole)):
            for width in (1, 2):
                for length in self._lengths.get(whole[start : start + width], ()):
                    part = whole[start : start + length]
                    if (length == 1) == (width == 1) and part in self._names and _stands_alone(whole, start, start + length):
                        found |= self._names[part]
        return found


def folded(text: str) -> str:
    """Return a text without differences of case and width."""
    return unicodedata.normalize("NFKC", text).casefold().strip()


def _stands_alone(text: str, start: int, end: int) -> bool:
    if end - start == 1 and not text[start].isascii():
        return False
    before, after = text[start - 1 : start], text[end : end + 1]
    return not (_is_word(before) and _is_word(text[start])) and not (_is_word(after) and _is_word(text[end - 1]))


def _is_word(character: str) -> bool:
    return character.isalnum() and ord(character) < 0x2E80  # below are no Chinese characters
