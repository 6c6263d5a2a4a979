"""
Importer of sessions of OpenCode: ~/.local/share/opencode/opencode.db, or the JSON that `opencode export` prints.

    session: id, parent_id, directory, title, time_created       message: id, session_id, time_created, data {"role", "time", "modelID"}
    part: message_id, data {"type": "text" | "tool" | "file" | "reasoning" | …, "text", "synthetic", "tool", "callID", "state"}
    exported: {"info": session, "messages": [{"info": message, "parts": [part, …]}, …]}

Texts that OpenCode or a plugin added to a prompt are marked as synthetic and left out, as are reasoning and steps. The first prompt of
a subagent's session is the agent's. The database is opened for reading only, and nothing is written beside it.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from yiku.interfaces import importers
from yiku.interfaces.importers import Consumed, Content, Ids, Place, json_items, places
from yiku.rules.sessions import agent_events
from yiku.types import BadRecord, ImportRecord, SkippedRecord, TurnRecord

AGENT = "opencode"
DATABASE = b"SQLite format 3\0"
NAME = "opencode"  # how the name of its database begins
UNSAID = frozenset("step-start step-finish snapshot patch agent subtask compaction retry".split())
WAIT_S = 5.0


def read(path: Place, *, consumed: Consumed | None = None) -> Iterator[ImportRecord]:
    """Yield the messages of all sessions, each session in its order."""
    if places.head_of(path, len(DATABASE)) != DATABASE:
        yield from _exported(path, consumed)
    elif not isinstance(path, Path):
        yield BadRecord(1, "a database inside an archive cannot be read: unpack it")
    else:
        yield from _stored(path)
        if consumed is not None:
            consumed(places.size_of(path))


@dataclass(slots=True)
class _Session:
    """State of reading one session."""

    number: int
    id: str
    title: str | None
    cwd: str | None
    of_agent: bool
    said_at: datetime | None = None
    parent: str | None = None
    replaced: int = 0
    ids: Ids = field(default_factory=Ids)


# ------------------------------------------------------------------ an export


def _exported(path: Place, consumed: Consumed | None) -> Iterator[ImportRecord]:
    """Yield the messages of exported sessions."""
    for line in json_items.objects(path, consumed):
        if isinstance(line, BadRecord):
            yield line
            continue
        info, messages = json_items.texts_of(line.record.get("info")), line.record.get("messages")
        id = importers.one_line(info.get("id"))
        if id is None or not isinstance(messages, list):
            yield BadRecord(line.number, "is not a session: it has no " + ("messages" if id else "info with an id"))
            continue
        times = json_items.texts_of(info.get("time"))
        parent = isinstance(info.get("parentID"), str)
        session = _Session(line.number, id, importers.one_line(info.get("title")), _text(info.get("directory")), parent)
        session.said_at, session.replaced = importers.time(times.get("created")), line.replaced
        if not messages:
            yield SkippedRecord(line.number, "empty")
        for message in messages:
            if isinstance(message, dict):
                yield from _message(session, json_items.texts_of(message.get("info")), message.get("parts"))
            else:
                yield BadRecord(line.number, "a message is not an object")


# ------------------------------------------------------------------ the database


def _stored(path: Path) -> Iterator[ImportRecord]:
    """Yield the messages of all sessions of a database."""
    number = 0
    try:
        with closing(_opened(path)) as database:
            rows = database.execute("SELECT id, parent_id, directory, title, time_created FROM session ORDER BY time_created, id")
            for number, (id, parent, directory, title, created) in enumerate(rows.fetchall(), start=1):
                session = _Session(number, str(id), importers.one_line(title), _text(directory), parent is not None)
                session.said_at = importers.time(created)
                empty = True
                for record in _messages(database, session):
                    empty = False
                    yield record
                if empty:
                    yield SkippedRecord(number, "empty")
    except sqlite3.Error as error:
        why = f"the database cannot be read: {error}; end OpenCode, or import what `opencode export` prints"
        yield BadRecord(number or 1, why)


def _messages(database: sqlite3.Connection, session: _Session) -> Iterator[ImportRecord]:
    messages = database.execute(
        "SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id", (session.id,)
    ).fetchall()
    for id, data in messages:
        parts = database.execute("SELECT data FROM part WHERE message_id = ? ORDER BY id", (id,)).fetchall()
        info = {**json_items.texts_of(_value(data)), "id": id}
        yield from _message(session, info, [_value(part) for (part,) in parts])


def _opened(path: Path) -> sqlite3.Connection:
    quoted = path.resolve().as_uri()
    database = sqlite3.connect(f"{quoted}?mode=ro", uri=True, timeout=WAIT_S)
    database.text_factory = lambda raw: raw.decode("utf-8", "replace")
    return database


def is_database(path: Place) -> bool:
    """Tell whether a file is a database with sessions of OpenCode."""
    if not isinstance(path, Path) or not path.name.startswith(NAME):
        return False
    try:
        with closing(_opened(path)) as database:
            names = {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    except sqlite3.Error:
        return False
    return {"session", "message", "part"} <= names


def _value(text: object) -> Any:
    try:
        return json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return None


# ------------------------------------------------------------------ messages


def _message(session: _Session, info: Mapping[str, Any], parts: object) -> Iterator[ImportRecord]:
    """Convert a message to its turns: what was said with the calls of tools, and their results."""
    role, id = info.get("role"), importers.one_line(info.get("id"))
    if role not in ("user", "assistant") or id is None:
        yield BadRecord(session.number, f"message {id}: role {str(role)[:40]!r} is not known" if id else "a message has no id")
        return
    session.said_at = importers.time(json_items.texts_of(info.get("time")).get("created")) or session.said_at
    content = _content(parts if isinstance(parts, list) else [], role)
    if not content.text.strip() and not content.calls:
        yield SkippedRecord(session.number, "+".join(sorted(set(content.left_out))) or "empty")
        return
    results, content.results = content.results, []
    summary = role == "assistant" and info.get("summary") is True
    about = {"title": session.title, "model": _text(info.get("modelID")) if role == "assistant" else None, "cwd": session.cwd}
    metadata: dict[str, Any] = {key: value[: importers.TEXT_CHARS] for key, value in about.items() if value}
    metadata |= {"summary": True} if summary else {}
    first = session.parent is None
    yield _turn(session, "system" if summary else role, content, id, metadata, by_agent=summary or (session.of_agent and first))
    if results:
        yield _turn(session, "tool", Content(results=results), f"{id}:results", {})


def _content(parts: Sequence[Any], role: str) -> Content:
    """Return what the parts of a message say: texts, calls of tools, and their results."""
    content = Content()
    for part in parts:
        if not isinstance(part, dict) or part.get("type") in UNSAID:
            continue
        match part.get("type"):
            case "text" if part.get("synthetic") is True or part.get("ignored") is True:
                content.left_out.append("context")
            case "text":
                text = _readable(part.get("text"))
                content.texts.append(agent_events.without_injected(text) if role == "user" else text)
            case "reasoning":
                content.left_out.append("thinking")
            case "tool":
                _tool(part, content)
            case "file":
                content.texts.append(f"[file {importers.one_line(part.get('filename')) or _text(part.get('mime')) or '?'}]")
            case other:
                content.left_out.append(other[:40] if isinstance(other, str) else "part")
    return content


def _tool(part: Mapping[str, Any], content: Content) -> None:
    state, id = json_items.texts_of(part.get("state")), importers.one_line(part.get("callID"))
    name = importers.one_line(part.get("tool")) or "?"
    content.calls.append({"id": id, "name": name, "input": importers.shallow(importers.readable(state.get("input")))})
    output = state.get("output", state.get("error"))
    if isinstance(output, str):
        content.results.append({**importers.result(id, _readable(output), state.get("status") == "error"), "name": name})


def _turn(
    session: _Session, role: str, content: Content, id: str, metadata: Mapping[str, Any], *, by_agent: bool = False
) -> TurnRecord:
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
        "metadata": importers.bounded(metadata, content.left_out, session.replaced),
    }
    if by_agent:
        turn["origin"] = "assistant"
    words = importers.fingerprint(role, content.text, content.calls, content.results)
    turn["external_id"] = session.ids.given(id, words)
    session.parent = turn["external_id"]
    return TurnRecord(session.number, {key: value for key, value in turn.items() if value or key == "content"})


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _readable(value: object) -> str:
    found = importers.readable(value)
    return found if isinstance(found, str) else ""
