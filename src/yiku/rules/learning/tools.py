"""
Draft lessons from tool calls: that a call failed, and what was changed when it then succeeded.

Only candidates, of origin tool and of little confidence: what a tool writes is data, and becomes no rule. Nothing of
its output is kept but the first words of an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from yiku.rules.sessions.calls import calls
from yiku.types import Kind, Turn
from yiku.types.learning import Draft

CONFIDENCE = 0.4
AT_MOST = 8  # candidates
SHOWN = 80  # characters of a value or an error
MANY = 2  # parameters; where more differ it was another attempt, and no lesson


def of_tools(turn: Turn) -> list[Draft]:
    """Draft a skill for each tool that failed and then succeeded, an error for each that only failed."""
    failed: dict[str, tuple[Mapping[str, Any], str]] = {}
    found: list[Draft] = []
    for call in calls([turn]):
        if call.error is not None:
            failed[call.name] = call.params, call.error[:SHOWN].strip()
        elif call.result is not None and call.name in failed and (changed := _changed(failed[call.name][0], call.params)):
            _, error = failed.pop(call.name)
            found.append(_draft(Kind.SKILL, f"{call.name} failed ({error}) and succeeded with {changed}", call.name, error))
    found += [_draft(Kind.ERROR, f"{name} failed: {error}", name, error) for name, (_, error) in failed.items()]
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
        entities=(tool,),
        metadata={"origin": "tool"},
    )


def _changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """Return the parameters that differ as `name=value`, empty if too many do."""
    differ = [key for key in (*after, *(key for key in before if key not in after)) if after.get(key) != before.get(key)]
    if not 0 < len(differ) <= MANY:
        return ""
    return ", ".join(f"{key}={str(after[key])[:SHOWN]}" if key in after else f"no {key}" for key in differ)
