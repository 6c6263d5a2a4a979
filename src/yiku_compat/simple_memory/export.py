"""Export the scopes that a memory reads to SimpleMemory's SQLite database, with its tables, columns and indexes."""

from __future__ import annotations

import os
from collections.abc import Mapping

from yiku import Memory
from yiku_compat.exporting import copy_tables, new_database, new_folder
from yiku_compat.simple_memory.views import VIEWS

DATABASE = "memory.db"
COLUMNS: Mapping[str, str] = {
    "memory_records": """id text primary key, memory_type text not null, judgment text not null, reasoning text not null,
        strength integer not null, is_active integer not null, memory_scope text not null, created_at real not null,
        updated_at real not null""",
    "memory_tags": "id integer primary key autoincrement, name text not null unique",
    "memory_tag_rel": "memory_id text not null, tag_id integer not null, unique (memory_id, tag_id)",
}
INDEXES: Mapping[str, str] = {
    "idx_records_scope": "memory_records (memory_scope, created_at)",
    "idx_records_strength": "memory_records (is_active, strength)",
    "idx_tag_rel_tag": "memory_tag_rel (tag_id, memory_id)",
}


def export(memory: Memory, folder: str | os.PathLike[str]) -> dict[str, int]:
    """
    Write what a memory reads (its scope, `public`, and those of its setting `reads`) to a database in a new folder.

    Returns how many rows each table has. Raises InvalidInput if the folder is there.
    """
    place = new_folder(memory, folder)
    with new_database(place / DATABASE) as database:
        return copy_tables(memory, database, VIEWS["s1"], COLUMNS, INDEXES)
