"""
Convert records of Memory System's old files to lines of Yiku's export format, as `admin.import_` takes them.

A field that Yiku has under another name goes there; every other stays in `metadata.memory_system`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from yiku_compat.memory_system.ids import external, made
from yiku_compat.memory_system.old_home import OldRecord

NOTED = "memory_system"  # the key of the metadata under which the rest stands
NOTED_BYTES = 14 * 1024  # of the 16 KiB that metadata may have
DAYS_AT_MOST = 36_500
SESSION = "pending"  # of what waited to be made a memory
SOURCES = ("source_fact_ids", "source_facts", "source_ids", "sources")
TAKEN = frozenset(
    "id type content importance created created_at updated last_accessed access_count retrieval_count user_mentioned_count"
    " entities confidence basis extract_method expires_at ttl_days auto_delete_at".split()
)
TRUST = 0.7  # as of everything that is imported


def time(value: object) -> datetime | None:
    """Parse a time of an old record: ISO text or seconds since 1970; without an offset it is UTC. None for anything else."""
    try:
        if isinstance(value, str):
            value = datetime.fromisoformat(value.strip())
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            value = datetime.fromtimestamp(value / 1000 if abs(value) > 1e11 else value, UTC)
        if not isinstance(value, datetime):
            return None
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        return None


def number(value: object, default: float, *, low: float = 0.0, high: float = 1.0) -> float:
    """Return a number within its limits, also one that is written as a text."""
    try:
        found = float(value) if isinstance(value, (str, int, float)) and not isinstance(value, bool) else math.nan
    except ValueError:
        found = math.nan
    return default if math.isnan(found) else min(max(found, low), high)


def memory(record: OldRecord, now: datetime, *, successor: str | None, line: str) -> dict[str, Any]:
    """
    Return the line of a record.

    successor: the id of the record that superseded it; line: the id of the statement whose version it is
    """
    given = record.fields
    created = time(given.get("created")) or time(given.get("created_at")) or _day_of(record.id) or now
    updated = max(time(given.get("updated")) or created, created)
    return {
        "type": "memory",
        "id": made(record.id),
        "line": made(line),
        "external_id": external(record.id),
        "kind": "fact",
        "standing": record.type,
        "state": record.state,
        "content": record.content,
        "importance": number(given.get("importance"), 0.5),
        "base_score": number(given.get("score"), 1.0),
        "confidence": number(given.get("confidence"), 0.6 if record.type == "belief" else 1.0),
        "basis": _text(given.get("basis")),
        "method": _text(given.get("extract_method")) or "imported",
        "origin": "import",
        "trust": TRUST,
        "said_at": created.isoformat(),
        "confirmed_at": created.isoformat(),
        "valid_from": created.isoformat(),
        "created_at": created.isoformat(),
        "updated_at": updated.isoformat(),
        "superseded_by": made(successor) if successor else None,
        "valid_to": updated.isoformat() if successor else None,
        "reason": record.reason,
        "entities": entities(given.get("entities")),
        "metadata": {NOTED: _rest(record)},
        "sources": [{"origin": "import", "said_at": created.isoformat(), "recorded_at": created.isoformat()}],
        **_ends(given, created),
        **_accesses(given),
    }


def turn(record: OldRecord, now: datetime) -> dict[str, Any]:
    """Return the line of a pending entry: it was said, and is learned from like everything that is said."""
    said = time(record.fields.get("created")) or time(record.fields.get("created_at")) or _day_of(record.id) or now
    return {
        "type": "turn",
        "id": made(record.id),
        "external_id": external(record.id),
        "session": SESSION,
        "role": "user",
        "content": record.content,
        "said_at": said.isoformat(),
        "recorded_at": said.isoformat(),
        "metadata": {NOTED: _rest(record) | _kept(record.fields, ("importance",))},
    }


def entities(given: object) -> list[str]:
    """Return the names of a list, each once, as they are written."""
    found = [given] if isinstance(given, str) else given if isinstance(given, list) else []
    return list(dict.fromkeys(name.strip() for name in found if isinstance(name, str) and name.strip()))


def _ends(given: Mapping[str, Any], created: datetime) -> dict[str, Any]:
    """Return when it ends. What is permanent by its own word has no end (C-14)."""
    if given.get("is_permanent") in (True, 1) and "is_permanent" in given:
        return {"priority": "permanent"}
    expires, deleted = time(given.get("expires_at")), time(given.get("auto_delete_at"))
    days = int(number(given.get("ttl_days"), 0, high=DAYS_AT_MOST))
    if days and deleted is None:
        deleted = (time(given.get("last_accessed")) or created) + timedelta(days=days)
    return {
        "expires_at": expires.isoformat() if expires else None,
        "auto_delete_at": deleted.isoformat() if deleted else None,
        "ttl_days": days or None,
    }


def _accesses(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the counters: an access that is neither a retrieval nor a mention counts as a use."""
    every, retrieved, mentioned = (
        int(number(given.get(name), 0, high=2**31)) for name in ("access_count", "retrieval_count", "user_mentioned_count")
    )
    counts = {"retrieved": retrieved, "mentioned": mentioned, "used": max(every - retrieved - mentioned, 0)}
    last = time(given.get("last_accessed"))
    names = [name for name, count in counts.items() if count] or ["retrieved"]
    return counts | ({f"last_{name}": last.isoformat() for name in names} if last else {})


def _rest(record: OldRecord) -> dict[str, Any]:
    """Return what no other field has, within the size that metadata may have."""
    given = record.fields
    rest: dict[str, Any] = {"source": _text(given.get("source")) or "unknown"}
    if found := next((given[name] for name in SOURCES if isinstance(given.get(name), list)), None):
        rest["source_fact_ids"] = [str(id) for id in found]
    changed = [name for name in ("importance", "score", "confidence") if given.get(name) != number(given.get(name), -1.0)]
    dropped = [name for name in ("expires_at", "auto_delete_at") if given.get("is_permanent") in (True, 1)]
    others = [name for name in given if name not in TAKEN | {"source", "score"}]
    rest |= _kept(given, [*changed, *dropped, *others])
    kept, left = dict[str, Any](), NOTED_BYTES
    for name, value in rest.items():
        left -= (size := len(json.dumps({name: value}, ensure_ascii=False).encode()))
        if left < 0:
            left += size
            kept["left_out"] = [*kept.get("left_out", ()), name[:40]][:20]
        else:
            kept[name] = value
    return kept


def _kept(given: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {name: given[name] for name in names if given.get(name) is not None}


def _text(value: object) -> str | None:
    return value.strip() if isinstance(value, str) and value.strip() else None


def _day_of(id: str) -> datetime | None:
    """Return the day in an id such as f_20260214_1a2b3c."""
    day = id.split("_")[1:2]
    try:
        return datetime.strptime(day[0], "%Y%m%d").replace(tzinfo=UTC) if day and len(day[0]) == 8 else None
    except ValueError:
        return None
