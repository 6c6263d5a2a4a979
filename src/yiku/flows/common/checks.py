"""
Argument validation: types, sizes, formats, the `where` grammar.

Each function returns the value as the flow uses it, or raises InvalidInput (or one of its children)
with the name of the argument and what to do. Nothing is written before all checks have passed.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from yiku.errors import InvalidFilter, InvalidInput, TooLarge
from yiku.files.vault import expand_home
from yiku.types import Condition, Filter, Group, Kind

TEXT_BYTES = 64 * 1024  # of one statement, or inline of one turn
CONTENT_BYTES = 64 * 1024 * 1024  # of one turn; beyond 64 KiB it becomes a blob
METADATA_BYTES = 16 * 1024
NAME_CHARS = 256  # session, speaker, agent, project, tag, entity
PATH_BYTES = 4_096  # as Linux has it
QUESTION_CHARS = 100_000
LIMIT_AT_MOST = 10_000
LIST_AT_MOST = 256  # tags, entities, relations of one memory
TURNS_AT_MOST = 100_000  # of one call
JSON_DEPTH = 32
JSON_ENTRIES = 500_000  # of one level
_LEAVES = frozenset((str, int, float, bool, type(None)))  # what holds nothing, and nearly everything there is
FILTER_PARTS = 100
CONTAINED_CHARS = 256  # looked for in each row, from each of its characters on
FUTURE_ALLOWED = timedelta(days=1)
EARLIEST = datetime(1, 1, 3, tzinfo=UTC)  # what lies nearer to the ends of the calendar cannot be shown in every offset
LATEST = datetime(9999, 12, 29, tzinfo=UTC)
E = TypeVar("E", bound=StrEnum)
_SURROGATE = re.compile("[\ud800-\udfff]")
_JSON_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")  # not the six characters that a program writes for it


def text(value: object, name: str, *, at_most: int = TEXT_BYTES, empty: bool = False, advice: str = "") -> str:
    """
    Check a string: no NUL or lone surrogates, at most so many bytes in UTF-8.

    advice: where it is too long, instead of that for a text which is to be stored
    """
    if not isinstance(value, str):
        refuse(name, f"must be text, not {type(value).__name__}")
    if len(value) > at_most:
        raise TooLarge(f"{name} has {len(value.encode(errors='surrogatepass')):,} bytes; at most {at_most:,}", advice)
    if "\0" in value:
        refuse(name, f"has a NUL character at {value.index(chr(0))}")
    if not value.isascii():
        if found := _SURROGATE.search(value):
            refuse(name, f"has a lone surrogate at {found.start()}; decode it as UTF-8")
        if (size := len(value.encode())) > at_most:
            raise TooLarge(f"{name} has {size:,} bytes; at most {at_most:,}", advice)
    if not empty and not value.strip():
        refuse(name, "is empty")
    return value


def question(value: object, what: str = "question") -> str:
    """Check what is searched for."""
    return text(value, what, at_most=QUESTION_CHARS, advice="Ask in fewer words.")


def name(value: object, what: str) -> str:
    """Check a short name: one line, without surrounding space."""
    if type(value) is str and len(value) <= NAME_CHARS and value.isprintable() and value == value.strip() != "":
        return value  # nearly every name there is, at a tenth of the cost
    found = text(value, what, at_most=NAME_CHARS * 4).strip()
    if len(found) > NAME_CHARS or len(found.splitlines()) > 1 or any(ord(c) < 32 or ord(c) == 127 for c in found):
        refuse(what, f"must be one line of at most {NAME_CHARS} characters")
    return found


def optional_name(value: object, what: str) -> str | None:
    """Check a name, or None."""
    return None if value is None else name(value, what)


def names(value: object, what: str) -> tuple[str, ...]:
    """Check a list of names; return them distinct, in order."""
    if isinstance(value, str) or not isinstance(value, Iterable) or isinstance(value, Mapping):
        refuse(what, "must be a list of names")
    found = [name(item, what) for item in islice(value, LIST_AT_MOST + 1)]
    if len(found) > LIST_AT_MOST:
        raise TooLarge(f"{what} has more than {LIST_AT_MOST} entries")
    return tuple(dict.fromkeys(found))


def lines(value: object, what: str) -> tuple[str, ...]:
    """Check a list of texts."""
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
        refuse(what, "must be a list of texts")
    found = [text(item, what, empty=True) for item in islice(value, LIST_AT_MOST + 1)]
    if len(found) > LIST_AT_MOST:
        raise TooLarge(f"{what} has more than {LIST_AT_MOST} entries")
    return tuple(found)


def triples(value: object, what: str) -> tuple[tuple[str, str, str], ...]:
    """Check relations: (subject, relation type, object) each."""
    if not isinstance(value, Sequence) or isinstance(value, str):
        refuse(what, "must be a list of (subject, relation type, object)")
    if len(value) > LIST_AT_MOST:
        raise TooLarge(f"{what} has {len(value)} entries; at most {LIST_AT_MOST}")
    found = [
        item if isinstance(item, (tuple, list)) and len(item) == 3 else refuse(what, "needs three names each") for item in value
    ]
    return tuple((name(s, what), name(r, what), name(o, what)) for s, r, o in found)


def fraction(value: object, what: str) -> float:
    """Check a number from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:  # not-a-number fails it too
        refuse(what, "must be a number from 0 to 1")
    return float(value)


def integer(value: object, what: str, *, at_least: int = 0, at_most: int = LIMIT_AT_MOST) -> int:
    """Check an integer within bounds."""
    if isinstance(value, bool) or not isinstance(value, int) or not at_least <= value <= at_most:
        refuse(what, f"must be a whole number from {at_least} to {at_most:,}")
    return value


def flag(value: object, what: str) -> bool:
    """Check a bool; truthy values are refused."""
    if not isinstance(value, bool):
        refuse(what, "must be true or false")
    return value


def path(value: object, what: str) -> Path:
    """Check a path; return it absolute."""
    found = os.fspath(value) if isinstance(value, (str, os.PathLike)) else None
    if not isinstance(found, str):
        refuse(what, "must be a path")
    try:
        return expand_home(text(found, what, at_most=PATH_BYTES)).absolute()
    except RuntimeError as error:
        refuse(what, f"is no path here: {error}")


def optional_call(value: object, what: str) -> None:
    """Check a callable, or None."""
    if value is not None and not callable(value):
        refuse(what, "must be a function")


def optional_seconds(value: object, what: str) -> None:
    """Check a number of seconds, 0 or more, or None."""
    if value is not None and (isinstance(value, bool) or not isinstance(value, (int, float)) or not value >= 0):
        refuse(what, "must be a number of seconds, 0 or more")


def has_method(value: object, does: str, what: str) -> None:
    """Check that an object of the caller's has this method, or is None."""
    if value is not None and not callable(getattr(value, does, None)):
        refuse(what, f"must be an object with `{does}`, not {type(value).__name__}")


def enum_member(value: object, options: type[E], what: str) -> E:
    """Look up a member of an enumeration by name or alias."""
    if isinstance(value, str) and len(value) <= NAME_CHARS:
        with suppress(ValueError):
            return options(value)
    refuse(what, f"{shown(value)} is not one of {', '.join(options)}")


def time(value: Any, what: str, *, now: datetime) -> datetime:
    """Check a time: a datetime or ISO 8601 text; without an offset, that of `now`."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value.strip() if len(value) <= NAME_CHARS else "")
        except ValueError:
            refuse(what, f"{shown(value)} is not a time; write 2026-03-02 or 2026-03-02T09:14:00+01:00")
    if not isinstance(value, datetime):
        refuse(what, f"must be a time, not {type(value).__name__}")
    if value.tzinfo is None:
        value = value.replace(tzinfo=now.tzinfo)
    try:
        in_range = EARLIEST <= value.astimezone(UTC) <= LATEST
    except (OverflowError, ValueError):
        in_range = False
    if not in_range:
        refuse(what, f"{value} is out of range")
    offset = value.utcoffset()
    if offset is None or offset.seconds % 60 or offset.microseconds:
        refuse(what, f"{value} has an offset that is not whole minutes")
    found: datetime = value
    return found


def optional_time(value: object, what: str, *, now: datetime) -> datetime | None:
    """Check a time, or None."""
    return None if value is None else time(value, what, now=now)


def said_at(value: object, *, now: datetime) -> tuple[datetime, bool]:
    """Check when something was said; a time over a day ahead counts as now. Return it, and whether it was ahead."""
    if value is None:
        return now, False
    at = time(value, "said_at", now=now)
    return (now, True) if at > now + FUTURE_ALLOWED else (at, False)


def metadata(value: object, what: str = "metadata", *, at_most: int = METADATA_BYTES) -> dict[str, Any]:
    """Check a JSON object of bounded size and depth."""
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        refuse(what, "must be a JSON object with text keys")
    return dict(json_value(dict(value), what, at_most=at_most))


def json_value(value: Any, what: str, *, at_most: int) -> Any:
    """Check a JSON value of bounded size and depth."""
    check_nesting(value, what, at_most)
    try:
        written = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        refuse(what, f"is not JSON: {error}")
    text(written, what, at_most=at_most)
    if "u0000" in written and _JSON_NUL.search(written):
        refuse(what, "has a NUL character")
    return json.loads(written)


def check_nesting(value: Any, what: str, at_most: int) -> None:
    """Refuse deep, endless or very wide nesting, and keys that are not text, before anything recursive runs."""
    layer, most = [value], min(at_most, JSON_ENTRIES)
    for _ in range(JSON_DEPTH):
        layer = list(islice((item for outer in layer if type(outer) not in _LEAVES for item in _inside(outer, what)), most + 1))
        if not layer:
            return
        if len(layer) > most:
            raise TooLarge(f"{what} has over {most:,} entries")
        if any(type(item) is str and len(item) > at_most for item in layer):
            raise TooLarge(f"{what} has a text of over {at_most:,} bytes")
    refuse(what, f"is nested deeper than {JSON_DEPTH} levels")


def _inside(value: Any, what: str) -> Iterable[Any]:
    """Return the values in a JSON object or list."""
    if not isinstance(value, Mapping):
        return value if isinstance(value, (list, tuple, set, frozenset)) else ()
    if strange := [key for key in value if not isinstance(key, str)]:
        refuse(what, f"has a key that is not text: {shown(strange[0])}")
    return value.values()


# ------------------------------------------------------------------ filters

OPERATORS = frozenset("eq ne gt gte lt lte in nin contains icontains exists".split())
_TIMES = frozenset("said_at recorded_at valid_from valid_to expires_at created_at updated_at".split())
_FIELDS = (
    frozenset(
        "id kind standing state content subject predicate object cardinality flag importance confidence strength priority"
        " pinned retrieved used mentioned origin trust method agent project external_id tags entities session"
        " role speaker parent actor position".split()
    )
    | _TIMES
)
_ALIASES = {
    "type": "kind",
    "tag": "tags",
    "entity": "entities",
    "session_id": "session",
    "agent_id": "agent",
    "run_id": "session",
}


def where(value: object, *, now: datetime) -> Filter | None:
    """Parse a `where` filter: {field: value or {operator: value}}, with groups under AND, OR, NOT."""
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise InvalidFilter(f"{shown(value)} is not an object")
    check_nesting(value, "where", METADATA_BYTES)
    json_value(_jsonable(value), "where", at_most=METADATA_BYTES)
    count = [0]
    return _group(value, now, count)


def _jsonable(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {key: _jsonable(entry) for key, entry in value.items()}
    return [_jsonable(v) for v in value] if isinstance(value, (list, tuple, set, frozenset)) else value


def _group(value: object, now: datetime, count: list[int]) -> Filter:
    if not isinstance(value, Mapping):
        raise InvalidFilter(f"{shown(value)} is not an object")
    parts: list[Filter] = []
    for key, entry in value.items():
        how = key.lstrip("$").casefold()
        if how in ("and", "or", "not"):
            inner = entry if isinstance(entry, (list, tuple)) else [entry]
            _count(count, len(inner))
            if not all(inner):
                raise InvalidFilter(f"{key} needs at least one condition")
            parts.append(Group(how, tuple(_group(item, now, count) for item in inner)))
        else:
            parts.extend(_conditions(key, entry, now, count))
    return parts[0] if len(parts) == 1 else Group("and", tuple(parts))


def _conditions(field: str, entry: object, now: datetime, count: list[int]) -> list[Filter]:
    field = _ALIASES.get(field, field)
    if field not in _FIELDS and not (field.startswith("metadata.") and len(field) > len("metadata.")):
        raise InvalidFilter(f"there is no field {field[:60]!r}; known are {', '.join(sorted(_FIELDS))} and metadata.<key>")
    pairs = (
        entry.items()
        if isinstance(entry, Mapping)
        else [("in" if isinstance(entry, (list, tuple, set, frozenset)) else "eq", entry)]
    )
    if entry == {}:
        raise InvalidFilter(f"{field} needs an operator")
    found: list[Filter] = []
    for name_, operand in pairs:
        _count(count, 1)
        operator = name_.lstrip("$")
        if operator not in OPERATORS:
            raise InvalidFilter(f"there is no operator {operator[:40]!r}; known are {', '.join(sorted(OPERATORS))}")
        found.append(Condition(field, operator, _operand(field, operator, operand, now)))
    return found


def _count(count: list[int], more: int) -> None:
    count[0] += more
    if not more or count[0] > FILTER_PARTS:
        raise InvalidFilter(f"a filter has 1 to {FILTER_PARTS} conditions")


def _operand(field: str, operator: str, value: Any, now: datetime) -> Any:
    if operator == "exists":
        return flag(value, f"where {field} exists")
    if operator in ("in", "nin"):
        if not isinstance(value, (list, tuple, set, frozenset)):
            raise InvalidFilter(f"{field} {operator} needs a list")
        return [_operand(field, "eq", item, now) for item in value]
    if value is not None and not isinstance(value, (str, int, float, bool, datetime)):
        raise InvalidFilter(f"{field} {operator} needs a plain value")
    if operator in ("contains", "icontains") and isinstance(value, str) and len(value) > CONTAINED_CHARS:
        raise InvalidFilter(f"{field} {operator} takes at most {CONTAINED_CHARS} characters")
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise InvalidFilter(f"{field} {operator} has a number of more than 64 bits")
    if field in _TIMES:
        return time(value, f"where {field}", now=now)
    if isinstance(value, datetime):
        raise InvalidFilter(f"{field} is not a time; compare it with text")
    if field == "kind":
        return enum_member(value, Kind, "where kind")
    return value


def shown(value: object) -> str:
    """Return a value as an error message may show it: short, on one line, without calling the object's own repr."""
    if isinstance(value, str):
        return repr(value[:40])
    if value is None or isinstance(value, (bool, float)) or (isinstance(value, int) and abs(value) < 10**20):
        return repr(value)
    return f"a value of type {type(value).__name__}"


def refuse(what: str, why: str) -> NoReturn:
    """Raise InvalidInput, naming the argument and the reason."""
    raise InvalidInput(f"{what} {why}")
