"""
Baseline retrievers over the same texts and questions: FTS5, vectors, fusion.

    FTS5           SQLite as it comes: the Porter tokenizer in English, pairs of characters in Chinese
    FTS5 + jieba   the same, with a dictionary in Chinese
    vectors        the nearest turns by cosine; a long turn is as near as the nearest of its windows
    RRF            reciprocal rank fusion, k = 60, of words (with the dictionary, if it is there) and vectors

None looks past the question's date. All rank turns; a session stands where its first turn stands.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from importlib.util import find_spec
from typing import Any

import apsw
import numpy as np
from datasets import Question, Turn

from yiku.rules.text import chunk

DEPTH = 200  # turns ranked: as many as `context` may pack
RRF_K = 60
_UNSPACED = "\u3400-\u9fff\uf900-\ufaff"
_RUN = re.compile(rf"[{_UNSPACED}]+|[^\W{_UNSPACED}]+")


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def bigrams(text: str) -> list[str]:
    """Chinese by pairs of characters, the rest by words."""
    terms: list[str] = []
    for run in _RUN.findall(text.casefold()):
        chinese = len(run) > 1 and re.match(f"[{_UNSPACED}]", run)
        terms += [run[i : i + 2] for i in range(len(run) - 1)] if chinese else [run]
    return terms


def segmented() -> Callable[[str], list[str]]:
    """jieba's words, as its own users take them for a search index."""
    import logging

    import jieba

    jieba.setLogLevel(logging.WARNING)
    return lambda text: [word for word in jieba.cut_for_search(text.casefold()) if word[0].isalnum()]


class Words:
    """One FTS5 table, ranked by bm25 over any of the question's terms."""

    def __init__(self, terms: Callable[[str], list[str]]) -> None:
        self.terms = terms
        self.connection = apsw.Connection(":memory:")
        self.connection.execute(
            "create virtual table said using fts5 (text, id unindexed, at unindexed, tokenize = 'porter unicode61')"
        )

    def add(self, turns: Iterable[Turn]) -> None:
        rows = ((" ".join(self.terms(turn.said)), turn.id, turn.at.timestamp()) for turn in turns)
        with self.connection:
            self.connection.executemany("insert into said values (?, ?, ?)", rows)

    def ranked(self, question: Question) -> list[str]:
        asked = " OR ".join(f'"{term}"' for term in dict.fromkeys(self.terms(question.text)))
        if not asked:
            return []
        sql = "select id from said where said match ? and at <= ? order by bm25(said), rowid limit ?"
        return [id for (id,) in self.connection.execute(sql, (asked, question.at.timestamp(), DEPTH))]


class Vectors:
    """Every turn's windows, all looked at."""

    def __init__(self, embedder: Any) -> None:
        self.embedder = embedder
        self.ids: list[str] = []
        self.times: list[datetime] = []
        self.first: list[int] = []  # the first window of each turn
        self.rows = np.empty((0, 0), np.float32)

    def add(self, turns: Sequence[Turn]) -> None:
        windows = [chunk.windows(turn.said) for turn in turns]
        at = len(self.rows)
        for turn, parts in zip(turns, windows, strict=True):
            self.ids.append(turn.id)
            self.times.append(turn.at)
            self.first.append(at)
            at += len(parts)
        new = self.embedder.embed([part for parts in windows for part in parts], "passage")
        self.rows = np.concatenate([self.rows, new]) if len(self.rows) else new

    def ranked(self, question: Question) -> list[str]:
        if not self.ids:
            return []
        query = self.embedder.embed([question.text], "query")[0]
        scores = np.maximum.reduceat(self.rows @ query, self.first)
        order = np.argsort(-scores, kind="stable")
        return [self.ids[n] for n in order if self.times[n] <= question.at][:DEPTH]


def fused(*rankings: Sequence[str]) -> list[str]:
    """Reciprocal rank fusion."""
    scores: dict[str, float] = defaultdict(float)
    for ranking in rankings:
        for rank, id in enumerate(ranking, 1):
            scores[id] += 1 / (RRF_K + rank)
    return sorted(scores, key=lambda id: -scores[id])[:DEPTH]


class Baselines:
    """All that can run here, for one memory; what needs a package or a model that is not there is not in it."""

    def __init__(self, language: str, embedder: Any | None) -> None:
        chinese = language == "zh"
        self.words = {"FTS5": Words(bigrams if chinese else words)}
        if find_spec("jieba") is not None:
            self.words["FTS5 + jieba"] = Words(segmented()) if chinese else self.words["FTS5"]
        self.vectors = Vectors(embedder) if embedder is not None else None

    def add(self, turns: Sequence[Turn]) -> None:
        for table in dict.fromkeys(self.words.values()):
            table.add(turns)
        if self.vectors is not None:
            self.vectors.add(turns)

    def ranked(self, question: Question) -> dict[str, list[str]]:
        """Turn ids, best first, of each baseline."""
        by_words = {name: table.ranked(question) for name, table in self.words.items()}
        if self.vectors is None:
            return by_words
        by_vectors = self.vectors.ranked(question)
        return {**by_words, "vectors": by_vectors, "RRF": fused([*by_words.values()][-1], by_vectors)}
