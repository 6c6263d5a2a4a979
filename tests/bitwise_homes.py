"""For tests of the notes memory's own names: a provider, a workspace, and an old workspace with the faults of the old system."""

import json
import sqlite3
from hashlib import sha256
from pathlib import Path

from embedders import Hashed

from yiku_compat.bitwise.core.memory import EmbeddingProvider, MemoryManager

OFF = {"memory": {"sync": {"watch": False}}}  # a configuration without a thread that watches


class Provider(EmbeddingProvider):
    """Words in, vectors out; it counts what it is asked."""

    def __init__(self, model: str = "hashed", broken: bool = False) -> None:
        self._model, self.hashed = model, Hashed()
        self.hashed.broken = broken
        self.asked: list[str] = []

    @property
    def id(self) -> str:
        return "test"

    @property
    def model(self) -> str:
        return self._model

    async def embed_query(self, text: str) -> list[float]:
        return self.hashed.embed([text], "query")[0].tolist()

    async def embed_batch(self, texts: list[str]) -> list[list[float]]:
        self.asked += texts
        return self.hashed.embed(texts, "passage").tolist()


def workspace(folder: Path, provider: EmbeddingProvider | None = None, clock=None, **more) -> MemoryManager:
    """A manager that is open."""
    manager = MemoryManager(folder, embedding_provider=provider, clock=clock, **more)
    manager.initialize()
    return manager


# ------------------------------------------------------------------ an old workspace

DDL = """
create table meta (key text primary key, value text not null);
create table files (path text primary key, source text not null default 'memory', hash text not null,
    mtime integer not null, size integer not null);
create table chunks (id text primary key, path text not null, source text not null default 'memory', start_line integer not null,
    end_line integer not null, hash text not null, model text not null, text text not null, embedding text not null,
    updated_at integer not null);
create table embedding_cache (provider text not null, model text not null, provider_key text not null, hash text not null,
    embedding text not null, dims integer, updated_at integer not null, primary key (provider, model, provider_key, hash));
insert into meta values ('schema_version', '1.0.0');
"""
CHUNK_LINES, REPEATED = 5, 2


def old_chunks(text: str) -> list[tuple[int, int, str]]:
    """Chunks as the old system cut them: whole lines, the last two repeated, and from the second on a line number too high."""
    lines, found, first = text.split("\n"), [], 0
    while first < len(lines):
        part = lines[first : first + CHUNK_LINES]
        found.append((first + 1 + bool(found), first + len(part), "\n".join(part)))
        if first + CHUNK_LINES >= len(lines):
            break
        first += CHUNK_LINES - REPEATED
    return found


def add_document(database: sqlite3.Connection, path: str, text: str, source: str = "document", hash: str | None = None) -> None:
    """A text that only the database has."""
    digest = sha256(text.encode()).hexdigest() if hash is None else hash
    if digest:
        database.execute("insert into files values (?, ?, ?, 1, ?)", (path, source, digest, len(text.encode())))
    for n, (start, end, part) in enumerate(old_chunks(text)):
        short = sha256(part.encode()).hexdigest()[:16]
        row = (f"{source}:{path}:{n}:{short}", path, source, start, end, short, "text-embedding-3-small", part, "[0.1, 0.2]", 1)
        database.execute("insert into chunks values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)


def text_of(n: int) -> str:
    """A document of some twenty lines, in both languages."""
    return "\n".join(
        [f"# Instruction {n} 指令{n}", "", f"Its code is opcode{n}x. 它的操作码是 opcode{n}x。"]
        + [f"{line}. The register R{line % 16} of unit {n} holds word {line * n}. 单元{n}的第{line}行。" for line in range(1, 18)]
    )


def old_workspace(folder: Path, days: int = 3, documents: int = 3) -> Path:
    """An old workspace: notes on the disk, their rows, documents without a file, and what the old system left behind."""
    (folder / "memory").mkdir(parents=True)
    notes = {"MEMORY.md": "# Memory\n\n## Entry: 2026-01-01T09:00:00\nRd and Rm must differ. Rd 和 Rm 不能相同。\n"}
    for n in range(days):
        day = f"2026-{1 + n // 28:02}-{1 + n % 28:02}"
        notes[f"memory/{day}.md"] = (
            f"# Session {day}\n\n## Content\n\n### 09:00:00\nDay {n}: the build was green. 第{n}天构建通过。\n"
        )
    for name, text in notes.items():
        (folder / name).write_text(text)
    database = sqlite3.connect(folder / "memory.db")
    database.executescript(DDL)
    with database:
        for name, text in notes.items():
            if name != "MEMORY.md":  # an outage took the chunks of that one
                add_document(database, name, text, "memory")
            else:
                database.execute("insert into files values (?, 'memory', ?, 1, 1)", (name, sha256(text.encode()).hexdigest()))
        for n in range(documents):
            add_document(database, f"manual{n}.md", text_of(n))
        add_document(database, "nohash.md", text_of(1_000), hash="")  # killed before the row of the file
        add_document(database, "/opt/docs/../docs/outside.md".replace("..", "x"), text_of(1_001))
        add_document(database, "changed.md", text_of(1_002), hash="0" * 64)
        database.execute("insert into files values ('lost.md', 'document', ?, 1, 9)", ("1" * 64,))
    database.close()
    config = {
        "llm": {"model": "gpt-4o-mini", "api_key": "sk-..."},
        "embedding": {"model": "text-embedding-3-small", "api_key": "sk-..."},
        "vector_db": {"host": "127.0.0.1"},
        "memory": {
            "workspace_dir": str(folder),
            "db_path": str(folder / "memory.db"),
            "chunking": {"tokens": 512, "overlap": 64},
            "short_term": {"retention_days": 5},
        },
    }
    (folder / "config.json").write_text(json.dumps(config))
    return folder
