"""
Any endpoint that speaks OpenAI's embeddings: a base address, a model, perhaps a key.

A request carries a batch of texts; the answer's rows are put in order by their `index`, checked and brought to unit
length. What passes (no connection, 429, 5xx, an answer that is cut off) is tried again, a little later each time and
never beyond `timeout_s`; what does not pass (a refused key, a redirect, a wrong shape) is said at once. After a failure
that outlasted this, questions fail at once for REST_S, so that nobody waits for a dead endpoint with every question.

The key goes into one header and nowhere else: a redirect is never followed, and a message is cleaned of it.
"""

from __future__ import annotations

import base64
import binascii
import http.client
import json
import random
import re
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from yiku.errors import ModelFailed, ModelUnavailable
from yiku.models.api import Role

if TYPE_CHECKING:
    from yiku.models.api import Vectors

TRIES: Mapping[Role, int] = {"query": 2, "passage": 5}  # a person waits for a question
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.25, 8.0
REST_S = 15.0
ANSWER_BYTES = 64 * 2**20  # 64 texts at 4,096 dimensions in decimal digits have 6 MB
PASSING = {408, 409, 425, 429, 500, 502, 503, 504, 529}  # statuses that a later try may not have
REFUSED = {401, 403}

_ABOUT_THE_BATCH = re.compile(r"batch|array|too many|(number|list) of (texts|inputs)|数组|批|条数", re.IGNORECASE)
_LOCAL = {"localhost", "127.0.0.1", "::1"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """What the settings say of an endpoint."""

    url: str
    model: str
    key: str = ""
    dimensions: int | None = None  # asked of it; None takes what the model has
    query_prefix: str = ""
    passage_prefix: str = ""
    batch: int = 64
    timeout_s: float = 20.0  # of one request with all its tries

    @property
    def address(self) -> str:
        """Where requests go: a base address such as …/v1 gets the name of the resource."""
        path = self.url.rstrip("/")
        if not urlsplit(path).path:
            path += "/v1"
        return path if path.endswith("/embeddings") else f"{path}/embeddings"


class ApiEmbedder:
    """The embedder of an endpoint. Its dimensions are the ones asked for, else those of its first answer."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self.dimensions = endpoint.dimensions
        self._batch = endpoint.batch
        self._lock = threading.Lock()
        self._rest: tuple[float, str] = (0.0, "")  # until when nobody asks, and why
        past_proxies = [urllib.request.ProxyHandler({})] if urlsplit(endpoint.url).hostname in _LOCAL else []
        self._opener = urllib.request.build_opener(_NoRedirect, *past_proxies)

    @property
    def space(self) -> str:
        """See Embedder. Dimensions that are not asked for are the model's own, so its name stands for them."""
        e = self._endpoint
        where = e.address.partition("://")[2]
        return f"api {where} {e.model} {e.dimensions or 'own'} {e.query_prefix!r} {e.passage_prefix!r}"

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        """See Embedder."""
        import numpy as np

        prefix = self._endpoint.query_prefix if role == "query" else self._endpoint.passage_prefix
        parts: list[Vectors] = []
        first = 0
        while first < len(texts):
            batch = [_sendable(prefix + text) for text in texts[first : first + self._batch]]
            try:
                parts.append(self._vectors(self._asked(batch, role), len(batch)))
            except _BatchTooLarge as error:
                if len(batch) == 1:
                    raise self._failed(f"it takes not even one text: {error.why}") from error
                self._batch = len(batch) // 2
                continue
            first += len(batch)
        return np.concatenate(parts) if parts else np.empty((0, self.dimensions or 0), np.float32)

    def close(self) -> None:
        """See Embedder: nothing is held between requests."""

    # ------------------------------------------------------------------ one request, and its tries

    def _asked(self, batch: Sequence[str], role: Role) -> bytes:
        """The body of the answer."""
        until, why = self._rest
        if role == "query" and time.monotonic() < until:
            raise ModelUnavailable(f"{why}; it is asked again in {until - time.monotonic():.0f} s")
        deadline = time.monotonic() + self._endpoint.timeout_s
        pause = FIRST_PAUSE_S
        for tries_left in reversed(range(TRIES[role])):
            try:
                return self._once(batch, deadline)
            except _Passing as error:
                wait = max(error.wait_s, pause * random.uniform(0.5, 1.5))
                if not tries_left or time.monotonic() + wait >= deadline:
                    asked_to_wait = f" (it asks to wait {error.wait_s:.0f} s)" if error.wait_s else ""
                    why = f"{self._endpoint.address} {error.why}{asked_to_wait}"
                    self._rest = (time.monotonic() + REST_S, why)
                    raise ModelUnavailable(f"{why}: see that it runs and can be reached, or change embed_url") from error
            time.sleep(wait)
            pause = min(2 * pause, LONGEST_PAUSE_S)
        raise AssertionError("the last try returns or raises")

    def _once(self, batch: Sequence[str], deadline: float) -> bytes:
        try:
            with self._opener.open(self._request(batch), timeout=max(0.01, deadline - time.monotonic())) as answer:
                return _read(answer, deadline)
        except urllib.error.HTTPError as error:
            with error:
                raise self._said_no(error, deadline) from error
        except TimeoutError as error:
            raise _Passing(f"did not answer within {self._endpoint.timeout_s:g} s") from error
        except urllib.error.URLError as error:
            if isinstance(error.reason, TimeoutError):
                raise _Passing(f"did not answer within {self._endpoint.timeout_s:g} s") from error
            raise _Passing(f"cannot be reached: {error.reason}") from error
        except (http.client.HTTPException, OSError) as error:
            raise _Passing(f"broke off: {type(error).__name__}") from error

    def _request(self, batch: Sequence[str]) -> urllib.request.Request:
        body: dict[str, Any] = {"model": self._endpoint.model, "input": list(batch)}
        if self._endpoint.dimensions:
            body["dimensions"] = self._endpoint.dimensions
        headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "yiku"}
        if self._endpoint.key:
            headers["Authorization"] = f"Bearer {self._endpoint.key}"
        return urllib.request.Request(self._endpoint.address, json.dumps(body).encode(), headers, method="POST")

    def _said_no(self, error: urllib.error.HTTPError, deadline: float) -> Exception:
        """What a status other than 200 means."""
        status = error.code
        if status in PASSING:
            return _Passing(f"answers {status}", _seconds(error.headers.get("Retry-After")))
        if status in REFUSED:
            key = "the key in embed_key" if self._endpoint.key else "a request without a key: set embed_key or YIKU_EMBED_KEY"
            return ModelUnavailable(f"{self._endpoint.address} refuses {key} ({status})")
        if 300 <= status < 400:
            target = urlsplit(error.headers.get("Location", ""))
            there = f"{target.scheme}://{target.hostname}{target.path}" if target.hostname else target.path
            return ModelUnavailable(
                f"{self._endpoint.address} redirects to {there or 'nowhere'}, and the key is not sent there: "
                "if that is right, make it embed_url"
            )
        try:
            said = self._clean(_read(error, deadline))
        except (http.client.HTTPException, OSError):
            said = ""
        if status == 413 or (status in (400, 422) and _ABOUT_THE_BATCH.search(said)):
            return _BatchTooLarge(said)
        if status == 404:
            return ModelUnavailable(f"{self._endpoint.address} answers 404: check embed_url and embed_model. {said}".rstrip())
        return self._failed(f"it answers {status}: {said}")

    def _clean(self, body: bytes) -> str:
        """What a server said, as a message may show it: short, on one line, without the key."""
        text = body[:4_000].decode("utf-8", "replace")
        if self._endpoint.key:
            text = text.replace(self._endpoint.key, "[key]")
        return "".join(c if c.isprintable() else " " for c in " ".join(text.split()))[:300]

    def _failed(self, why: str) -> ModelFailed:
        return ModelFailed(f"{self._endpoint.address}, model {self._endpoint.model}: {why}")

    # ------------------------------------------------------------------ what it answered

    def _vectors(self, body: bytes, count: int) -> Vectors:
        """The vectors of an answer in the order of the texts, at unit length. Raises ModelFailed."""
        import numpy as np

        try:
            rows = json.loads(body)["data"]
            placed = {row.get("index", place): _numbers(row["embedding"]) for place, row in enumerate(rows)}
        except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
            raise self._failed(f"that is no list of embeddings: {self._clean(body)[:120]}") from error
        if len(rows) != count or {*placed} != {*range(count)}:
            raise self._failed(f"{len(rows)} vectors came for {count} texts, or their places are wrong")
        sizes = {len(row) for row in placed.values()}
        with self._lock:
            wanted = self.dimensions or min(sizes)
            if sizes != {wanted}:
                raise self._failed(f"vectors of {', '.join(map(str, sorted(sizes)))} dimensions came, and {wanted} are wanted")
            vectors = np.stack([placed[n] for n in range(count)])
            with np.errstate(over="ignore"):
                lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
            if not wanted or not np.isfinite(lengths).all() or not lengths.all():
                raise self._failed("a vector is not finite, or zero")
            self.dimensions = wanted
        unit: Vectors = (vectors / lengths).astype(np.float32)
        return unit


class _Passing(Exception):
    """This try failed; another may not."""

    def __init__(self, why: str, wait_s: float = 0.0) -> None:
        super().__init__(why)
        self.why, self.wait_s = why, wait_s


class _BatchTooLarge(Exception):
    """The endpoint takes fewer texts at once."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect is an error: it would carry the texts, and the key, to a place that nobody chose."""

    def redirect_request(self, *_: object) -> None: ...


def _read(answer: Any, deadline: float) -> bytes:
    """The whole body. Raises TimeoutError for one that drips beyond the deadline, ValueError for one without end."""
    parts, size = [], 0
    while part := answer.read1(2**16):
        parts.append(part)
        size += len(part)
        if time.monotonic() > deadline:
            raise TimeoutError
        if size > ANSWER_BYTES:
            raise ModelFailed(f"an answer of over {ANSWER_BYTES:,} bytes came from the endpoint of embed_url")
    if answer.length:  # of what was announced, so much is missing
        raise http.client.IncompleteRead(b"", answer.length)
    return b"".join(parts)


def _numbers(embedding: object) -> Any:
    """A vector from a list of numbers, or from base64 of float32."""
    import numpy as np

    if isinstance(embedding, str):
        try:
            return np.frombuffer(base64.b64decode(embedding, validate=True), "<f4").astype(np.float64)
        except binascii.Error as error:
            raise ValueError("not base64") from error
    if not isinstance(embedding, list) or not all(type(number) in (int, float) for number in embedding):
        raise TypeError("not a list of numbers")
    return np.array(embedding, np.float64)


def _seconds(retry_after: str | None) -> float:
    """What Retry-After asks for, in seconds or as a date; 0 where it says nothing."""
    try:
        return max(0.0, float(retry_after or 0))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(retry_after or "").timestamp() - time.time())
    except (ValueError, OverflowError):
        return 0.0


def _sendable(text: str) -> str:
    """A text that JSON can carry and servers take: no half of a pair, and not empty."""
    return text.encode("utf-8", "replace").decode() or " "
