"""
Parse the JSON Lines of a Memory System folder, read-only, tolerating malformed lines and repeated ids.

    layer2/active/{facts,beliefs,summaries}.jsonl     active
    layer2/archive/{facts,beliefs,summaries}.jsonl    archived
    layer2/expired_log.jsonl                          archived, since their time was over
    layer2/pending.jsonl                              said, and not yet made a memory

The rest of an old home is derived (index, entity files, rankings, snapshot) or counted on the records (access log).
"""

from __future__ import annotations

import hashlib
import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

from yiku.errors import NotFound

TYPES = {"facts": "fact", "beliefs": "belief", "summaries": "summary"}
BY_LETTER = {"f": "fact", "b": "belief", "s": "summary"}
ACTIVE, ARCHIVED = "active", "archived"
STATES = {"active": ACTIVE, "archive": ARCHIVED}
BOM = "\ufeff"
TELLING_BYTES = 16  # of a text that is recognized inside of another: "Tea" is in too many
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class OldRecord:
    """A record: its id, unique in the old home; fact, belief or summary; active or archived, and why; its fields."""

    id: str
    type: str
    state: str
    reason: str | None
    fields: Mapping[str, Any]

    @property
    def content(self) -> str:
        """What it says."""
        return str(self.fields["content"]).strip()


class _File(NamedTuple):
    """A file of an old home: what its records are, empty where each says so itself, and their state."""

    name: str
    type: str
    state: str


FILES = (
    *(_File(f"{folder}/{name}.jsonl", type_, state) for folder, state in STATES.items() for name, type_ in TYPES.items()),
    _File("expired_log.jsonl", "", ARCHIVED),
    _File("pending.jsonl", "pending", ACTIVE),
)


@dataclass(slots=True)
class OldHome:
    """What was read: records, pending entries, what could not be used with the reason, the files and a hash of them all."""

    records: list[OldRecord] = field(default_factory=list)
    pending: list[OldRecord] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)
    same: int = 0  # lines that repeat a record with its id
    sha256: str = ""


def read(old: Path) -> OldHome:
    """Read an old home. Raises NotFound where there is none."""
    layer = old / "layer2"
    if not layer.is_dir():
        raise NotFound(f"{old} has no folder layer2", "Name the folder of the old memory, which has layer2/active.")
    home, digest, seen = OldHome(), hashlib.sha256(), dict[str, OldRecord]()
    for file in FILES:
        path = layer / file.name
        if not path.is_file():
            continue
        content = path.read_bytes()
        home.files.append(path)
        digest.update(f"{file.name}\0{len(content)}\0".encode() + content)
        for number, given in _lines(content):
            where = f"layer2/{file.name}:{number}"
            if isinstance(given, str):
                home.skipped.append((where, given))
            else:
                _take(home, seen, file, where, given)
    home.sha256 = digest.hexdigest()
    return home


def without(content: bytes, texts: Sequence[str]) -> bytes:
    """
    Return a file without the lines that have one of these texts as a value, or hold one of TELLING_BYTES anywhere.

    What is no JSON may be half of a line: there any of them counts.
    """
    gone = {text.strip() for text in texts} - {""}
    if not gone:
        return content
    said = {text: json.dumps(text, ensure_ascii=False)[1:-1] for text in gone}
    lines, left, held = content.split(b"\n"), list[bytes](), list[str]()
    read = dict(_lines(content))
    for number, line in enumerate(lines, 1):
        given, typed = read.get(number), line.decode("utf-8", "replace")
        if isinstance(given, Mapping):
            is_gone = not gone.isdisjoint(_values(given))
            typed = json.dumps(given, ensure_ascii=False) + typed
        else:
            is_gone = given is not None and any(words in typed for words in said.values())
        if not is_gone:
            left.append(line)
            held.append(typed)
    whole, ends = "\n".join(held), [*accumulate(len(one) + 1 for one in held)]
    found = set[int]()
    for words in (words for text, words in said.items() if len(text.encode()) >= TELLING_BYTES):
        at = whole.find(words)
        while at >= 0:
            found.add(place := bisect_right(ends, at))
            at = whole.find(words, ends[place])
    return b"\n".join(line for place, line in enumerate(left) if place not in found)


def _values(value: Any) -> Iterator[str]:
    """Yield each text of a JSON value, without the names of fields."""
    if isinstance(value, str):
        yield value.strip()
    for one in value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ():
        yield from _values(one)


def _take(home: OldHome, seen: dict[str, OldRecord], file: _File, where: str, given: Mapping[str, Any]) -> None:
    """Take one record, with an id of its own."""
    given = next((inner for key in ("record", "memory") if isinstance(inner := given.get(key), dict)), given)  # as a log wraps it
    content = given.get("content")
    if not isinstance(content, str) or not content.strip():
        home.skipped.append((_name(given) or where, "has no content"))
        return
    id = _name(given) or f"{where}#{_short(content)}"
    type_ = file.type or _type_of(id, given)
    record = OldRecord(id, type_, file.state, None if file.type else "expired", given)
    if id in seen:
        if seen[id].content == record.content and seen[id].type == type_:
            home.same += 1  # the first counts: active before archived
            return
        record = replace(record, id=f"{id}#{_short(type_ + content)}")
        if record.id in seen:
            home.same += 1
            return
    seen[record.id] = record
    (home.pending if type_ == "pending" else home.records).append(record)


def _type_of(id: str, given: Mapping[str, Any]) -> str:
    """Return what a record of a log is, by its own word or its id."""
    named = str(given.get("type") or "")
    return TYPES.get(named, named if named in TYPES.values() else BY_LETTER.get(id[:1], "fact") if id[1:2] == "_" else "fact")


def _lines(content: bytes) -> Iterator[tuple[int, Mapping[str, Any] | str]]:
    """Yield each line that is not blank by its number: an object, or why it is none."""
    for number, line in enumerate(content.split(b"\n"), 1):
        text = line.decode("utf-8", "replace").removeprefix(BOM).strip(" \t\r\0")
        if not text:
            continue
        try:
            value = json.loads(text, strict=False, parse_constant=str)
        except (ValueError, RecursionError) as error:
            yield number, f"is no JSON: {error}"
            continue
        yield number, _readable(value) if isinstance(value, dict) else "is no object"


def _readable(value: Any) -> Any:
    """Replace what no database can store."""
    if isinstance(value, str):
        return _UNSTORABLE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_readable(item) for item in value]
    if isinstance(value, dict):
        return {_readable(key): _readable(item) for key, item in value.items()}
    return value


def _name(given: Mapping[str, Any]) -> str | None:
    id = given.get("id")
    text = str(id).strip() if isinstance(id, (str, int)) and not isinstance(id, bool) else ""
    return text if text.isprintable() and text else None


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]
