"""
Parse the JSON in model replies leniently, and validate it strictly against a JSON Schema subset.

Asked for JSON, models write JSON in prose, in a fence, in a wrapper, with a comma too many, with comments, as Python
would, with typographic quotes or full-width punctuation. All this is read. Asked for NONE where there is nothing, they
write `None.` or 无, and that is an empty list; a word such as nonetheless is not. A reply that is cut off, cannot be read
or says what the schema does not allow is refused whole: nothing is guessed, and nothing is half kept. What the schema
does not name is left out, so a reply can bring nothing that was not asked for.

One pass over the text, whatever is in it. Its first object or list that fits the schema counts.

The schema is JSON Schema as far as KEYWORDS go; any other keyword is an error of whoever wrote the schema.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from yiku.models.api import Schema

DEPTH = 32  # of lists and objects in each other; our schemas have four
TOLD = 5  # of what does not fit, so much is told
VALUES = 1_000  # objects and lists beside each other
WRAPPERS = 3  # around what was asked for
LIST = "items"  # the name of a list in the object around it
KEYWORDS = frozenset(
    "type properties required items enum minimum maximum minLength maxLength minItems maxItems additionalProperties"
    " title description".split()
)

_TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "number": (int, float),
    "integer": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}
_WORDS = {
    "object": "an object",
    "array": "a list",
    "string": "text",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "null": "null",
}
_BRACKETS = {"object": "{}", "array": "[]"}

_THOUGHTS = re.compile(r"\s*+(?:<(think|thinking)>.*?</\1>\s*+)*+", re.IGNORECASE | re.DOTALL)
_THOUGHT_ENDS = re.compile(r".*</think(?:ing)?>[ \t]*\n", re.IGNORECASE | re.DOTALL)  # no string in JSON has a line's end
_NONE = re.compile(r"\s*+(?:```\w*+)?[\W_]*+(?:none|无|無)[\W_]*+", re.IGNORECASE)
_START = re.compile(r"""\{(?=\s*["'“”„‘/\#}])|\[(?=\s*[\[{"'“”„‘/\#\d\]-])""")  # what JSON has behind its first bracket
_TOKEN = re.compile(
    r"""
      (?P<nothing>  [\s\ufeff]++ | //[^\n]*+ | \#[^\n]*+ | /\*.*?\*/ )
    | (?P<string>   "(?:[^"\\]|\\.)*+" )
    | (?P<quoted>   '(?:[^'\\]|\\.)*+' | [“”„][^“”„]*+[“”] | ‘[^‘’]*+’ )
    | (?P<unended>  ["'“”„‘] | /\* )
    | (?P<word>     [\w.+-]++ )
    | (?P<mark>     . )
    """,
    re.VERBOSE | re.DOTALL,
)
_PLAIN = {"True": "true", "False": "false", "None": "null", "，": ",", "：": ":"}  # Python's words, full-width marks
_ESCAPE_OR_QUOTE = re.compile(r'\\.|"', re.DOTALL)
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


class Unfit(ValueError):
    """An unusable reply; the message says why without quoting it."""


def as_object(schema: Schema) -> Schema:
    """Wrap an array schema in an object, as endpoints require; `parsed` unwraps it."""
    if schema["type"] == "object":
        return schema
    return {"type": "object", "properties": {LIST: schema}, "required": [LIST], "additionalProperties": False}


def parse(text: str, schema: Schema) -> Any:
    """Return a reply as the schema describes it. Raises Unfit."""
    kind: str = schema["type"]
    if _NONE.fullmatch(text):
        return _empty(schema)
    seen: list[Any] = []
    wrong: list[str] = []
    for value in _values(text):
        seen.append(value)
        for reading in _readings(value):
            if isinstance(reading, _TYPES[kind]):
                found, why = fit(reading, schema)
                if not why:
                    return found
                wrong = wrong or why
    if kind == "array" and seen and all(isinstance(value, dict) for value in seen):  # one object a line
        found, why = fit(seen, schema)
        if not why:
            return found
        wrong = wrong or why
    if not seen:
        raise Unfit(f"the reply has no JSON in it; it must be {_WORDS[kind]} in {_BRACKETS[kind]}, and nothing else")
    raise Unfit("; ".join(wrong[:TOLD]) or f"the reply must be {_WORDS[kind]}")


def without_thoughts(text: str) -> str:
    """Strip a reasoning model's thoughts from a reply."""
    thoughts = _THOUGHTS.match(text)
    text = text[thoughts.end() :] if thoughts else text
    if text[:6].lower() == "<think":
        return ""  # it never came to an end
    if text[:1] not in ("{", "[") and (end := _THOUGHT_ENDS.match(text)):  # some endpoints leave out where they began
        return text[end.end() :]
    return text


def fit(value: Any, schema: Schema) -> tuple[Any, list[str]]:
    """Drop what the schema does not allow; return the rest and the path of each problem."""
    wrong: list[str] = []
    return _fit(value, schema, wrong, ""), wrong


def _fit(value: Any, schema: Schema, wrong: list[str], path: str) -> Any:
    if unknown := set(schema) - KEYWORDS:
        raise TypeError(f"a schema with {', '.join(sorted(unknown))}, which is not checked")
    types = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
    if not any(_is_a(value, name) for name in types) or ("enum" in schema and value not in schema["enum"]):
        wrong.append(f"{path or 'the reply'} must be {_wanted(schema, types)}")
        return None
    match value:
        case dict():
            return _object(value, schema, wrong, path)
        case list():
            if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", math.inf):
                wrong.append(f"{path or 'the reply'} must have {_range(schema, 'Items')} entries, not {len(value)}")
                return None
            return [_fit(one, schema["items"], wrong, f"{path}[{n}]") for n, one in enumerate(value)]
        case str():
            value = _UNSTORABLE.sub("\ufffd", value)
            if not schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", math.inf):
                wrong.append(f"{path or 'the reply'} must have {_range(schema, 'Length')} characters, not {len(value)}")
        case int() | float() if not isinstance(value, bool):
            if not schema.get("minimum", -math.inf) <= value <= schema.get("maximum", math.inf):
                wrong.append(f"{path or 'the reply'} must be {_wanted(schema, types)}")
            return value if "number" in types else int(value)
    return value


# ------------------------------------------------------------------ from text to values


def _values(text: str) -> Iterator[Any]:
    """Return the JSON values in a text, in order. Raises Unfit if unterminated, unreadable or too many."""
    at = looked_at = 0
    while start := _START.search(text, at):
        if (looked_at := looked_at + 1) > VALUES:
            raise Unfit(f"the reply has over {VALUES:,} objects and lists; it must be one")
        plain, at = _as_json(text, start.start())
        try:
            value = json.loads(plain, strict=False, parse_constant=_no_number)
        except ValueError as error:  # passing over it could lose what it says
            raise Unfit(f"the reply has JSON in it that cannot be read: {getattr(error, 'msg', 'a number')}") from error
        yield value


def _as_json(text: str, start: int) -> tuple[str, int]:
    """Parse a bracketed expression; return it as JSON, and its end."""
    out: list[str] = []
    depth = 0
    at = start
    while found := _TOKEN.match(text, at):
        at = found.end()
        token = found.group()
        match found.lastgroup:
            case "nothing":
                continue
            case "unended":
                break
            case "quoted":
                token = f'"{_ESCAPE_OR_QUOTE.sub(_escape, token[1:-1])}"'
            case "mark" | "word":
                token = _PLAIN.get(token, token)
        if token in ("{", "["):
            depth += 1
            if depth > DEPTH:
                raise Unfit(f"the reply has lists and objects in each other, over {DEPTH} deep")
        elif token in ("}", "]"):
            depth -= 1
            if out[-1] == ",":
                out.pop()
        out.append(token if found.lastgroup != "word" else f" {token} ")  # two words stay two
        if not depth:
            return "".join(out), at
    raise Unfit("the reply is cut off: what it begins, it does not end")


def _escape(found: re.Match[str]) -> str:
    return {'"': '\\"', "\\'": "'"}.get(found.group(), found.group())


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no number")


def _readings(value: Any) -> Iterator[Any]:
    """Yield a value, and what a wrapper around it holds."""
    yield value
    for _ in range(WRAPPERS):
        match value:
            case {"name": str(), "arguments": inner} | {"name": str(), "parameters": inner}:
                value = next(_values(inner), None) if isinstance(inner, str) else inner
            case dict() if LIST in value:
                value = value[LIST]
            case dict() if len(value) == 1:
                (value,) = value.values()
            case [inner]:
                value = inner
            case _:
                return
        yield value


def _empty(schema: Schema) -> Any:
    """Return an empty list for a reply of NONE."""
    lists = [name for name, one in schema.get("properties", {}).items() if one["type"] == "array"]
    found, wrong = fit([] if schema["type"] == "array" else {name: [] for name in lists}, schema)
    if wrong or not (lists or found == []):
        raise Unfit("the reply must be an object in {}, and not NONE")
    return found


# ------------------------------------------------------------------ from values to what the schema has


def _object(value: dict[str, Any], schema: Schema, wrong: list[str], path: str) -> dict[str, Any]:
    named: Mapping[str, Schema] = schema.get("properties", {})
    others = schema.get("additionalProperties")
    if value and named and not isinstance(others, dict) and not named.keys() & value.keys():
        wrong.append(f"{path or 'the reply'} has none of {', '.join(named)}")
        return {}
    dot = f"{path}." if path else ""
    wrong += [f"{dot}{name} is missing" for name in schema.get("required", ()) if name not in value]
    found = {name: _fit(value[name], one, wrong, dot + name) for name, one in named.items() if name in value}
    if isinstance(others, dict):
        for name in (name for name in value if name not in named):  # which the reply chose, so no message shows it
            found[_UNSTORABLE.sub("\ufffd", name)] = _fit(value[name], others, wrong, f"{dot}an entry")
    return found


def _is_a(value: Any, name: str) -> bool:
    if name in ("number", "integer"):
        finite = type(value) in (int, float) and -sys.float_info.max <= value <= sys.float_info.max
        return finite and (name == "number" or value == int(value))
    return isinstance(value, _TYPES[name])


def _wanted(schema: Schema, types: list[str]) -> str:
    """Describe what a value must be."""
    if "enum" in schema:
        return f"one of {', '.join('null' if one is None else str(one) for one in schema['enum'])}"
    bounds = [f" {word} {schema[key]}" for word, key in (("from", "minimum"), ("to", "maximum")) if key in schema]
    return " or ".join(_WORDS[name] for name in types) + "".join(bounds)


def _range(schema: Schema, what: str) -> str:
    low, high = schema.get(f"min{what}"), schema.get(f"max{what}")
    return f"{low} to {high}" if low and high is not None else f"at most {high}" if high is not None else f"at least {low}"
