"""Parse field values of OpenAkita's data, in whatever form: kinds, priorities, times, numbers, lists."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from yiku_compat.openakita.types import MemoryPriority, MemoryType

EARLIEST = datetime(1990, 1, 1, tzinfo=UTC)
NAME_CHARS = 200


def kind(value: Any) -> str:
    """Return the kind; an unknown one is a fact."""
    try:
        return str(MemoryType(str(value or "fact").rpartition(".")[2]).value)
    except ValueError:
        return "fact"


def priority(value: Any) -> str | None:
    """Return the priority; None for an unknown one."""
    try:
        return str(MemoryPriority(str(value).rpartition(".")[2]).value)
    except ValueError:
        return None


def share(value: Any, default: float) -> float:
    """Return a number from 0 to 1."""
    try:
        return min(1.0, max(0.0, float(value)))
    except (TypeError, ValueError):
        return default


def count(value: Any) -> int:
    """Return a number from 0 on."""
    try:
        return max(0, int(value))
    except (TypeError, ValueError):
        return 0


def time(value: Any, default: datetime) -> datetime:
    """Return a time: ISO 8601, or seconds since 1970; without an offset it is local."""
    return optional_time(value) or default


def optional_time(value: Any) -> datetime | None:
    """Return a time, None where there is none."""
    try:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            found = datetime.fromtimestamp(value / 1000 if value > 1e11 else value, UTC)
        else:
            found = datetime.fromisoformat(str(value).strip())
    except (ValueError, OverflowError, OSError):
        return None
    return found if found.tzinfo else found.astimezone()


def listed(value: Any) -> list[Any]:
    """Return a list: as JSON, as it is, or separated by commas."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            value = [part.strip() for part in value.replace("，", ",").split(",")]
    return [one for one in value if one not in (None, "")] if isinstance(value, list) else []


def names(value: Any) -> list[str]:
    """Return short texts, each once."""
    return list(dict.fromkeys(name for one in listed(value) if (name := " ".join(str(one).split())[:NAME_CHARS])))


def calls(value: Any) -> list[dict[str, Any]]:
    """Return objects."""
    return [one for one in listed(value) if isinstance(one, dict)]


def text(value: Any) -> str:
    """Return a text that can be stored."""
    return str(value or "").replace("\x00", "").strip()
