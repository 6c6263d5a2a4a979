"""Segment text into tokens separated by spaces: Chinese by jieba if installed, else characters and pairs."""

from __future__ import annotations

import importlib
import logging
import re
import unicodedata
import warnings
from collections.abc import Iterator
from typing import Any

from yiku.errors import ExtraMissing

_RUN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+|[^\W_]+")
_HAN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")


class Segmenter:
    """Cuts text into tokens; `jieba` True demands jieba, None takes it where it is installed."""

    def __init__(self, jieba: bool | None = None) -> None:
        """Load the dictionary's module; the dictionary itself is loaded with the first Chinese text. Raises ExtraMissing."""
        self._jieba: Any = None
        if jieba is not False:
            try:
                with warnings.catch_warnings():  # of its own age, not of ours
                    warnings.simplefilter("ignore")
                    self._jieba = importlib.import_module("jieba")
                self._jieba.setLogLevel(logging.WARNING)
            except ImportError as error:
                if jieba:
                    raise ExtraMissing("jieba is not installed: pip install jieba, or leave it out") from error

    @property
    def name(self) -> str:
        """How Chinese is cut: jieba, or characters."""
        return "characters" if self._jieba is None else "jieba"

    def cut(self, text: str) -> str:
        """Return the tokens of a text, separated by spaces."""
        return " ".join(self.tokens(text))

    def tokens(self, text: str) -> Iterator[str]:
        """Yield tokens, folded to one width and case. A Chinese word comes with its characters, so that a part of it is found."""
        for run in _RUN.findall(unicodedata.normalize("NFKC", text).casefold()):
            if _HAN.match(run):
                yield from self._chinese(run)
            else:
                yield run

    def _chinese(self, run: str) -> Iterator[str]:
        if self._jieba is None:
            words = [run[at : at + 2] for at in range(len(run) - 1)]
        else:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                words = [word for word in self._jieba.cut_for_search(run) if len(word) > 1]
        yield from words
        yield from run
