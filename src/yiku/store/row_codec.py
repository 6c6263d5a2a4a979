"""
Encode dataclasses as table rows and decode them.

Times become microseconds UTC with the speaker's offset beside them; tuples and mappings become JSON,
and nothing at all when they are empty; enums become their values. Nothing else is changed.

This is the one place where rows become values. A row that is not what was written, or holds what no value can
be made of, is Unreadable; `decode_all` leaves such rows out and says so, so that one never takes the others with it.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache
from typing import Any, TypeVar

from yiku.errors import Unreadable
from yiku.store import scope_names
from yiku.types import Cardinality, ChangeRow, Kind, Origin, SemanticMemory, Source, Standing, State, Turn

T = TypeVar("T")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
BLOB_BYTES = 32  # of the hash that names one
BLOB = re.compile(r"[0-9a-f]{64}")

# What lies nearer to the ends of the calendar cannot be shown in every offset.
EARLIEST, LATEST = ((at - EPOCH) // MICROSECOND for at in (datetime(1, 1, 3, tzinfo=UTC), datetime(9999, 12, 29, tzinfo=UTC)))
OFFSET_MIN = 24 * 60  # an offset is smaller

# From what a column holds to its word; a look here costs a fifth of Kind(value).
KIND: dict[str, Kind] = {kind.value: kind for kind in Kind}
STANDING: dict[str, Standing] = {standing.value: standing for standing in Standing}
STATE: dict[str, State] = {state.value: state for state in State}
ORIGIN: dict[str, Origin] = {origin.value: origin for origin in Origin}
CARDINALITY: dict[str, Cardinality] = {cardinality.value: cardinality for cardinality in Cardinality}

# The columns of a row that its digest covers, in the table's order; then what is read with them.
_TURN = (
    "n scope_id id session_n position role speaker content content_hash blob tool_calls tool_results said_at offset_min recorded_at"
    " external_id parent agent project metadata origin actor"
).split()
_MEMORY = (
    "n scope_id offset_min id line kind standing state content content_hash subject predicate object cardinality slot basis flag flagged_with"
    " importance base_score strength confidence priority half_life_days said_at confirmed_at place valid_from valid_to superseded_by reason"
    " expires_at auto_delete_at ttl_days pinned origin trust method metadata agent project external_id created_at"
).split()
TURN_DIGESTED, MEMORY_DIGESTED = ", ".join(_TURN), ", ".join(_MEMORY)
_COUNTERS = "retrieved used mentioned last_retrieved last_used last_mentioned updated_at".split()  # of a memory: outside its digest
TURN_COLUMNS = f"{', '.join(f't.{name}' for name in _TURN)}, t.digest, s.id, x.hidden_at, c.name"
MEMORY_COLUMNS = f"{', '.join(f'm.{name}' for name in (*_MEMORY, 'digest', *_COUNTERS, 'changed'))}, c.name"
JOURNAL_COLUMNS = "number, tx, at, actor, run, operation, action, tbl, row_n, count, reason, before"
TIMES = frozenset(
    "said_at confirmed_at valid_from valid_to expires_at auto_delete_at last_retrieved last_used last_mentioned created_at updated_at".split()
)


def micros(at: datetime) -> int:
    """Return a time as microseconds since 1970, UTC."""
    return (at - EPOCH) // MICROSECOND


def moment(at: int | None, offset_min: int = 0) -> datetime | None:
    """Return the time of `micros` in an offset. Raises ValueError if some offset cannot represent it."""
    return None if at is None else instant(at, offset_min)


def nearest(at: int | None) -> datetime | None:
    """Return the time of `micros` in UTC, clamped to what can be represented."""
    return None if at is None else instant(min(max(at, EARLIEST), LATEST))


def instant(at: int, offset_min: int = 0) -> datetime:
    """Return the time of `micros` in an offset; `at` must not be None."""
    if not EARLIEST <= at <= LATEST:
        raise ValueError("a time is out of range")
    return _epoch(offset_min) + timedelta(0, 0, at)


@lru_cache(maxsize=256)
def _epoch(offset_min: int) -> datetime:
    """Return 1970 as a naive time in an offset, to which microseconds can be added."""
    return EPOCH.astimezone(timezone(timedelta(minutes=offset_min))) if offset_min else EPOCH


def offset_min(at: datetime) -> int:
    """Return the UTC offset of a time in minutes."""
    offset = at.utcoffset()
    return 0 if offset is None else int(offset.total_seconds()) // 60


def dumps(value: Any) -> str | None:
    """Encode as compact JSON; None if empty."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False) if value else None


def loads(text: str | None) -> Any:
    """Decode what `dumps` wrote, lists as tuples; an empty tuple for None."""
    value = json.loads(text) if text else ()
    return tuple(value) if isinstance(value, list) else value


UNFIT = (KeyError, TypeError, ValueError, OverflowError, AttributeError, RecursionError)  # what decoding raises
NOT_AS_WRITTEN = "is not what was written"


def decode_all(decode: Callable[[Any], T], found: Iterable[Any], left_out: Callable[[Unreadable], object]) -> list[T]:
    """Decode rows, reporting and skipping unreadable ones."""
    values = []
    for row in found:
        try:
            values.append(decode(row))
        except Unreadable as error:
            left_out(error)
    return values


def turn(row: Sequence[Any]) -> Turn:
    """Decode a turn from TURN_COLUMNS. Raises Unreadable."""
    if digest(row[:22]) != row[22]:
        raise Unreadable(f"turn {row[2]}", NOT_AS_WRITTEN, id=row[2], scope=row[1])
    try:
        return _turn(row)
    except UNFIT as error:
        raise Unreadable(f"turn {row[2]}", f"cannot be read: {_why(_TURN, row, error)}", id=row[2], scope=row[1]) from error


def memory(row: Sequence[Any]) -> SemanticMemory:
    """Decode a memory from MEMORY_COLUMNS. Raises Unreadable."""
    if digest(row[:43]) != row[43]:
        raise Unreadable(f"memory {row[3]}", NOT_AS_WRITTEN, id=row[3], scope=row[1])
    try:
        return _memory(row)
    except UNFIT as error:
        why = _why((*_MEMORY, "digest", *_COUNTERS), row, error)
        raise Unreadable(f"memory {row[3]}", f"cannot be read: {why}", id=row[3], scope=row[1]) from error


def _why(columns: Sequence[str], row: Sequence[Any], error: Exception) -> str:
    return ", ".join(invalid_columns(dict(zip(columns, row, strict=False)))) or f"{type(error).__name__}: {error}"


def _objects(text: str | None) -> tuple[Mapping[str, Any], ...]:
    """A list of objects."""
    found = loads(text)
    if type(found) is not tuple or not all(type(entry) is dict for entry in found):
        raise ValueError("no list of objects")
    return found


def _strings(text: str | None) -> tuple[str, ...]:
    """A list of texts."""
    found = loads(text)
    if type(found) is not tuple or not all(type(entry) is str for entry in found):
        raise ValueError("no list of texts")
    return found


def _object(text: str | None) -> dict[str, Any]:
    """An object."""
    found = json.loads(text) if text else {}
    if type(found) is not dict:
        raise ValueError("no object")
    return found


def _turn(row: Sequence[Any]) -> Turn:
    if row[9] is not None and not BLOB.fullmatch(row[9]):
        raise ValueError("no name of a blob")
    return Turn(
        n=row[0],
        id=row[2],
        session=row[23],
        position=row[4],
        role=row[5],
        speaker=row[6],
        content=row[7],
        content_hash=row[8],
        blob=row[9],
        tool_calls=_objects(row[10]),
        tool_results=_objects(row[11]),
        said_at=instant(row[12], row[13]),
        recorded_at=instant(row[14]),
        external_id=row[15],
        parent=row[16],
        agent=row[17],
        project=row[18],
        metadata=_object(row[19]),
        origin=ORIGIN[row[20]],
        actor=row[21],
        hidden_at=nearest(row[24]),
        scope=scope_names.decode(row[25]),
    )


def turn_values(n: int, scope: int, session_n: int, position: int, item: Turn) -> tuple[Any, ...]:
    """Encode a turn in the order of the table's columns, digest last."""
    values = (
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
    return *values, digest(values)


def blobs(row: Sequence[Any]) -> Iterator[str]:
    """Return the blobs that a turn's row refers to."""
    if row[9]:
        yield row[9]
    for result in loads(row[11]) if row[11] and '"blob":' in row[11] and FITS["tool_results"](row[11]) else ():
        if isinstance(name := result.get("blob"), str) and len(name) == 2 * BLOB_BYTES:
            yield name


def _memory(row: Sequence[Any]) -> SemanticMemory:
    if not (0 <= row[18] <= 1 and 0 <= row[19] <= 1 and 0 <= row[21] <= 1 and 0 <= row[36] <= 1):
        raise ValueError("a share is not between 0 and 1")
    if row[23] is not None and not 0 < row[23] < math.inf:
        raise ValueError("a half-life is not a number of days")
    offset = row[2]
    return SemanticMemory(
        n=row[0],
        id=row[3],
        line=row[4],
        kind=KIND[row[5]],
        standing=STANDING[row[6]],
        state=STATE[row[7]],
        content=row[8],
        content_hash=row[9],
        subject=row[10],
        predicate=row[11],
        object=row[12],
        cardinality=CARDINALITY[row[13]] if row[13] else None,
        slot=row[14],
        basis=row[15],
        flag=row[16],
        flagged_with=_strings(row[17]),
        importance=row[18],
        base_score=row[19],
        strength=row[20],
        confidence=row[21],
        priority=row[22],
        half_life_days=row[23],
        said_at=instant(row[24], offset),
        confirmed_at=instant(row[25], offset),
        place=row[26],
        valid_from=instant(row[27], offset),
        valid_to=moment(row[28], offset),
        superseded_by=row[29],
        reason=row[30],
        expires_at=moment(row[31]),
        auto_delete_at=moment(row[32]),
        ttl_days=row[33],
        pinned=bool(row[34]),
        origin=ORIGIN[row[35]],
        trust=row[36],
        method=row[37],
        metadata=_object(row[38]),
        agent=row[39],
        project=row[40],
        external_id=row[41],
        created_at=instant(row[42]),
        retrieved=row[44],
        used=row[45],
        mentioned=row[46],
        last_retrieved=moment(row[47]),
        last_used=moment(row[48]),
        last_mentioned=moment(row[49]),
        updated_at=instant(row[50]),
        changed=row[51],
        scope=scope_names.decode(row[52]),
    )


_WRITTEN = (*_MEMORY, *_COUNTERS)
MEMORY_INSERT = f"insert into memories ({', '.join(_WRITTEN)}, digest, changed) values ({', '.join('?' * (len(_WRITTEN) + 2))})"


def memory_values(n: int, scope: int, changed: int, item: SemanticMemory) -> list[Any]:
    """Encode a memory in the order of MEMORY_INSERT."""
    placed = [n, scope, offset_min(item.said_at)]
    values = placed + [column(getattr(item, name)) for name in _WRITTEN[len(placed) :]]
    return [*values, digest(values[: len(_MEMORY)]), changed]


def digest(values: Sequence[Any]) -> bytes:
    """Return the digest of a row's values, separated by NUL, which no text contains."""
    return hashlib.blake2b("\0".join(map(str, values)).encode(), digest_size=8).digest()


def column(value: Any) -> Any:
    """Encode one value."""
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
    """Decode one column of a memory, the inverse of `column`."""
    if value is None:
        return () if name == "flagged_with" else {} if name == "metadata" else None
    if name in TIMES:
        return instant(value)
    if name in ("flagged_with", "metadata"):
        return loads(value)
    if name == "tags":
        return tuple(value)
    if name == "pinned":
        return bool(value)
    wrap = {"kind": Kind, "standing": Standing, "state": State, "origin": Origin, "cardinality": Cardinality}.get(name)
    return wrap(value) if wrap else value


SOURCE_COLUMNS = "memory_n, origin, said_at, offset_min, recorded_at, turn, session, place, actor, text, seq, span_start, span_end"


def source(row: Sequence[Any]) -> Source:
    """Decode a source from SOURCE_COLUMNS. Raises Unreadable."""
    try:
        return Source(
            origin=ORIGIN[row[1]],
            said_at=instant(row[2], row[3]),
            recorded_at=instant(row[4]),
            turn=row[5],
            session=row[6],
            place=row[7],
            actor=row[8],
            text=row[9],
            seq=row[10],
            start=row[11] if len(row) > 11 else None,  # an image of the journal from before schema 5 has no span
            end=row[12] if len(row) > 12 else None,
        )
    except UNFIT as error:
        raise Unreadable(f"source {row[10]} of memory row {row[0]}", f"cannot be read: {error}") from error


def source_values(item: Source) -> tuple[Any, ...]:
    """Encode a source, without scope, memory and sequence."""
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
        item.start,
        item.end,
    )


def change(row: Sequence[Any]) -> ChangeRow:
    """Decode a journal row from JOURNAL_COLUMNS; `before` has fields as keys. Raises Unreadable."""
    number, tx, at, actor, run, operation, action, table, n, count, reason, _ = row
    try:
        before = _before(table, json.loads(row[11]) if row[11] else None)
    except (Unreadable, *UNFIT) as error:
        raise Unreadable(f"journal row {number}", f"cannot be read: what it keeps of {table} row {n} is not in order") from error
    when = nearest(at)
    assert when is not None
    return ChangeRow(number, tx, when, actor, run, operation, action, table, n, count, reason, before)


def _before(table: str, before: Any) -> dict[str, Any] | None:
    if before is not None and type(before) is not dict:
        raise ValueError("no object")
    if before and "sources" in before:
        return {"sources": tuple(source(values) for values in before["sources"])}
    if before and table == "turn_state":
        return {"hidden_at": moment(before["hidden_at"])}
    if before and table == "memories":
        return {name: field(name, value) for name, value in before.items()}
    return before


# ------------------------------------------------------------------ what a column can hold


def _can(decode: Callable[[Any], object]) -> Callable[[Any], bool]:
    def fits(value: Any) -> bool:
        try:
            decode(value)
        except UNFIT:
            return False
        return True

    return fits


def _share(value: Any) -> bool:
    return isinstance(value, (int, float)) and 0 <= value <= 1


FITS: Mapping[str, Callable[[Any], bool]] = {
    **dict.fromkeys((*sorted(TIMES), "recorded_at"), lambda value: value is None or EARLIEST <= value <= LATEST),
    **dict.fromkeys(("importance", "base_score", "confidence", "trust"), _share),
    "half_life_days": lambda value: value is None or 0 < value < math.inf,
    "blob": lambda value: value is None or BLOB.fullmatch(value) is not None,
    "offset_min": lambda value: -OFFSET_MIN < value < OFFSET_MIN,
    "kind": lambda value: value in KIND,
    "standing": lambda value: value in STANDING,
    "state": lambda value: value in STATE,
    "origin": lambda value: value in ORIGIN,
    "cardinality": lambda value: value is None or value in CARDINALITY,
    "flagged_with": _can(_strings),
    "tool_calls": _can(_objects),
    "tool_results": _can(_objects),
    "metadata": _can(_object),
}
_NEUTRAL: Mapping[str, Any] = {  # replaces a value that cannot be read; otherwise null
    "importance": 0.5,
    "base_score": 1.0,
    "confidence": 0.5,
    "trust": 0.3,
    "offset_min": 0,
    "kind": Kind.FACT.value,
    "standing": Standing.BELIEF.value,
    "state": State.CANDIDATE.value,
    "origin": Origin.IMPORT.value,
}
_ALWAYS = ("said_at", "confirmed_at", "valid_from", "created_at", "updated_at", "recorded_at")  # times that a row must have


def invalid_columns(columns: Mapping[str, Any]) -> list[str]:
    """Return the columns of a turn, memory or source that cannot be decoded."""
    return [name for name, value in columns.items() if name in FITS and not FITS[name](value)]


def repaired_columns(columns: Mapping[str, Any], now: int) -> dict[str, Any]:
    """Replace invalid columns: by another time of the row, the minimum, or nothing."""
    wrong = invalid_columns(columns)
    times = [columns[name] for name in _ALWAYS if columns.get(name) is not None and name not in wrong]
    at = times[0] if times else now
    return {**columns, **{name: at if name in _ALWAYS else _NEUTRAL.get(name) for name in wrong}}
