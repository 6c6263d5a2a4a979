"""
Importer of exports of claude.ai: `conversations.json`, or the zip archive with it.

    [{"uuid", "name", "created_at", "chat_messages": [{"uuid", "sender": "human" | "assistant", "created_at", "parent_message_uuid",
      "text", "content": [{"type": "text" | "thinking" | "tool_use" | "tool_result" | …}], "attachments": [{"file_name"}],
      "files": [{"file_name"}]}]}, …]

Each message is a turn, at its own time. Where messages name their parents, the branch that ends in the last message is imported, and
those of other branches are counted. Thinking is left out; attachments and files are imported by their names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from yiku.interfaces import importers
from yiku.interfaces.importers import Consumed, Ids, Line, Place, json_items
from yiku.types import BadRecord, ImportRecord, SkippedRecord, TurnRecord

AGENT = "claude.ai"
ROLES = {"human": "user", "user": "user", "assistant": "assistant"}
UNSAID = frozenset("token_budget flag".split())  # blocks that nobody said


def read(path: Place, *, consumed: Consumed | None = None) -> Iterator[ImportRecord]:
    """Yield the messages of all conversations, in their order."""
    ids = Ids()
    for line in json_items.objects(path, consumed):
        if isinstance(line, BadRecord):
            yield line
        else:
            yield from _conversation(line, ids)


def _conversation(line: Line, ids: Ids) -> Iterator[ImportRecord]:
    """Yield the messages of one conversation, and what is left out of it."""
    messages, id = line.record.get("chat_messages"), importers.one_line(line.record.get("uuid"))
    if not isinstance(messages, list) or id is None:
        yield BadRecord(line.number, "is not a conversation: it has no " + ("chat_messages" if id else "uuid"))
        return
    if not messages:
        yield SkippedRecord(line.number, "empty")
    title = importers.one_line(line.record.get("name"))
    said_at, parent = importers.time(line.record.get("created_at")), None
    branch = _branch(messages)
    for place, message in enumerate(messages):
        if not isinstance(message, dict):
            yield BadRecord(line.number, f"conversation {title or id!r}: message {place + 1} is not an object")
            continue
        if place not in branch:
            yield SkippedRecord(line.number, "other branch")
            continue
        said_at = importers.time(message.get("created_at")) or said_at
        record = _message(line, message, ids, {"session": id, "said_at": said_at, "parent": parent}, title)
        if isinstance(record, TurnRecord):
            parent = record.turn["external_id"]
        yield record


def _branch(messages: Sequence[Any]) -> set[int]:
    """Return the places of the messages that lead to the last one; all of them where no tree is to be seen."""
    every = set(range(len(messages)))
    places = {message["uuid"]: place for place, message in enumerate(messages) if _is_named(message)}
    if len(places) != len(messages):
        return every
    found: set[int] = set()
    place: int | None = len(messages) - 1
    while place is not None and place not in found:
        found.add(place)
        place = places.get(str(messages[place].get("parent_message_uuid")))
    return found if 0 in found or _begins_anew(messages, found) else every


def _is_named(message: object) -> bool:
    return (
        isinstance(message, dict) and isinstance(message.get("uuid"), str) and isinstance(message.get("parent_message_uuid"), str)
    )


def _begins_anew(messages: Sequence[Any], found: set[int]) -> bool:
    """Tell whether a branch has the same parent as the first message: the first prompt was edited."""
    return bool(found) and messages[min(found)]["parent_message_uuid"] == messages[0]["parent_message_uuid"]


def _message(line: Line, message: Mapping[str, Any], ids: Ids, said: Mapping[str, Any], title: str | None) -> ImportRecord:
    """Convert a message to a turn, or to the reason why not."""
    given, sender = importers.one_line(message.get("uuid")), message.get("sender")
    if not isinstance(sender, str) or sender not in ROLES:
        return BadRecord(line.number, f"message {given}: sender {str(sender)[:40]!r} is not known")
    blocks = [block for block in _blocks(message) if not (isinstance(block, dict) and block.get("type") in UNSAID)]
    content = importers.unpacked(blocks)
    if not content.text.strip() and not content.calls and isinstance(text := message.get("text"), str):
        content.texts = [text]
    content.texts += [f"[file {name}]" for name in _names(message)]
    if not content.text.strip() and not content.calls and not content.results:
        return SkippedRecord(line.number, "+".join(sorted(set(content.left_out))) or "empty")
    role = ROLES[sender]
    about = {"title": title, "message": given}
    turn: dict[str, Any] = {
        **said,
        "role": role,
        "content": content.text.strip("\n"),
        "agent": AGENT,
        "tool_calls": content.calls,
        "tool_results": content.results,
        "metadata": importers.bounded({key: value for key, value in about.items() if value}, content.left_out, line.replaced),
    }
    words = importers.fingerprint(role, content.text, content.calls, content.results)
    turn["external_id"] = ids.given(given, words) if given else ids.made(str(said["session"]), words)
    return TurnRecord(line.number, {key: value for key, value in turn.items() if value or key == "content"})


def _blocks(message: Mapping[str, Any]) -> Sequence[Any]:
    content = message.get("content")
    return content if isinstance(content, list) else [] if content is None else [content]


def _names(message: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of attachments and files, each once."""
    seen = set[str]()
    for key in ("attachments", "files"):
        given = message.get(key)
        for one in given if isinstance(given, list) else []:
            name = importers.one_line(one.get("file_name")) if isinstance(one, dict) else None
            if name and name not in seen:
                seen.add(name)
                yield name
