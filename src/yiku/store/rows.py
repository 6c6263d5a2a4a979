"""
Rows and values: how each dataclass lies in its table.

Times become microseconds UTC with the speaker's offset beside them; tuples and mappings become JSON,
and nothing at all when they are empty; enums become their values. Nothing else is changed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache
from typing import Any

from yiku.types import Cardinality, ChangeRow, Kind, Origin, SemanticMemory, Source, Standing, State, Turn

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)

# From what a column holds to its word; a look here costs a fifth of Kind(value).
KIND: dict[str, Kind] = {kind.value: kind for kind in Kind}
STANDING: dict[str, Standing] = {standing.value: standing for standing in Standing}
STATE: dict[str, State] = {state.value: state for state in State}
ORIGIN: dict[str, Origin] = {origin.value: origin for origin in Origin}
CARDINALITY: dict[str, Cardinality] = {cardinality.value: cardinality for cardinality in Cardinality}

TURN_COLUMNS = (
    "t.n, t.id, s.id, t.position, t.role, t.content, t.said_at, t.offset_min, t.recorded_at, t.speaker, t.tool_calls, t.tool_results,"
    " t.external_id, t.parent, t.agent, t.project, t.metadata, t.origin, t.actor, t.content_hash, t.blob, x.hidden_at, c.name"
)
MEMORY_COLUMNS = (
    "m.n, m.id, m.line, m.kind, m.standing, m.state, m.content, m.content_hash, m.subject, m.predicate, m.object, m.cardinality, m.slot,"
    " m.basis, m.flag, m.flagged_with, m.importance, m.base_score, m.strength, m.confidence, m.priority, m.half_life_days, m.said_at,"
    " m.offset_min, m.confirmed_at, m.place, m.valid_from, m.valid_to, m.superseded_by, m.reason, m.expires_at, m.auto_delete_at,"
    " m.ttl_days, m.pinned, m.retrieved, m.used, m.mentioned, m.last_retrieved, m.last_used, m.last_mentioned, m.origin, m.trust, m.method,"
    " m.metadata, m.agent, m.project, m.external_id, m.created_at, m.updated_at, m.changed, c.name"
)
JOURNAL_COLUMNS = "number, tx, at, actor, run, operation, action, tbl, row_n, count, reason, before"
TIMES = frozenset(
    "said_at confirmed_at valid_from valid_to expires_at auto_delete_at last_retrieved last_used last_mentioned created_at updated_at".split()
)


def micros(at: datetime) -> int:
    """Microseconds since 1970 in UTC."""
    return (at - EPOCH) // MICROSECOND


def moment(at: int | None, offset_min: int = 0) -> datetime | None:
    """The time that `micros` made a number of, in the given offset."""
    return None if at is None else _moment(at, offset_min)


def _moment(at: int, offset_min: int = 0) -> datetime:
    return _epoch(offset_min) + timedelta(0, 0, at)


@lru_cache(maxsize=256)
def _epoch(offset_min: int) -> datetime:
    """1970 as a clock with this offset showed it; what is added to it needs no conversion."""
    return EPOCH.astimezone(timezone(timedelta(minutes=offset_min))) if offset_min else EPOCH


def offset_min(at: datetime) -> int:
    """The offset of a time in whole minutes."""
    offset = at.utcoffset()
    return 0 if offset is None else int(offset.total_seconds()) // 60


def dumps(value: Any) -> str | None:
    """Compact JSON; None for what is empty."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False) if value else None


def loads(text: str | None) -> Any:
    """What `dumps` wrote, lists as tuples; an empty tuple for None."""
    value = json.loads(text) if text else ()
    return tuple(value) if isinstance(value, list) else value


def turn(row: tuple[Any, ...]) -> Turn:
    """A turn from TURN_COLUMNS."""
    return Turn(
        n=row[0],
        id=row[1],
        session=row[2],
        position=row[3],
        role=row[4],
        content=row[5],
        said_at=_moment(row[6], row[7]),
        recorded_at=_moment(row[8]),
        speaker=row[9],
        tool_calls=loads(row[10]),
        tool_results=loads(row[11]),
        external_id=row[12],
        parent=row[13],
        agent=row[14],
        project=row[15],
        metadata=loads(row[16]) or {},
        origin=ORIGIN[row[17]],
        actor=row[18],
        content_hash=row[19],
        blob=row[20],
        hidden_at=moment(row[21]),
        scope=row[22],
    )


def turn_values(n: int, scope: int, session_n: int, position: int, item: Turn) -> tuple[Any, ...]:
    """The values of a turn in the order of the table's columns."""
    return (
        n,
        scope,
        item.id,
        session_n,
        position,
        item.role,
        item.speaker,
        item.content,
        item.content_hash,
        item.blob,
        dumps(item.tool_calls),
        dumps(item.tool_results),
        micros(item.said_at),
        offset_min(item.said_at),
        micros(item.recorded_at),
        item.external_id,
        item.parent,
        item.agent,
        item.project,
        dumps(item.metadata),
        item.origin.value,
        item.actor,
    )


def memory(row: tuple[Any, ...]) -> SemanticMemory:
    """A memory from MEMORY_COLUMNS."""
    offset = row[23]
    return SemanticMemory(
        n=row[0],
        id=row[1],
        line=row[2],
        kind=KIND[row[3]],
        standing=STANDING[row[4]],
        state=STATE[row[5]],
        content=row[6],
        content_hash=row[7],
        subject=row[8],
        predicate=row[9],
        object=row[10],
        cardinality=CARDINALITY[row[11]] if row[11] else None,
        slot=row[12],
        basis=row[13],
        flag=row[14],
        flagged_with=loads(row[15]),
        importance=row[16],
        base_score=row[17],
        strength=row[18],
        confidence=row[19],
        priority=row[20],
        half_life_days=row[21],
        said_at=_moment(row[22], offset),
        confirmed_at=_moment(row[24], offset),
        place=row[25],
        valid_from=_moment(row[26], offset),
        valid_to=moment(row[27], offset),
        superseded_by=row[28],
        reason=row[29],
        expires_at=moment(row[30]),
        auto_delete_at=moment(row[31]),
        ttl_days=row[32],
        pinned=bool(row[33]),
        retrieved=row[34],
        used=row[35],
        mentioned=row[36],
        last_retrieved=moment(row[37]),
        last_used=moment(row[38]),
        last_mentioned=moment(row[39]),
        origin=ORIGIN[row[40]],
        trust=row[41],
        method=row[42],
        metadata=loads(row[43]) or {},
        agent=row[44],
        project=row[45],
        external_id=row[46],
        created_at=_moment(row[47]),
        updated_at=_moment(row[48]),
        changed=row[49],
        scope=row[50],
    )


_MEMORY_FIELDS = (
    "id line kind standing state content content_hash subject predicate object cardinality slot basis flag flagged_with importance base_score"
    " strength confidence priority half_life_days said_at confirmed_at place valid_from valid_to superseded_by reason expires_at"
    " auto_delete_at ttl_days pinned retrieved used mentioned last_retrieved last_used last_mentioned origin trust method metadata agent"
    " project external_id created_at updated_at"
).split()
MEMORY_INSERT = (
    f"insert into memories (n, scope_id, offset_min, changed, {', '.join(_MEMORY_FIELDS)})"
    f" values ({', '.join('?' * (len(_MEMORY_FIELDS) + 4))})"
)


def memory_values(n: int, scope: int, changed: int, item: SemanticMemory) -> list[Any]:
    """The values of a memory in the order of MEMORY_INSERT."""
    return [n, scope, offset_min(item.said_at), changed, *(column(getattr(item, name)) for name in _MEMORY_FIELDS)]


def column(value: Any) -> Any:
    """One value as its column holds it."""
    if isinstance(value, datetime):
        return micros(value)
    if isinstance(value, (tuple, list, dict, Mapping)):
        return dumps(value)
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, (Kind, Standing, State, Origin, Cardinality)):
        return value.value
    return value


def field(name: str, value: Any) -> Any:
    """What a memory's column holds, as the dataclass has it: the way back from `column`."""
    if value is None:
        return () if name == "flagged_with" else {} if name == "metadata" else None
    if name in TIMES:
        return _moment(value)
    if name in ("flagged_with", "metadata"):
        return loads(value)
    if name == "tags":
        return tuple(value)
    if name == "pinned":
        return bool(value)
    wrap = {"kind": Kind, "standing": Standing, "state": State, "origin": Origin, "cardinality": Cardinality}.get(name)
    return wrap(value) if wrap else value


SOURCE_COLUMNS = "memory_n, origin, said_at, offset_min, recorded_at, turn, session, place, actor, text, seq"


def source(row: tuple[Any, ...]) -> Source:
    """A source from SOURCE_COLUMNS."""
    return Source(
        origin=ORIGIN[row[1]],
        said_at=_moment(row[2], row[3]),
        recorded_at=_moment(row[4]),
        turn=row[5],
        session=row[6],
        place=row[7],
        actor=row[8],
        text=row[9],
        seq=row[10],
    )


def source_values(item: Source) -> tuple[Any, ...]:
    """The values of a source behind scope, memory and sequence."""
    said_at, offset = micros(item.said_at), offset_min(item.said_at)
    return (
        item.origin.value,
        said_at,
        offset,
        micros(item.recorded_at),
        item.turn,
        item.session,
        item.place,
        item.actor,
        item.text,
    )


def change(row: tuple[Any, ...]) -> ChangeRow:
    """A journal row from JOURNAL_COLUMNS; `before` holds the columns as fields."""
    before = json.loads(row[11]) if row[11] else None
    if before and "sources" in before:
        before = {"sources": tuple(source(tuple(values)) for values in before["sources"])}
    if before and row[7] == "turn_state":
        before = {"hidden_at": moment(before["hidden_at"])}
    if before and row[7] == "memories":
        before = {name: field(name, value) for name, value in before.items()}
    number, tx, at, actor, run, operation, action, table, n, count, reason, _ = row
    return ChangeRow(number, tx, _moment(at), actor, run, operation, action, table, n, count, reason, before)
