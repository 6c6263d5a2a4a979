"""
Importer of ChatGPT exports: `conversations.json`, or the zip archive with it.

    [{"title", "conversation_id", "create_time", "current_node", "mapping": {node: {"parent", "children", "message": {
      "id", "author": {"role", "name"}, "create_time", "content": {"content_type", "parts" | "text"}, "recipient",
      "metadata": {"model_slug", "attachments", "is_visually_hidden_from_conversation"}}}}}, …]

A conversation is a tree: editing a prompt, or asking for another answer, begins a branch. The branch that the person sees, which ends
in `current_node`, is imported; messages of the others are counted. What the service put in (system messages, hidden ones,
instructions, thinking) is counted, too. A message to a tool is a call, and what the tool said is its result.

A conversation that is broken, or whose branch runs in a circle, is left out and named; the others come in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from yiku.interfaces import importers
from yiku.interfaces.importers import Consumed, Content, Ids, Line, Place, json_items
from yiku.types import BadRecord, ImportRecord, SkippedRecord, TurnRecord

AGENT = "chatgpt"
THINKING = frozenset("thoughts reasoning_recap".split())
INSTRUCTIONS = frozenset("user_editable_context model_editable_context".split())
ROLES = frozenset("user assistant system tool".split())
EVERYBODY = "all"  # the recipient of a message that the person sees


def read(path: Place, *, consumed: Consumed | None = None) -> Iterator[ImportRecord]:
    """Yield the messages of all conversations, in their order."""
    ids = Ids()
    for line in json_items.objects(path, consumed):
        if isinstance(line, BadRecord):
            yield line
        else:
            yield from _conversation(line, ids)


@dataclass(slots=True)
class _Conversation:
    """What the messages of a conversation share, and what has been said so far."""

    line: Line
    id: str
    title: str | None
    said_at: datetime | None
    ids: Ids
    parent: str | None = None
    call: str | None = None  # the last message to a tool
    names: dict[str, str] = field(default_factory=dict)


def _conversation(line: Line, ids: Ids) -> Iterator[ImportRecord]:
    """Yield the messages of one conversation, and what is left out of it."""
    mapping = line.record.get("mapping")
    id = importers.one_line(line.record.get("conversation_id")) or importers.one_line(line.record.get("id"))
    if not isinstance(mapping, dict) or id is None:
        yield BadRecord(line.number, "is not a conversation: it has no " + ("mapping" if id else "conversation_id"))
        return
    title = importers.one_line(line.record.get("title"))
    branch = _branch(mapping, line.record.get("current_node"))
    if isinstance(branch, str):
        yield BadRecord(line.number, f"conversation {title or id!r}: {branch}")
        return
    if not branch:
        yield SkippedRecord(line.number, "empty")
        return
    conversation = _Conversation(line, id, title, importers.time(line.record.get("create_time")), ids)
    for node in branch:
        message = mapping[node].get("message")
        if message is not None:
            yield _message(message, conversation)
    seen = set(branch)
    for node, value in mapping.items():
        if node not in seen and isinstance(value, dict) and value.get("message") is not None:
            yield SkippedRecord(line.number, "other branch")


def _branch(mapping: Mapping[str, Any], current: object) -> list[str] | str:
    """Return the nodes from the root to the current one, or why there are none."""
    if not isinstance(current, str) or current not in mapping:
        leaves = [node for node, value in mapping.items() if isinstance(value, dict) and not value.get("children")]
        if not leaves:
            return "its messages have no last one" if mapping else []
        current = max(leaves, key=lambda node: (_created(mapping[node]), node))
    nodes: list[str] = []
    seen = set[str]()
    while isinstance(current, str) and current in mapping:
        if current in seen:
            return f"its messages run in a circle at {current[:80]}"
        if not isinstance(mapping[current], dict):
            return f"node {current[:80]} is not an object"
        seen.add(current)
        nodes.append(current)
        current = mapping[current].get("parent")
    return nodes[::-1]


def _created(node: Mapping[str, Any]) -> float:
    message = node.get("message")
    at = message.get("create_time") if isinstance(message, dict) else None
    return float(at) if isinstance(at, (int, float)) else 0.0


# ------------------------------------------------------------------ messages


def _message(message: object, conversation: _Conversation) -> ImportRecord:
    """Convert a message to a turn, or to the reason why not."""
    line = conversation.line
    if not isinstance(message, dict):
        return BadRecord(line.number, f"conversation {conversation.title or conversation.id!r}: a message is not an object")
    author = json_items.texts_of(message.get("author"))
    content, metadata = json_items.texts_of(message.get("content")), json_items.texts_of(message.get("metadata"))
    given, role = importers.one_line(message.get("id")), author.get("role")
    conversation.said_at = importers.time(message.get("create_time")) or conversation.said_at
    if role not in ROLES:
        return BadRecord(line.number, f"message {given}: role {str(role)[:40]!r} is not known")
    if what := _skipped(role, str(content.get("content_type")), metadata):
        return SkippedRecord(line.number, what)
    said = _content(message, content, role, conversation)
    said.texts += [f"[file {name}]" for name in _attachments(metadata)]
    if not said.text.strip() and not said.calls and not said.results:
        return SkippedRecord(line.number, "+".join(sorted(set(said.left_out))) or "empty")
    about = {"title": conversation.title, "model": metadata.get("model_slug"), "message": given}
    turn: dict[str, Any] = {
        "role": role,
        "content": said.text.strip("\n"),
        "session": conversation.id,
        "said_at": conversation.said_at,
        "agent": AGENT,
        "parent": conversation.parent,
        "tool_calls": said.calls,
        "tool_results": said.results,
        "metadata": importers.bounded({k: v for k, v in about.items() if isinstance(v, str)}, said.left_out, line.replaced),
    }
    words = importers.fingerprint(role, said.text, said.calls, said.results)
    turn["external_id"] = conversation.ids.given(given, words) if given else conversation.ids.made(conversation.id, words)
    conversation.parent = turn["external_id"]
    return TurnRecord(line.number, {key: value for key, value in turn.items() if value or key == "content"})


def _skipped(role: str, type_: str, metadata: Mapping[str, Any]) -> str | None:
    """Name a message that nobody said to anybody."""
    if type_ in THINKING:
        return "thinking"
    if type_ in INSTRUCTIONS:
        return "instructions"
    if role == "system":
        return "system"
    return "hidden" if metadata.get("is_visually_hidden_from_conversation") is True else None


def _content(message: Mapping[str, Any], content: Mapping[str, Any], role: str, conversation: _Conversation) -> Content:
    """Return what a message says: texts, or the call of a tool, or a tool's result."""
    id, author = importers.one_line(message.get("id")), json_items.texts_of(message.get("author"))
    said = importers.unpacked([_part(part) for part in _parts(content)])
    recipient = importers.one_line(message.get("recipient"))
    if role == "assistant" and recipient not in (None, EVERYBODY):
        conversation.call = id
        given = importers.embedded(said.text)
        said.calls.append(
            {"id": id, "name": recipient, "input": importers.shallow(given) if isinstance(given, dict) else {"input": said.text}}
        )
        said.texts = []
    elif role == "tool":
        result = {**importers.result(conversation.call, said.text), "name": importers.one_line(author.get("name")) or "?"}
        said.texts, said.results = [], [result] if said.text.strip() else []
    return said


def _parts(content: Mapping[str, Any]) -> list[Any]:
    parts = content.get("parts")
    if isinstance(parts, list):
        return parts
    texts = [content.get(key) for key in ("title", "url", "text", "result", "summary")]
    return [text for text in texts if isinstance(text, str)]


def _part(part: object) -> object:
    """Return a part as `unpacked` reads it: a picture by its type, a spoken part by its words."""
    if isinstance(part, dict):
        type_ = str(part.get("content_type") or "part")
        if isinstance(text := part.get("text"), str):
            return text
        return {"type": type_.removesuffix("_asset_pointer")[:40]}
    return "" if part is None else part


def _attachments(metadata: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of the files that were sent with a message."""
    given = metadata.get("attachments")
    for one in given if isinstance(given, list) else []:
        if isinstance(one, dict) and (name := importers.one_line(one.get("name"))):
            yield name
