"""
Serve one MCP client over stdin and stdout.

The SDK keeps stdout to itself while it serves: what else prints goes to stderr. It ends when the client closes stdin. Lines are
read here: the SDK leaves one that its parser refuses without an answer, and the client would wait for it in vain.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

import anyio
import mcp_types as types
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from yiku.interfaces.mcp import server
from yiku.interfaces.mcp.handshake import Input, is_id
from yiku.interfaces.mcp.home import OpenHome
from yiku.interfaces.tools import Tools
from yiku.interfaces.tools.schemas import without_halves

DIGITS = 4_000  # of a number; Python reads no whole number with many more
LOOKED_AT = 65_536  # signs of a line that cannot be read: no other request has its answer meanwhile
TOOL_CALL = "tools/call"  # its tool says which argument is cut
NOT_JSON = "the message is not JSON, or lists and objects are nested too deep in it"
NO_ID = "the id of a request is a text, without half of a character in it, or a whole number"
NO_MESSAGE = "the message is not one request, notification or answer of JSON-RPC 2.0"


def serve(home: OpenHome, tools: Tools, given: Input) -> None:
    """Serve until stdin ends."""
    anyio.run(_serve, home, tools, given)


async def _serve(home: OpenHome, tools: Tools, given: Input) -> None:
    made = server.make(home, tools)
    put, requests = anyio.create_memory_object_stream[SessionMessage | Exception]()
    async with stdio_server(stdin=_nothing()) as (unused, answers), unused, anyio.create_task_group() as group:  # type: ignore[arg-type]
        group.start_soon(_read, given, put, answers)
        await made.run(requests, _Unanswered(answers, given.answered), made.create_initialization_options())
        group.cancel_scope.cancel()


async def _nothing() -> AsyncIterator[str]:
    """No lines, for the SDK to read."""
    return
    yield


async def _read(given: Input, put: Any, answers: Any) -> None:
    """Hand on each message of the client, and answer what is none."""
    async with put:
        async for line in anyio.wrap_file(given.lines):
            if line.strip():
                found, refused = read(line)
                await (answers if refused else put).send(SessionMessage(found))


def read(line: str) -> tuple[types.JSONRPCMessage, bool]:
    """Return the message of a line, and whether it is the answer to a line that holds none."""
    with suppress(ValidationError):  # for half of a character and a long number, too, which the tools have an answer to
        message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
        if not isinstance(message, types.JSONRPCNotification):  # which a request with an odd id is taken for, too
            return message, False
    try:
        found = json.loads(line, parse_int=lambda digits: int(digits) if len(digits) < DIGITS else float(digits))
    except (ValueError, RecursionError):
        return _error(types.PARSE_ERROR, NOT_JSON, _outermost(line))
    if isinstance(found, dict) and {"method", "id"} <= found.keys() and not is_id(found["id"]):
        return _error(types.INVALID_REQUEST, NO_ID, found)
    try:
        whole = _without_halves(found, but="arguments" if isinstance(found, dict) and found.get("method") == TOOL_CALL else None)
        return types.jsonrpc_message_adapter.validate_python(whole, by_name=False), False
    except (ValidationError, RecursionError):
        return _error(types.INVALID_REQUEST, NO_MESSAGE, found)


def _error(code: int, why: str, found: Any) -> tuple[types.JSONRPCError, bool]:
    """Return an error, with the id of what it answers where that has one."""
    id = found.get("id") if isinstance(found, dict) else None
    error = types.ErrorData(code=code, message=why)
    return types.JSONRPCError(jsonrpc="2.0", id=id if is_id(id) else None, error=error), True


def _without_halves(value: Any, *, but: str | None) -> Any:
    """Return a value with a mark for each half of a character, which no answer can repeat; what has the name `but` stays as it is."""
    match value:
        case str():
            return without_halves(value)
        case list():
            return [_without_halves(one, but=but) for one in value]
        case dict():
            return {without_halves(name): one if name == but else _without_halves(one, but=but) for name, one in value.items()}
    return value


def _outermost(line: str) -> Any:
    """Return the object at the beginning of a line without what its members hold; of a line that is cut off, its whole members."""
    kept: list[str] = []
    level, inside, escaped, whole = 0, False, False, 0
    for sign in line[:LOOKED_AT]:
        if not inside and sign in "[{":
            level += 1
            kept.append("null" if level == 2 else sign if level == 1 else "")
        elif not inside and sign in "]}":
            kept.append(sign if level == 1 else "")
            level -= 1
        elif level <= 1:
            whole = len(kept) if sign == "," and not inside else whole
            kept.append(sign)
        inside, escaped = inside != (sign == '"' and not escaped), inside and sign == "\\" and not escaped
    for text in ("".join(kept), "".join(kept[:whole]) + "}"):
        with suppress(ValueError, RecursionError):
            return json.loads(text)
    return None


class _Unanswered:
    """The stream of answers, without the one that the client has."""

    def __init__(self, stream: Any, answered: str | int | None) -> None:
        self._stream, self._answered = stream, answered

    async def send(self, message: Any) -> None:
        """Send a message on, unless it is that answer."""
        if self._answered is not None and getattr(message.message, "id", None) == self._answered:
            self._answered = None
            return
        await self._stream.send(message)

    async def aclose(self) -> None:
        """Close the stream."""
        await self._stream.aclose()

    async def __aenter__(self) -> _Unanswered:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.aclose()
