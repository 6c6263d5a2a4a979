"""
Build the JSON with memories that a hook prints; reset a session's record of them if undelivered or compressed.

    {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "<yiku-memory …>"}}

Claude Code, Codex and Gemini CLI read the same form; OpenCode's plugin, which is ours, too. Nothing to say is nothing printed.
"""

from __future__ import annotations

import json
from typing import Any

from yiku.memory import Memory
from yiku.rules.sessions import agent_events
from yiku.types import Context

LOST = ("compact", "clear", "startup")  # sources of a start behind which nothing of an earlier context is left
NAMES = {"start": "SessionStart", "prompt": "UserPromptSubmit"}  # where the payload names no event of its own


def text(memory: Memory, event: str, payload: bytes) -> str:
    """Return what a hook prints for an event; nothing for one that is no prompt."""
    return printed_and_shown(memory, event, payload, count=True)[0]


def printed_and_shown(memory: Memory, event: str, payload: bytes, *, count: bool = False) -> tuple[str, Context | None]:
    """Return what a hook prints, and what is in it; count: that counts as retrieved already."""
    given = _object(payload)
    if given is None:
        return "", None
    session = _session(given)
    if event == "compress":
        memory.prompts.compressed(session)
    if event not in NAMES:
        return "", None
    prompt = agent_events.text(given.get("prompt")) if event == "prompt" else ""
    project = agent_events.project_of(given.get("cwd"))
    restarted = event == "start" and given.get("source") in LOST
    found = memory.prompts.inject(session, prompt or None, project=project, restarted=restarted, count=count)
    if not found.text:
        return "", None
    name = agent_events.text(given.get("hook_event_name")) or NAMES[event]
    return json.dumps({"hookSpecificOutput": {"hookEventName": name, "additionalContext": found.text}}), found


def undelivered(memory: Memory, payload: bytes) -> None:
    """Forget what was said for a payload: nobody read it."""
    if (given := _object(payload)) is not None:
        memory.prompts.compressed(_session(given))


def _object(payload: bytes) -> dict[str, Any] | None:
    try:
        given = json.loads(payload.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    return given if isinstance(given, dict) else None


def _session(given: dict[str, Any]) -> str:
    return agent_events.name(given.get("session_id")) or "default"
