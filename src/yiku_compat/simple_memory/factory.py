"""
`ComponentFactory`: create the memory runtime that the switch `enable_simple_memory` selects, or fail.

There is no falling back: with the switch on, a home that does not open is an error that says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from yiku import YikuError
from yiku_compat.simple_memory.manager import MemorySqlManager
from yiku_compat.simple_memory.runtime import MemoryRuntime, SimpleMemoryRuntime, log
from yiku_compat.simple_memory.vector_runtime import VectorMemoryRuntime

MEMORY_RUNTIME = "memory_runtime"
OURS = ("enable_simple_memory", "conversation_scope_map", "home")


class SimpleMemoryFailed(YikuError):
    """SimpleMemory is on and did not start; vectors do not take its place. Mend the cause, or set enable_simple_memory to false."""


class ComponentFactory:
    """Components by name, each made once."""

    def __init__(self, config: Mapping[str, Any] | None = None) -> None:
        """
        Take the configuration: `enable_simple_memory`, `home`, `conversation_scope_map`; anything else is a setting of Yiku.
        """
        self.config = dict(config or {})
        self._made: dict[str, MemoryRuntime] = {}

    def create_all_components(self) -> dict[str, MemoryRuntime]:
        """Make all components; return them by name."""
        return {MEMORY_RUNTIME: self.get_component(MEMORY_RUNTIME)}

    def get_component(self, name: str) -> MemoryRuntime:
        """Return a component. Raises KeyError for an unknown one, SimpleMemoryFailed."""
        if name != MEMORY_RUNTIME:
            raise KeyError(f"there is no component {name!r}; there is {MEMORY_RUNTIME}")
        if name not in self._made:
            self._made[name] = self._runtime()
        return self._made[name]

    def get_memory_runtime(self) -> MemoryRuntime:
        """Return the memory runtime, as a plugin asks for it."""
        return self.get_component(MEMORY_RUNTIME)

    def _runtime(self) -> MemoryRuntime:
        switch = self.config.get("enable_simple_memory", False)
        settings = {name: value for name, value in self.config.items() if name not in OURS}
        made: SimpleMemoryRuntime | VectorMemoryRuntime
        if switch:
            try:
                made = SimpleMemoryRuntime(MemorySqlManager(self.config.get("home"), **settings))
            except (YikuError, OSError) as error:
                raise SimpleMemoryFailed(str(error)) from error
        else:
            made = VectorMemoryRuntime(MemorySqlManager(self.config.get("home"), **settings))
        log.info("记忆运行时: %s", type(made).__name__)
        return made
