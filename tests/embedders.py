"""
A model for tests: texts that share words have vectors that are near each other, whatever the words are.

It answers as a model does, without being one: every word has a direction of its own, drawn from its hash.
"""

import hashlib
from collections.abc import Sequence

import numpy as np

from yiku.errors import ModelUnavailable
from yiku.rules import analyze

DIMENSIONS = 32


class Hashed:
    """Words in, directions out. `known` are other words for a word: what a model knows and an index does not."""

    def __init__(self, space: str = "test:hashed:32", known: dict[str, str] | None = None) -> None:
        self.space = space
        self.known = known or {}
        self.asked: list[str] = []
        self.broken = False

    def embed(self, texts: Sequence[str], role: str) -> np.ndarray:
        """One vector of unit length a text."""
        if self.broken:
            raise ModelUnavailable("the endpoint does not answer")
        self.asked += texts
        return np.array([self._vector(text) for text in texts], np.float32).reshape(len(texts), DIMENSIONS)

    def _vector(self, text: str) -> np.ndarray:
        tokens = analyze.tokens(text)
        words = [self.known.get(word, word) for word in (*tokens.words, *tokens.characters)] or [text]
        found = np.sum([_direction(word) for word in words], axis=0)
        return found / np.linalg.norm(found)

    def close(self) -> None:
        """Nothing is held."""


def _direction(word: str) -> np.ndarray:
    seed = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest())
    return np.random.default_rng(seed).normal(size=DIMENSIONS)
