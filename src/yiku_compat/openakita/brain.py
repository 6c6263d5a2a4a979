"""A host's model, `brain.think_lightweight(prompt, system=…)`, as the chat model that Yiku asks."""

from __future__ import annotations

import asyncio
import inspect
import json
import re
import threading
import time
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
    """Read JSON from a reply, in a code block or among words. Exactly NONE is an empty list."""
    stripped = text.strip()
    if stripped == NOTHING and schema.get("type") == "array":
        return []
    fenced = _JSON.search(stripped)
    ends = [(stripped.find(a), stripped.rfind(b) + 1) for a, b in ("[]", "{}") if 0 <= stripped.find(a) < stripped.rfind(b)]
    spans = [fenced.group(1)] if fenced else []
    for part in (stripped, *spans, *(stripped[start:end] for start, end in sorted(ends))):
        try:
            return json.loads(part)
        except ValueError:
            continue
    raise ModelFailed("the reply is no JSON")
