"""Adapt a host's model, `brain.think_lightweight(prompt, system=…)`, to Yiku's chat model protocol."""

from __future__ import annotations

import asyncio
import inspect
import json
import math
import re
import threading
import time
import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from yiku.errors import ModelFailed, ModelUnavailable

_JSON = re.compile(r"```(?:json)?\s*(.*?)```", re.DOTALL)
NOTHING = "NONE"  # what the documents' prompt asks for where there is nothing to store


class Brain(Protocol):
    """A host's model. `think_lightweight` may be a coroutine; what it returns is a text or has one in `content`."""

    def think_lightweight(self, prompt: str, system: str | None = None) -> Any:
        """Answer a prompt."""
        ...


@dataclass(frozen=True, slots=True)
class Reply:
    """What Yiku takes from a model."""

    value: Any
    text: str
    prompt_tokens: int | None
    completion_tokens: int | None
    seconds: float


class BrainChat:
    """A brain as Yiku's chat model; what it says is checked there, and asked again if it is unusable."""

    def __init__(self, brain: Brain) -> None:
        self._brain = brain
        self.name = str(getattr(brain, "model", None) or type(brain).__name__)

    def ask(self, messages: Sequence[Mapping[str, str]], schema: Mapping[str, Any]) -> Reply:
        """Ask; the schema goes along in words. Raises ModelUnavailable, ModelFailed."""
        began = time.monotonic()
        system = "\n\n".join(one["content"] for one in messages if one["role"] == "system") or None
        prompt = "\n\n".join(one["content"] for one in messages if one["role"] != "system")
        prompt += f"\n\nJSON only, by this schema:\n{json.dumps(schema, ensure_ascii=False)}"
        try:
            answer = finished(self._brain.think_lightweight(prompt, system=system))
        except Exception as error:  # whatever a host's model raises
            raise ModelUnavailable(f"{type(error).__name__}: {error}") from error
        text = str(getattr(answer, "content", answer) or "")
        return Reply(_value(text, schema), text, None, None, time.monotonic() - began)

    def close(self) -> None:
        """Nothing is held."""


def finished(result: Any) -> Any:
    """Wait for a coroutine, in a thread of its own if this one runs a loop; return anything else as it is."""
    if not inspect.isawaitable(result):
        return result

    async def awaited() -> Any:
        return await result

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(awaited())
    found: list[Any] = []

    def run() -> None:
        try:
            found.append((asyncio.run(awaited()), None))
        except BaseException as error:  # handed on to the caller
            found.append((None, error))

    thread = threading.Thread(target=run, name="yiku-brain")
    thread.start()
    thread.join()
    value, error = found[0]
    if error is not None:
        raise error
    return value


def _value(text: str, schema: Mapping[str, Any]) -> Any:
    """Read JSON that fits the schema from a reply, in a code block or among words. Exactly NONE is an empty list."""
    stripped = text.strip()
    if stripped == NOTHING and schema.get("type") == "array":
        return []
    fenced = _JSON.search(stripped)
    ends = [(stripped.find(a), stripped.rfind(b) + 1) for a, b in ("[]", "{}") if 0 <= stripped.find(a) < stripped.rfind(b)]
    spans = [fenced.group(1)] if fenced else []
    why = "the reply is no JSON"
    for part in (stripped, *spans, *(stripped[start:end] for start, end in sorted(ends))):
        try:
            return _fitting(json.loads(part), schema, "the reply")
        except ModelFailed as error:
            why = error.detail
        except ValueError:
            continue
    raise ModelFailed(why)


def _fitting(value: Any, schema: Mapping[str, Any], what: str) -> Any:
    """Return a value without what the schema does not name. Raises ModelFailed if it does not fit."""
    wanted = schema.get("type", [])
    if wanted and not any(_is_a(value, one) for one in ([wanted] if isinstance(wanted, str) else wanted)):
        raise ModelFailed(f"{what} is not of the type {wanted}")
    if "enum" in schema and value not in schema["enum"]:
        raise ModelFailed(f"{what} is none of {schema['enum']}")
    size = len(value) if isinstance(value, (str, list)) else value if _is_a(value, "number") else None
    for most, least in (("maxLength", "minLength"), ("maxItems", "minItems"), ("maximum", "minimum")):
        if size is not None and not schema.get(least, size) <= size <= schema.get(most, size):
            raise ModelFailed(f"{what} is too long, too short, too large or too small")
    if isinstance(value, dict):
        named = schema.get("properties", {})
        if missing := [name for name in schema.get("required", ()) if name not in value]:
            raise ModelFailed(f"{what} lacks {', '.join(missing)}")
        return {name: _fitting(value[name], named[name], name) for name in named if name in value}
    if isinstance(value, list) and "items" in schema:
        return [_fitting(one, schema["items"], f"an entry of {what}") for one in value]
    return value


def _is_a(value: Any, type: str) -> bool:
    if isinstance(value, bool):
        return type == "boolean"
    if type in ("number", "integer"):
        return isinstance(value, int) or (type == "number" and isinstance(value, float) and math.isfinite(value))
    kinds: dict[str, Any] = {"object": dict, "array": list, "string": str, "null": types.NoneType}
    return isinstance(value, kinds.get(type, ()))
