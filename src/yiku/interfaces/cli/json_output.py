"""
JSON output: whole ids, ISO times with offset, null for unknown.

The names are those of `yiku.types`; what is the store's own business (row numbers, hashes) stays out.
A shape only ever grows: a name that is here keeps its meaning and its type.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from enum import Enum
from typing import Any

from yiku.types import Erased, Forgotten, Hit, Hits, Note, Outcome, Place, Record, SemanticMemory, Turn

_OURS = frozenset("n content_hash changed place slot".split())  # of rows, which have a number n


def plain(value: Any) -> Any:
    """Convert a value to JSON types: times to ISO text, dataclasses to objects."""
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, str):
        return value
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if hasattr(value, "_asdict"):
        return plain(value._asdict())
    if hasattr(value, "__dataclass_fields__"):
        ours = _OURS if "n" in value.__dataclass_fields__ else ()
        return {field.name: plain(getattr(value, field.name)) for field in fields(value) if field.name not in ours}
    if isinstance(value, Sequence):
        return [plain(entry) for entry in value]
    return str(value)


def item(found: SemanticMemory | Turn | Record | Note) -> dict[str, Any]:
    """Convert a memory, turn, episode, attachment or scratchpad, with its type."""
    shape: dict[str, Any] = plain(found)
    if not isinstance(found, SemanticMemory):
        return {"type": type(found).__name__.lower(), **shape}
    expired = found.expired(datetime.now().astimezone())
    return {"type": "memory", **shape, "live": found.live, "expired": expired, "access_count": found.access_count}


def hit(found: Hit) -> dict[str, Any]:
    """Convert one hit."""
    return {
        "type": found.type,
        "id": found.id,
        "text": found.text,
        "said_at": found.said_at.isoformat(),
        "relevance": round(found.relevance, 4),
        "score": round(found.score, 4),
        "superseded_by": found.superseded_by,
        "taken_back": found.taken_back,
        "said_later": found.said_later,
        "outdated": [list(span) for span in found.outdated],
        "routes": {name: {"rank": rank, "relevance": round(value, 4)} for name, (rank, value) in found.routes.items()},
        "sources": plain(found.sources),
        "item": item(found.item),
    }


def hits(question: str, found: Hits) -> dict[str, Any]:
    """Convert the hits of a question."""
    return {
        "question": question,
        "hits": [hit(one) for one in found],
        "confidence": found.confidence,
        "diagnostics": list(found.diagnostics),
    }


def outcome(done: Outcome, dry_run: bool) -> dict[str, Any]:
    """Convert an outcome; all outcomes have the same fields."""
    names = ("memory", "replaced", "current", "said")
    one = {name: item(found) if (found := getattr(done, name, None)) else None for name in names}
    return {
        "outcome": type(done).__name__.lower(),
        **one,
        "others": [item(other) for other in getattr(done, "others", ())],
        "why": getattr(done, "why", None),
        "operation": done.operation,
        "dry_run": dry_run,
    }


def forgotten(done: Forgotten, dry_run: bool) -> dict[str, Any]:
    """Convert what was forgotten or restored."""
    return {
        "memories": [item(memory) for memory in done.memories],
        "turns": [item(turn) for turn in done.turns],
        "operation": done.operation,
        "dry_run": dry_run,
    }


def erased(done: Erased) -> dict[str, Any]:
    """Convert an erasure: in full if planned; ids and receipt if done."""

    def each(found: Sequence[SemanticMemory | Turn | Record]) -> list[Any]:
        return [item(one) if done.dry_run else one.id for one in found]

    return {
        "memories": each(done.memories),
        "turns": each(done.turns),
        "redacted": each(done.redacted),
        "widened": list(done.widened),
        "kept": [shown for one in done.kept for shown in ([plain(one)] if isinstance(one, Place) else each([one]))],
        "records": each(done.records),
        "places": plain(done.places),
        "looked_for": done.looked_for,
        "out_of_reach": list(done.out_of_reach),
        "clean": done.clean,
        "operation": done.operation,
        "dry_run": done.dry_run,
    }
