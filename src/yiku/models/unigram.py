"""
Tokenize text for the local embedding model: the most probable segmentation into pieces of its vocabulary.

A text is folded, its words get a mark in front (▁), and each word is cut so that the sum of the scores of its pieces
(the logs of their probabilities) is the highest: one pass over its characters, in which each place remembers the best
way to reach it (Viterbi). Words of the same spelling are cut once and remembered, so English costs next to nothing; a
run of Chinese is one long word. It gives the same numbers as the library `tokenizers`, and a text takes about a
hundredth of the time that its vector takes (docs/decisions/0025-onnxruntime.md).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from math import inf

SPECIAL = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")  # pieces that no text may spell
START, END, UNKNOWN = 0, 2, 3  # the numbers of <s>, </s> and <unk>
AT_MOST = 512  # tokens, which is as many places as the model knows
UNKNOWN_PENALTY = 10.0  # an unknown character scores so much less than the rarest piece; the training's own value
REMEMBERED_WORDS = 50_000  # about 10 MB
REMEMBERED_CHARS = 24  # a longer word, such as a run of Chinese, hardly comes back

_MARK = "▁"
_ACCENTS = re.compile("[\u0300-\u036f]")
_SPACE = re.compile("[\\s\x00-\x1f\x7f\u200b-\u200f\u2060\ufeff▁]+")  # with marks that nobody sees
_PLAIN = str.maketrans({"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i"}) | (
    str.maketrans({"Æ": "AE", "Œ": "OE", "Ø": "O", "Ł": "L", "Đ": "D", "Ð": "D", "Þ": "Th"})
)


def fold(text: str, *, accents: bool = False) -> str:
    """Normalize a text: width and spaces, and accents, which the reduced vocabulary does not have; with `accents` they stay."""
    if accents:
        text = unicodedata.normalize("NFKC", text)
    elif not text.isascii():
        bare = _ACCENTS.sub("", unicodedata.normalize("NFKD", text))
        text = unicodedata.normalize("NFKC", bare).translate(_PLAIN)
    return _SPACE.sub(" ", text).strip()


class Tokenizer:
    """
    Tokenizes text with a vocabulary.

    pieces, scores: of each its score; its place in the order is its number
    """

    def __init__(self, pieces: Sequence[str], scores: Sequence[float]) -> None:
        self._pieces = dict(zip(pieces, enumerate(scores), strict=True))
        for piece in SPECIAL:
            self._pieces.pop(piece, None)
        self._unknown = min(scores) - UNKNOWN_PENALTY
        self._longest = {piece[0]: len(piece) for piece in sorted(self._pieces, key=len)}  # by its first character
        self._at_most_chars = AT_MOST * max(self._longest.values())
        self._remembered = lru_cache(REMEMBERED_WORDS)(self._cut)

    def encode(self, text: str) -> list[int]:
        """Return the token ids of a folded text between <s> and </s>, truncated to AT_MOST."""
        numbers = [START]
        for word in text[: self._at_most_chars].split(" "):
            numbers += (self._remembered if len(word) <= REMEMBERED_CHARS else self._cut)(_MARK + word)
            if len(numbers) >= AT_MOST:
                break
        return [*numbers[: AT_MOST - 1], END]

    def _cut(self, word: str) -> Sequence[int]:
        """Return the best tokens of a word; adjacent unknown characters are one token."""
        size = len(word)
        best = [-inf] * (size + 1)
        best[0] = 0.0
        came: list[tuple[int, int]] = [(0, UNKNOWN)] * (size + 1)  # for each place: from where, with which piece
        for start in range(size):
            here = best[start]
            known = False
            for end in range(start + 1, min(start + self._longest.get(word[start], 0), size) + 1):
                if found := self._pieces.get(word[start:end]):
                    number, score = found
                    known = known or end == start + 1
                    if here + score > best[end]:
                        best[end], came[end] = here + score, (start, number)
            if not known and here + self._unknown > best[start + 1]:
                best[start + 1], came[start + 1] = here + self._unknown, (start, UNKNOWN)
        numbers: list[int] = []
        place = size
        while place:
            place, number = came[place]
            if number != UNKNOWN or not numbers or numbers[-1] != UNKNOWN:
                numbers.append(number)
        return numbers[::-1]
