"""Store turns, list those waiting for extraction, and learn from them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from yiku import Memory
from yiku.errors import InvalidInput
from yiku_compat.openakita.session_types import ConversationTurn, Scratchpad
from yiku_compat.openakita.types import PREFIX

MAX_RETRIES = 3  # of a model, then its question is set aside until `learn(everything=True)`
TURNS = 10_000  # in one answer
WAITING = """
    select t.n, t.id, s.id, t.position, t.role, t.content, t.tool_calls, t.tool_results, t.said_at, t.external_id,
           q.tries, q.state, q.created_at
    from yiku_conversation_turns t
    join yiku_sessions s on s.n = t.session_n
    join yiku_scopes c on c.id = t.scope_id and c.name = :scope
    left join yiku_learned l on l.scope_id = t.scope_id
    left join yiku_turn_work w on w.turn_n = t.n
    left join yiku_extraction_queue q on q.scope_id = t.scope_id and q.kind = 'extract' and q.turn_n = t.n
    where q.n is not null or (t.n > coalesce(l.upto, 0) and w.extracted_at is null)
    order by t.n
"""


def external(session_id: str, index: int) -> str:
    """Return the external id of a turn with an index."""
    return f"{PREFIX}{session_id}:{index}"


def save(memory: Memory, turn: ConversationTurn) -> str:
    """Store a turn; one with an index once. Return its id. Raises InvalidInput, KeptOut, Paused …"""
    details: dict[str, Any] = {"session": turn.session_id}
    if turn.turn_index is not None:
        if isinstance(turn.turn_index, bool) or not isinstance(turn.turn_index, int):
            raise InvalidInput("turn_index must be an integer")
        details["external_id"] = external(turn.session_id, turn.turn_index)
    if turn.timestamp is not None:
        details["said_at"] = turn.timestamp
    role: Any = turn.role
    return memory.record_turn(
        role, turn.content, tool_calls=turn.tool_calls or None, tool_results=turn.tool_results or None, **details
    ).id


def waiting(memory: Memory) -> list[dict[str, Any]]:
    """Return turns that nothing was learned from yet, or that a model is still to read, oldest first."""
    rows = memory.admin.sql(WAITING, {"scope": memory.scope}, limit=TURNS).rows
    return [_entry(row) for row in rows]


def queued(memory: Memory, batch_size: int) -> list[dict[str, Any]]:
    """Return entries of the queue that may be tried, oldest first."""
    if isinstance(batch_size, bool) or not isinstance(batch_size, int) or batch_size < 1:
        raise InvalidInput("batch_size must be 1 or more")
    return [entry for entry in waiting(memory) if entry["status"] == "pending"][:batch_size]


def settle(memory: Memory, session_id: str, indices: Sequence[int]) -> int:
    """Learn from what waits; return how many of these turns of a session do not wait any more."""
    before = {one["turn_index"] for one in waiting(memory) if one["session_id"] == session_id}
    memory.learn(session=session_id)
    after = {one["turn_index"] for one in waiting(memory) if one["session_id"] == session_id}
    return len((before - after) & {*indices})


def pad_as_markdown(pad: Scratchpad) -> str:
    """Return the fields of a scratchpad as Markdown that its user could have written."""
    sections: Mapping[str, Sequence[str]] = {
        "当前任务": [pad.current_focus] if pad.current_focus else [],
        "当前项目": pad.active_projects,
        "未解决的问题": pad.open_questions,
        "下一步": pad.next_steps,
    }
    return "\n\n".join("\n".join((f"## {name}", *(f"- {line}" for line in lines))) for name, lines in sections.items() if lines)


def _entry(row: Sequence[Any]) -> dict[str, Any]:
    n, id, session, position, role, content, calls, results, said_at, external_id, tries, state, created_at = row
    own = str(external_id or "").removeprefix(f"{PREFIX}{session}:")
    return {
        "id": n,
        "turn_id": id,
        "session_id": session,
        "turn_index": int(own) if own.isdecimal() else position,
        "role": role,
        "content": content,
        "tool_calls": json.loads(calls or "[]"),
        "tool_results": json.loads(results or "[]"),
        "timestamp": said_at,
        "retry_count": tries or 0,
        "max_retries": MAX_RETRIES,
        "status": "failed" if state == "dead" else "pending",
        "created_at": created_at or said_at,
    }
