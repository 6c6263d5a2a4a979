"""
Export in OpenAkita's formats: a database with its tables and indexes, memories.json, JSON Lines of conversations.

What is written is a copy outside the home: whoever asks for it keeps it, and an erasure does not reach it.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path

import apsw

from yiku import Memory
from yiku_compat.exporting import copy_tables, new_database, new_folder
from yiku_compat.openakita.old_home import HISTORY, JSON_FILE
from yiku_compat.openakita.views import VIEWS

DATABASE = "openakita.db"
_LIST = "text default '[]'"

COLUMNS: Mapping[str, str] = {  # of each table, in their order
    "memories": f"""id text primary key, content text not null, type text not null, priority text not null, source text default '',
        importance_score real default 0.5, tags {_LIST}, created_at text not null, updated_at text, expires_at text,
        access_count integer default 0, subject text default '', predicate text default '', confidence real default 0.5,
        decay_rate real default 0.1, last_accessed_at text, superseded_by text, source_episode_id text""",
    "episodes": f"""id text primary key, session_id text not null, summary text not null, goal text default '',
        outcome text default 'completed', started_at text not null, ended_at text not null, action_nodes {_LIST}, entities {_LIST},
        tools_used {_LIST}, linked_memory_ids {_LIST}, tags {_LIST}, importance_score real default 0.5,
        access_count integer default 0, source text default 'session_end'""",
    "scratchpad": f"""user_id text primary key, content text not null, active_projects {_LIST}, current_focus text default '',
        open_questions {_LIST}, next_steps {_LIST}, updated_at text not null""",
    "conversation_turns": """id integer primary key autoincrement, session_id text not null, turn_index integer not null,
        role text not null, content text, tool_calls text, tool_results text, has_tool_calls boolean default false,
        timestamp text not null, token_estimate integer, episode_id text, extracted boolean default false""",
    "extraction_queue": """id integer primary key autoincrement, session_id text not null, turn_index integer not null,
        content text not null, tool_calls text, tool_results text, retry_count integer default 0, max_retries integer default 3,
        status text default 'pending', created_at text not null, last_attempted_at text""",
    "attachments": f"""id text primary key, session_id text not null default '', episode_id text default '',
        filename text not null default '', original_filename text default '', mime_type text default '',
        file_size integer default 0, local_path text default '', url text default '', direction text default 'inbound',
        description text default '', transcription text default '', extracted_text text default '', tags {_LIST},
        linked_memory_ids {_LIST}, created_at text not null""",
    "embedding_cache": """content_hash text primary key, embedding blob not null, model text not null,
        dimensions integer default 1024, created_at text not null""",
}
INDEXES: Mapping[str, str] = {
    "idx_turns_session": "conversation_turns (session_id)",
    "idx_turns_timestamp": "conversation_turns (timestamp)",
    "idx_turns_tool": "conversation_turns (has_tool_calls)",
    "idx_turns_extracted": "conversation_turns (extracted)",
    "idx_episodes_session": "episodes (session_id)",
    "idx_episodes_time": "episodes (started_at)",
    "idx_episodes_outcome": "episodes (outcome)",
}


def export(memory: Memory, folder: str | os.PathLike[str]) -> dict[str, int]:
    """Write everything of this scope to a new folder; return how many rows of each table. Raises InvalidInput if it is there."""
    place = new_folder(memory, folder)
    (place / HISTORY).mkdir(mode=0o700)
    with new_database(place / DATABASE) as database:
        counts = copy_tables(memory, database, VIEWS["s3"], COLUMNS, INDEXES)
        _write_json(database, place / JSON_FILE)
        _write_history(database, place / HISTORY)
    return counts


def _write_json(connection: apsw.Connection, path: Path) -> None:
    """Write the statements that hold, as the first version kept them."""
    names = ("id", "type", "priority", "content", "source", "importance_score", "tags", "created_at", "updated_at", "access_count")
    rows = connection.execute(f"select {', '.join(names)} from memories where superseded_by is null order by created_at, id")
    found = [{**dict(zip(names, row, strict=True)), "tags": json.loads(row[names.index("tags")])} for row in rows]
    _write(path, json.dumps(found, ensure_ascii=False, indent=1))


def _write_history(connection: apsw.Connection, folder: Path) -> None:
    """Write the turns of each session to its file."""
    rows = connection.execute(
        "select session_id, role, content, tool_calls, tool_results, timestamp from conversation_turns order by session_id, turn_index"
    )
    lines: dict[str, list[str]] = {}
    for session, role, content, calls, results, at in rows:
        entry = {"role": role, "content": content, "timestamp": at}
        entry |= {"tool_calls": json.loads(calls)} if calls else {}
        entry |= {"tool_results": json.loads(results)} if results else {}
        lines.setdefault(_file_name(session), []).append(json.dumps(entry, ensure_ascii=False))
    for name, written in lines.items():
        _write(folder / f"{name}.jsonl", "\n".join(written) + "\n")


def _file_name(session: str) -> str:
    return re.sub(r"[^\w.@=+-]", "_", session)[:100].lstrip(".") or "_"


def _write(path: Path, text: str) -> None:
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
