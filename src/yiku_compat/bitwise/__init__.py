"""
Bitwise's interface on Yiku: Markdown daily logs, one long-term file, and indexed documents and skills.

    bitwiseai.py          BitwiseAI: the application's memory calls
    config.py             config.json in the system's format, and what Yiku makes of it
    core/memory/          storage, indexer, searcher, watcher, manager, embeddings
    core/                 document manager, skill indexer, retrieval for answers
    views.py              its tables as views; migration.py: bringing an old folder in; tools.py: tools for a model
"""

from yiku_compat.bitwise.bitwiseai import BitwiseAI
from yiku_compat.bitwise.config import Config, load
from yiku_compat.bitwise.core.memory import MemoryManager

__all__ = ["BitwiseAI", "Config", "MemoryManager", "load"]
