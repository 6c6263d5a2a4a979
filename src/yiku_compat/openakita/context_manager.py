"""ContextManager: shorten a conversation over its token limit, recording and summarizing what is dropped."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from yiku_compat.openakita.brain import Brain, finished
from yiku_compat.openakita.manager import MemoryManager

_log = logging.getLogger(__name__)
CHARS_A_TOKEN = 2.5
RECENT = 8  # messages that always stay
HEADS = {"en": "Summary of what was said before", "zh": "此前对话摘要"}
_SHORT = 120  # characters of a message in a summary without a model


class ContextManager:
    """Compresses messages over a soft limit of tokens."""

    def __init__(
        self,
        brain: Brain | None = None,
        *,
        soft_limit: int = 8_000,
        count: Callable[[str], float] | None = None,
        language: str = "zh",
    ) -> None:
        """`count` estimates the tokens of a text."""
        self._brain, self.soft_limit, self._language = brain, soft_limit, language
        self._count = count or (lambda text: len(text) / CHARS_A_TOKEN)

    async def compress_if_needed(
        self, messages: Sequence[Mapping[str, Any]], *, memory_manager: MemoryManager | None = None, session_id: str | None = None
    ) -> list[Mapping[str, Any]]:
        """
        Return the messages, the early ones as a summary at the head if all are over the limit.

        Memory takes the early messages before anything is summarized, and the summary afterwards.
        """
        early = [*messages[:-RECENT]]
        if not early or sum(self._count(str(one.get("content") or "")) for one in messages) <= self.soft_limit:
            return [*messages]
        if memory_manager is not None:
            await memory_manager.on_context_compressing(early, session_id)
        summary = self._summary(early)
        if memory_manager is not None:
            await memory_manager.on_context_compressing(early, session_id, summary)
        head = {"role": "user", "content": f"[{HEADS.get(self._language, HEADS['en'])}]\n{summary}"}
        return [head, *messages[-RECENT:]]

    def _summary(self, messages: Sequence[Mapping[str, Any]]) -> str:
        """Return the brain's summary; without one, or where it fails, the beginning of each message."""
        transcript = "\n".join(f"{one.get('role', 'user')}: {one.get('content') or ''}" for one in messages)
        if self._brain is not None:
            try:
                answer = finished(self._brain.think_lightweight(transcript, system=HEADS.get(self._language, HEADS["en"])))
                if text := str(getattr(answer, "content", answer) or "").strip():
                    return text
            except Exception as error:  # whatever a host's model raises; memory has the messages
                _log.warning("the model did not summarize, the beginnings of the messages do: %s", error)
        return "\n".join(line[:_SHORT] for line in transcript.splitlines() if line.strip())
