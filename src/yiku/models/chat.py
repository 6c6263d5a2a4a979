"""
Client for OpenAI-compatible chat completions: messages and a schema in, one valid reply out.

The schema goes along, so that an endpoint which can hold its model to it does. What an endpoint refuses by name is given
up, one thing at a time, and what it took is remembered: a `json_schema` becomes a `json_object` with the schema in
words, then the words alone; a temperature of 0 becomes the model's own; `max_tokens` takes its newer name.

A reply may come as text, as parts of text, or as the arguments of a tool that nobody offered; each is only read
(reply.py), and nothing in it is ever done. One that the model refuses, or does not bring to its end, is not used.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from yiku.errors import ModelFailed, ModelUnavailable
from yiku.models.api import Message, Reply, Schema
from yiku.models.endpoint import PASSING, Endpoint, Line, Refused, sendable
from yiku.models.reply import Unfit, as_object, parse, without_thoughts

TRIES = 3
ANSWER_BYTES = 8 * 2**20  # 131,072 tokens, the most that can be asked for, have 1 MB; thoughts may come on top

_IN_WORDS = "\n\nReply with JSON alone, in this JSON schema: "


class ApiChat:
    """
    A chat model behind an endpoint.

    max_tokens: the most that a reply may have, thoughts included
    """

    def __init__(self, endpoint: Endpoint, *, max_tokens: int = 4_096) -> None:
        self._line = Line(endpoint, resource="chat/completions", settings="chat", answer_bytes=ANSWER_BYTES)
        self._model, self._max_tokens = endpoint.model, max_tokens
        self._form = _Form()

    @property
    def name(self) -> str:
        """See ChatModel: the model's name from the settings."""
        return self._model

    def ask(self, messages: Sequence[Message], schema: Schema) -> Reply:
        """See ChatModel."""
        start = time.monotonic()
        body = self._answer(messages, schema)
        seconds = time.monotonic() - start
        try:
            answer = json.loads(body)
        except (RecursionError, ValueError) as error:
            raise self._line.as_model_error(f"that is no chat completion: {self._line.shown(body, 120)}") from error
        asked, said = (_count(answer, f"{name}_tokens") for name in ("prompt", "completion"))
        try:
            text = self._text(answer, body)
            value = self._value(text, schema)
        except ModelFailed as error:
            error.prompt_tokens, error.completion_tokens = asked, said
            raise
        return Reply(value, text, asked, said, seconds)

    def _value(self, text: str, schema: Schema) -> Any:
        try:
            return parse(text, schema)
        except Unfit as error:
            raise self._line.as_model_error(str(error), text) from error

    def _answer(self, messages: Sequence[Message], schema: Schema) -> bytes:
        form: _Form | None = self._form
        while form:
            try:
                answer = self._line.post(form.body(self._model, messages, schema, self._max_tokens), tries=TRIES)
            except Refused as error:
                form = form.without_what(error)
                if not form:
                    raise self._line.as_model_error(f"it answers {error}") from error
            else:
                self._form = form
                return answer
        raise AssertionError("each way out returns or raises")

    def _text(self, answer: Any, body: bytes) -> str:
        """What the model said. Raises ModelFailed where it said nothing, refused, or was cut off."""
        match answer:
            case {"choices": [{"message": dict(message)} as choice, *_]}:
                pass
            case {"error": {"code": int(code)}} if code in PASSING:  # some answer 200, and put it here
                raise ModelUnavailable(f"{self._line.address} answers {code}: {self._line.shown(body, 120)}")
            case _:
                raise self._line.as_model_error(f"that is no chat completion: {self._line.shown(body, 120)}")
        text = "".join(_parts(message.get("content"), "text"))
        text = without_thoughts(text) if text.strip() else "\n".join(_arguments(message))
        refusal = message.get("refusal") or "".join(_parts(message.get("content"), "refusal"))
        end = choice.get("finish_reason")
        if end == "content_filter" or (refusal and not text):
            raise self._line.as_model_error("the model refuses", str(refusal) or text)
        if end == "length":
            raise self._line.as_model_error("the reply is cut off: ask for less at once, or raise chat_max_tokens", text)
        if not text.strip():
            raise self._line.as_model_error("the reply is empty")
        return text


@dataclass(frozen=True, slots=True)
class _Form:
    """The request format that an endpoint accepts."""

    response: Literal["json_schema", "json_object", "words"] = "json_schema"
    temperature: bool = True
    limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"

    def body(self, model: str, messages: Sequence[Message], schema: Schema, max_tokens: int) -> Mapping[str, Any]:
        sent = [{name: sendable(text) for name, text in message.items()} for message in messages]
        schema = as_object(schema)
        body: dict[str, Any] = {"model": model, "messages": sent, self.limit: max_tokens}
        if self.temperature:
            body["temperature"] = 0
        if self.response == "json_schema":
            body["response_format"] = {"type": "json_schema", "json_schema": {"name": "reply", "schema": schema}}
            return body
        if self.response == "json_object":
            body["response_format"] = {"type": "json_object"}
        sent[0]["content"] += _IN_WORDS + json.dumps(schema, ensure_ascii=False)
        return body

    def without_what(self, error: Refused) -> _Form | None:
        """Return the format without the field that an endpoint refuses, or None."""
        said = error.said.lower()
        if error.status not in (400, 422, 501):
            return None
        if "max_completion_tokens" in said and self.limit == "max_tokens":
            return replace(self, limit="max_completion_tokens")
        if "temperature" in said and self.temperature:
            return replace(self, temperature=False)
        if any(word in said for word in ("response_format", "json", "schema", "grammar", "结构化")):
            match self.response:
                case "json_schema":
                    return replace(self, response="json_object")
                case "json_object":
                    return replace(self, response="words")
        return None


def _parts(content: object, kind: Literal["text", "refusal"]) -> Iterator[str]:
    """Return the texts of a content: one text, or a list of parts of this kind."""
    match content:
        case str():
            if kind == "text":
                yield content
        case list():
            for part in content:
                if isinstance(part, dict) and part.get("type") == kind and isinstance(part.get(kind), str):
                    yield part[kind]


def _arguments(message: Mapping[str, Any]) -> Iterator[str]:
    """Return the arguments of tool calls, as text."""
    match message:
        case {"tool_calls": list(calls)}:
            functions = [call.get("function") for call in calls if isinstance(call, dict)]
        case _:
            functions = [message.get("function_call")]
    for function in functions:
        match function:
            case {"arguments": str(text)}:
                yield text
            case {"arguments": dict() | list() as value}:
                yield json.dumps(value, ensure_ascii=False)


def _count(answer: Any, name: str) -> int | None:
    usage = answer.get("usage") if isinstance(answer, dict) else None
    count = usage.get(name) if isinstance(usage, dict) else None
    return count if isinstance(count, int) and count >= 0 else None
