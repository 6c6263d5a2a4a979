"""
The MCP server's handlers on the official SDK: list and call tools, list and read resources and prompts.

The SDK's lower level is used: the table of tools is the one definition, and a second one made from signatures would differ. A call
runs in a worker thread, and whatever it raises becomes an answer that an agent can act on. Lists are the same for every client and
in the same order. Nothing is asked through the client's model.
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable
from typing import Any, TypeVar
from urllib.parse import unquote

import anyio
import mcp_types as types
from mcp.server.caching import CacheHint
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from yiku import __version__
from yiku.errors import NotFound, YikuError
from yiku.interfaces.mcp.home import OpenHome
from yiku.interfaces.tools import Tools, texts

CALLS_AT_ONCE = 4  # threads; a call takes milliseconds
LIST_FRESH_MS = 3_600_000  # lists change with the version and the settings only
NEWEST = 20  # memories in the index
URI = "memory://"
INDEX, ITEM, NOTE = f"{URI}index", f"{URI}item/", f"{URI}note/"
PROMPTS = {"recall": "topic", "remember": "statement", "review": None}  # with the argument that each takes
ARGUMENT_CHARS = 4_000

logger = logging.getLogger("yiku.mcp")
T = TypeVar("T")


def make(home: OpenHome, tools: Tools) -> Server[Any]:
    """Return the server of a home with these tools."""
    limiter = anyio.CapacityLimiter(CALLS_AT_ONCE)

    async def in_thread(work: Callable[[], T]) -> T:
        return await anyio.to_thread.run_sync(work, limiter=limiter)

    async def list_tools(ctx: Any, params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[types.Tool.model_validate(tool) for tool in tools.mcp()])

    async def call_tool(ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        return await in_thread(lambda: _called(home, tools, params.name, params.arguments))

    async def list_resources(ctx: Any, params: Any) -> types.ListResourcesResult:
        phrases = texts.every(tools.language)["resource"]
        index = types.Resource(uri=INDEX, name="index", description=phrases["index"], mime_type="text/plain")
        return types.ListResourcesResult(resources=[index])

    async def list_templates(ctx: Any, params: Any) -> types.ListResourceTemplatesResult:
        phrases = texts.every(tools.language)["resource"]
        templates = [
            types.ResourceTemplate(uri_template=f"{ITEM}{{id}}", name="item", description=phrases["item"], mime_type="text/plain"),
            types.ResourceTemplate(
                uri_template=f"{NOTE}{{path}}", name="note", description=phrases["note"], mime_type="text/plain"
            ),
        ]
        return types.ListResourceTemplatesResult(resource_templates=templates)

    async def read_resource(ctx: Any, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        text = await in_thread(lambda: _read(home, tools, str(params.uri)))
        return types.ReadResourceResult(contents=[types.TextResourceContents(uri=params.uri, text=text, mime_type="text/plain")])

    async def list_prompts(ctx: Any, params: Any) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=[_prompt(tools, name, argument) for name, argument in PROMPTS.items()])

    async def get_prompt(ctx: Any, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        return _filled(tools, params.name, params.arguments or {})

    fresh, stale = CacheHint(LIST_FRESH_MS, "private"), CacheHint(0, "private")
    return Server(
        "yiku",
        version=__version__,
        title="Yiku memory",
        instructions=tools.instructions,
        cache_hints={
            "server/discover": fresh,
            "tools/list": fresh,
            "prompts/list": fresh,
            "resources/list": fresh,
            "resources/templates/list": fresh,
            "resources/read": stale,
        },
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
    )


# ------------------------------------------------------------------ tools


def _called(home: OpenHome, tools: Tools, name: str, arguments: dict[str, Any] | None) -> types.CallToolResult:
    """Return the result of a call; what failed is an answer, too."""
    try:
        if tools.stores(name):
            home.admit()
        answer = tools.answer(home.memory(), name, arguments)
    except YikuError as error:
        return _failed(tools.explained(error))
    except Exception as error:
        logger.error("an error inside Yiku: %s\n%s", type(error).__name__, "".join(traceback.format_tb(error.__traceback__)))
        return _failed(tools.fault(error))
    home.shown(answer)
    return types.CallToolResult(content=[types.TextContent(text=answer.text)], structured_content=dict(answer.data))


def _failed(why: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=why)], is_error=True)


# ------------------------------------------------------------------ resources


def _read(home: OpenHome, tools: Tools, uri: str) -> str:
    """Return a resource as text. Raises MCPError."""
    try:
        memory = home.memory()
        if uri == INDEX:
            state = tools.answer(memory, tools.named("[memory_status]"), {}).text
            newest = tools.answer(memory, tools.named("[memory_list]"), {"limit": NEWEST}).text
            return f"{state}\n\n{newest}"
        if uri.startswith(ITEM):
            return memory.agent.quote_whole([memory.agent.get(unquote(uri.removeprefix(ITEM)))])
        if uri.startswith(NOTE):
            return memory.agent.quote_whole(memory.agent.note(unquote(uri.removeprefix(NOTE))))
    except (NotFound, ValueError) as error:
        why = tools.explained(error) if isinstance(error, YikuError) else str(error)
        raise MCPError(types.INVALID_PARAMS, why, {"uri": uri}) from None
    except YikuError as error:
        raise MCPError(types.INTERNAL_ERROR, tools.explained(error)) from None
    raise MCPError(types.INVALID_PARAMS, f"there is no resource {uri[:200]}; there are {INDEX}, {ITEM}… and {NOTE}…", {"uri": uri})


# ------------------------------------------------------------------ prompts


def _prompt(tools: Tools, name: str, argument: str | None) -> types.Prompt:
    phrases = texts.every(tools.language)["prompt"][name]
    arguments = [] if argument is None else [types.PromptArgument(name=argument, description=phrases[argument], required=True)]
    return types.Prompt(name=name, description=phrases["description"], arguments=arguments)


def _filled(tools: Tools, name: str, given: dict[str, str]) -> types.GetPromptResult:
    """Return a prompt with its argument. Raises MCPError."""
    if name not in PROMPTS:
        raise MCPError(types.INVALID_PARAMS, f"there is no prompt {name[:80]}; there are {', '.join(PROMPTS)}")
    argument, phrases = PROMPTS[name], texts.every(tools.language)["prompt"][name]
    value = "" if argument is None else given.get(argument, "")
    if argument is not None and not value.strip():
        raise MCPError(types.INVALID_PARAMS, f"the prompt {name} needs its argument {argument}")
    text = tools.named(phrases["text"]).replace("{}", value[:ARGUMENT_CHARS])
    message = types.PromptMessage(role="user", content=types.TextContent(text=text))
    return types.GetPromptResult(description=phrases["description"], messages=[message])
