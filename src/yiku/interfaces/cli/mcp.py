"""
The command `mcp`: serve the memory over the Model Context Protocol, on stdio or HTTP; print the HTTP token.
"""

from __future__ import annotations

import gc
import importlib.util
import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from yiku.errors import ExtraMissing, InvalidInput, YikuError
from yiku.interfaces.cli.call import Call

if TYPE_CHECKING:
    from yiku.interfaces.mcp.home import OpenHome
    from yiku.interfaces.tools import Tools
    from yiku.memory import Memory

MOST_PORT = 65_535
TOKEN_CHARS = (32, 512)


def mcp(
    call: Call,
    *,
    http: Annotated[bool, typer.Option("--http", help="Serve streamable HTTP on this machine instead.")] = False,
    host: Annotated[str, typer.Option(metavar="ADDRESS", help="127.0.0.1 or ::1.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(metavar="N", help="The port; 0 takes any that is free.")] = 8756,
    token: Annotated[bool, typer.Option("--token", help="Print the token that clients of --http need.")] = False,
    token_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Take the token from this file, which nobody else may read.")
    ] = None,
) -> None:
    """
    Serve memory to an agent as an MCP server.

    An agent starts it and speaks to it over stdin and stdout. With --http it serves several clients that have the
    token. Needs pip install '.[mcp]' in a checkout.

    \b
    yiku mcp
    yiku mcp --http --port 8800
    """
    if not 0 <= port <= MOST_PORT:
        raise InvalidInput(f"--port must be from 0 to {MOST_PORT}")
    if token:
        with call.memory() as memory:
            printed = _token(memory, token_file)
        call.answer({"token": printed}, [printed])
        return
    home, tools = _parts(call)
    try:
        if not http:
            from yiku.interfaces.mcp import handshake

            given = handshake.answer_first(tools)
            from yiku.interfaces.mcp import stdio  # loads the SDK, which takes long

            _settle()
            stdio.serve(home, tools, given)
            return
        from yiku.interfaces.mcp import http as over_http

        bound, secret = over_http.bind(host, port), _token(home.memory(), token_file)
        _settle()
        over_http.serve(home, tools, bound, secret, ready=lambda address: call.note(f"Serving {address}. Ctrl-C ends it."))
    finally:
        home.close()


def _token(memory: Memory, file: Path | None) -> str:
    """Return the token of this scope, or that of a file. Raises InvalidInput for a file that others may read."""
    if file is None:
        return memory.agent.token()
    try:
        mode = file.stat().st_mode
        text = file.read_text(encoding="ascii").strip()
    except (OSError, ValueError) as error:
        raise InvalidInput(f"{file} cannot be read: {error}") from error
    if mode & 0o077:
        raise InvalidInput(f"{file} may be read by others: chmod 600 {file}")
    if not TOKEN_CHARS[0] <= len(text) <= TOKEN_CHARS[1] or not text.isprintable() or " " in text:
        raise InvalidInput(f"{file} must hold one line of {TOKEN_CHARS[0]} to {TOKEN_CHARS[1]} characters without spaces")
    return text


def _parts(call: Call) -> tuple[OpenHome, Tools]:
    """Return the home and the tools of a server."""
    if importlib.util.find_spec("mcp") is None:
        raise ExtraMissing("the MCP server is not installed")
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="yiku mcp: %(message)s")
    logging.getLogger("mcp").setLevel(logging.CRITICAL)  # the SDK quotes what it could not read; what fails, `server` says
    from yiku.interfaces.mcp.home import OpenHome
    from yiku.interfaces.tools import Tools

    language, has_model = "en", False
    try:
        from yiku import settings

        resolved = settings.load(settings.home(call.home), {"scope": call.scope})
        language, has_model = "zh" if resolved.language == "zh" else "en", resolved.chat_url is not None
    except YikuError as error:  # each call says so, too
        call.note(str(error))
    tools = Tools(language="zh" if language == "zh" else "en", learning=not has_model)
    return OpenHome(call.home, call.scope), tools


def _settle() -> None:
    """Collect garbage as usual again: a server stays, other than a command."""
    gc.freeze()
    gc.set_threshold(700, 10, 10)
