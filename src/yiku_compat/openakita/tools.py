"""OpenAkita's tools for a model: names, descriptions in English and Chinese, argument schemas, and their execution."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, Literal

from yiku import types as core
from yiku.errors import InvalidInput, YikuError
from yiku_compat.openakita.manager import MemoryManager
from yiku_compat.openakita.types import MemoryType, logical_id

TYPES = ("fact", "preference", "skill", "error", "rule")
_TEXT: Mapping[str, Any] = {"type": "string"}


def _tool(name: str, en: str, zh: str, properties: Mapping[str, Any], required: tuple[str, ...] = ()) -> dict[str, Any]:
    parameters = {"type": "object", "properties": dict(properties), "required": list(required), "additionalProperties": False}
    return {"name": name, "description": {"en": en, "zh": zh}, "parameters": parameters}


TOOLS: Mapping[str, Mapping[str, Any]] = {
    tool["name"]: tool
    for tool in (
        _tool(
            "add_memory",
            "Store one statement worth keeping: what the user said of themselves, a way that worked, a mistake to avoid, a standing"
            " rule. Put it in one sentence that stands alone. What the user did not say waits until they confirm it.",
            "保存一条值得记住的信息：用户的情况或偏好、有效的做法、要避免的错误、长期规则。写成一句独立的话。用户没有说过的内容要等用户确认才生效。",
            {
                "content": _TEXT,
                "type": {"type": "string", "enum": list(TYPES)},
                "importance": {"type": "number", "minimum": 0, "maximum": 1, "default": 0.5},
            },
            ("content", "type"),
        ),
        _tool(
            "search_memory",
            "First level: search statements and summaries of past sessions. Use it when the user refers to something said before,"
            " when their preferences matter, or when similar work was done. If nothing of this holds, do not search.",
            "第一级：搜索记忆和过往会话的摘要。用户提到以前说过的事、需要了解其偏好、或做过类似任务时使用；都不符合时不要搜索。",
            {"query": _TEXT, "type": {"type": "string", "enum": list(TYPES)}},
            ("query",),
        ),
        _tool(
            "search_conversation_traces",
            "Second level: search the messages themselves, with the arguments and results of tools. Use it when search_memory lacks"
            " the detail: an exact value, a path, the original words.",
            "第二级：搜索原始对话，包括工具的参数和返回值。search_memory 的结果缺少细节（准确的数值、路径、原话）时使用。",
            {
                "keyword": _TEXT,
                "session_id": _TEXT,
                "max_results": {"type": "integer", "minimum": 1, "maximum": 100, "default": 10},
                "days_back": {"type": "integer", "minimum": 1, "maximum": 36_500, "default": 7},
            },
            ("keyword",),
        ),
        _tool("get_memory_stats", "Count what memory holds, and what waits.", "统计记忆的数量和等待处理的内容。", {}),
        _tool("consolidate_memories", "Tidy memory now, as each night does.", "立即整理记忆，与每晚的整理相同。", {}),
    )
}


class Tools:
    """The tools on a manager, in one language."""

    def __init__(self, manager: MemoryManager, language: Literal["en", "zh"] = "zh") -> None:
        self.manager, self.language = manager, language
        self._calls: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
            "add_memory": self._add,
            "search_memory": self._search,
            "search_conversation_traces": self._traces,
            "get_memory_stats": self._stats,
            "consolidate_memories": self._consolidate,
        }

    def openai(self) -> list[dict[str, Any]]:
        """Return the tools as OpenAI's chat completions take them."""
        return [
            {"type": "function", "function": {**tool, "description": tool["description"][self.language]}} for tool in TOOLS.values()
        ]

    def call(self, name: str, arguments: Mapping[str, Any] | None = None) -> str:
        """Call a tool; return what the model reads. Raises InvalidInput for an unknown tool or argument."""
        if name not in TOOLS:
            raise InvalidInput(f"there is no tool {name!r}; there are {', '.join(TOOLS)}")
        given = dict(arguments or {})
        known, required = TOOLS[name]["parameters"]["properties"], TOOLS[name]["parameters"]["required"]
        if wrong := [*(given.keys() - known.keys()), *(one for one in required if one not in given)]:
            raise InvalidInput(f"{name} takes {', '.join(known)}; missing or unknown: {', '.join(map(str, wrong))}")
        return self._calls[name](given)

    # -------------------------------------------------------------- the calls

    def _say(self, en: str, zh: str) -> str:
        return zh if self.language == "zh" else en

    def _add(self, given: Mapping[str, Any]) -> str:
        """Store a statement on a model's word: it counts as the user's as far as their turns say it."""
        kind: Any = MemoryType(given["type"]).value
        outcome = self.manager.store.memory.agent.propose(given["content"], kind=kind, importance=given.get("importance", 0.5))
        if outcome.memory.state is core.State.CANDIDATE:
            return self._say("Noted; it counts once the user confirms it.", "已记下，用户确认后生效。")
        return f"{self._say('Stored', '已保存')} [{logical_id(outcome.memory)}] {outcome.memory.content}"

    def _search(self, given: Mapping[str, Any]) -> str:
        memory = self.manager.store.memory
        if kind := given.get("type"):
            scored = self.manager.store.scored(given["query"], 10, {MemoryType(kind).value})
            hits = [core.Hit(item=one, relevance=score, score=score, routes={}, sources=()) for one, score in scored]
        else:
            found = self.manager.search_memory(given["query"])
            hits = [core.Hit(item=one, relevance=0.5, score=0.5, routes={}, sources=()) for one in found]
        if not hits:
            return self._say(
                "Nothing found. search_conversation_traces searches the messages themselves.",
                "没有找到。search_conversation_traces 可以搜索原始对话。",
            )
        context = memory.agent.quote(hits, given["query"], max_tokens=2_000)
        memory.retrieved(context.hits)
        return context.text

    def _traces(self, given: Mapping[str, Any]) -> str:
        memory = self.manager.store.memory
        since = self.manager.store.db.now() - timedelta(days=int(given.get("days_back", 7)))
        most = int(given.get("max_results", 10))
        found = memory.search_traces(given["keyword"], session=given.get("session_id"), since=since, limit=most)
        return memory.agent.quote_whole(found) if found else self._say("Nothing found.", "没有找到。")

    def _stats(self, given: Mapping[str, Any]) -> str:
        stats = self.manager.get_memory_stats()
        counts = ", ".join(f"{name} {count}" for name, count in stats["by_type"].items())
        lines = [
            f"{self._say('memories', '记忆')}: {stats['total']}" + (f" ({counts})" if counts else ""),
            f"{self._say('episodes', '情节')}: {stats['episodes']}",
            f"{self._say('turns', '对话轮次')}: {stats['conversation_turns']}",
            f"{self._say('search', '搜索')}: {stats['search_backend']}",
        ]
        lines += [f"{name}: {count}" for name, count in stats["waiting"].items() if count]
        return "\n".join([*lines, *([stats["degraded"]] if stats["degraded"] else [])])

    def _consolidate(self, given: Mapping[str, Any]) -> str:
        try:
            report = self.manager.lifecycle.consolidate()
        except YikuError as error:
            return str(error)
        counts = ", ".join(f"{name} {count}" for name, count in report["counts"].items())
        return f"{self._say('Done', '完成')}: {counts or self._say('nothing to do', '无事可做')}"
