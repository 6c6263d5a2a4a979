"""OpenAkita's interface on Yiku: statements, episodes, a scratchpad, prompts, and pluggable search backends."""

from yiku_compat.openakita.agent import Agent, Identity
from yiku_compat.openakita.api_embedding import APIEmbeddingBackend
from yiku_compat.openakita.brain import Brain
from yiku_compat.openakita.config import Settings
from yiku_compat.openakita.consolidator import MemoryConsolidator
from yiku_compat.openakita.context_manager import ContextManager
from yiku_compat.openakita.daily_consolidator import DailyConsolidator
from yiku_compat.openakita.export import export
from yiku_compat.openakita.extractor import MemoryExtractor
from yiku_compat.openakita.lifecycle import LifecycleManager
from yiku_compat.openakita.manager import MemoryManager
from yiku_compat.openakita.migration import migrate
from yiku_compat.openakita.prompt import PromptAssembler, PromptBuilder, PromptCompiler
from yiku_compat.openakita.retrieval import RetrievalEngine
from yiku_compat.openakita.scratchpad import ScratchpadManager
from yiku_compat.openakita.search_backends import FTS5Backend, SearchBackend, create_search_backend
from yiku_compat.openakita.session_types import (
    ActionNode,
    Attachment,
    AttachmentDirection,
    ConversationTurn,
    Episode,
    Scratchpad,
)
from yiku_compat.openakita.sessions import Session, SessionManager
from yiku_compat.openakita.storage import MemoryStorage
from yiku_compat.openakita.tools import TOOLS, Tools
from yiku_compat.openakita.types import MemoryPriority, MemoryType, SemanticMemory
from yiku_compat.openakita.unified_store import UnifiedStore
from yiku_compat.openakita.vector_store import ChromaDBBackend, VectorStore

__all__ = [
    "TOOLS",
    "APIEmbeddingBackend",
    "ActionNode",
    "Agent",
    "Attachment",
    "AttachmentDirection",
    "Brain",
    "ChromaDBBackend",
    "ContextManager",
    "ConversationTurn",
    "DailyConsolidator",
    "Episode",
    "FTS5Backend",
    "Identity",
    "LifecycleManager",
    "MemoryConsolidator",
    "MemoryExtractor",
    "MemoryManager",
    "MemoryPriority",
    "MemoryStorage",
    "MemoryType",
    "PromptAssembler",
    "PromptBuilder",
    "PromptCompiler",
    "RetrievalEngine",
    "Scratchpad",
    "ScratchpadManager",
    "SearchBackend",
    "SemanticMemory",
    "Session",
    "SessionManager",
    "Settings",
    "Tools",
    "UnifiedStore",
    "VectorStore",
    "create_search_backend",
    "export",
    "migrate",
]
