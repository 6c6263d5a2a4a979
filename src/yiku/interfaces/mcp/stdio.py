"""
Serve one MCP client over stdin and stdout.

The SDK keeps both to itself while it serves: what else prints goes to stderr. It ends when the client closes stdin.
"""

from __future__ import annotations

import anyio
from mcp.server.stdio import stdio_server

from yiku.interfaces.mcp import server
from yiku.interfaces.mcp.home import OpenHome
from yiku.interfaces.tools import Tools


def serve(home: OpenHome, tools: Tools) -> None:
    """Serve until stdin ends."""
    anyio.run(_serve, home, tools)


async def _serve(home: OpenHome, tools: Tools) -> None:
    made = server.make(home, tools)
    async with stdio_server() as (requests, answers):
        await made.run(requests, answers, made.create_initialization_options())
