"""
Check HTTP requests to the MCP server before the SDK sees them: loopback, host, origin, token, sizes.

    connection   loopback alone; headers within HEADER_BYTES and HEADERS; a slow body is given up
    page         the one path, without a query; POST, GET and DELETE; no preflight is answered, so no page of a browser gets in
    host         the exact names of this machine with this port, once: a name that was rebound to it is another name
    origin       none, or exactly this server's own; `null` and pages of other sites are refused
    token        always, in the one Authorization header, compared in constant time
    body         application/json, not compressed, within BODY_BYTES however it is sent; one object, not nested too deeply

What is refused gets a status and one line, and no header that would let a browser read it.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Awaitable, Callable, Iterable, MutableMapping, Sequence
from typing import Any, NamedTuple

import anyio

PATH = "/mcp"
METHODS = ("POST", "GET", "DELETE")
BODY_BYTES = 1024 * 1024  # a memory has at most some 20,000 characters
BODY_S = 10.0  # to send it
HEADER_BYTES = 16_384  # all of them together
HEADERS = 64
DEPTH = 32  # of lists and objects in each other; what the protocol sends has eight
SESSION_CHARS = 128

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


class Refusal(NamedTuple):
    """An HTTP status, and why in a line."""

    status: int
    why: str


class Guard:
    """The ASGI application behind its checks."""

    def __init__(self, app: App, *, token: str, port: int, body_s: float = BODY_S) -> None:
        self._app = app
        self._token = token.encode()
        names = [f"{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]")]
        self._hosts = frozenset(name.encode() for name in names)
        self._origins = frozenset(f"http://{name}".encode() for name in names)
        self._body_s = body_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand on what passes, with its whole body; answer the rest."""
        if scope["type"] == "lifespan":
            return await self._app(scope, receive, send)
        if scope["type"] != "http":
            return await send({"type": "websocket.close", "code": 1008})
        refusal = self._refusal(scope)
        body = b""
        if refusal is None and scope["method"] == "POST":
            found = await self._body(scope, receive)
            refusal, body = (found, b"") if isinstance(found, Refusal) else (None, found)
        if refusal is not None:
            return await _refuse(send, refusal)
        await self._app(scope, _replayed(body, receive) if body else receive, send)
        return None

    def _refusal(self, scope: Scope) -> Refusal | None:
        """Return why a request is refused by its line and headers, if it is."""
        headers: Sequence[tuple[bytes, bytes]] = scope["headers"]
        if len(headers) > HEADERS or sum(len(name) + len(value) for name, value in headers) > HEADER_BYTES:
            return Refusal(431, "the headers are too large")
        if scope["path"] != PATH or scope.get("raw_path", PATH.encode()).partition(b"?")[0] != PATH.encode():
            return Refusal(404, f"there is only {PATH}")
        hosts = _named(headers, b"host")
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            return Refusal(421, "this server is asked for under another name")
        origins = _named(headers, b"origin")
        if len(origins) > 1 or any(origin not in self._origins for origin in origins):
            return Refusal(403, "pages of other sites may not ask this server")
        if any(site not in (b"same-origin", b"none") for site in _named(headers, b"sec-fetch-site")):
            return Refusal(403, "pages of other sites may not ask this server")
        if scope["method"] not in METHODS:
            return Refusal(405, f"this method is not one of {', '.join(METHODS)}")
        if scope.get("query_string"):
            return Refusal(400, "a query is not understood; the token belongs into the header Authorization")
        if not self._authorized(_named(headers, b"authorization")):
            return Refusal(401, "the token is missing or wrong; `yiku mcp --token` prints it")
        sessions = _named(headers, b"mcp-session-id")
        if len(sessions) > 1 or any(len(one) > SESSION_CHARS or not one.isalnum() for one in sessions):
            return Refusal(400, "the session id is not one of this server's")
        return _wrong_body(headers) if scope["method"] == "POST" else None

    def _authorized(self, given: Sequence[bytes]) -> bool:
        """Whether the one header has the token; both sides are compared in full whatever they are."""
        scheme, _, token = given[0].partition(b" ") if len(given) == 1 else (b"", b"", b"")
        return hmac.compare_digest(token.strip(), self._token) and scheme.lower() == b"bearer"

    async def _body(self, scope: Scope, receive: Receive) -> bytes | Refusal:
        """Return the body, or why it is refused."""
        received = bytearray()
        with anyio.move_on_after(self._body_s) as limit:
            while True:
                message = await receive()
                if message["type"] != "http.request":
                    return Refusal(400, "the request was cut off")
                received += message.get("body", b"")
                if len(received) > BODY_BYTES:
                    return Refusal(413, f"the body has over {BODY_BYTES:,} bytes")
                if not message.get("more_body", False):
                    break
        if limit.cancelled_caught:
            return Refusal(408, f"the body was not there within {self._body_s:g} seconds")
        return _wrong_json(bytes(received)) or bytes(received)


def _named(headers: Iterable[tuple[bytes, bytes]], wanted: bytes) -> list[bytes]:
    return [value for name, value in headers if name.lower() == wanted]


def _wrong_body(headers: Sequence[tuple[bytes, bytes]]) -> Refusal | None:
    """Return what the headers say of the body that is not understood."""
    types = _named(headers, b"content-type")
    kind, _, parameters = (types[0] if len(types) == 1 else b"").lower().partition(b";")
    if kind.strip() != b"application/json" or parameters.replace(b" ", b"").replace(b'"', b"") not in (b"", b"charset=utf-8"):
        return Refusal(415, "the content type must be application/json")
    if _named(headers, b"content-encoding"):
        return Refusal(415, "a compressed body is not understood")
    lengths = _named(headers, b"content-length")
    if lengths and (len(lengths) > 1 or not lengths[0].isdigit() or len(lengths[0]) > 12):
        return Refusal(400, "the content length is not understood")
    if lengths and int(lengths[0]) > BODY_BYTES:
        return Refusal(413, f"the body has over {BODY_BYTES:,} bytes")
    return None


def _wrong_json(body: bytes) -> Refusal | None:
    """Return why a body is not one JSON object of a usual shape."""
    if too_deep(body):
        return Refusal(400, f"the body is nested over {DEPTH} levels")
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        return Refusal(400, "the body is not JSON")
    if not isinstance(message, dict):
        return Refusal(400, "the body must be one JSON object; batches are not part of the protocol")
    return None


def too_deep(body: bytes, depth: int = DEPTH) -> bool:
    """Whether lists and objects lie in each other deeper than that, in one pass, without parsing them."""
    level, inside, escaped = 0, False, False
    for byte in body:
        if inside:
            if escaped:
                escaped = False
            elif byte == 0x5C:  # backslash
                escaped = True
            elif byte == 0x22:  # "
                inside = False
        elif byte == 0x22:
            inside = True
        elif byte in (0x5B, 0x7B):  # [ {
            level += 1
            if level > depth:
                return True
        elif byte in (0x5D, 0x7D):
            level -= 1
    return False


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Return a source of the body that was read, and then of what comes after it."""
    read = False

    async def next_message() -> Message:
        nonlocal read
        if not read:
            read = True
            return {"type": "http.request", "body": body, "more_body": False}
        return await receive()

    return next_message


async def _refuse(send: Send, refusal: Refusal) -> None:
    body = json.dumps({"error": refusal.why}).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
    ]
    if refusal.status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    if refusal.status == 405:
        headers.append((b"allow", ", ".join(METHODS).encode()))
    if refusal.status in (408, 413):
        headers.append((b"connection", b"close"))  # what is still sent is not read
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
