"""
SimpleMemory's interface on Yiku: memories found by their tags, or by Yiku's full search behind the same protocol.

    runtime = ComponentFactory({"enable_simple_memory": True, "home": "~/.yiku"}).get_component("memory_runtime")
    await runtime.remember("knowledge", "小明喜欢火锅", "他说过", ["小明", "火锅"], memory_scope="public")
    await runtime.recall("knowledge", "小明说晚上去吃火锅", memory_scope="public")
"""

from yiku_compat.simple_memory.factory import ComponentFactory
from yiku_compat.simple_memory.manager import MemorySqlManager
from yiku_compat.simple_memory.memories import BaseMemory, MemoryType, NoteRecall
from yiku_compat.simple_memory.runtime import MemoryRuntime, SimpleMemoryRuntime
from yiku_compat.simple_memory.scopes import conversation_scope
from yiku_compat.simple_memory.tools import TOOLS, CoreMemoryRecallTool, CoreMemoryRememberTool
from yiku_compat.simple_memory.vector_runtime import VectorMemoryRuntime

__all__ = [
    "TOOLS",
    "BaseMemory",
    "ComponentFactory",
    "CoreMemoryRecallTool",
    "CoreMemoryRememberTool",
    "MemoryRuntime",
    "MemorySqlManager",
    "MemoryType",
    "NoteRecall",
    "SimpleMemoryRuntime",
    "VectorMemoryRuntime",
    "conversation_scope",
]
