"""
Parse a captured event of a coding agent into turns, or into the start, compression or end of its session.

    hook         of the payload                                    becomes
    prompt       prompt                                            a turn of the user
    delegate     prompt                                            the same in the agent's own words: what it asks of a subagent
    reply        last_assistant_message, prompt_response …         a turn of the assistant
    tool         tool_name, tool_input, tool_response              a call in a turn of the assistant, its result in one of the tool
    compress     –                                                 the end of what the agent still sees: its turns are compressed
    compressed   compact_summary                                   a turn of the system: the agent's own summary
    start        –                                                 nothing
    end          –                                                 the end of the session

Claude Code, Codex and Gemini CLI name their fields alike; OpenCode's plugin, which is ours, uses the same names. What agents
and other tools slip into a prompt (reminders, the output of hooks) is cut out; what Yiku itself had brought into it is fenced,
and is cut out when the turn is recorded. Results of Yiku's own tools are left out: memory must not learn from its own recall.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from yiku.rules.text import lazy, markup

INJECTED = ("system-reminder", "hook-context", "memory-context", "relevant-memories", "user-prompt-submit-hook", "memories")
REPLIES = ("last_assistant_message", "prompt_response", "response", "text")
OUTPUTS = (
    "stdout",
    "output",
    "stderr",
    "content",
    "result",
    "text",
    "llmContent",
    "returnDisplay",
    "error",
)  # the fields with the words of a result
# The tools that show words of memory, by the ends of their names; a test holds them in step with the table of tools.
SHOWING = ("search", "get", "add", "update", "list", "timeline", "traces", "learn", "learned", "recall", "context")
OWN_TOOLS = lazy.compile(rf"(?i)(?:^|_|\.)yiku(?:_|\.|-)|(?:^|__|\.)memory_(?:{'|'.join(SHOWING)})$")
NAME_CHARS = 200
HOOK_ID = "hook:"  # how the external ids of captured turns begin
LEFT_OUT = "recalled from memory, not recorded again"
LEVELS = 24  # of what a tool is given and gives; what is deeper is kept as its JSON text
_CONTROL = lazy.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_UNSTORABLE = lazy.compile("[\0\ud800-\udfff]")


class Turns(NamedTuple):
    """Turns to record, as the arguments of `record`."""

    drafts: tuple[Mapping[str, Any], ...]


class Compression(NamedTuple):
    """The agent drops this session's older turns from its context."""

    session: str


class SessionEnd(NamedTuple):
    """A session is over."""

    session: str


class Nothing(NamedTuple):
    """An event that says nothing to record, and why."""

    why: str


Reading = Turns | Compression | SessionEnd | Nothing


def read(payload: object, *, hook: str, agent: str, id: str, said_at: datetime) -> Reading:
    """Read one event. `id` is unique, and the external ids of its turns are made from it."""
    if not isinstance(payload, Mapping):
        return Nothing("no event")
    agent = name(agent) or "agent"
    session = name(payload.get("session_id")) or agent
    match hook:
        case "compress":
            return Compression(session)
        case "end":
            return SessionEnd(session)
        case "start":
            return Nothing("start")
    said: dict[str, Any] = {"session": session, "said_at": said_at, "agent": agent, "metadata": _metadata(payload, hook)}
    if project := project_of(payload.get("cwd")):
        said["project"] = project
    match hook:
        case "prompt" | "delegate":
            by_agent = {"origin": "assistant"} if hook == "delegate" else {}
            turns = [{"role": "user", **by_agent, "content": without_injected(text(payload.get("prompt")))}]
        case "reply":
            turns = [{"role": "assistant", "content": next(filter(None, (text(payload.get(key)) for key in REPLIES)), "")}]
        case "compressed":
            turns = [{"role": "system", "origin": "assistant", "content": text(payload.get("compact_summary"))}]
        case "tool":
            turns = _tool(payload, id)
        case _:
            return Nothing(f"hook {hook[:40]}")
    drafts = [
        {**said, **turn} for turn in turns if turn.get("content", "").strip() or "tool_calls" in turn or "tool_results" in turn
    ]
    if not drafts:
        return Nothing("empty")
    ids = [f"{HOOK_ID}{id}", *(f"{HOOK_ID}{id}:{place}" for place in range(1, len(drafts)))]
    return Turns(tuple({**draft, "external_id": external} for draft, external in zip(drafts, ids, strict=True)))


def _tool(payload: Mapping[str, Any], id: str) -> list[dict[str, Any]]:
    """A call of a tool and its result."""
    tool = text(payload.get("tool_name")) or "?"
    call = name(payload.get("tool_use_id") or payload.get("call_id")) or f"call-{id}"
    given = _storable(payload.get("tool_input"))
    calls = [{"id": call, "name": tool, "input": given if isinstance(given, Mapping) else {"input": given}}]
    response = _storable(payload.get("tool_response", payload.get("tool_output")))
    failed = isinstance(response, Mapping) and bool(response.get("is_error") or response.get("isError") or response.get("error"))
    result = {"tool_use_id": call, "content": LEFT_OUT if OWN_TOOLS.search(tool) else output(response), "is_error": failed}
    return [
        {"role": "assistant", "content": "", "tool_calls": calls},
        {"role": "tool", "content": "", "tool_results": [result]},
    ]


def output(response: object) -> str:
    """The words of a tool's result: its text fields where it has some, else its JSON."""
    if isinstance(response, str):
        return response
    if isinstance(response, Sequence):
        return "\n".join(filter(None, map(output, response)))
    if not isinstance(response, Mapping):
        return "" if response is None else json.dumps(response)
    texts = [output(response[name]) for name in OUTPUTS if isinstance(response.get(name), (str, list)) and response[name]]
    return "\n".join(filter(None, texts)) or json.dumps(response, ensure_ascii=False, default=str)


def without_injected(text: str, names: Sequence[str] = INJECTED) -> str:
    """A prompt without the blocks that agents and tools slip into it, by the names of their tags, in linear time."""
    if not markup.BRACKET.search(text):
        return text
    kept, position, opened = list[str](), 0, dict[str, int]()
    for tag in markup.tags(text, *names):
        if not tag.closes:
            opened.setdefault(tag.name, tag.start)
        elif (start := opened.pop(tag.name, -1)) >= position:
            kept.append(text[position:start])
            position = tag.end
            opened.clear()
    return "".join([*kept, text[position:]]).strip() if kept else text


def _metadata(payload: Mapping[str, Any], hook: str) -> dict[str, Any]:
    found = {key: said[:1_000] for key in ("cwd", "model", "turn_id") if (said := text(payload.get(key)))}
    return {**found, **({"summary": True} if hook == "compressed" else {})}


def text(value: object) -> str:
    """Return a text, or the texts of a list of parts, without characters that cannot be stored."""
    if isinstance(value, list):
        parts = (part.get("text") if isinstance(part, Mapping) else part for part in value)
        value = "\n".join(part for part in parts if isinstance(part, str))
    return _UNSTORABLE.sub("\ufffd", value) if isinstance(value, str) else ""


def name(value: object) -> str | None:
    """Return a text as a name: one line, without control characters, of bounded length; None for nothing."""
    return _CONTROL.sub(" ", text(value)).strip()[:NAME_CHARS].strip() or None


def _storable(value: Any, levels: int = LEVELS) -> Any:
    """Return a JSON value that a turn can hold: U+FFFD for each character that cannot be stored, and a text for what is too deep."""
    if isinstance(value, str):
        return _UNSTORABLE.sub("\ufffd", value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if not isinstance(value, (Mapping, list)):
        return value
    if not levels:
        return _UNSTORABLE.sub("\ufffd", json.dumps(value, ensure_ascii=False))
    if isinstance(value, list):
        return [_storable(item, levels - 1) for item in value]
    return {text(key): _storable(item, levels - 1) for key, item in value.items()}


def project_of(cwd: object) -> str | None:
    """The last part of the working folder; the full path is in the metadata."""
    return name(re.split(r"[/\\]", cwd.rstrip("/\\"))[-1]) if isinstance(cwd, str) else None
