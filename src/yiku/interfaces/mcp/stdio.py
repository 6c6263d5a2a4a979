"""
Serve one client over stdin and stdout.

The SDK keeps stdout to itself while it serves: what else prints goes to stderr. It ends when the client closes stdin.
"""

from __future__ import annotations

from typing import Any

import anyio
from mcp.server.stdio import stdio_server

from yiku.interfaces.mcp import server
from yiku.interfaces.mcp.handshake import Input
from yiku.interfaces.mcp.home import OpenHome
from yiku.interfaces.tools import Tools


def serve(home: OpenHome, tools: Tools, given: Input) -> None:
    """Serve until stdin ends."""
    anyio.run(_serve, home, tools, given)


async def _serve(home: OpenHome, tools: Tools, given: Input) -> None:
    made = server.make(home, tools)
    async with stdio_server(stdin=anyio.wrap_file(given.lines)) as (requests, answers):
        await made.run(requests, _Unanswered(answers, given.answered), made.create_initialization_options())


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
