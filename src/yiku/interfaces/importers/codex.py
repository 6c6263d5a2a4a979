"""
Importer of sessions of Codex: ~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl

    {"timestamp", "type": "session_meta", "payload": {"id", "cwd", "cli_version", "git"}}
    {"timestamp", "type": "response_item", "payload": {"type": "message", "id", "role", "content": [{"type", "text"}]}}
    … "function_call" {"name", "namespace", "arguments", "call_id"}, "function_call_output" {"call_id", "output"},
    "custom_tool_call", "custom_tool_call_output", "local_shell_call"; "compacted" {"message"}

What a person typed is a message of role user that Codex did not write: instructions, the environment and the like stand in tags of
their own, and are taken out. Messages to the model (developer, system), reasoning and events are counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from yiku.interfaces import importers
from yiku.interfaces.importers import Consumed, Content, Ids, Line, Place, json_items
from yiku.rules.sessions import agent_events
from yiku.types import BadRecord, ImportRecord, SkippedRecord, TurnRecord

AGENT = "codex"
INJECTED = (
    "environment_context user_instructions user_shell_command turn_aborted skill subagent_notification recommended_plugins".split()
)
AGENTS_FILE = "# AGENTS.md instructions"  # how the message begins that brings that file in
CALLS = ("function_call", "custom_tool_call", "local_shell_call")
OUTPUTS = ("function_call_output", "custom_tool_call_output")


def read(path: Place, *, consumed: Consumed | None = None) -> Iterator[ImportRecord]:
    """Yield the records of one session, in order."""
    session = _Session(importers.one_line(path.stem) or AGENT)
    for line in importers.objects(path, consumed):
        yield line if isinstance(line, BadRecord) else _record(line, session)


@dataclass(slots=True)
class _Session:
    """State of reading one session."""

    id: str
    known: bool = False
    cwd: str | None = None
    about: dict[str, Any] = field(default_factory=dict)
    said_at: datetime | None = None
    parent: str | None = None
    ids: Ids = field(default_factory=Ids)


def _record(line: Line, session: _Session) -> ImportRecord:
    """Convert one record to a turn, or to the reason why not."""
    type_, payload = line.record.get("type"), line.record.get("payload")
    if not isinstance(type_, str) or not isinstance(payload, dict):
        return BadRecord(
            line.number, "is not a record of a session: it has no " + ("payload" if isinstance(type_, str) else "type")
        )
    session.said_at = importers.time(line.record.get("timestamp")) or session.said_at
    match type_:
        case "session_meta":
            _meta(payload, session)
            return SkippedRecord(line.number, type_)
        case "turn_context":
            session.cwd = payload["cwd"] if isinstance(payload.get("cwd"), str) else session.cwd
            return SkippedRecord(line.number, type_)
        case "compacted":
            text = payload.get("message")
            said = Content([text]) if isinstance(text, str) else Content()
            return _turn(line, session, payload, "system", said)
        case "response_item":
            return _item(line, session, payload)
        case _:
            return SkippedRecord(line.number, type_ if re.fullmatch(r"\w{1,40}", type_) else "other")


def _meta(payload: Mapping[str, Any], session: _Session) -> None:
    """Take over what a session says of itself; of a forked one that of the fork, which stands first."""
    if session.known:
        return
    session.known = True
    session.id = importers.one_line(payload.get("id")) or session.id
    session.cwd = payload["cwd"] if isinstance(payload.get("cwd"), str) else None
    git = payload.get("git")
    found = {"version": payload.get("cli_version"), "gitBranch": git.get("branch") if isinstance(git, dict) else None}
    session.about = {key: value[: importers.TEXT_CHARS] for key, value in found.items() if isinstance(value, str)}


def _item(line: Line, session: _Session, payload: Mapping[str, Any]) -> ImportRecord:
    """Convert an item of the conversation."""
    type_ = payload.get("type")
    if type_ == "message":
        role = payload.get("role")
        if role not in ("user", "assistant"):
            return SkippedRecord(line.number, "instructions" if role in ("developer", "system") else "other")
        content = importers.unpacked(payload.get("content"))
        if role == "user":
            content.texts = [text for given in content.texts if (text := _typed(given, content))]
        return _turn(line, session, payload, role, content)
    if type_ in CALLS:
        return _turn(line, session, payload, "assistant", Content(calls=[_call(payload)]))
    if type_ in OUTPUTS:
        return _turn(line, session, payload, "tool", Content(results=[_output(payload)]))
    return SkippedRecord(line.number, "thinking" if type_ == "reasoning" else "other")


def _typed(text: str, content: Content) -> str:
    """Return what a person typed of a part of a message."""
    kept = agent_events.without_injected(agent_events.without_injected(text), INJECTED)
    if kept.lstrip().startswith(AGENTS_FILE):
        kept = ""
    if kept != text:
        content.left_out.append("instructions")
    return kept


def _call(payload: Mapping[str, Any]) -> dict[str, Any]:
    given = payload.get("arguments", payload.get("input", payload.get("action")))
    given = importers.embedded(given) if isinstance(given, str) else given
    names = [payload.get("namespace"), payload.get("name") or ("shell" if payload.get("type") == "local_shell_call" else "?")]
    name = "__".join(str(part) for part in names if isinstance(part, str) and part)
    return {
        "id": payload.get("call_id"),
        "name": name,
        "input": importers.shallow(given if isinstance(given, dict) else {"input": given}),
    }


def _output(payload: Mapping[str, Any]) -> dict[str, Any]:
    output = payload.get("output")
    if isinstance(output, str) and isinstance(inner := importers.embedded(output), dict) and "output" in inner:
        output = inner  # older versions wrote {"output", "metadata": {"exit_code"}} as a text
    if isinstance(output, dict):
        exit_code = json_items.texts_of(output.get("metadata")).get("exit_code")
        failed = output.get("success") is False or (isinstance(exit_code, int) and exit_code != 0)
        return importers.result(payload.get("call_id"), output.get("content", output.get("output")), failed)
    return importers.result(payload.get("call_id"), output)


def _turn(line: Line, session: _Session, payload: Mapping[str, Any], role: str, content: Content) -> ImportRecord:
    if not content.text.strip() and not content.calls and not content.results:
        return SkippedRecord(line.number, "+".join(sorted(set(content.left_out))) or "empty")
    id = importers.one_line(payload.get("id"))
    about = {**session.about, **({"cwd": session.cwd[: importers.TEXT_CHARS]} if session.cwd else {})}
    about |= {"summary": True} if role == "system" else {}
    turn: dict[str, Any] = {
        "role": role,
        "content": content.text.strip("\n"),
        "session": session.id,
        "said_at": session.said_at,
        "agent": AGENT,
        "project": agent_events.project_of(session.cwd),
        "parent": session.parent,
        "tool_calls": content.calls,
        "tool_results": content.results,
        "metadata": importers.bounded(about, content.left_out, line.replaced),
    }
    if role == "system":
        turn["origin"] = "assistant"
    said = importers.fingerprint(role, content.text, content.calls, content.results)
    turn["external_id"] = session.ids.given(id, said) if id else session.ids.made(session.id, line.digest)
    session.parent = turn["external_id"]
    return TurnRecord(line.number, {key: value for key, value in turn.items() if value or key == "content"})
