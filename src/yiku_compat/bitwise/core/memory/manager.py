"""MemoryManager: entry point of a workspace: write notes, archive old logs, index documents and skills, sync, search."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from datetime import date as Date
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, Self

from yiku.errors import InvalidInput, ModelError, ModelUnavailable, Paused, StoreBusy
from yiku.types import Noted, SyncReport
from yiku_compat.bitwise.core.memory import places
from yiku_compat.bitwise.core.memory.embeddings.base import EmbeddingProvider
from yiku_compat.bitwise.core.memory.embeddings.local_provider import LocalEmbeddingProvider
from yiku_compat.bitwise.core.memory.indexer import MemoryIndexer
from yiku_compat.bitwise.core.memory.schema import TABLES
from yiku_compat.bitwise.core.memory.searcher import MemorySearcher
from yiku_compat.bitwise.core.memory.storage import SQLiteStorage
from yiku_compat.bitwise.core.memory.types import ChunkConfig, CompactResult, HybridConfig, IndexResult, SearchResult, SyncResult

DATABASE = "memory.db"
CHUNKS = "select count(*) from chunks"
LOGS = "select count(*) from files where path like 'memory/____-__-__.md'"
DAYS_TO_KEEP = 7
SEARCH_WAITS_S = 5.0  # for somebody else who indexes; then what is there is searched


class MemoryManager:
    """
    The one entry to a workspace: MEMORY.md, memory/YYYY-MM-DD.md, documents/ and skills/.

    workspace_dir: the folder of the files, and of Yiku's database: a Yiku home
    db_path:       a file in that folder; see SQLiteStorage
    embedding_provider: by default the local model if it is installed, else search is by words
    settings:      Yiku's own, such as daily_days or background
    """

    def __init__(
        self,
        workspace_dir: str | os.PathLike[str] = "~/.bitwiseai",
        db_path: str | os.PathLike[str] | None = None,
        embedding_provider: EmbeddingProvider | None = None,
        *,
        vector_enabled: bool = True,
        chunk_config: ChunkConfig | None = None,
        hybrid_config: HybridConfig | None = None,
        clock: Any = None,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        self.workspace_dir = Path(workspace_dir).expanduser().absolute()
        database = Path(db_path).expanduser().absolute() if db_path is not None else self.workspace_dir / DATABASE
        if database.parent.resolve() != self.workspace_dir.resolve():
            raise InvalidInput(f"the database of a workspace is in its folder: db_path must be in {self.workspace_dir}")
        provider = embedding_provider or (_local() if vector_enabled else None)
        self.storage = SQLiteStorage(database, vector_enabled, embedding_provider=provider, clock=clock, settings=settings)
        self.indexer = MemoryIndexer(self.storage, None, chunk_config)
        self.searcher = MemorySearcher(self.storage, None, hybrid_config)

    def initialize(self) -> None:
        """Open the workspace, make it where it is not there, and index what its files hold."""
        self.storage.initialize()
        self._refresh()

    def close(self) -> None:
        """Close it."""
        self.storage.close()

    def __enter__(self) -> Self:
        self.initialize()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -------------------------------------------------------------- the two levels

    def get_short_term_memory_path(self, date: Date | str | None = None) -> Path:
        """Return the path of the log of a day, by default today."""
        return self.workspace_dir / "memory" / f"{_day(date, self._now()):%Y-%m-%d}.md"

    def get_long_term_memory_path(self) -> Path:
        """Return the path of the long-term file."""
        return self.workspace_dir / places.LONG_TERM

    def append_to_short_term(
        self, content: str, date: Date | str | None = None, metadata: Mapping[str, Any] | None = None
    ) -> Noted:
        """Add an entry to the log of a day, found at once. Raises what `notes.append_daily` does."""
        now = self._now()
        at = now if date is None else date if isinstance(date, datetime) else datetime.combine(_day(date, now), now.timetz())
        return self.storage.memory.notes.append_daily(content, metadata, said_at=at)

    def promote_to_long_term(self, content: str, summary: str | None = None, *, topic: str | None = None) -> Noted:
        """Add a note to MEMORY.md below a heading; one that stands there is not added again."""
        return self.storage.memory.notes.promote(content, topic=topic, summary=summary)

    def compact_short_term(
        self, days_to_keep: int = DAYS_TO_KEEP, *, strategy: Literal["archive", "summarize", "auto"] = "archive"
    ) -> CompactResult:
        """Move the logs of days before the last `days_to_keep` to memory/archive/, whole; a second call changes nothing."""
        done = self.storage.memory.notes.compact(older_than=days_to_keep, strategy=strategy)
        return CompactResult(archived=done.archived, summarized=done.summarized, kept=done.kept)

    # -------------------------------------------------------------- search

    async def search(self, query: str, max_results: int = 5, min_score: float | None = None) -> list[SearchResult]:
        """Return the best chunks for a question, after indexing what changed in the files."""
        return await asyncio.to_thread(self.search_sync, query, max_results, min_score)

    def search_sync(self, query: str, max_results: int = 5, min_score: float | None = None) -> list[SearchResult]:
        """Search without an event loop, or inside one."""
        self._refresh()
        return self.searcher.search_sync(query, max_results, min_score)

    # -------------------------------------------------------------- the index

    async def sync(self, force: bool = False) -> SyncResult:
        """Index what changed in the files, and make missing vectors."""
        return await asyncio.to_thread(self.sync_sync, force)

    def sync_sync(self, force: bool = False) -> SyncResult:
        """Sync without an event loop, or inside one."""
        return self._result(self.storage.sync(force=force))

    def index_skill(self, skill_path: str | os.PathLike[str], skill_metadata: Mapping[str, Any] | None = None) -> IndexResult:
        """
        Index the Markdown of a skill, from a file or a folder; what is known of it is found, too.

        Raises InvalidInput where there is no such file.
        """
        report = self.storage.index_skill(skill_path)
        name = Path(skill_path).stem
        path = next(iter((*report.added, *report.changed)), places.place(self.workspace_dir, Path(skill_path).name, "skill"))
        if skill_metadata:
            lines = [f"# {skill_metadata.get('name', name)}", "", *(f"- {key}: {value}" for key, value in skill_metadata.items())]
            self.indexer.index_file(f"skills/{name}.card.md", "\n".join([*lines, ""]), "skill")
        status = "indexed" if report.anything else "unchanged"
        chunks = len(self.storage.chunks(path, "skill")) if (self.workspace_dir / path).is_file() else 0
        return IndexResult(path=path, source="skill", chunks=chunks, status=status)

    def index_document(self, doc_path: str | os.PathLike[str], content: str | None = None) -> IndexResult:
        """Index a document: the text that is given, else that of the file. Raises InvalidInput, NotFound."""
        if content is None:
            return self.indexer.index_memory_file(doc_path)
        return self.indexer.index_file(doc_path, content, "document")

    # -------------------------------------------------------------- what is there

    def select(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return the rows of a select statement on the tables of this system (schema.py). Raises InvalidInput."""
        return [*self.storage.memory.admin.sql(sql, values, views=TABLES).rows]

    def get_stats(self) -> dict[str, Any]:
        """Return what the workspace holds, whether it is watched and searched by meaning, and what is wrong."""
        status, sizes = self.storage.memory.status(), self.storage.memory.admin.stats()
        counts = dict(self.select("select source, count(*) from files group by source"))
        (chunks,), (logs,) = self.select(CHUNKS)[0], self.select(LOGS)[0]
        vectors = self.storage.vectors
        return {
            "workspace_dir": str(self.workspace_dir),
            "files": sum(counts.values()),
            "chunks": chunks,
            "short_term_files": logs,
            "long_term": self.get_long_term_memory_path().is_file(),
            "documents": counts.get("document", 0),
            "skills": counts.get("skill", 0),
            "vector_enabled": self.storage.vector_enabled,
            "embedding": vectors.key if vectors is not None and vectors.provider is not None else None,
            "watching": status.watching is not None and status.watching.alive,
            "database_bytes": sizes.database_bytes,
            "troubles": list(status.troubles),
            "old_database": str(self.storage.db_path) if self.storage.db_path.is_file() else None,
        }

    # -------------------------------------------------------------- helpers

    def _now(self) -> datetime:
        clock = self.storage._clock
        return clock() if clock is not None else datetime.now().astimezone()

    def _refresh(self) -> None:
        """Index and embed what changed; a memory that is paused, or indexed by another process now, is searched as it is."""
        try:
            self._result(self.storage.sync(wait_s=SEARCH_WAITS_S))
        except (Paused, StoreBusy):
            return

    def _result(self, report: SyncReport) -> SyncResult:
        embedded, trouble = 0, ""
        try:
            made = self.storage.embed()
            embedded = made.done if made is not None else 0
        except ModelError as error:
            trouble = f"found by words only: {error.detail}"
        return SyncResult(
            added=report.added,
            changed=report.changed,
            removed=report.removed,
            held=report.held,
            failed=report.failed or {},
            unchanged=report.unchanged,
            chunks=report.chunks,
            embedded=embedded,
            trouble=trouble,
        )


def _local() -> EmbeddingProvider | None:
    """The local model, where it is installed."""
    try:
        return LocalEmbeddingProvider()
    except ModelUnavailable:
        return None


def _day(date: Date | str | None, now: datetime) -> Date:
    """A day. Raises InvalidInput."""
    if date is None:
        return now.date()
    try:
        return Date.fromisoformat(date[:10]) if isinstance(date, str) else date
    except ValueError as error:
        raise InvalidInput(f"date must be a day such as 2026-03-01, not {date!r}") from error
