"""
Importer of sessions of Gemini CLI: ~/.gemini/tmp/<project>/chats/session-*.jsonl, or session-*.json of older versions.

    {"sessionId", "projectHash", "startTime", "kind"}                                 the first line
    {"id", "timestamp", "type": "user" | "gemini" | "info" | …, "content", "toolCalls": [{"id", "name", "args", "result"}], "model"}
    {"$set": {"messages": [message, …], …}}, {"$rewindTo": id}
    older: one object {"sessionId", "projectHash", "messages": [message, …]}

A message is written again whenever it changes: the last state counts. Messages that were taken back by a rewind are counted, as are
notes of the program, thoughts, and what Gemini CLI or a hook wrote into a prompt. The file is read twice, for the ids first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from yiku.interfaces import importers
from yiku.interfaces.importers import Consumed, Content, Ids, Line, Place, json_items
from yiku.rules.sessions import agent_events
from yiku.types import BadRecord, ImportRecord, SkippedRecord, TurnRecord

AGENT = "gemini-cli"
ROLES = {"user": "user", "gemini": "assistant"}
CONTEXT = ("session_context",)  # what Gemini CLI writes into the first prompt


def read(path: Place, *, consumed: Consumed | None = None) -> Iterator[ImportRecord]:
    """Yield the messages of one session, in order."""
    last = _last_places(path)
    session = _Session(importers.one_line(path.stem) or AGENT)
    for line in json_items.objects(path, consumed):
        if isinstance(line, BadRecord):
            yield line
            continue
        session.begin(line)
        messages = [*_messages(line.record)]
        if not messages:
            yield SkippedRecord(line.number, "rewind" if "$rewindTo" in line.record else "about the session")
        for place, message in enumerate(messages):
            yield from _message(line, message, session, (line.number, place), last)


def _last_places(path: Place) -> dict[str, tuple[int, int]]:
    """Return where the last state of each message stands; those that were taken back are not in it."""
    last: dict[str, tuple[int, int]] = {}
    for line in json_items.objects(path):
        if isinstance(line, BadRecord):
            continue
        if isinstance(target := line.record.get("$rewindTo"), str):
            if target not in last:
                last.clear()
            while last and last.popitem()[0] != target:  # from the end: what came behind it goes, too
                pass
        for place, message in enumerate(_messages(line.record)):
            if isinstance(message, dict) and isinstance(id := message.get("id"), str):
                last[id] = (line.number, place)
    return last


def _messages(record: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the messages of a line."""
    inside = json_items.texts_of(record.get("$set", record)).get("messages")
    if isinstance(inside, list):
        yield from inside
    elif "type" in record and "id" in record:
        yield record


@dataclass(slots=True)
class _Session:
    """State of reading one session."""

    id: str
    line: Line | None = None
    cwd: str | None = None
    said_at: datetime | None = None
    parent: str | None = None
    ids: Ids = field(default_factory=Ids)

    def begin(self, line: Line) -> None:
        """Take over what a line says of the session."""
        self.line = line
        about = json_items.texts_of(line.record.get("$set", line.record))
        self.id = importers.one_line(about.get("sessionId")) or self.id
        self.said_at = importers.time(about.get("startTime")) or self.said_at
        directories = about.get("directories")
        if isinstance(directories, list) and directories and isinstance(first := directories[0], str):
            self.cwd = first


def _message(
    line: Line, message: object, session: _Session, place: tuple[int, int], last: Mapping[str, tuple[int, int]]
) -> Iterator[ImportRecord]:
    """Convert a message to its turns: what was said with the calls of tools, and their results."""
    if not isinstance(message, dict):
        yield BadRecord(line.number, "a message is not an object")
        return
    id, type_ = importers.one_line(message.get("id")), message.get("type")
    if isinstance(given := message.get("id"), str) and last.get(given) != place:
        yield SkippedRecord(line.number, "an earlier state" if given in last else "taken back")
        return
    session.said_at = importers.time(message.get("timestamp")) or session.said_at
    if not isinstance(type_, str) or type_ not in ROLES:
        yield SkippedRecord(line.number, type_ if type_ in ("info", "error", "warning") else "other")
        return
    content = _content(message, ROLES[type_])
    if not content.text.strip() and not content.calls and not content.results:
        yield SkippedRecord(line.number, "+".join(sorted(set(content.left_out))) or "empty")
        return
    results, content.results = content.results, []
    model = message.get("model") if type_ == "gemini" else None
    yield _turn(session, ROLES[type_], content, id, {"model": model} if isinstance(model, str) else {})
    if results:
        yield _turn(session, "tool", Content(results=results), f"{id}:results" if id else None, {})


def _content(message: Mapping[str, Any], role: str) -> Content:
    """Return what a message says: parts, calls of tools with their results."""
    given = message.get("content")
    parts = given if isinstance(given, list) else [given]
    answers = [part for part in parts if isinstance(part, dict) and "functionResponse" in part]  # they stand with their calls, too
    content = importers.unpacked([part for part in parts if part is not None and part not in answers])
    content.left_out += ["results of tools"] * bool(answers)
    if role == "user":
        content.texts = [text for given in content.texts if (text := _typed(given, content))]
    calls = message.get("toolCalls")
    for call in calls if isinstance(calls, list) else []:
        if isinstance(call, dict):
            name, id = importers.one_line(call.get("name")) or "?", importers.one_line(call.get("id"))
            content.calls.append({"id": id, "name": name, "input": importers.shallow(call.get("args"))})
            if call.get("result") is not None:
                failed = call.get("status") in ("error", "cancelled")
                content.results.append({**importers.result(id, _answer(call["result"]), failed), "name": name})
    return content


def _typed(text: str, content: Content) -> str:
    """Return what a person typed of a part of a message."""
    kept = agent_events.without_injected(agent_events.without_injected(text), CONTEXT)
    if kept != text:
        content.left_out.append("context")
    return kept


def _answer(result: Any) -> str:
    """Return the words of a tool's result."""
    parts = result if isinstance(result, list) else [result]
    texts = []
    for part in parts:
        response = json_items.texts_of(part).get("functionResponse")
        texts.append(agent_events.output(json_items.texts_of(response).get("response")) if response else agent_events.output(part))
    return "\n".join(filter(None, texts))


def _turn(session: _Session, role: str, content: Content, id: str | None, about: Mapping[str, Any]) -> ImportRecord:
    number, replaced = (session.line.number, session.line.replaced) if session.line else (1, 0)
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
        "metadata": importers.bounded(about, content.left_out, replaced),
    }
    said = importers.fingerprint(role, content.text, content.calls, content.results)
    turn["external_id"] = session.ids.given(id, said) if id else session.ids.made(session.id, said)
    session.parent = turn["external_id"]
    return TurnRecord(number, {key: value for key, value in turn.items() if value or key == "content"})
