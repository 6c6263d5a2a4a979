"""
Client for OpenAI-compatible embeddings.

A request carries a batch of texts; the answer's rows are put in order by their `index`, checked and brought to unit
length. A person waits for a question, so a question is tried less often than a passage, and fails at once while the
line rests (endpoint.py).
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from yiku.models.api import Role
from yiku.models.endpoint import Endpoint, Line, Refused, sendable
from yiku.models.fork_lock import Guarded

if TYPE_CHECKING:
    from yiku.models.api import Vectors

TRIES: Mapping[Role, int] = {"query": 2, "passage": 5}
ANSWER_BYTES = 64 * 2**20  # 64 texts at 4,096 dimensions in decimal digits have 6 MB

_ABOUT_THE_BATCH = re.compile(r"batch|array|too many|(number|list) of (texts|inputs)|数组|批|条数", re.IGNORECASE)


class ApiEmbedder(Guarded):
    """
    An embedder behind an endpoint; dimensions as requested, else those of its first answer.

    dimensions: asked of it; None takes what the model has
    batch:      texts in one request; halved when the endpoint takes fewer
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        dimensions: int | None = None,
        query_prefix: str = "",
        passage_prefix: str = "",
        batch: int = 64,
    ) -> None:
        super().__init__()
        self._line = Line(endpoint, resource="embeddings", settings="embed", answer_bytes=ANSWER_BYTES)
        self._model, self._asked_for = endpoint.model, dimensions
        self._prefixes: Mapping[Role, str] = {"query": query_prefix, "passage": passage_prefix}
        self.dimensions = dimensions
        self._batch = batch

    @property
    def space(self) -> str:
        """See Embedder. Without requested dimensions the model's name implies them."""
        where = self._line.address.partition("://")[2]
        query, passage = self._prefixes["query"], self._prefixes["passage"]
        return f"api {where} {self._model} {self._asked_for or 'own'} {query!r} {passage!r}"

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        """See Embedder."""
        import numpy as np

        parts: list[Vectors] = []
        first = 0
        while first < len(texts):
            batch = [sendable(self._prefixes[role] + text) or " " for text in texts[first : first + self._batch]]
            try:
                answer = self._line.post(self._body(batch), tries=TRIES[role], patient=role == "passage")
            except Refused as error:
                if not _too_large(error):
                    raise self._line.as_model_error(f"it answers {error}") from error
                if len(batch) == 1:
                    raise self._line.as_model_error(f"it takes not even one text: {error}") from error
                self._batch = len(batch) // 2
                continue
            parts.append(self._vectors(answer, len(batch)))
            first += len(batch)
        return np.concatenate(parts) if parts else np.empty((0, self.dimensions or 0), np.float32)

    def close(self) -> None:
        """Do nothing: no connection is held."""

    def _body(self, batch: Sequence[str]) -> Mapping[str, Any]:
        body = {"model": self._model, "input": batch}
        return body | {"dimensions": self._asked_for} if self._asked_for else body

    def _vectors(self, body: bytes, count: int) -> Vectors:
        """Return unit vectors in the order of the texts. Raises ModelFailed."""
        import numpy as np

        try:
            rows = json.loads(body)["data"]
            placed = {row.get("index", place): _numbers(row["embedding"]) for place, row in enumerate(rows)}
        except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
            raise self._line.as_model_error(f"that is no list of embeddings: {self._line.shown(body, 120)}") from error
        if len(rows) != count or {*placed} != {*range(count)}:
            raise self._line.as_model_error(f"{len(rows)} vectors came for {count} texts, or their places are wrong")
        sizes = {len(row) for row in placed.values()}
        with self._lock:
            wanted = self.dimensions or min(sizes)
            if sizes != {wanted}:
                came = ", ".join(map(str, sorted(sizes)))
                raise self._line.as_model_error(f"vectors of {came} dimensions came, and {wanted} are wanted")
            vectors = np.stack([placed[n] for n in range(count)])
            with np.errstate(over="ignore"):
                lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
            if not wanted or not np.isfinite(lengths).all() or not lengths.all():
                raise self._line.as_model_error("a vector is not finite, or zero")
            self.dimensions = wanted
        unit: Vectors = (vectors / lengths).astype(np.float32)
        return unit


def _too_large(error: Refused) -> bool:
    """Tell whether a smaller batch may succeed."""
    return error.status == 413 or (error.status in (400, 422) and bool(_ABOUT_THE_BATCH.search(error.said)))


def _numbers(embedding: object) -> Any:
    """Decode a vector from a list, or from base64 float32."""
    import numpy as np

    if isinstance(embedding, str):
        try:
            return np.frombuffer(base64.b64decode(embedding, validate=True), "<f4").astype(np.float64)
        except binascii.Error as error:
            raise ValueError("not base64") from error
    if not isinstance(embedding, list) or not all(type(number) in (int, float) for number in embedding):
        raise TypeError("not a list of numbers")
    return np.array(embedding, np.float64)
