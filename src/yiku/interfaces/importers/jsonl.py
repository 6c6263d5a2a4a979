"""
Importer of JSON Lines: one turn, conversation or statement per line.

    {"role": "user", "content": "…", "session": "s1", "said_at": "2026-03-02T09:14:00+01:00", …}   as `record_turn` takes them
    {"messages": [{"role", "content", "tool_calls"}, …], "session": "s1"}                         as chat models take them
    {"memory": "Ann prefers tea", "kind": "preference", …}                                        as `remember` takes them
    {"speaker": "Ann", "text": "…", "time": "…"}                                                  as chats are exported

A turn's `external_id`, else its `id`, is kept; a number counts within its session, since 1 says nothing
elsewhere. Without one it is made from the session, the line's content and how often that came before, so
that importing again adds nothing. Without a session, turns belong to one named after the file. What no
field takes goes into the metadata.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from yiku.interfaces import importers
from yiku.interfaces.importers import Consumed, Content, Ids, Line, Place
from yiku.types import BadRecord, Details, ImportRecord, MemoryRecord, SkippedRecord, TurnDetails, TurnRecord

# The names under which exports know our fields, the best first.
NAMES: Mapping[str, Sequence[str]] = {
    "content": ("content", "text", "message", "body"),
    "said_at": ("said_at", "timestamp", "time", "datetime", "date", "created_at", "create_time", "ts"),
    "session": ("session", "session_id", "conversation", "conversation_id", "thread", "thread_id", "chat_id"),
    "speaker": ("speaker", "name", "sender", "from", "author"),
    "external_id": ("external_id", "id", "uuid", "message_id"),
    "parent": ("parent", "parent_id"),
}
ROLES = {
    name: role
    for role, names in {
        "user": "user human 用户",
        "assistant": "assistant ai bot model gpt chatgpt claude gemini 助手 助理",
        "system": "system developer 系统",
        "tool": "tool function 工具",
    }.items()
    for name in names.split()
}
_TURN = frozenset(TurnDetails.__annotations__)
_DETAILS = frozenset(Details.__annotations__)


def files(path: Path) -> list[Path]:
    """Return one file, or the JSON Lines files below a folder."""
    return importers.found(path, [".jsonl", ".ndjson"])


def size(path: Path) -> int:
    """Return the bytes of all files."""
    return importers.total(files(path))


def read(path: Place, *, consumed: Consumed | None = None) -> Iterator[ImportRecord]:
    """Yield the records of one file, in order, one per message."""
    file = _File(importers.one_line(path.stem) or "import")
    for line in importers.objects(path, consumed):
        if isinstance(line, BadRecord):
            yield line
        elif isinstance(line.record.get("messages"), list):
            yield from _conversation(line, file)
        elif isinstance(line.record.get("memory"), str):
            yield _memory(line, file)
        elif any(name in line.record for name in ("role", *NAMES["content"])):
            yield _turn(line, file, line.record, file.name, line.digest)
        else:
            yield BadRecord(line.number, "has no role and content, no text, no messages and no memory")


@dataclass(slots=True)
class _File:
    """State of reading one file."""

    name: str
    session: str = ""
    said_at: Any = None
    ids: Ids = field(default_factory=Ids)

    def when(self, session: str, given: object) -> Any:
        """Return the given time, or that of the previous turn of the session."""
        if given is not None or session != self.session:
            self.said_at = given
        self.session = session
        return self.said_at


# ------------------------------------------------------------------ shapes


def _conversation(line: Line, file: _File) -> Iterator[ImportRecord]:
    """Yield a turn for each message of a conversation."""
    about = {key: value for key, value in line.record.items() if key != "messages"}
    session = importers.one_line(_taken(about, "session")) or importers.one_line(_taken(about, "external_id"))
    shared: dict[str, Any] = {key: about.pop(key) for key in ("agent", "project") if key in about}
    if (said_at := _taken(about, "said_at")) is not None:
        shared["said_at"] = said_at
    if not line.record["messages"]:
        yield SkippedRecord(line.number, "empty")
    for message in line.record["messages"]:
        if not isinstance(message, dict):
            yield BadRecord(line.number, "has a message that is not an object")
            continue
        given = message.get("metadata")
        together = shared | message | {"metadata": about | (given if isinstance(given, dict) else {})}
        about = {}  # what is known of the conversation stands with its first message
        yield _turn(line, file, together, session or f"{file.name}:{line.number}", importers.fingerprint(message))


def _memory(line: Line, file: _File) -> ImportRecord:
    """Convert a line to a statement; its origin is an import by default."""
    rest = dict(line.record)
    text = rest.pop("memory")
    said_at, session, speaker, id = (_taken(rest, name) for name in ("said_at", "session", "speaker", "external_id"))
    details = {key: rest.pop(key) for key in _DETAILS & rest.keys() if key != "metadata"}
    session = importers.one_line(session)
    given = {
        "said_at": _time(said_at),
        "session": session,
        "speaker": speaker,
        "origin": "import",
        **details,
        "external_id": _external_id(file, id, session or file.name, importers.fingerprint(text), line.digest),
        "metadata": importers.bounded(_merged(rest), replaced=line.replaced),
    }
    return MemoryRecord(line.number, text, {key: value for key, value in given.items() if value not in (None, {})})


def _turn(line: Line, file: _File, record: Mapping[str, Any], session: str, digest: str) -> ImportRecord:
    """Convert a line to a turn, whatever its fields are called."""
    rest = dict(record)
    said_at, given, speaker, id, parent = (
        _taken(rest, name) for name in ("said_at", "session", "speaker", "external_id", "parent")
    )
    content = importers.unpacked(_taken(rest, "content"))
    session = importers.one_line(given) or session
    if isinstance(speaker, dict):  # as in {"author": {"role": "user"}}
        rest.setdefault("role", speaker.get("role"))
        speaker = speaker.get("name")
    speaker = importers.one_line(speaker)
    role = _role(rest.pop("role", None), speaker)
    if role == "tool" and isinstance(id_of_call := rest.pop("tool_call_id", None), str):
        content.results.append({**importers.result(id_of_call, content.text), **({"name": speaker} if speaker else {})})
        content.texts, speaker = [], None
    _tools(rest, content)
    if not content.text.strip() and not content.calls and not content.results:
        return SkippedRecord(line.number, "+".join(sorted(set(content.left_out))) or "empty")
    turn: dict[str, Any] = {key: rest.pop(key) for key in _TURN & rest.keys() if key != "metadata"}
    said = importers.fingerprint(role, content.text, content.calls, content.results)
    turn |= {
        "role": role,
        "content": content.text,
        "session": session,
        "said_at": _time(file.when(session, said_at)),
        "speaker": speaker,
        "tool_calls": content.calls,
        "tool_results": content.results,
        "external_id": _external_id(file, id, session, said, digest),
        "parent": importers.one_line(parent),
        "metadata": importers.bounded(_merged(rest), content.left_out, line.replaced),
    }
    return TurnRecord(line.number, {key: value for key, value in turn.items() if value or key == "content"})


def _taken(rest: dict[str, Any], field: str) -> Any:
    """Pop a field under the first of its names that is present."""
    name = next((name for name in NAMES[field] if rest.get(name) is not None), None)
    return rest.pop(name) if name else None


def _merged(rest: Mapping[str, Any]) -> dict[str, Any]:
    """Merge leftover fields into the metadata."""
    given = rest.get("metadata")
    others = {key: value for key, value in rest.items() if key != "metadata" and value is not None}
    return others | (given if isinstance(given, dict) else {} if given is None else {"metadata": given})


def _role(given: object, speaker: str | None) -> Any:
    """Map a role to ours; without one the speaker decides. Unknown roles are left for `record` to refuse."""
    if given is None:
        return ROLES.get((speaker or "").casefold(), "user")
    return ROLES.get(given.strip().casefold(), given) if isinstance(given, str) else given


def _time(value: object) -> Any:
    """Convert numbers and times to aware times; texts are left to `record`."""
    return value if isinstance(value, str) else importers.time(value) or value


def _external_id(file: _File, id: object, session: str, said: str, digest: str) -> str:
    name = importers.one_line(id)
    if name is None:
        return file.ids.made(session, f"{session}/{digest}")
    if name.isdecimal():
        name = f"{importers.one_line(session, 100)}#{name}"
    return file.ids.given(name, said)


# ------------------------------------------------------------------ tools


def _tools(rest: dict[str, Any], content: Content) -> None:
    """Move tool calls and results of any known form into the content."""
    calls = rest.pop("tool_calls", None)
    legacy = rest.pop("function_call", None)
    for call in [*(calls if isinstance(calls, list) else []), *([legacy] if isinstance(legacy, dict) else [])]:
        content.calls.append(_call(call))
    results = rest.pop("tool_results", None)
    for result in results if isinstance(results, list) else []:
        flat = importers.unpacked(result.get("content"), inside=True).text if isinstance(result, dict) else ""
        content.results.append(
            {**importers.shallow(result), "content": flat} if isinstance(result, dict) else {"content": str(result)}
        )


def _call(call: object) -> dict[str, Any]:
    """Convert a tool call to {name, input, id}."""
    if not isinstance(call, dict):
        return {"name": "?", "input": importers.shallow(call)}
    function = call["function"] if isinstance(call.get("function"), dict) else call
    given = function.get("input", function.get("arguments"))
    if isinstance(given, str):
        given = importers.embedded(given)
    known = {"name": str(function.get("name") or "?"), "input": importers.shallow(given)}
    others = {key: value for key, value in call.items() if key not in ("name", "input", "arguments", "function", "type")}
    return known | importers.bounded(others)
