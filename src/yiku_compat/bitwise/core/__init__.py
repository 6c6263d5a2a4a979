"""The application's parts: memory, documents, skills, retrieval for answers."""

from yiku_compat.bitwise.core import memory
from yiku_compat.bitwise.core.document_manager import DocumentManager
from yiku_compat.bitwise.core.rag_engine import RAGEngine
from yiku_compat.bitwise.core.skill_indexer import SkillIndexer

__all__ = ["DocumentManager", "RAGEngine", "SkillIndexer", "memory"]
