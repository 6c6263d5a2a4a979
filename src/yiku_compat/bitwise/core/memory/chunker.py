"""MarkdownChunker: split Markdown into Yiku's passages, each with its lines and hash."""

from __future__ import annotations

from hashlib import sha256

import yiku
from yiku_compat.bitwise.core.memory.types import ChunkConfig, MemoryChunk


class MarkdownChunker:
    """Splits Markdown at headings and between blocks where that is possible; what is too long is split further."""

    def __init__(self, config: ChunkConfig | None = None) -> None:
        self.config = config or ChunkConfig()

    def chunk(self, content: str) -> list[MemoryChunk]:
        """Return the chunks of a text in order. Raises InvalidInput, TooLarge."""
        return [
            MemoryChunk(found.text, found.start_line, found.end_line, text_hash(found.text), found.heading)
            for found in yiku.passages(content)
        ]


def text_hash(text: str) -> str:
    """Return the hash of a text, as `chunks.hash` and `files.hash` have it."""
    return sha256(text.encode()).hexdigest()
