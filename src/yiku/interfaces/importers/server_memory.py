"""
Importer of the file of the MCP reference server "memory": JSON Lines with a graph.

    {"type": "entity", "name": "Mei", "entityType": "person", "observations": ["drinks oolong", …]}
    {"type": "relation", "from": "Mei", "to": "Oslo", "relationType": "lives_in"}

An observation becomes a statement, with its entity before it; a relation becomes one with subject, predicate and object. The file has
neither ids nor times: an id is made from the words, so that importing again adds nothing, and the time is that of the file. What was
removed there since the last import is not removed here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from yiku.interfaces import importers
from yiku.interfaces.importers import Consumed, Line, Place
from yiku.types import BadRecord, ImportRecord, MemoryRecord, SkippedRecord


def read(path: Place, *, consumed: Consumed | None = None) -> Iterator[ImportRecord]:
    """Yield the observations and relations of a file, in order."""
    said_at = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    for line in importers.objects(path, consumed):
        if isinstance(line, BadRecord):
            yield line
        elif line.record.get("type") == "entity":
            yield from _entity(line, said_at)
        elif line.record.get("type") == "relation":
            yield _relation(line, said_at)
        else:
            yield BadRecord(line.number, "is neither an entity nor a relation")


def _entity(line: Line, said_at: datetime) -> Iterator[ImportRecord]:
    name, type_ = importers.one_line(line.record.get("name")), importers.one_line(line.record.get("entityType"))
    observations = line.record.get("observations")
    if name is None or not isinstance(observations, list):
        yield BadRecord(line.number, "is an entity without " + ("observations" if name else "a name"))
        return
    if not observations:
        yield SkippedRecord(line.number, "entity without observations")
    for text in observations:
        if not isinstance(text, str):
            yield BadRecord(line.number, f"entity {name!r}: an observation is not a text")
        elif not text.strip():
            yield SkippedRecord(line.number, "empty")
        else:
            about = {"entity": name, "entityType": type_}
            yield _statement(line, f"{_spoken(name)}: {text.strip()}", said_at, about, {"entities": [_spoken(name)]})


def _relation(line: Line, said_at: datetime) -> ImportRecord:
    parts = [importers.one_line(line.record.get(key)) for key in ("from", "relationType", "to")]
    if not all(parts):
        return BadRecord(line.number, "is a relation without from, to or relationType")
    subject, predicate, object_ = (_spoken(str(part)) for part in parts)
    slot = {"subject": subject, "predicate": predicate, "object": object_, "cardinality": "multi", "entities": [subject, object_]}
    about = dict(zip(("from", "relationType", "to"), parts, strict=True))
    return _statement(line, f"{subject} {predicate} {object_}", said_at, about, slot)


def _statement(line: Line, text: str, said_at: datetime, about: Mapping[str, Any], details: Mapping[str, Any]) -> MemoryRecord:
    given = {
        "said_at": said_at,
        "origin": "import",
        "external_id": f"server-memory#{importers.fingerprint(*about.values(), text)}",
        "metadata": importers.bounded({key: value for key, value in about.items() if value}, replaced=line.replaced),
    }
    return MemoryRecord(line.number, text, {**given, **details})


def _spoken(name: str) -> str:
    """Return a name as it is written in a sentence: the graph joins words with underscores."""
    return name.replace("_", " ").strip() or name
