"""
Count a scope's rows (turns, sessions, memories by state, notes, …) for `stats`, and the memories to review.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import apsw

from yiku.store import index, row_codec


def review_counts(connection: apsw.Connection, scopes: Sequence[int]) -> tuple[int, int]:
    """Return the number of unconfirmed memories and of contradicting live ones."""
    among = f"scope_id in ({index.placeholders(scopes)})"
    candidates = index.fetch_one(connection, f"select count(*) from memories where {among} and state = 'candidate'", *scopes)[0]
    live = "flag is not null and state = 'active' and superseded_by is null"
    return candidates, index.fetch_one(connection, f"select count(*) from memories where {among} and {live}", *scopes)[0]


def counts(connection: apsw.Connection, scopes: Sequence[int]) -> Mapping[str, Any]:
    """Count turns with first and last time, sessions, memories by state, live kinds, and the rest."""
    among = f"scope_id in ({index.placeholders(scopes)})"
    standing = "case when state = 'active' and superseded_by is not null then 'superseded' else state end"
    live = f"{among} and state = 'active' and superseded_by is null"

    def every(sql: str) -> list[tuple[Any, ...]]:
        return connection.execute(sql, scopes).fetchall()

    def one(sql: str) -> Any:
        return every(sql)[0][0]

    spoken = every(f"select count(*), min(said_at), max(said_at) from conversation_turns where {among}")[0]
    return {
        "turns": spoken[0],
        "first_said_at": row_codec.nearest(spoken[1]),
        "last_said_at": row_codec.nearest(spoken[2]),
        "sessions": one(f"select count(*) from sessions where {among}"),
        "memories": dict(map(tuple, every(f"select {standing} as s, count(*) from memories where {among} group by s order by s"))),
        "kinds": dict(map(tuple, every(f"select kind, count(*) from memories where {live} group by kind order by kind"))),
        "entities": one(f"select count(distinct entity) from memory_entities where {among}"),
        "relations": one(f"select count(*) from memory_relations where {among} and superseded = 0"),  # that hold
        "tags": one(f"select count(*) from memory_tags where {among}"),
        "episodes": one(f"select count(*) from episodes where {among}"),
        "notes": one(f"select count(*) from files where {among} and status = 'indexed'"),
        "attachments": one(f"select count(*) from attachments where {among}"),
        "queue": one(f"select count(*) from extraction_queue where {among}"),
        "changes": one(f"select count(*) from changes where {among}"),
    }
