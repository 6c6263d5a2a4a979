"""Agent and Identity: a chat loop that records a message, prompts the model with memory, and records the answer."""

from __future__ import annotations

from pathlib import Path

from yiku_compat.openakita.brain import Brain, finished
from yiku_compat.openakita.manager import MemoryManager
from yiku_compat.openakita.prompt import PromptAssembler, PromptBuilder, PromptCompiler
from yiku_compat.openakita.sessions import SessionManager


class Identity:
    """The files of identity/ in a home, and their summaries."""

    def __init__(self, manager: MemoryManager) -> None:
        self.folder = manager.store.db.home / "identity"
        self._compiler = PromptCompiler(memory=manager.store.memory)

    async def compile(self) -> dict[str, Path]:
        """Compile what changed."""
        return await self._compiler.compile_all(self.folder)


class Agent:
    """A brain with memory: each message is recorded, gets its prompt, and its answer is recorded."""

    def __init__(self, manager: MemoryManager, brain: Brain, *, auto_recall: str = "off") -> None:
        """`auto_recall` says what the prompt recalls by itself: off, gated, always."""
        self.manager, self.brain = manager, brain
        self.identity = Identity(manager)
        self.sessions = SessionManager(manager)
        self.prompts = PromptAssembler(PromptBuilder(manager.store.memory, auto_recall=auto_recall))  # type: ignore[arg-type]

    async def chat(self, message: str, session_id: str = "default") -> str:
        """Answer a message: it is recorded, so the current task is in the scratchpad; then the prompt is made."""
        session = self.sessions.get(session_id)
        await session.add_message("user", message)
        prompt = self.prompts.assemble(message, session_id=session_id)
        answer = finished(self.brain.think_lightweight(message, system=prompt))
        text = str(getattr(answer, "content", answer) or "")
        await session.add_message("assistant", text)
        return text
