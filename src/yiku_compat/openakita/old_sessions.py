"""Convert database rows of OpenAkita's episodes, attachments and scratchpad to the types in session_types."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from yiku_compat.openakita import old_values as values
from yiku_compat.openakita import records
from yiku_compat.openakita.old_home import Row
from yiku_compat.openakita.session_types import ActionNode, Attachment, AttachmentDirection, Episode, Scratchpad


def episode_of(row: Row, now: datetime) -> Episode:
    """Return the episode of a row."""
    ended = values.time(row.get("ended_at"), values.time(row.get("started_at"), now))
    nodes = [
        ActionNode(
            tool_name=str(node.get("tool_name") or "?"),
            key_params=node["key_params"] if isinstance(node.get("key_params"), dict) else {},
            result_summary=values.text(node.get("result_summary")),
            success=bool(node.get("success", True)),
            error_message=node.get("error_message"),
            decision=node.get("decision"),
            timestamp=values.optional_time(node.get("timestamp")),
        )
        for node in values.calls(row.get("action_nodes"))
    ]
    return Episode(
        id=str(row.get("id")),
        session_id=str(row.get("session_id") or "default"),
        summary=values.text(row.get("summary")),
        goal=values.text(row.get("goal")),
        outcome=str(row.get("outcome") or "ongoing"),
        started_at=min(values.time(row.get("started_at"), ended), ended),
        ended_at=ended,
        action_nodes=nodes,
        entities=values.names(row.get("entities")),
        tools_used=values.names(row.get("tools_used")),
        linked_memory_ids=[records.id_of("memory", one) for one in values.names(row.get("linked_memory_ids"))],
        tags=values.names(row.get("tags")),
        importance_score=values.share(row.get("importance_score"), 0.5),
        access_count=values.count(row.get("access_count")),
        source=str(row.get("source") or ""),
    )


def attachment_of(row: Row, now: datetime) -> Attachment:
    """Return the attachment of a row; one without a path and an address has none that is known."""
    texts = ("original_filename", "mime_type", "local_path", "url", "description", "transcription", "extracted_text", "episode_id")
    found_texts: dict[str, Any] = {name: values.text(row.get(name)) for name in texts}
    found = Attachment(
        id=str(row.get("id")),
        session_id=str(row.get("session_id") or "default"),
        filename=values.text(row.get("filename")) or "?",
        file_size=values.count(row.get("file_size")),
        direction=AttachmentDirection("outbound" if str(row.get("direction")).casefold() == "outbound" else "inbound"),
        tags=values.names(row.get("tags")),
        created_at=values.time(row.get("created_at"), now),
        **found_texts,
    )
    if not found.local_path and not found.url:
        found.url = f"unknown:{found.filename}"
    return found


def scratchpad_of(row: Row) -> Scratchpad:
    """Return the scratchpad of a row."""
    return Scratchpad(
        current_focus=values.text(row.get("current_focus")),
        active_projects=values.names(row.get("active_projects")),
        open_questions=values.names(row.get("open_questions")),
        next_steps=values.names(row.get("next_steps")),
    )
