"""MemoryIndexer: copy files and texts into the workspace, index them, and compute their vectors."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from yiku.errors import InvalidInput, ModelError
from yiku_compat.bitwise.core.memory import places
from yiku_compat.bitwise.core.memory.chunker import MarkdownChunker
from yiku_compat.bitwise.core.memory.embeddings.base import EmbeddingProvider
from yiku_compat.bitwise.core.memory.storage import SQLiteStorage
from yiku_compat.bitwise.core.memory.types import ChunkConfig, IndexResult, MemoryChunk


class MemoryIndexer:
    """Indexes one file or text at a time. What is indexed stays found until it is replaced, whatever fails in between."""

    def __init__(
        self, storage: SQLiteStorage, embedding_provider: EmbeddingProvider | None = None, chunk_config: ChunkConfig | None = None
    ) -> None:
        self.storage = storage
        if embedding_provider is not None and storage.vectors is not None:
            storage.vectors.provider = embedding_provider
        self._chunker = MarkdownChunker(chunk_config)

    def index_file(self, file_path: str | os.PathLike[str], content: str, source: str = "document") -> IndexResult:
        """
        Write a text into the workspace and index it; a document that is there already is replaced.

        Raises InvalidInput for an empty text, a path outside, or a note of somebody's with another text.
        """
        if not content.strip():
            raise InvalidInput("there is nothing to index in an empty text")
        name = places.place(self.storage.home, file_path, source)
        changed = places.write(self.storage.home, name, content)
        return self._indexed(name, source, changed=changed)

    def index_memory_file(
        self, abs_path: str | os.PathLike[str], workspace_dir: str | os.PathLike[str] | None = None
    ) -> IndexResult:
        """Index a file as it lies in the workspace; one that lies elsewhere is copied to its documents."""
        path = Path(abs_path).expanduser()
        if workspace_dir is not None and Path(workspace_dir).expanduser().resolve() != self.storage.home.resolve():
            raise InvalidInput(f"the workspace of this memory is {self.storage.home}")
        content = places.read(path)
        if content is None:
            return IndexResult(path=str(abs_path), source="memory", status="missing", why="there is no such file")
        name = places.place(self.storage.home, path, "memory")
        changed = places.write(self.storage.home, name, content)
        return self._indexed(name, "memory", changed=changed)

    def delete_index(self, path: str | os.PathLike[str], source: str = "document") -> IndexResult:
        """Remove a document or skill from the workspace and the index. Raises InvalidInput for any other note."""
        there = self.storage.delete_file(os.fspath(path), source)
        return IndexResult(
            path=places.place(self.storage.home, path, source), source=source, status="removed" if there else "missing"
        )

    def _indexed(self, name: str, source: str, *, changed: bool) -> IndexResult:
        report = self.storage.index(name)
        why = (report.failed or {}).get(name, "")
        if why:
            return IndexResult(path=name, source=source, status="skipped", why=why)
        try:
            self.storage.embed()
        except ModelError as error:
            why = f"found by words only: {error.detail}"
        status = "indexed" if changed or report.anything else "unchanged"
        return IndexResult(path=name, source=source, chunks=len(self.storage.chunks(name, source)), status=status, why=why)

    def _chunk_content(self, content: str) -> list[MemoryChunk]:
        """Return the chunks that a text would have."""
        return self._chunker.chunk(content)

    async def _embed_chunks(self, chunks: Sequence[MemoryChunk]) -> list[list[float]]:
        """Return a vector for each chunk; those that are known are not asked for, the others are kept. Raises ModelError."""
        vectors = self.storage.vectors
        if vectors is None or vectors.provider is None:
            return []
        missing = {chunk.hash: chunk.text for chunk in chunks if vectors.kept(chunk.text) is None}
        made = await vectors.provider.embed_batch([*missing.values()]) if missing else []
        for digest, vector in zip(missing, made, strict=True):
            vectors.keep(digest, vector)
        return [[*(vectors.kept(chunk.text) or ())] for chunk in chunks]
