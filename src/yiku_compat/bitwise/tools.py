"""Names under which the application shows Yiku's tools to a model: `Tools(memory, names=TOOLS, only=[*TOOLS])`."""

from __future__ import annotations

from collections.abc import Mapping

TOOLS: Mapping[str, str] = {  # Yiku's name: the one here
    "memory_add": "append_to_memory",
    "memory_search": "search_memory",
    "memory_status": "get_memory_stats",
}
