"""
A fake embedding model: texts with common words have similar vectors.

It answers as a model does, without being one: every word has a direction of its own, drawn from its hash.
"""

import hashlib
from collections.abc import Sequence

import numpy as np

from yiku.errors import ModelFailed, ModelUnavailable
from yiku.rules.text import analyze

DIMENSIONS = 32


class Hashed:
    """
    Words in, directions out.

    known:   other words for a word: what a model knows and an index does not
    refuses: texts that hold this are refused, and with them all that are asked in the same call
    broken:  the endpoint does not answer
    """

    def __init__(self, space: str = "test:hashed:32", known: dict[str, str] | None = None, dimensions: int = DIMENSIONS) -> None:
        self.space = space
        self.known = known or {}
        self.dimensions = dimensions
        self.asked: list[str] = []
        self.refuses: str | None = None
        self.broken = False

    def embed(self, texts: Sequence[str], role: str) -> np.ndarray:
        """One vector of unit length a text."""
        if self.broken:
            raise ModelUnavailable("the endpoint does not answer")
        if self.refuses is not None and any(self.refuses in text for text in texts):
            raise ModelFailed("the model does not take such a text")
        self.asked += texts
        return np.array([self._vector(text) for text in texts], np.float32).reshape(len(texts), self.dimensions)

    def _vector(self, text: str) -> np.ndarray:
        tokens = analyze.tokens(text)
        words = [self.known.get(word, word) for word in (*tokens.words, *tokens.characters)] or [text]
        found = np.sum([_direction(word, self.dimensions) for word in words], axis=0)
        return found / np.linalg.norm(found)

    def close(self) -> None:
        """Nothing is held."""


def _direction(word: str, dimensions: int) -> np.ndarray:
    seed = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest())
    return np.random.default_rng(seed).normal(size=dimensions)
