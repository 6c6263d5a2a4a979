"""
Send HTTP requests to a model's endpoint, with retries.

What passes (no connection, 429, 5xx, an answer that is cut off) is tried again, a little later each time and never
beyond `timeout_s`; what does not pass (a refused key, a redirect, a wrong address) is said at once. After a failure that
outlasted this the line rests for REST_S, or as long as the endpoint asks for: nobody waits for a dead endpoint with every
request.

The key goes into one header and nowhere else: a redirect is never followed, and a message is cleaned of it. What an
answer means, and what a refused request, is the business of those who ask: embed.py, chat.py and rerank.py.
"""

from __future__ import annotations

import http.client
import json
import random
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

from yiku.errors import ModelFailed, ModelUnavailable

FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.25, 8.0
REST_S, LONGEST_REST_S = 15.0, 3_600.0  # the longer where the endpoint asks for it
PASSING = {408, 409, 425, 429, 500, 502, 503, 504, 529}  # statuses that a later try may not have

_NOT_ALLOWED = {401, 403}
_LOCAL = {"localhost", "127.0.0.1", "::1"}
_SAID_BYTES, _SHOWN_CHARS = 4_000, 300  # of what a server says with a refusal: what is looked at, and what a message shows


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """The settings of an endpoint."""

    url: str  # the whole address, or a base such as …/v1
    model: str
    key: str = field(default="", repr=False)
    timeout_s: float = 20.0  # of one request with all its tries


class Refused(Exception):
    """The endpoint rejects this request as it is."""

    def __init__(self, status: int, said: str) -> None:
        super().__init__(f"{status}: {said[:_SHOWN_CHARS]}")
        self.status, self.said = status, said


class Line:
    """
    Requests to one endpoint. Thread-safe.

    resource:     what is asked of it, which is the end of its address
    settings:     how its settings are called, for messages: embed, chat, rerank
    answer_bytes: the most that is read of an answer
    """

    def __init__(self, endpoint: Endpoint, *, resource: str, settings: str, answer_bytes: int) -> None:
        self.address = _address(endpoint.url, resource)
        self._endpoint, self._settings, self._answer_bytes = endpoint, settings, answer_bytes
        self._rest: tuple[float, str] = (0.0, "")  # until when nobody asks, and why
        past_proxies = [urllib.request.ProxyHandler({})] if urlsplit(endpoint.url).hostname in _LOCAL else []
        self._opener = urllib.request.build_opener(_NoRedirect, *past_proxies)

    def post(self, body: Mapping[str, Any], *, tries: int, patient: bool = False) -> bytes:
        """
        Send a request; return the body of the response.

        patient: ask also while the line rests
        Raises ModelUnavailable, Refused, and ModelFailed for an answer without end.
        """
        until, why = self._rest
        if not patient and time.monotonic() < until:
            raise ModelUnavailable(f"{why}; next request in {until - time.monotonic():.0f} s")
        deadline = time.monotonic() + self._endpoint.timeout_s
        request = self._request(body)
        pause = FIRST_PAUSE_S
        for tries_left in reversed(range(tries)):
            try:
                return self._once(request, deadline)
            except _Passing as error:
                wait = max(error.wait_s, pause * random.uniform(0.5, 1.5))
                if not tries_left or time.monotonic() + wait >= deadline:
                    raise self._unavailable(error.why, error.wait_s) from error
            time.sleep(wait)
            pause = min(2 * pause, LONGEST_PAUSE_S)
        raise AssertionError("the last try returns or raises")

    def late(self) -> ModelUnavailable:
        """Let the line rest, for who waits no longer; return the error that says so."""
        return self._unavailable(self._too_late)

    def as_model_error(self, why: str, said: str = "") -> ModelFailed:
        """Return the error for an unusable response; `said` is the model's text in it."""
        return ModelFailed(f"{self.address}, model {self._endpoint.model}: {why}", self._without_key(said))

    def shown(self, body: bytes, at_most: int = _SHOWN_CHARS) -> str:
        """Return a server's message, short, on one line, without the key."""
        return self._said(body)[:at_most]

    def _unavailable(self, why: str, wait_s: float = 0.0) -> ModelUnavailable:
        asked_to_wait = f" (it asks to wait {wait_s:.0f} s)" if wait_s else ""
        why = f"{self.address} {why}{asked_to_wait}"
        self._rest = (time.monotonic() + min(max(REST_S, wait_s), LONGEST_REST_S), why)
        return ModelUnavailable(f"{why}: see that it runs and can be reached, or change {self._settings}_url")

    @property
    def _too_late(self) -> str:
        return f"did not answer within {self._endpoint.timeout_s:g} s"

    # ------------------------------------------------------------------ one try

    def _request(self, body: Mapping[str, Any]) -> urllib.request.Request:
        headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "yiku"}
        if self._endpoint.key:
            headers["Authorization"] = f"Bearer {self._endpoint.key}"
        return urllib.request.Request(self.address, json.dumps(body).encode(), headers, method="POST")

    def _once(self, request: urllib.request.Request, deadline: float) -> bytes:
        try:
            with self._opener.open(request, timeout=max(0.01, deadline - time.monotonic())) as answer:
                return self._read(answer, deadline)
        except urllib.error.HTTPError as error:
            with error:
                raise self._said_no(error, deadline) from error
        except TimeoutError as error:
            raise _Passing(self._too_late) from error
        except urllib.error.URLError as error:
            if isinstance(error.reason, TimeoutError):
                raise _Passing(self._too_late) from error
            raise _Passing(f"cannot be reached: {error.reason}") from error
        except (http.client.HTTPException, OSError, UnicodeError) as error:
            raise _Passing(f"broke off: {type(error).__name__}") from error

    def _said_no(self, error: urllib.error.HTTPError, deadline: float) -> Exception:
        """Interpret a status other than 200."""
        status, name = error.code, self._settings
        if status in PASSING:
            return _Passing(f"answers {status}", _seconds(error.headers.get("Retry-After")))
        if status in _NOT_ALLOWED:
            without = f"a request without a key: set {name}_key or YIKU_{name.upper()}_KEY"
            return ModelUnavailable(
                f"{self.address} refuses {f'the key in {name}_key' if self._endpoint.key else without} ({status})"
            )
        if 300 <= status < 400:
            target = urlsplit(error.headers.get("Location", ""))
            there = f"{target.scheme}://{target.hostname}{target.path}" if target.hostname else target.path
            return ModelUnavailable(
                f"{self.address} redirects to {there or 'nowhere'}, and the key is not sent there: "
                f"if that is right, make it {name}_url"
            )
        try:
            body = self._read(error, deadline)
        except (http.client.HTTPException, OSError):
            body = b""
        if status == 404:
            advice = f"check {name}_url and {name}_model. {self.shown(body)}"
            return ModelUnavailable(f"{self.address} answers 404: {advice}".rstrip())
        return Refused(status, self._said(body))

    def _read(self, answer: Any, deadline: float) -> bytes:
        """Read the body. Raises TimeoutError past the deadline, ModelFailed if it is too large."""
        parts, size = [], 0
        while part := answer.read1(2**16):
            parts.append(part)
            size += len(part)
            if time.monotonic() > deadline:
                raise TimeoutError
            if size > self._answer_bytes:
                raise ModelFailed(f"an answer of over {self._answer_bytes:,} bytes came from the endpoint of {self._settings}_url")
        if answer.length:  # of what was announced, so much is missing
            raise http.client.IncompleteRead(b"", answer.length)
        return b"".join(parts)

    def _said(self, body: bytes) -> str:
        text = self._without_key(body[:_SAID_BYTES].decode("utf-8", "replace"))
        return "".join(c if c.isprintable() else " " for c in " ".join(text.split()))

    def _without_key(self, text: str) -> str:
        return text.replace(self._endpoint.key, "[key]") if self._endpoint.key else text


class _Passing(Exception):
    """A transient failure: another try may succeed."""

    def __init__(self, why: str, wait_s: float = 0.0) -> None:
        super().__init__(why)
        self.why, self.wait_s = why, wait_s


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Refuse redirects, which would send texts and key to another host."""

    def redirect_request(self, *_: object) -> None: ...


def sendable(text: str) -> str:
    """Return a text without lone surrogates, for JSON."""
    return text.encode("utf-8", "replace").decode()


def _address(url: str, resource: str) -> str:
    """Return the URL of a resource under a base address such as …/v1."""
    path = url.rstrip("/")
    if not urlsplit(path).path:
        path += "/v1"
    return path if path.endswith(f"/{resource}") else f"{path}/{resource}"


def _seconds(retry_after: str | None) -> float:
    """Parse Retry-After, seconds or a date; 0 if absent."""
    try:
        return max(0.0, float(retry_after or 0))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(retry_after or "").timestamp() - time.time())
    except (ValueError, OverflowError):
        return 0.0
