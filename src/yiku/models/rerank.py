"""
Client for rerank endpoints as Cohere, Jina, vLLM and llama.cpp have them, and for `/rerank` of text-embeddings-inference.

    {"model", "query", "documents", "top_n"}    →  {"results": [{"index", "relevance_score"}, …]}
    {"query", "texts", "truncate"}              →  [{"index", "score"}, …]

The first form is sent, unless the endpoint has refused it for want of `texts`; both answers are understood. A person waits:
a question costs at most `timeout_s`, whatever the endpoint does, and nothing while the line rests (endpoint.py).
"""

from __future__ import annotations

import json
import math
import queue
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from yiku.errors import ModelError
from yiku.models.endpoint import Endpoint, Line, Refused, sendable

TRIES = 2
ANSWER_BYTES = 4 * 2**20  # some send the texts back: 30 of 2,000 characters have 0.4 MB, escaped


class ApiReranker:
    """A reranker behind an endpoint. It has no lock, so that a fork needs no care."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._line = Line(endpoint, resource="rerank", settings="rerank", answer_bytes=ANSWER_BYTES)
        self._model, self._timeout_s = endpoint.model, endpoint.timeout_s
        self._wants_texts = False

    @property
    def name(self) -> str:
        """See Reranker."""
        return f"{self._model} at {self._line.address}"

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """See Reranker."""
        answers: queue.SimpleQueue[list[float] | ModelError] = queue.SimpleQueue()

        def ask() -> None:
            try:
                answers.put(self._ask(question, texts))
            except ModelError as error:
                answers.put(error)

        # a socket's timeout is that of one read, and looking up a name has none: only a thread can be left
        threading.Thread(target=ask, name="yiku-rerank", daemon=True).start()
        try:
            answer = answers.get(timeout=self._timeout_s)
        except queue.Empty:
            raise self._line.late() from None
        if isinstance(answer, ModelError):
            raise answer
        return answer

    def _ask(self, question: str, texts: Sequence[str]) -> list[float]:
        for wants_texts in (self._wants_texts, True):
            try:
                answer = self._line.post(self._body(question, texts, wants_texts), tries=TRIES)
            except Refused as error:
                if wants_texts or "texts" not in error.said:
                    raise self._line.as_model_error(f"it answers {error}") from error
            else:
                self._wants_texts = wants_texts
                return self._scores(answer, len(texts))
        raise AssertionError("the last form returns or raises")

    def _body(self, question: str, texts: Sequence[str], wants_texts: bool) -> Mapping[str, Any]:
        asked, sent = sendable(question), [sendable(text) for text in texts]
        if wants_texts:
            return {"query": asked, "texts": sent, "truncate": True}
        return {"model": self._model, "query": asked, "documents": sent, "top_n": len(sent)}

    def _scores(self, body: bytes, count: int) -> list[float]:
        """Return the scores in the order of the texts. Raises ModelFailed."""
        try:
            found = json.loads(body)
            rows = found if isinstance(found, list) else found["results"]
            scored = [(row["index"], _number(row["relevance_score"] if "relevance_score" in row else row["score"])) for row in rows]
        except (ArithmeticError, LookupError, RecursionError, TypeError, ValueError) as error:
            raise self._line.as_model_error(f"that is no list of scores: {self._line.shown(body, 120)}") from error
        if any(type(place) is not int for place, _ in scored) or sorted(place for place, _ in scored) != [*range(count)]:
            raise self._line.as_model_error(f"{len(scored)} scores came for {count} texts, or their places are wrong")
        return [score for _, score in sorted(scored)]


def _number(score: object) -> float:
    if not isinstance(score, (int, float)) or isinstance(score, bool) or not math.isfinite(score):
        raise ValueError("no finite number")
    return float(score)
