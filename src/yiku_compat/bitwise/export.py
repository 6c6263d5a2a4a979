"""
Export a workspace for the original program: Markdown files byte by byte, config.json, its SQLite database.

The old program compares the hash of each file with the database and leaves alone what is the same, so nothing is embedded again.
The full-text table is the old program's own and is not written: what it makes of `chunks` is derived.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from yiku import Memory
from yiku_compat.bitwise.config import NAME as CONFIG
from yiku_compat.bitwise.views import VIEWS
from yiku_compat.exporting import copy_tables, new_database, new_folder

DATABASE = "memory.db"
PAGE = 1_000
COLUMNS: Mapping[str, str] = {
    "meta": "key text primary key, value text not null",
    "files": """path text primary key, source text not null default 'memory', hash text not null, mtime integer not null,
        size integer not null""",
    "chunks": """id text primary key, path text not null, source text not null default 'memory', start_line integer not null,
        end_line integer not null, hash text not null, model text not null, text text not null, embedding text not null,
        updated_at integer not null""",
    "embedding_cache": """provider text not null, model text not null, provider_key text not null, hash text not null,
        embedding text not null, dims integer, updated_at integer not null, primary key (provider, model, provider_key, hash)""",
}


def export(memory: Memory, folder: str | os.PathLike[str]) -> dict[str, int]:
    """Write the owner's notes to a new folder; return how many rows each table has, and how many files. Raises InvalidInput."""
    memory.notes.sync()
    place, home = new_folder(memory, folder), Path(memory.settings.home)
    with new_database(place / DATABASE) as database:
        counts = copy_tables(memory, database, VIEWS["s4"], COLUMNS, {})
        paths = [str(path) for (path,) in database.execute("select path from files order by path")]
    for name in [*paths, *([CONFIG] if (home / CONFIG).is_file() else ())]:
        target = place / name
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        shutil.copyfile(home / name, target)
        target.chmod(0o600)
    return {**counts, "written": len(paths)}
