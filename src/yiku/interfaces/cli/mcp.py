"""
The command that serves memory to agents: mcp.
"""

from __future__ import annotations

import gc
import importlib.util
import logging
import sys
from typing import TYPE_CHECKING

from yiku.errors import ExtraMissing, YikuError
from yiku.interfaces.cli.call import Call

if TYPE_CHECKING:
    from yiku.interfaces.mcp.home import OpenHome
    from yiku.interfaces.tools import Tools


def mcp(call: Call) -> None:
    """
    Serve memory to an agent as an MCP server.

    An agent starts it and speaks to it over stdin and stdout. Needs pip install "yiku[mcp]".
    """
    home, tools = _parts(call)
    from yiku.interfaces.mcp import stdio

    _settle()
    try:
        stdio.serve(home, tools)
    finally:
        home.close()


def _parts(call: Call) -> tuple[OpenHome, Tools]:
    """Return the home and the tools of a server."""
    if importlib.util.find_spec("mcp") is None:
        raise ExtraMissing("the MCP server")
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="yiku mcp: %(message)s")
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
