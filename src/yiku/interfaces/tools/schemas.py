"""
Generate the tools' schemas for OpenAI, Anthropic and MCP from the table, and validate arguments against it.

A schema holds only what every host understands: one type a property, no references, no alternatives.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from yiku.errors import InvalidInput
from yiku.interfaces.tools import texts
from yiku.interfaces.tools.table import STATEMENT, Argument, Tool

_HALF = re.compile("[\ud800-\udfff]")  # of a character that is two in UTF-16, as a program cuts it that counts in those
_JSON = {"strings": "array", "statements": "array"}
_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "object": (dict,),
    "strings": (list, tuple),
    "statements": (list, tuple),
}
_WORDS = {
    "en": {
        "string": "text",
        "integer": "a whole number",
        "number": "a number",
        "boolean": "true or false",
        "object": "an object",
        "strings": "a list of texts",
        "statements": "a list of objects",
    },
    "zh": {
        "string": "文本",
        "integer": "整数",
        "number": "数字",
        "boolean": "true 或 false",
        "object": "对象",
        "strings": "文本列表",
        "statements": "对象列表",
    },
}


def arguments(tool: Tool, language: str, names: Mapping[str, str]) -> dict[str, Any]:
    """Return the JSON schema of a tool's arguments."""
    about = texts.every(language)["tool"][tool.name]
    return {
        "type": "object",
        "properties": {one.name: _property(one, texts.named(about[one.name], names)) for one in tool.arguments},
        "required": [one.name for one in tool.arguments if one.required],
        "additionalProperties": False,
    }


def result(tool: Tool) -> dict[str, Any]:
    """Return the JSON schema of a tool's structured result."""
    return {"type": "object", "properties": dict(tool.result), "required": ["notes"]}


def _property(one: Argument, description: str) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": _JSON.get(one.type, one.type), "description": description}
    match one.type:
        case "strings":
            schema |= {"items": {"type": "string"}, "maxItems": int(one.most)}
        case "statements":
            schema |= {"items": dict(STATEMENT), "maxItems": int(one.most)}
        case "string" if one.choice:
            schema["enum"] = [*one.choice]
        case "string":
            schema["maxLength"] = int(one.most)
        case "integer" | "number":
            schema |= {"minimum": one.least, "maximum": one.most}
    if one.default is not None:
        schema["default"] = one.default
    return schema


def openai(tool: Tool, name: str, description: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tool as OpenAI's chat completions take it."""
    return {"type": "function", "function": {"name": name, "description": description, "parameters": schema}}


def anthropic(tool: Tool, name: str, description: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tool as Anthropic's messages take it."""
    return {"name": name, "description": description, "input_schema": schema}


def mcp(tool: Tool, name: str, description: str, schema: Mapping[str, Any], title: str) -> dict[str, Any]:
    """Return a tool as MCP lists it, with all four hints."""
    return {
        "name": name,
        "title": title,
        "description": description,
        "inputSchema": schema,
        "outputSchema": result(tool),
        "annotations": {
            "title": title,
            "readOnlyHint": tool.reads,
            "destructiveHint": tool.destructive,
            "idempotentHint": tool.idempotent,
            "openWorldHint": False,
        },
    }


# ------------------------------------------------------------------ the arguments of a call


def checked(tool: Tool, given: object, language: str) -> dict[str, Any]:
    """Return the arguments of a call with defaults; a null counts as not given. Raises InvalidInput, naming each fault."""
    phrases = texts.every(language)["error"]
    if given is None:
        given = {}
    if not isinstance(given, Mapping):
        raise InvalidInput(phrases["argument_type"].format("arguments", _WORDS[language]["object"]))
    known = {one.name: one for one in tool.arguments}
    wrong = [
        phrases["argument_unknown"].format(without_halves(str(name)[:40]), ", ".join(known)) for name in given if name not in known
    ]
    values: dict[str, Any] = {}
    for name, one in known.items():
        value = given.get(name)
        if value is None:
            if one.required:
                wrong.append(phrases["argument_missing"].format(name))
            elif one.default is not None:
                values[name] = one.default
            continue
        if fault := _fault(one, value, phrases, _WORDS[language]):
            wrong.append(fault)
        else:
            values[name] = int(value) if one.type == "integer" else value
    if wrong:
        raise InvalidInput("; ".join(wrong))
    return values


def _fault(one: Argument, value: Any, phrases: Mapping[str, str], words: Mapping[str, str]) -> str | None:
    """Return what is wrong with an argument, if anything is."""
    if _has_half(value):
        return phrases["argument_half"].format(one.name)
    number = one.type in ("integer", "number")
    if number and isinstance(value, float) and math.isfinite(value) and (one.type == "number" or value.is_integer()):
        pass  # JSON has one kind of number: some hosts write 5.0
    elif not isinstance(value, _TYPES[one.type]) or (isinstance(value, bool) and one.type != "boolean"):
        return phrases["argument_type"].format(one.name, words[one.type])
    if number and not one.least <= value <= one.most:
        return phrases["argument_range"].format(one.name, f"{one.least:.10g}", f"{one.most:.10g}")
    if isinstance(value, str) and one.choice and value not in one.choice:
        return phrases["argument_choice"].format(one.name, ", ".join(one.choice))
    if isinstance(value, str) and len(value) > one.most:
        return phrases["argument_length"].format(one.name, int(one.most))
    if one.is_time and not _is_time(value):
        return phrases["argument_time"].format(one.name)
    return _fault_in_list(one, value, phrases, words) if isinstance(value, Sequence) and not isinstance(value, str) else None


def _fault_in_list(one: Argument, value: Sequence[Any], phrases: Mapping[str, str], words: Mapping[str, str]) -> str | None:
    sort: type = str if one.type == "strings" else dict
    if not all(isinstance(entry, sort) for entry in value):
        return phrases["argument_type"].format(one.name, words[one.type])
    if len(value) > one.most:
        return phrases["argument_entries"].format(one.name, int(one.most))
    return None


def without_halves(text: str) -> str:
    """Return a text with a mark for each half of a character, so that it can be written."""
    return _HALF.sub("\N{REPLACEMENT CHARACTER}", text)


def _has_half(value: Any) -> bool:
    """Tell whether there is half of a character anywhere in a value."""
    rest = [value]
    while rest:
        match rest.pop():
            case str() as text:
                if _HALF.search(text):
                    return True
            case Mapping() as members:
                rest += [*members, *members.values()]
            case list() | tuple() as entries:
                rest += entries
    return False


def _is_time(text: str) -> bool:
    try:
        datetime.fromisoformat(text.strip())
    except ValueError:
        return False
    return True
