"""Convert OpenAkita's turns, from its table, JSON Lines and pending queue, to import records, each turn once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from yiku_compat.openakita import old_values as values
from yiku_compat.openakita import records
from yiku_compat.openakita.old_home import OldHome, Row
from yiku_compat.openakita.turns import external

ROLES = {"user": "user", "assistant": "assistant", "system": "system", "tool": "tool", "human": "user", "ai": "assistant"}


def turn_records(old: OldHome, now: datetime) -> Iterator[dict[str, Any]]:
    """Yield turns by session, in order. Each is there once: the documents write every turn to both places."""
    seen: Counter[tuple[str, str, str]] = Counter()
    taken: set[str] = set()
    for row in old.rows("conversation_turns"):
        session, index = _session(row.get("session_id")), str(row.get("turn_index"))
        id = external(session, values.count(index))
        if id in taken:  # two turns with one index
            id = f"{id}:{row.get('_row')}"
        taken.add(id)
        made = _turn(id, session, row, now, learned=bool(values.count(row.get("extracted"))))
        seen[session, made["role"], made["content"]] += 1
        yield made
    for session, lines in old.history.items():
        for number, entry in lines:
            made = _turn(f"{external(session, 0)[:-1]}line{number}", session, entry, now, learned=False)
            key = (session, made["role"], made["content"])
            if seen[key]:
                seen[key] -= 1
            elif made["content"] or made.get("tool_calls") or made.get("tool_results"):
                yield made
    known = {(made_session, content) for made_session, _, content in seen}
    for row in old.rows("extraction_queue"):
        session = _session(row.get("session_id"))
        if (session, values.text(row.get("content"))) not in known:
            yield _turn(f"{external(session, 0)[:-1]}queue{row.get('id') or row.get('_row')}", session, row, now, learned=False)


def _turn(id: str, session: str, row: Row, now: datetime, *, learned: bool) -> dict[str, Any]:
    """Return the record of a turn."""
    role = ROLES.get(str(row.get("role") or "user").casefold(), "user")
    at = min(values.time(row.get("timestamp", row.get("created_at")), now), now).isoformat()
    made: dict[str, Any] = {
        "type": "turn",
        "id": records.id_of("turn", id),
        "session": session,
        "role": role,
        "content": _content(row.get("content")),
        "said_at": at,
        "recorded_at": at,
        "tool_calls": values.calls(row.get("tool_calls")),
        "tool_results": values.calls(row.get("tool_results")),
        "external_id": id,
        "origin": role if role in ("user", "assistant", "tool") else "assistant",
    }
    made = {name: value for name, value in made.items() if value != [] or name == "content"}
    return {**made, "learned": True} if learned else made


def _content(value: Any) -> str:
    """Return the text of a message, of its parts where it has some."""
    if isinstance(value, list):
        parts = [str(part.get("text") or "") if isinstance(part, Mapping) else str(part) for part in value]
        return values.text("\n".join(part for part in parts if part))
    return values.text(value)


def _session(value: Any) -> str:
    return " ".join(str(value or "default").split())[: values.NAME_CHARS]
