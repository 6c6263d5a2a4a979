"""The names of the memory module: storage, indexer, searcher, watcher, manager, embeddings and their values."""

from yiku_compat.bitwise.core.memory.chunker import MarkdownChunker
from yiku_compat.bitwise.core.memory.embeddings import EmbeddingProvider, LocalEmbeddingProvider, OpenAIEmbeddingProvider
from yiku_compat.bitwise.core.memory.indexer import MemoryIndexer
from yiku_compat.bitwise.core.memory.manager import MemoryManager
from yiku_compat.bitwise.core.memory.searcher import MemorySearcher
from yiku_compat.bitwise.core.memory.storage import SQLiteStorage
from yiku_compat.bitwise.core.memory.types import (
    ChunkConfig,
    ChunkRecord,
    CompactResult,
    FTSSearchResult,
    HybridConfig,
    IndexResult,
    MemoryChunk,
    MemoryDisabled,
    SearchResult,
    SyncResult,
    VectorSearchResult,
)
from yiku_compat.bitwise.core.memory.watcher import FileWatcher, PollingFileWatcher

__all__ = [
    "ChunkConfig",
    "ChunkRecord",
    "CompactResult",
    "EmbeddingProvider",
    "FTSSearchResult",
    "FileWatcher",
    "HybridConfig",
    "IndexResult",
    "LocalEmbeddingProvider",
    "MarkdownChunker",
    "MemoryChunk",
    "MemoryDisabled",
    "MemoryIndexer",
    "MemoryManager",
    "MemorySearcher",
    "OpenAIEmbeddingProvider",
    "PollingFileWatcher",
    "SQLiteStorage",
    "SearchResult",
    "SyncResult",
    "VectorSearchResult",
]
