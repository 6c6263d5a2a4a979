"""
Parse and validate the lines of an export; the checks are those of `record` and `remember`.

A file may come from anywhere, so its checksums say nothing of what it holds. Which check a field gets follows from
the type that its dataclass gives it, and from its name where the type says too little; so a new field is checked,
too. What fails raises InvalidInput with the name of the field. Texts are cleaned like everything that comes in.
"""

from __future__ import annotations

import base64
import binascii
import re
import types
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING, fields, is_dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal, NoReturn, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from yiku.errors import Damaged, InvalidInput, NotFound
from yiku.files import blobs
from yiku.flows.common import checks
from yiku.flows.common.handle import Handle, content_hash
from yiku.flows.common.intake import clean, clean_file
from yiku.flows.home.export import KINDS
from yiku.flows.keep.record import ROLES
from yiku.flows.keep.remember import PRIORITIES
from yiku.rules.deciding import conflict
from yiku.rules.sessions.messages import holds
from yiku.types import Attachment, Cause, Record, Relation, SemanticMemory, Slot, Source, Standing, Turn

T = TypeVar("T")
Check = Callable[[Handle, Any, str], Any]

ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
BLOB = re.compile(r"[0-9a-f]{64}")
HASH_CHARS = 32  # of a content hash, in hex
ENTRIES = 100_000  # of one list
NUMBER = 2**53  # what JSON's readers agree on
NOTED_BYTES = 1_024  # that Yiku itself adds to metadata which were as large as they may be
STORES_OWN = frozenset("n scope changed left_out said_later".split())  # fields that each store gives anew, or never keeps
# What never changes in a version, or is counted without the journal: no change of columns may name it.
FIXED = STORES_OWN | frozenset(
    "id content content_hash subject predicate object cardinality slot method created_at updated_at retrieved used mentioned"
    " last_retrieved last_used last_mentioned entities relations sources".split()
)


# ------------------------------------------------------------------ fields


def field_types(kind: type[Any]) -> Mapping[str, Any]:
    """Return the fields of a dataclass that a line may contain, with their types."""
    if kind not in _HINTS:
        known = get_type_hints(kind)
        _HINTS[kind] = {entry.name: known[entry.name] for entry in fields(kind) if entry.name not in STORES_OWN}
    return _HINTS[kind]


_HINTS: dict[type[Any], Mapping[str, Any]] = {}


def parse(handle: Handle, kind: type[T], given: object) -> T:
    """Parse an object into a dataclass; missing fields are empty."""
    what = kind.__name__.removeprefix("Semantic").lower()
    if not isinstance(given, Mapping):
        checks.refuse(what, f"must be an object, not {checks.shown(given)}")
    if unknown := sorted(str(name)[:40] for name in given.keys() - field_types(kind).keys()):
        raise InvalidInput(f"{', '.join(unknown)[:80]}: not a field of a {what}")
    for entry in fields(kind):  # type: ignore[arg-type]
        if entry.default is MISSING and entry.default_factory is MISSING and given.get(entry.name) is None:
            raise InvalidInput(f"{entry.name} is missing")
    found = kind(**{name: field(handle, kind, name, value) for name, value in given.items()})
    if isinstance(found, Source):
        _check_span(found)
    return found


def field(handle: Handle, kind: type[Any], name: str, value: object) -> Any:
    """Parse one field of a dataclass."""
    hint = field_types(kind)[name]
    if isinstance(hint, types.UnionType) or get_origin(hint) is Union:
        if value is None:
            return None
        (hint,) = (one for one in get_args(hint) if one is not type(None))
    if value is None and get_origin(hint) in (tuple, *_OBJECTS):
        return () if get_origin(hint) is tuple else {}
    check = _CHECKS.get(f"{kind.__name__}.{name}") or _CHECKS.get(name)
    return check(handle, value, name) if check else _typed(handle, hint, name, value)


def columns(handle: Handle, given: object, what: str) -> dict[str, Any]:
    """Parse the changed columns of a memory."""
    if not isinstance(given, Mapping):
        checks.refuse(what, f"must be an object, not {checks.shown(given)}")
    if fixed := sorted(str(name)[:40] for name in given if name in FIXED or name not in field_types(SemanticMemory)):
        raise InvalidInput(f"{what} names {', '.join(fixed)[:80]}, which cannot change")
    with _field_errors(what):
        return {name: field(handle, SemanticMemory, name, value) for name, value in given.items()}


@contextmanager
def _field_errors(what: str) -> Iterator[None]:
    """Prefix errors inside a field with its name."""
    try:
        yield
    except InvalidInput as error:
        raise InvalidInput(f"{what}: {error.detail}") from error


def time(value: object, name: str) -> datetime:
    """Parse a time with its offset."""
    if not isinstance(value, str):
        checks.refuse(name, f"must be a time, not {checks.shown(value)}")
    at = checks.time(value, name, now=checks.LATEST)
    if datetime.fromisoformat(value.strip()).tzinfo is None:
        checks.refuse(name, f"{checks.shown(value)} has no offset")
    return at


def optional_time(value: object, name: str) -> datetime | None:
    """Parse a time, or None."""
    return None if value is None else time(value, name)


def cause(header: Mapping[str, Any]) -> Cause:
    """Parse an operation's header."""
    given = {name: header.get(name) for name in ("actor", "run", "reason")}
    fields = {name: None if value is None else checks.text(value, name, empty=True) for name, value in given.items()}
    return Cause(checks.name(header.get("operation"), "operation"), time(header.get("at"), "at"), **fields)


def id(value: object, name: str) -> str:
    """Parse an id as any store assigns them."""
    if not isinstance(value, str) or not ID.fullmatch(value):
        checks.refuse(name, f"{checks.shown(value)} is no id")
    return value


_OBJECTS = (Mapping, dict, get_origin(Mapping[str, Any]))


def _typed(handle: Handle, hint: Any, name: str, value: Any) -> Any:
    """Parse a value by its field's type alone."""
    origin = get_origin(hint)
    if hint is str:
        return clean(handle, checks.text(value, name, at_most=checks.CONTENT_BYTES, empty=True))
    if hint is bool:
        return checks.flag(value, name)
    if hint is int:
        return checks.integer(value, name, at_most=NUMBER)
    if hint is float:
        return checks.fraction(value, name)
    if hint is datetime:
        return time(value, name)
    if hint is bytes:
        return _hash(value, name)
    if origin is Literal:
        return value if isinstance(value, str) and value in get_args(hint) else _not_one_of(value, get_args(hint), name)
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return checks.enum_member(value, hint, name)
    if origin is tuple:
        return tuple(_typed(handle, get_args(hint)[0], name, entry) for entry in _listed(value, name))
    if origin in _OBJECTS:
        found = clean(handle, checks.metadata(value, name, at_most=checks.METADATA_BYTES + NOTED_BYTES))
        if get_args(hint)[1] is str:
            return {key: _typed(handle, str, name, entry) for key, entry in found.items()}
        return found
    if hint is Relation:
        return Relation(*(_text(handle, part, name) for part in _listed(value, name, exactly=3)))
    if is_dataclass(hint):
        with _field_errors(name):
            return parse(handle, cast(type[Any], hint), value)
    raise AssertionError(f"no check for {name}: {hint}")


def _text(handle: Handle, value: Any, name: str) -> str:
    """Parse the text of a statement or a part of it."""
    return clean(handle, checks.text(value, name))


def _name(handle: Handle, value: Any, name: str) -> str:
    return clean(handle, checks.name(value, name))


def _listed(value: Any, name: str, *, exactly: int | None = None) -> list[Any]:
    if not isinstance(value, list):
        checks.refuse(name, f"must be a list, not {checks.shown(value)}")
    if len(value) > ENTRIES:
        checks.refuse(name, f"has {len(value):,} entries; at most {ENTRIES:,}")
    if exactly is not None and len(value) != exactly:
        checks.refuse(name, f"needs {exactly} entries each")
    return value


def _hash(value: Any, name: str) -> bytes:
    if not isinstance(value, str) or not re.fullmatch(rf"[0-9a-f]{{{HASH_CHARS}}}", value):
        checks.refuse(name, f"{checks.shown(value)} is no hash")
    return bytes.fromhex(value)


def _not_one_of(value: Any, options: tuple[Any, ...], name: str) -> NoReturn:
    checks.refuse(name, f"{checks.shown(value)} is not one of {', '.join(options)}")


def _one_of(*options: str) -> Check:
    return lambda handle, value, name: value if value in options else _not_one_of(value, options, name)


def _whole(at_least: int, at_most: int) -> Check:
    return lambda handle, value, name: checks.integer(value, name, at_least=at_least, at_most=at_most)


def _days(handle: Handle, value: Any, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= 36_500:
        checks.refuse(name, "must be a number of days, at most 36,500")
    return float(value)


def _calls(handle: Handle, value: Any, name: str) -> tuple[Mapping[str, Any], ...]:
    """Parse tool calls or results."""
    given = _listed(value, name)
    if not all(isinstance(entry, Mapping) for entry in given):
        checks.refuse(name, "must be a list of objects")
    return tuple(clean(handle, checks.json_value(given, name, at_most=checks.CONTENT_BYTES)))


def _blob(handle: Handle, value: Any, name: str) -> str:
    if not isinstance(value, str) or not BLOB.fullmatch(value):
        checks.refuse(name, f"{checks.shown(value)} is no name of a blob")
    return value


def _each(check: Check) -> Check:
    return lambda handle, value, name: tuple(check(handle, entry, name) for entry in _listed(value, name))


# Where a field's type says too little; with the name of the dataclass where another has a field of that name.
_CHECKS: Mapping[str, Check] = {
    **dict.fromkeys(("id", "line", "superseded_by", "Source.turn"), lambda handle, value, name: id(value, name)),
    **dict.fromkeys("session speaker agent project external_id parent actor user_id".split(), _name),
    **dict.fromkeys("SemanticMemory.content subject predicate object slot basis reason flag".split(), _text),
    "flagged_with": _each(lambda handle, value, name: id(value, name)),
    "SemanticMemory.tags": _each(_name),
    "SemanticMemory.entities": _each(_text),
    "role": _one_of(*ROLES),
    "priority": _one_of(*PRIORITIES),
    "strength": _whole(0, 1_000),
    "ttl_days": _whole(1, 36_500),
    "position": _whole(-1, NUMBER),
    "half_life_days": _days,
    "blob": _blob,
    "tool_calls": _calls,
    "tool_results": _calls,
}


# ------------------------------------------------------------------ whole values


def memory(handle: Handle, line: Mapping[str, Any]) -> SemanticMemory:
    """Parse a memory as it was when added."""
    given = {name: value for name, value in line.items() if name not in ("type", "was", "made_of", "crc")}
    found = parse(handle, SemanticMemory, given)
    was = line.get("was") or {}
    if not isinstance(was, Mapping):
        checks.refuse("was", f"must be an object, not {checks.shown(was)}")
    before = columns(handle, {name: value for name, value in was.items() if name != "sources"}, "was")
    if "sources" in was:
        before["sources"] = field(handle, SemanticMemory, "sources", was["sources"])
    found = replace(found, **before, updated_at=found.created_at if was else found.updated_at)
    if not found.sources:
        checks.refuse("sources", "are missing: a memory needs at least one")
    if found.superseded_by == found.id:
        checks.refuse("superseded_by", "names the memory itself")
    return replace(found, content_hash=_said(found))


def made_of(line: Mapping[str, Any]) -> tuple[str, ...]:
    """Parse the ids of the statements that a summary was made from; empty for other memories."""
    found = tuple(id(entry, "made_of") for entry in _listed(line.get("made_of") or [], "made_of"))
    if found and line.get("standing") != Standing.SUMMARY:
        checks.refuse("made_of", "belongs to a summary")
    return found


def source(handle: Handle, given: object) -> Source:
    """Parse one source of a memory."""
    with _field_errors("source"):
        return parse(handle, Source, given)


def _check_span(found: Source) -> None:
    if (found.start is None) is not (found.end is None) or (found.start is not None and found.turn is None):
        checks.refuse("start", "needs an end and a turn")
    if found.start is not None and found.end is not None and not 0 <= found.start < found.end <= blobs.LONGEST_BYTES:
        checks.refuse("end", f"must be above start, which must be 0 or more, not {found.start} and {found.end}")


def sources(handle: Handle, given: object) -> tuple[Source, ...]:
    """Parse several sources of a memory."""
    return tuple(source(handle, one) for one in _listed(given, "sources"))


def _said(memory: SemanticMemory) -> bytes:
    """Return the content hash, recomputed if a file's hash does not fit."""
    slot_fields = (memory.subject, memory.predicate or "", memory.object or "", memory.cardinality, memory.slot or "")
    right = conflict.text_hash(memory.content, Slot(*slot_fields) if memory.subject else None)  # type: ignore[arg-type]
    return memory.content_hash if memory.content_hash == conflict.text_hash(memory.content, None) else right


def turn(handle: Handle, line: Mapping[str, Any], *, keep: bool) -> tuple[Turn, list[str]]:
    """
    Parse a turn as it was when recorded; return it and the blobs that are missing.

    keep: its long contents are blobs on the disk already
    """
    given = {name: value for name, value in line.items() if name not in ("type", "hidden_at", "learned", "crc")}
    found = parse(handle, Turn, given)
    if not found.content.strip() and not found.tool_calls and not found.tool_results and not holds(found.metadata):
        checks.refuse("content", "is empty, and there are no tool_calls or tool_results")
    lost: list[str] = []
    results = tuple(_result(handle, result, keep, lost) for result in found.tool_results)
    if found.blob is not None and _is_here(handle, found.blob, found.content):
        return replace(found, tool_results=results), lost
    lost += [found.blob] if found.blob is not None else []
    found = replace(found, blob=None, content_hash=content_hash(found.content), tool_results=results)
    if not blobs.is_long(found.content):
        return found, lost
    blob = blobs.put(handle.blobs, found.content) if keep else None
    return replace(found, blob=blob, content=blobs.excerpt(found.content)), lost


def _result(handle: Handle, result: Mapping[str, Any], keep: bool, lost: list[str]) -> Mapping[str, Any]:
    """Parse a tool result; a blob name counts only if the blob is here."""
    content, blob = result.get("content"), result.get("blob")
    if "blob" in result:
        if isinstance(blob, str) and isinstance(content, str) and BLOB.fullmatch(blob) and _is_here(handle, blob, content):
            return result
        lost.append(checks.shown(blob))
        result = {name: value for name, value in result.items() if name != "blob"}
    if not keep or not isinstance(content, str) or not blobs.is_long(content):
        return result
    return {**result, "content": blobs.excerpt(content), "blob": blobs.put(handle.blobs, content)}


def _is_here(handle: Handle, blob: str, excerpt: str) -> bool:
    """Tell whether this home has the content with this excerpt."""
    try:
        return blobs.excerpt(blobs.get(handle.blobs, blob)) == excerpt
    except (NotFound, Damaged, UnicodeDecodeError):
        return False


def record(handle: Handle, line: Mapping[str, Any], *, keep: bool) -> Record:
    """Parse an episode, scratchpad or attachment; with `keep` store its content as a blob."""
    given = {name: value for name, value in line.items() if name not in ("type", "content_base64", "crc")}
    if line["type"] == "scratchpad":
        given.setdefault("user_id", handle.scope)
    whole = None
    if (content := line.get("content_base64")) is not None:
        whole = clean_file(handle, _decode(content))
        given["blob"] = blobs.name_of(whole)
    found: Record = parse(handle, KINDS[line["type"]], given)
    if not isinstance(found, Attachment) or found.blob is None:
        return found
    if whole is None:  # its content was missing where the file was made
        found = replace(found, blob=None)
        if found.local_path is None and found.url is None:
            checks.refuse("blob", "names a content that is not in the file")
    elif keep:
        blobs.put_bytes(handle.blobs, whole)
    return found


def _decode(content: object) -> bytes:
    try:
        whole = base64.b64decode(content, validate=True) if isinstance(content, str) else None
    except (binascii.Error, ValueError):
        whole = None
    if whole is None or len(whole) > blobs.LONGEST_BYTES:
        checks.refuse(
            "content_base64", "is no base64" if whole is None else f"has {len(whole):,} bytes; at most {blobs.LONGEST_BYTES:,}"
        )
    return whole
