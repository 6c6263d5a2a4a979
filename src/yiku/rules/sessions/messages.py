"""
Convert chat API messages to turns and back: OpenAI's (chat completions and responses) and Anthropic's.

A turn has one text, calls of tools as {"id", "name", "input"} and results as {"tool_use_id", "content"}. Whatever else a
message has, and how it was put together, is its *frame*, kept in the turn's metadata under FRAME:

    role          the role that was given, where the turn's is another (developer is system, function is tool)
    content       "null" or "absent", where it was no text
    parts         the parts of the content in order: of a text its length, of a call or result its number, others whole
    tool_calls    of each call in OpenAI's shape what else it has, and how its arguments were written
    function_call the same of the one call in OpenAI's older shape
    answers       the fields of a message that is the result of one call: tool_call_id, or the name of the function
    item          the fields of an item of OpenAI's responses API that is no message
    fields        every other field, as it was given

A long text or a file inside a frame is handed out, and {"kept": its name, …} stands in its place. A message that is
only a role and a text has no frame.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from yiku.rules.text import lazy
from yiku.types import Turn

FRAME = "chat_message"
ROLES = {"developer": "system", "function": "tool"}
TEXTS = {"text": "text", "input_text": "text", "output_text": "text", "refusal": "refusal"}  # a part's type, the field of its text
FIELDS = frozenset(  # of messages in the shapes of chat APIs, beside those of a turn
    "name tool_call_id function_call refusal annotations audio reasoning reasoning_content reasoning_details thinking"
    " thinking_blocks images id object type status phase model stop_reason stop_sequence stop_details usage container"
    " context_management created created_at timestamp prefix cache_control provider_specific_fields additional_kwargs"
    " response_metadata".split()
)
LONG_CHARS = 2_000  # of a text inside a frame; what is longer lies beside the turn
_DATA_URL = lazy.compile(r"data:([\w.+-]+/[\w.+-]+)?[^,\n]{0,200};base64,")
_TYPES = ("media_type", "mime_type", "format")  # the fields that say of what type the data beside them are
_STYLES: tuple[Mapping[str, Any], ...] = (  # how arguments are written as JSON
    {"ensure_ascii": False},
    {"ensure_ascii": False, "separators": (",", ":")},
    {"ensure_ascii": True},
    {"ensure_ascii": True, "separators": (",", ":")},
)
_CALLS = ("tool_use", "function_call", "server_tool_use", "mcp_tool_use")
_ITEMS = ("reasoning", "item_reference", "compaction", "mcp_list_tools", "mcp_approval_request", "mcp_approval_response")
_CALL_FIELDS = ("id", "name", "input")

_LEAVES = frozenset((str, int, float, bool, type(None)))

Part = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class File:
    """A long text or file moved out of a message: its content, type and name."""

    content: bytes
    mime_type: str
    name: str | None
    sort: str
    suffix: str


@dataclass(slots=True)
class Draft:
    """A parsed message: texts, calls, results, the frame, and the first problem, if any."""

    role: str
    texts: list[str] = field(default_factory=list)
    calls: list[Any] = field(default_factory=list)
    results: list[Any] = field(default_factory=list)
    frame: dict[str, Any] = field(default_factory=dict)
    trouble: str | None = None


# ------------------------------------------------------------------ taken apart


def plain(value: Any, levels: int = 4) -> Any:
    """Convert a chat library's own objects to mappings, down to the parts of a result."""
    if isinstance(value, Mapping):
        if levels and any(map(_is_nested, value.values())):
            return {key: plain(inner, levels - 1) if _is_nested(inner) else inner for key, inner in value.items()}
        return value
    if isinstance(value, (list, tuple)):
        return [plain(inner, levels - 1) for inner in value] if levels and any(map(_is_nested, value)) else value
    return value.model_dump() if callable(getattr(value, "model_dump", None)) else value


def _is_nested(value: Any) -> bool:
    return type(value) not in _LEAVES and (
        isinstance(value, (Mapping, list, tuple)) or callable(getattr(value, "model_dump", None))
    )


def is_simple(message: Mapping[str, Any], known: frozenset[str]) -> bool:
    """Whether a message is already a turn: a text, and no field beyond those of turns."""
    role = message.get("role")
    return (
        isinstance(message.get("content", ""), str)
        and isinstance(role, str)
        and role not in ROLES
        and not message.get("tool_calls")
        and not message.get("tool_results")
        and message.keys() <= known
    )


def is_item(message: Mapping[str, Any]) -> bool:
    """Whether it is a non-message item of OpenAI's responses API: a call, an output, reasoning."""
    sort = message.get("type")
    return "role" not in message and isinstance(sort, str) and (sort in _ITEMS or sort.endswith(("_call", "_call_output")))


def holds(metadata: Mapping[str, Any]) -> bool:
    """Whether a turn without text, calls or results still has content: a picture, reasoning."""
    frame = metadata.get(FRAME)
    return isinstance(frame, Mapping) and bool(frame.get("parts") or frame.get("item"))


def parse(message: Mapping[str, Any], known: frozenset[str]) -> Draft:
    """Parse a message of any shape; `known` are the fields of turns."""
    given = message.get("role")
    if is_item(message):
        return _item(message)
    role = given if isinstance(given, str) else ""
    draft = Draft(ROLES.get(role, role))
    if draft.role != role:
        draft.frame["role"] = role
    fields = {name: value for name, value in message.items() if name not in known}
    _content(draft, message)
    _calls(draft, message.get("tool_calls"))
    if message.get("tool_calls", ()) is None:
        fields["tool_calls"] = None
    _older_call(draft, fields)
    for result in _as_list(message.get("tool_results"), "tool_results", draft):
        draft.results.append(_result(result) if isinstance(result, Mapping) else result)
    _answers(draft, fields, role)
    if not draft.texts and isinstance(refusal := fields.get("refusal"), str):
        draft.texts.append(refusal)
        fields["refusal"] = True  # the text of the turn
    if fields:
        draft.frame["fields"] = fields
    if draft.frame == {"content": "absent"}:
        draft.frame = {}
    return draft


def _item(item: Mapping[str, Any]) -> Draft:
    """Parse a non-message item of the responses API: a call, its output, or something else."""
    rest = dict(item)
    sort = item["type"]
    if sort == "function_call":
        given, style = _arguments(rest.pop("arguments", "{}"))
        call = {"id": rest.pop("call_id", None), "name": rest.pop("name", None), "input": given}
        return Draft("assistant", calls=[call], frame={"item": {**rest, "style": style}})
    if sort == "function_call_output":
        result = _result({"tool_use_id": rest.pop("call_id", None), "content": rest.pop("output", "")})
        return Draft("tool", results=[result], frame={"item": rest})
    return Draft("tool" if sort.endswith("_output") else "assistant", frame={"item": rest})


def _content(draft: Draft, message: Mapping[str, Any]) -> None:
    content = message.get("content")
    if content is None:
        draft.frame["content"] = "null" if "content" in message else "absent"
    elif isinstance(content, (list, tuple)):
        _parts(draft, content)
    elif isinstance(content, Mapping):
        draft.trouble = "content must be a text or a list of parts, not an object"
    else:
        draft.texts.append(content)


def _parts(draft: Draft, parts: Sequence[Any]) -> None:
    framed: list[Any] = []
    for part in parts:
        if isinstance(part, str):
            framed.append({"bare": len(draft.texts)})
            draft.texts.append(part)
        elif not isinstance(part, Mapping):
            draft.trouble = f"a part of content must be a text or an object with a type, not {type(part).__name__}"
        elif isinstance(part.get("type"), str) and isinstance(text := part.get(TEXTS.get(part["type"], "")), str):
            framed.append({**part, TEXTS[part["type"]]: len(draft.texts)})
            draft.texts.append(text)
        elif part.get("type") in _CALLS and part.get("name"):
            framed.append({**{key: part[key] for key in part if key not in _CALL_FIELDS}, "call": len(draft.calls)})
            draft.calls.append({key: part[key] for key in _CALL_FIELDS if key in part})
        elif part.get("type") == "tool_result":
            framed.append({"type": "tool_result", "result": len(draft.results)})
            draft.results.append(_result(part))
        else:
            framed.append(part)
    draft.frame["parts"] = framed
    if draft.results and not any(text.strip() for text in draft.texts) and draft.role == "user":
        draft.frame["role"], draft.role = "user", "tool"  # Anthropic hands results to a model in the user's role


def _calls(draft: Draft, calls: Any) -> None:
    """Parse tool calls; in OpenAI's shape the arguments are JSON text in `function`."""
    framed: list[Any] = []
    for call in _as_list(calls, "tool_calls", draft):
        inner = call.get("function") if isinstance(call, Mapping) else None
        if not isinstance(inner, Mapping):
            framed.append(None)
            draft.calls.append(
                {key: value for key, value in call.items() if (key, value) != ("type", "tool_use")}
                if isinstance(call, Mapping)
                else call
            )
            continue
        given, style = _arguments(inner.get("arguments", "{}"))
        more = {key: value for key, value in call.items() if key not in ("id", "function")}
        framed.append({**more, "style": style})
        draft.calls.append({"id": call.get("id"), "name": inner.get("name"), "input": given})
    if any(one is not None for one in framed):
        draft.frame["tool_calls"] = framed


def _older_call(draft: Draft, fields: dict[str, Any]) -> None:
    """Parse the single `function_call` of OpenAI's older shape, without an id."""
    inner = fields.get("function_call")
    if isinstance(inner, Mapping):
        del fields["function_call"]
        given, style = _arguments(inner.get("arguments", "{}"))
        draft.frame["function_call"] = {"style": style, "call": len(draft.calls)}
        draft.calls.append({"name": inner.get("name"), "input": given})


def _answers(draft: Draft, fields: dict[str, Any], role: str) -> None:
    """Turn a message that is the result of one call into a result."""
    if draft.role != "tool" or draft.results or not ("tool_call_id" in fields or role == "function"):
        return
    named = {"tool_use_id": fields["tool_call_id"]} if fields.get("tool_call_id") else {}
    if role == "function" and isinstance(fields.get("name"), str):
        named["name"] = fields["name"]
    draft.frame["answers"] = {key: fields.pop(key) for key in ("tool_call_id", "name") if key in fields}
    parts = draft.frame.pop("parts", None)
    given: Any = draft.texts[0] if parts is None and draft.texts else None
    if parts is not None:
        given = [
            (draft.texts[one["bare"]] if "bare" in one else {**one, **_said(one, draft.texts)}) if isinstance(one, Mapping) else one
            for one in parts
        ]
    draft.results.append(_result({**named, "content": given}))
    draft.texts = []


def _said(part: Part, texts: Sequence[str]) -> dict[str, Any]:
    name = TEXTS.get(part.get("type", ""), "")
    return {name: texts[part[name]]} if name and isinstance(part.get(name), int) else {}


def _result(result: Mapping[str, Any]) -> dict[str, Any]:
    """Normalize a tool result: its text, and its parts by length."""
    kept = {key: value for key, value in result.items() if (key, value) != ("type", "tool_result")}
    content = kept.get("content")
    if not isinstance(content, (list, tuple)):
        return kept if content is not None else {key: value for key, value in kept.items() if key != "content"}
    texts: list[str] = []
    parts: list[Any] = []
    for part in content:
        text = part if isinstance(part, str) else part.get("text") if isinstance(part, Mapping) else None
        if isinstance(text, str) and (isinstance(part, str) or part.get("type") in TEXTS):
            parts.append({"bare": len(text)} if isinstance(part, str) else {**part, "text": len(text)})
            texts.append(text)
        else:
            parts.append(part)
    return {**kept, "content": "\n".join(texts), "parts": parts}


def _as_list(given: Any, name: str, draft: Draft) -> Sequence[Any]:
    if given is None:
        return ()
    if not isinstance(given, Sequence) or isinstance(given, (str, bytes)):
        draft.trouble = f"{name} must be a list of objects"
        return ()
    return given


def _arguments(given: Any) -> tuple[Any, int | None]:
    """Parse the arguments of a call, and their JSON style; text that is not JSON stays text."""
    if not isinstance(given, str):
        return given, None
    with suppress(ValueError, RecursionError):
        found = json.loads(given)
        if isinstance(found, dict):
            styles = (place for place, style in enumerate(_STYLES) if json.dumps(found, **style) == given)
            return found, next(styles, 0)
    return given, None


def measure(draft: Draft) -> dict[str, Any]:
    """Return the frame with the final length of each text instead of its number."""

    def part(one: Any) -> Any:
        if not isinstance(one, Mapping):
            return one
        name = "bare" if "bare" in one else TEXTS.get(str(one.get("type")), "")
        return {**one, name: len(draft.texts[one[name]])} if name and isinstance(one.get(name), int) else one

    parts = {"parts": [part(one) for one in draft.frame["parts"]]} if "parts" in draft.frame else {}
    return {**draft.frame, **parts}


def without_files(value: Any, keep: Callable[[File], str], around: Mapping[str, Any] | None = None) -> Any:
    """Move long texts and files out of a frame; `keep` stores each and returns its name."""
    around = around or {}
    if isinstance(value, Mapping):
        names = {key: value[key] for key in ("filename", "title", "name") if isinstance(value.get(key), str)}
        inner = {**around, **names, **{key: value[key] for key in _TYPES if isinstance(value.get(key), str)}}
        if isinstance(value.get("type"), str) and value["type"] != "base64":
            inner["type"] = value["type"]
        return {key: without_files(entry, keep, {**inner, "field": key}) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [without_files(entry, keep, around) for entry in value]
    if not isinstance(value, str):
        return value
    found = _DATA_URL.match(value)
    lead = found[0] if found else ""
    typed = bool(lead) or (around.get("field") in ("data", "file_data") and any(key in around for key in _TYPES))
    content = _decode_base64(value[len(lead) :]) if typed else None
    if content is None and len(value) <= LONG_CHARS:
        return value
    mime = "text/plain" if content is None else (found[1] if found and found[1] else _mime(around))
    suffix = mime.partition("/")[2].partition("+")[0].replace("plain", "txt")
    given = around.get("filename") or around.get("title") or around.get("name")
    file = File(value.encode() if content is None else content, mime, given, _sort(around), suffix)
    name = keep(file)
    return {"kept": name} if content is None else {"kept": name, "lead": lead}


def _sort(around: Mapping[str, Any]) -> str:
    return str(around.get("type") or around.get("field") or "part").removeprefix("input_").removesuffix("_url")


def _mime(around: Mapping[str, Any]) -> str:
    said = next((around[key] for key in _TYPES if key in around), "application/octet-stream")
    return said if "/" in said else f"audio/{said}"


def _decode_base64(text: str) -> bytes | None:
    """Decode base64 that encodes back to the same text, else None."""
    with suppress(binascii.Error, ValueError):
        found = base64.b64decode(text, validate=True)
        return found if base64.b64encode(found).decode() == text else None
    return None


# ------------------------------------------------------------------ put together again

Lookup = Callable[[str], bytes | None]


def shown(turn: Turn, kept: Lookup) -> list[dict[str, Any]]:
    """
    Restore the message or messages of a turn, with long texts.

    kept: gives the content of a file by its name; None where it is gone, and then the part says so
    """
    frame = turn.metadata.get(FRAME)
    if not isinstance(frame, Mapping):
        return _without_frame(turn)
    results = [dict(result) for result in turn.tool_results]
    if isinstance(item := frame.get("item"), Mapping):
        return [_whole_item(turn, item, results, kept)]
    message: dict[str, Any] = {"role": frame.get("role", turn.role)}
    if isinstance(answers := frame.get("answers"), Mapping) and results:
        return [message | dict(answers) | {"content": _content_of(results[0], kept)} | _fields(frame, turn, kept)]
    if isinstance(parts := frame.get("parts"), Sequence):
        message["content"] = _whole_parts(turn.content, parts, turn.tool_calls, results, kept)
    elif frame.get("content") != "absent":
        refused = isinstance(fields := frame.get("fields"), Mapping) and fields.get("refusal") is True
        message["content"] = None if frame.get("content") == "null" and (refused or not turn.content) else turn.content
    if isinstance(styles := frame.get("tool_calls"), Sequence):
        message["tool_calls"] = [_in_style(call, style) for call, style in zip(turn.tool_calls, styles, strict=False)]
    if isinstance(older := frame.get("function_call"), Mapping) and (call := _at(turn.tool_calls, older.get("call"))):
        message["function_call"] = _function(call, older.get("style"))
    if "parts" not in frame and results:
        message["tool_results"] = [_without_parts(result, kept) for result in results]
    if "parts" not in frame and "tool_calls" not in frame and "function_call" not in frame and turn.tool_calls:
        message["tool_calls"] = [dict(call) for call in turn.tool_calls]
    return [message | _fields(frame, turn, kept)]


def _without_frame(turn: Turn) -> list[dict[str, Any]]:
    """Format a turn that was no chat message in OpenAI's shape: each result is a message."""
    calls = [_in_style(call, {"type": "function"}) for call in turn.tool_calls]
    answers = [
        {"role": "tool", "tool_call_id": result.get("tool_use_id"), "content": _text_of(result)} for result in turn.tool_results
    ]
    if turn.role == "tool" and not turn.content and answers:
        return answers
    message: dict[str, Any] = {"role": turn.role, "content": turn.content or (None if calls else "")}
    return [message | ({"tool_calls": calls} if calls else {}), *answers]


def _fields(frame: Mapping[str, Any], turn: Turn, kept: Lookup) -> dict[str, Any]:
    fields = frame.get("fields")
    found = _put_back(fields, kept) if isinstance(fields, Mapping) else {}
    return {key: turn.content if (key, value) == ("refusal", True) else value for key, value in found.items()}


def _whole_item(turn: Turn, item: Mapping[str, Any], results: Sequence[Mapping[str, Any]], kept: Lookup) -> dict[str, Any]:
    rest: dict[str, Any] = _put_back({key: value for key, value in item.items() if key != "style"}, kept)
    if item.get("type") == "function_call" and turn.tool_calls:
        function = _function(turn.tool_calls[0], item.get("style"))
        return {**rest, "call_id": turn.tool_calls[0].get("id"), **function}
    if item.get("type") == "function_call_output" and results:
        return {**rest, "call_id": results[0].get("tool_use_id"), "output": _content_of(results[0], kept)}
    return rest


def _in_style(call: Mapping[str, Any], style: Any) -> dict[str, Any]:
    """Restore a call in the shape it was given in."""
    if not isinstance(style, Mapping):
        return dict(call)
    more = {key: value for key, value in style.items() if key != "style"}
    return {"id": call.get("id"), **more, "function": _function(call, style.get("style"))}


def _function(call: Mapping[str, Any], style: Any) -> dict[str, Any]:
    given = call.get("input")
    if isinstance(given, str):
        return {"name": call.get("name"), "arguments": given}
    how = _STYLES[style] if isinstance(style, int) and 0 <= style < len(_STYLES) else _STYLES[0]
    return {"name": call.get("name"), "arguments": json.dumps({} if given is None else given, **how)}


def _whole_parts(
    text: str, parts: Sequence[Any], calls: Sequence[Mapping[str, Any]], results: Sequence[Mapping[str, Any]], kept: Lookup
) -> list[Any]:
    """Restore parts with texts, calls and results. Text changed since by an erasure goes whole into the first part."""
    lengths = [length for part in parts if (length := _length(part)) is not None]
    whole = sum(lengths) + len(lengths) - 1 == len(text) if lengths else not text
    found: list[Any] = []
    at, first = 0, True
    for part in parts:
        if not isinstance(part, Mapping):
            found.append(part)
        elif (length := _length(part)) is not None:
            said = text[at : at + length] if whole else text
            at += length + 1
            if whole or (first and text):
                found.append(said if "bare" in part else {**part, TEXTS[part["type"]]: said})
            first = False
        elif "call" in part and (call := _at(calls, part["call"])) is not None:
            found.append({**{key: value for key, value in part.items() if key != "call"}, **call})
        elif "result" in part and (result := _at(results, part["result"])) is not None:
            found.append({"type": "tool_result", **_without_parts(result, kept)})
        else:
            found.append(_put_back(part, kept))
    if not lengths and text:
        found.insert(0, {"type": "text", "text": text})
    return found


def _length(part: Any) -> int | None:
    if not isinstance(part, Mapping):
        return None
    length = part.get("bare", part.get(TEXTS.get(str(part.get("type")), "")))
    return length if isinstance(length, int) and not isinstance(length, bool) else None


def _at(items: Sequence[Mapping[str, Any]], place: Any) -> Mapping[str, Any] | None:
    return items[place] if isinstance(place, int) and 0 <= place < len(items) else None


def _content_of(result: Mapping[str, Any], kept: Lookup) -> Any:
    """Restore the content of a tool result."""
    parts = result.get("parts")
    return _whole_parts(_text_of(result), parts, (), (), kept) if isinstance(parts, Sequence) else result.get("content")


def _without_parts(result: Mapping[str, Any], kept: Lookup) -> dict[str, Any]:
    rest = {key: value for key, value in result.items() if key not in ("parts", "blob")}
    return rest | {"content": _content_of(result, kept)} if "content" in result else rest


def _text_of(result: Mapping[str, Any]) -> str:
    content = result.get("content")
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False) if content is not None else ""


def _put_back(value: Any, kept: Lookup) -> Any:
    """Put files back into a frame; a missing one leaves a mark."""
    if isinstance(value, Mapping):
        if isinstance(name := value.get("kept"), str) and value.keys() <= {"kept", "lead"}:
            content = kept(name)
            if content is None:
                return f"[{name[:8]} is gone]"
            if "lead" not in value:
                return content.decode(errors="replace")
            return f"{value['lead']}{base64.b64encode(content).decode()}"
        return {key: _put_back(entry, kept) for key, entry in value.items()}
    return [_put_back(entry, kept) for entry in value] if isinstance(value, (list, tuple)) else value
