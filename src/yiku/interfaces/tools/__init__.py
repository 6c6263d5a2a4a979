"""
Memory as tools for a model: schemas for OpenAI, Anthropic and MCP from one table, and their execution.

    tools = Tools(memory)
    client.messages.create(tools=tools.anthropic(), ...)
    answer = tools.call("memory_search", {"query": "where do I live?"})
    answer.text, answer.data

    table     the tools, their arguments and results       texts     what a model reads about them, in both languages
    schemas   schemas of the hosts, and checks of arguments calls     from arguments to verbs of `Memory`, to an answer
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal

from yiku.errors import InvalidInput, StoreError, YikuError
from yiku.interfaces.tools import schemas, texts
from yiku.interfaces.tools.calls import CALLS, Answer, Call
from yiku.interfaces.tools.table import TOOLS, Tool

if TYPE_CHECKING:
    from yiku.memory import Memory

PROMPT_TOOLS = {"search": "memory_search", "traces": "memory_traces", "add": "memory_add"}  # as the guide of a prompt calls them

__all__ = ["TOOLS", "Answer", "Tool", "Tools"]


class Tools:
    """One set of tools on a memory."""

    def __init__(
        self,
        memory: Memory | None = None,
        *,
        names: Mapping[str, str] | None = None,
        only: Sequence[str] | None = None,
        language: Literal["en", "zh"] = "en",
        learning: bool = False,
    ) -> None:
        """
        Choose the tools that a model is shown.

        names:    other names for some of them: {"memory_search": "recall"}
        only:     those that are shown, by their own names; by default all
        language: of descriptions, notes and errors
        learning: also show the two by which the agent itself learns, for where no model is set

        Raises InvalidInput for a name that is unknown or given twice.
        """
        self._memory = memory
        self.language = language
        known = [tool.name for tool in TOOLS]
        if unknown := [name for name in (*(names or {}), *(only or ())) if name not in known]:
            raise InvalidInput(f"there is no tool {', '.join(map(str, unknown))[:80]}; there are {', '.join(known)}")
        chosen = [tool for tool in TOOLS if (tool.name in only if only is not None else learning or not tool.learning)]
        self._names = {tool.name: (names or {}).get(tool.name, tool.name) for tool in chosen}
        self._tools = {self._names[tool.name]: tool for tool in chosen}
        if len(self._tools) < len(chosen):
            raise InvalidInput("two tools have the same name")
        phrases = texts.every(language)
        self._phrases = {
            part: {name: self.named(text) for name, text in phrases[part].items()} for part in ("note", "outcome", "error")
        }

    @property
    def instructions(self) -> str:
        """What a model should know before it calls any of them, for a system prompt."""
        return self.named(texts.every(self.language)["instructions"])

    @property
    def in_prompt(self) -> dict[str, str]:
        """The names by which a prompt tells of these tools, for `prompts.build(tools=…)`; empty for one that is not shown."""
        return {part: self._names.get(tool, "") for part, tool in PROMPT_TOOLS.items()}

    def named(self, text: str) -> str:
        """Return a text about tools with the names that the caller gave them."""
        return texts.named(text, self._names)

    # -------------------------------------------------------------- schemas

    def openai(self) -> list[dict[str, Any]]:
        """Return the tools as OpenAI's chat completions take them."""
        return [schemas.openai(tool, name, self._description(tool), self._schema(tool)) for name, tool in self._tools.items()]

    def anthropic(self) -> list[dict[str, Any]]:
        """Return the tools as Anthropic's messages take them."""
        return [schemas.anthropic(tool, name, self._description(tool), self._schema(tool)) for name, tool in self._tools.items()]

    def mcp(self) -> list[dict[str, Any]]:
        """Return the tools as MCP lists them."""
        about = texts.every(self.language)["tool"]
        return [
            schemas.mcp(tool, name, self._description(tool), self._schema(tool), about[tool.name]["title"])
            for name, tool in self._tools.items()
        ]

    def _description(self, tool: Tool) -> str:
        return self.named(texts.every(self.language)["tool"][tool.name]["description"])

    def _schema(self, tool: Tool) -> dict[str, Any]:
        return schemas.arguments(tool, self.language, self._names)

    # -------------------------------------------------------------- calls

    def call(self, name: str, arguments: Mapping[str, Any] | None = None) -> Answer:
        """
        Call a tool by the name that it is shown under, and count what it shows as retrieved.

        Raises InvalidInput for an unknown tool or argument, and what the verb behind it raises; `explained` says it to a model.
        """
        if self._memory is None:
            raise InvalidInput("these tools have no memory")
        answer = self.answer(self._memory, name, arguments)
        self.shown(self._memory, answer)
        return answer

    def answer(self, memory: Memory, name: str, arguments: Mapping[str, Any] | None) -> Answer:
        """Answer a call on this memory, and count nothing yet."""
        tool = self._tools.get(name)
        if tool is None:
            raise InvalidInput(self._phrases["error"]["unknown_tool"].format(str(name)[:80], ", ".join(self._tools)))
        given = schemas.checked(tool, arguments, self.language)
        try:
            return CALLS[tool.name](Call(memory, given, self._phrases))
        except InvalidInput as error:
            named = next((name for name in tool.inner if error.detail.startswith(f"{name} ")), None)
            if named is None:
                raise
            raise type(error)(f"{tool.inner[named]}{error.detail.removeprefix(named)}", error.own_advice) from error

    def stores(self, name: str) -> bool:
        """Whether a tool stores words."""
        return name in self._tools and self._tools[name].stores

    @staticmethod
    def shown(memory: Memory, answer: Answer) -> None:
        """Count what an answer showed as retrieved; an answer is worth more than its count."""
        if answer.shown:
            with suppress(StoreError):
                memory.retrieved(answer.shown)

    def explained(self, error: YikuError) -> str:
        """Say an error to a model: what happened, and what it can do."""
        phrases = self._phrases["error"]
        of_kind = (phrases[kind.__name__] for kind in type(error).__mro__ if kind.__name__ in phrases)
        advice = error.own_advice or next(of_kind, error.advice)
        return f"{error.detail}. {advice}" if error.detail else advice

    def fault(self, error: Exception) -> str:
        """Say to a model that something failed which should not have."""
        return self._phrases["error"]["internal"].format(type(error).__name__)
