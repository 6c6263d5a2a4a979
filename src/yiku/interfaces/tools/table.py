"""
Table of the tools for models: names, arguments with types and bounds, results, hints. All schemas are made from it.

What a model reads about them stands in prompts/tools.*.toml, under the same names. The order is part of the table: a list of tools
is the same bytes each time, so that a host can cache its prompt.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from yiku.types import Kind

ArgumentType = Literal["string", "integer", "number", "boolean", "object", "strings", "statements"]

QUESTION_CHARS = 2_000
TEXT_CHARS = 20_000
EVIDENCE_CHARS = 600
NAME_CHARS = 300
LIST_ITEMS = 50  # of tags
STATEMENTS = 20
_KINDS = tuple(kind.value for kind in Kind)
_ROLES = ("user", "assistant", "system", "tool")
_TIME_CHARS = 64


@dataclass(frozen=True, slots=True)
class Argument:
    """
    An argument of a tool.

    most:   of a number, the largest value; of a text, its characters; of a list, its entries
    choice: the values that a text may have
    is_time: the text is a date or a time
    """

    name: str
    type: ArgumentType = "string"
    required: bool = False
    default: Any = None
    least: float = 0
    most: float = NAME_CHARS
    choice: tuple[str, ...] = ()
    is_time: bool = False


@dataclass(frozen=True, slots=True)
class Tool:
    """
    A tool.

    reads:       it changes nothing but the count of what was retrieved
    destructive: it may take something away; idempotent: a second call with the same arguments changes nothing more
    stores:      it stores words, and is refused in a folder that is kept out of memory
    learning:    it is for an agent that learns itself, where the settings name no model
    result:      the properties of its structured result
    inner:       the arguments by the names that the methods behind it have for them, as their errors begin; the longest first
    """

    name: str
    arguments: tuple[Argument, ...]
    result: Mapping[str, Any] = field(default_factory=dict)
    inner: Mapping[str, str] = field(default_factory=dict)
    reads: bool = True
    destructive: bool = False
    idempotent: bool = True
    stores: bool = False
    learning: bool = False


def _text(name: str, *, required: bool = False, most: int = NAME_CHARS, choice: tuple[str, ...] = ()) -> Argument:
    return Argument(name, required=required, most=most, choice=choice)


def _time(name: str) -> Argument:
    return Argument(name, most=_TIME_CHARS, is_time=True)


def _count(name: str, default: int, most: int, least: int = 1) -> Argument:
    return Argument(name, "integer", default=default, least=least, most=most)


_ID = _text("id", required=True)
_WINDOW = (_time("since"), _time("until"))
_FILTERED = {"where said_at": "since or until", "where": "tags"}
_FILTER = (_text("kind", choice=_KINDS), Argument("tags", "strings", most=LIST_ITEMS), *_WINDOW)

# ------------------------------------------------------------------ results: words of memory stand in `text` alone, fenced

_STRING, _INTEGER, _NUMBER, _BOOLEAN = ({"type": name} for name in ("string", "integer", "number", "boolean"))
_STRINGS = {"type": "array", "items": _STRING}
_ITEM = {
    "type": "object",
    "properties": {
        "id": _STRING,
        "type": {"type": "string", "enum": ["memory", "turn", "episode", "attachment", "note"]},
        "said_at": _STRING,
        "origin": {"type": "string", "enum": ["user", "assistant", "tool", "file", "import"]},
        "trust": _NUMBER,
        "state": _STRING,
        "relevance": _NUMBER,
        "superseded_by": _STRING,
        "routes": _STRINGS,
    },
    "required": ["id", "type", "said_at"],
}
_FOUND = {"text": _STRING, "items": {"type": "array", "items": _ITEM}, "notes": _STRINGS}
_SEARCHED = {**_FOUND, "confident": _BOOLEAN, "omitted": _INTEGER}
_CHANGED = {"outcome": _STRING, "id": _STRING, "state": _STRING, "text": _STRING, "notes": _STRINGS}
_STATUS = {
    "scope": _STRING,
    "memories": _INTEGER,
    "unconfirmed": _INTEGER,
    "turns": _INTEGER,
    "sessions": _INTEGER,
    "search": _STRING,
    "waiting": _INTEGER,
    "notes": _STRINGS,
}
_EXCERPT = {"excerpt": _STRING, "instructions": _STRING, "text": _STRING, "waiting": _INTEGER, "notes": _STRINGS}
_LEARNED = {"stored": _INTEGER, "left_out": _STRINGS, "waiting": _INTEGER, "notes": _STRINGS}

# ------------------------------------------------------------------ the tools

TOOLS: tuple[Tool, ...] = (
    Tool(
        "memory_search",
        (
            _text("query", required=True, most=QUESTION_CHARS),
            _count("limit", 8, 50),
            *_FILTER,
            Argument("min_score", "number", default=0.0, most=1),
            _time("as_of"),
            Argument("turns", "boolean", default=False),
            Argument("explain", "boolean", default=False),
        ),
        _SEARCHED,
        inner={"question": "query", **_FILTERED},
    ),
    Tool("memory_get", (_ID, _count("from_line", 1, 10_000_000), Argument("history", "boolean", default=False)), _FOUND),
    Tool(
        "memory_add",
        (
            _text("text", required=True, most=TEXT_CHARS),
            _text("evidence", most=EVIDENCE_CHARS),
            _text("kind", choice=_KINDS),
            Argument("tags", "strings", most=LIST_ITEMS),
            Argument("metadata", "object"),
            _time("expires_at"),
            _text("idempotency_key"),
        ),
        _CHANGED,
        reads=False,
        stores=True,
    ),
    Tool(
        "memory_update",
        (
            _ID,
            _text("text", most=TEXT_CHARS),
            _text("evidence", most=EVIDENCE_CHARS),
            Argument("tags", "strings", most=LIST_ITEMS),
            Argument("metadata", "object"),
        ),
        _CHANGED,
        reads=False,
        stores=True,
        destructive=True,
    ),
    Tool("memory_delete", (_ID,), _CHANGED, reads=False, destructive=True),
    Tool(
        "memory_list",
        (*_FILTER, _text("state", choice=("active", "candidate")), _count("limit", 20, 100), _count("offset", 0, 1_000_000, 0)),
        _FOUND,
        inner=_FILTERED,
    ),
    Tool("memory_timeline", (_text("id"), *_WINDOW, _count("limit", 20, 100)), _FOUND),
    Tool(
        "memory_traces",
        (
            _text("query", most=QUESTION_CHARS),
            _text("session"),
            _text("role", choice=_ROLES),
            _text("tool"),
            *_WINDOW,
            _count("limit", 5, 50),
        ),
        _FOUND,
        inner={"keyword": "query"},
    ),
    Tool("memory_status", (), _STATUS),
    Tool("memory_learn", (), _EXCERPT, reads=False, idempotent=False, learning=True),
    Tool(
        "memory_learned",
        (_text("excerpt", required=True), Argument("statements", "statements", required=True, most=STATEMENTS)),
        _LEARNED,
        inner={"id": "excerpt"},
        reads=False,
        stores=True,
        idempotent=False,
        learning=True,
    ),
)
STATEMENT: Mapping[str, Any] = {  # as a model's statements are asked for; a type that may be null is not portable, so none may
    "type": "object",
    "properties": {
        "type": {"type": "string", "enum": [*_KINDS]},
        "subject": _STRING,
        "predicate": _STRING,
        "object": _STRING,
        "content": _STRING,
        "importance": {"type": "number", "minimum": 0, "maximum": 1},
        "duration": {"type": "string", "enum": ["permanent", "30d", "7d", "24h", "session"]},
        "is_update": _BOOLEAN,
        "update_hint": _STRING,
        "updates": _INTEGER,
        "hedged": _BOOLEAN,
        "evidence": _STRING,
    },
    "required": ["type", "content", "evidence"],
}
