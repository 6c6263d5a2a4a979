"""
What tool calls seem to teach: that a call failed, and what was changed when it then succeeded.

Only candidates, of origin tool and of little confidence: what a tool writes is data, and becomes no rule. Nothing of
its output is kept but the first words of an error.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from yiku.types import Kind
from yiku.types.learning import Draft

CONFIDENCE = 0.4
AT_MOST = 8  # candidates
SHOWN = 80  # characters of a value or an error
_FAILED = re.compile(
    r"(?i)^\W*(?:error|traceback|fatal|failed|permission denied|command not found|no such file|exit code [1-9]|错误|失败)"
)


def of_tools(calls: Sequence[Mapping[str, Any]], results: Sequence[Mapping[str, Any]]) -> list[Draft]:
    """
    A skill for each tool that failed and then succeeded with something changed; an error for each that only failed.

    calls:    {"id"?, "name", "input" or "arguments"}
    results:  {"tool_use_id"?, "content", "is_error"?}; without ids they answer the calls in order
    """
    answers = {str(result["tool_use_id"]): result for result in results if "tool_use_id" in result}
    unnamed = [result for result in results if "tool_use_id" not in result]
    failed: dict[str, tuple[dict[str, str], str]] = {}
    found: list[Draft] = []
    for call in calls:
        result = answers.get(str(call.get("id"))) or (unnamed.pop(0) if unnamed else None)
        if result is None:
            continue
        name, given, said = str(call.get("name", "")), _given(call), str(result.get("content") or "")
        if result.get("is_error") or _FAILED.match(said[:SHOWN]):
            failed[name] = (given, _first_words(said))
        elif name in failed and (changed := _changed(failed[name][0], given)):
            _, error = failed.pop(name)
            found.append(_draft(Kind.SKILL, f"{name} failed ({error}) and succeeded with {changed}", name, error))
    found += [_draft(Kind.ERROR, f"{name} failed: {error}", name, error) for name, (_, error) in failed.items() if error]
    return found[:AT_MOST]


def _draft(kind: Kind, text: str, tool: str, quote: str) -> Draft:
    return Draft(
        text=f"{text}.",
        quote=quote,
        rule="tool outcome",
        kind=kind,
        importance=0.5,
        confidence=CONFIDENCE,
        priority="short_term",
        entities=(tool,) if tool else (),
        metadata={"origin": "tool"},
    )


def _given(call: Mapping[str, Any]) -> dict[str, str]:
    """The parameters of a call, each as a short text."""
    given = call.get("input", call.get("arguments", {}))
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except ValueError:
            return {"input": given}
    return {str(key): str(value) for key, value in given.items()} if isinstance(given, Mapping) else {}


def _changed(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """The parameters that differ, as «name=value»; nothing when too many do: that was another attempt, not a lesson."""
    differ = [key for key in after if after[key] != before.get(key)]
    differ += [key for key in before if key not in after]
    if not differ or len(differ) > 2:
        return ""
    return ", ".join(f"{key}={after[key][:SHOWN]}" if key in after else f"no {key}" for key in differ)


def _first_words(text: str) -> str:
    return text.strip().split("\n", 1)[0][:SHOWN].strip()
