"""Build export records of whole episodes and attachments, so that `admin.import_` keeps their own ids and times."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from datetime import UTC, datetime
from typing import Any

from yiku import Memory
from yiku.errors import InvalidInput
from yiku.types import OperationRecord
from yiku_compat.openakita.session_types import Attachment, Episode
from yiku_compat.openakita.types import PREFIX

NAMESPACE = uuid.UUID("6f1e7f52-7f0a-5c55-9a0e-0d0b8c3f5a11")  # of ids that are made of other systems' ids
OUTCOMES = {"success": "success", "partial": "partial", "failed": "failed", "ongoing": "ongoing", "completed": "ongoing"}
SOURCES = ("session_end", "context_compress", "daily_consolidation")
NOT_JUDGED = "another system's outcome: "


def id_of(kind: str, id: str) -> str:
    """Return the id here of a record with this id there; one that is an id of ours stays."""
    try:
        parsed = uuid.UUID(id)
        if parsed.version == 7 and str(parsed) == id:
            return id
    except ValueError:
        pass
    return str(uuid.uuid5(NAMESPACE, f"{PREFIX}{kind}:{id}"))


def moment(value: datetime | str | None, default: datetime | None = None) -> str:
    """Return a time with its offset, as ISO 8601; without an offset it is local. Raises InvalidInput."""
    if value is None or value == "":
        return (default or datetime.now(UTC)).isoformat()
    try:
        parsed = value if isinstance(value, datetime) else datetime.fromisoformat(str(value).strip())
    except ValueError as error:
        raise InvalidInput(f"{str(value)[:40]!r} is no time") from error
    return (parsed if parsed.tzinfo else parsed.astimezone()).isoformat()


def episode(given: Episode, now: datetime) -> dict[str, Any]:
    """Return the record of an episode. An outcome that is not one of four is `partial`, and said in the reason (or `ongoing`)."""
    began = moment(given.started_at, now)
    ended = moment(given.ended_at or given.started_at, now)
    outcome = OUTCOMES.get(given.outcome or "ongoing")
    nodes = [
        {
            **{name: value for name, value in _plain(node).items() if value is not None and name != "timestamp"},
            **({"timestamp": moment(node.timestamp)} if node.timestamp else {}),
        }
        for node in given.action_nodes
    ]
    return _filled(
        {
            "type": "episode",
            "id": id_of("episode", given.id) if given.id else str(uuid.uuid4()),
            "session": given.session_id,
            "summary": given.summary,
            "goal": given.goal,
            "outcome": outcome or "partial",
            "outcome_reason": None if outcome else NOT_JUDGED + str(given.outcome),
            "started_at": began,
            "ended_at": ended,
            "action_nodes": nodes,
            **{
                name: [str(one) for one in getattr(given, name)] for name in ("entities", "tools_used", "linked_memory_ids", "tags")
            },
            "importance_score": min(1.0, max(0.0, float(given.importance_score))),
            "access_count": max(0, int(given.access_count)),
            "source": given.source if given.source in SOURCES else "session_end",
            "created_at": ended,
            "updated_at": ended,
        }
    )


def attachment(given: Attachment, now: datetime) -> dict[str, Any]:
    """Return the record of an attachment."""
    at = moment(given.created_at, now)
    names = ("original_filename", "mime_type", "local_path", "url", "description", "transcription", "extracted_text")
    return _filled(
        {
            "type": "attachment",
            "id": id_of("attachment", given.id) if given.id else str(uuid.uuid4()),
            "session": given.session_id or "default",
            "episode_id": id_of("episode", given.episode_id) if given.episode_id else None,
            "direction": given.direction.value,
            "filename": given.filename,
            "file_size": int(given.file_size) or None,
            **{name: getattr(given, name) or None for name in names},
            "tags": [str(tag) for tag in given.tags],
            "linked_memory_ids": [str(id) for id in given.linked_memory_ids],
            "said_at": at,
            "created_at": at,
            "updated_at": at,
        }
    )


def operation(line: int, scope: str, record: Mapping[str, Any], at: str, name: str) -> OperationRecord:
    """Return an operation that brings in one record."""
    return operations(line, scope, [record], at, name)


def operations(line: int, scope: str, records: Sequence[Mapping[str, Any]], at: str, name: str) -> OperationRecord:
    """Return an operation that brings in several records, whole or not at all."""
    return OperationRecord(line, scope, None, {"operation": name, "at": at}, tuple((line, record) for record in records))


def put(memory: Memory, records: Iterable[Mapping[str, Any]], now: datetime) -> None:
    """Store records as they are. Raises InvalidInput with what is wrong with the first that is not stored."""
    made: Iterator[OperationRecord] = (
        operation(line, memory.scope, record, now.isoformat(), f"save {record['type']}") for line, record in enumerate(records, 1)
    )
    report = memory.admin.import_(made, source="openakita", trust=True)
    if report.problems:
        raise InvalidInput(report.problems[0][1])


def _plain(value: Any) -> dict[str, Any]:
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else dict(value)


def _filled(record: dict[str, Any]) -> dict[str, Any]:
    """Leave out what is empty."""
    return {name: value for name, value in record.items() if value is not None and value not in ([], "")}
