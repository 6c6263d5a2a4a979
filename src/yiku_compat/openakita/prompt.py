"""PromptCompiler, PromptBuilder and PromptAssembler: build system prompts with memory, through Yiku's `prompts`."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, Literal

from yiku import Memory
from yiku.errors import InvalidInput
from yiku.types import Prompt
from yiku_compat.openakita.brain import Brain, BrainChat
from yiku_compat.openakita.storage import MemoryStorage

FOLDER, COMPILED = "identity", "compiled"
TOOLS = {"search": "search_memory", "traces": "search_conversation_traces", "add": "add_memory"}


class PromptCompiler:
    """Condenses the files of identity/; a brain writes, rules do where there is none or it fails."""

    def __init__(self, brain: Brain | None = None, *, memory: Memory | None = None) -> None:
        self._brain, self._memory = brain, memory

    async def compile_all(self, identity_dir: Path | str) -> dict[str, Path]:
        """
        Compile what changed; return the file of each target that has one: soul_summary, agent_core, agent_tooling …

        The name of a file is its target with points, and .md. `identity_dir` is the folder identity/ of a home.
        """
        return await asyncio.to_thread(self._compile, Path(identity_dir))

    def _compile(self, identity_dir: Path) -> dict[str, Path]:
        if identity_dir.name != FOLDER:
            raise InvalidInput(f"{identity_dir} is not a folder named {FOLDER} in a home")
        if self._memory is not None:
            return self._compiled(self._memory, identity_dir)
        options: dict[str, Any] = {} if self._brain is None else {"chat": BrainChat(self._brain)}
        with Memory(identity_dir.parent, **options) as memory:
            return self._compiled(memory, identity_dir)

    def _compiled(self, memory: Memory, identity_dir: Path) -> dict[str, Path]:
        if Path(memory.settings.home).resolve() != identity_dir.parent.resolve():
            raise InvalidInput(f"{identity_dir} is not in the home of this memory, {memory.settings.home}")
        found = {}
        for summary in memory.prompts.compile().summaries:
            path = identity_dir / COMPILED / Path(summary.path).name
            if path.is_file():
                found[path.name.removesuffix(".md").replace(".", "_")] = path
        return found


class PromptBuilder:
    """Builds system prompts: a guide to memory, identity, rules, what is known, the scratchpad, and what is recalled."""

    def __init__(self, store: MemoryStorage | Memory, *, auto_recall: Literal["off", "gated", "always"] | None = None) -> None:
        """`auto_recall="off"` recalls nothing by itself: the model searches with its tools; "always" adds dynamic memories."""
        self.memory = store if isinstance(store, Memory) else store.memory
        self._auto_recall = auto_recall

    def build(self, message: str | None = None, *, session_id: str | None = None, **more: Any) -> Prompt:
        """Return a prompt for a message; `more` goes to `memory.prompts.build`."""
        given: dict[str, Any] = {"auto_recall": self._auto_recall, "tools": TOOLS} | more
        return self.memory.prompts.build(message, session=session_id, **given)


class PromptAssembler:
    """Puts the host's rules and catalogs into what a builder makes."""

    def __init__(self, builder: PromptBuilder, *, session_rules: str | None = None, catalogs: str | None = None) -> None:
        self.builder, self.session_rules, self.catalogs = builder, session_rules, catalogs

    def assemble(self, message: str | None = None, *, session_id: str | None = None, persona: str | None = None) -> str:
        """Return the whole system prompt."""
        return self.builder.build(
            message,
            session_id=session_id,
            persona=persona,
            session_rules=self.session_rules,
            catalogs=self.catalogs,
            runtime=True,
        ).text
