"""
Importer of memories of mem0, as its library and its API return them.

    {"results": [{"id", "memory", "created_at", "updated_at", "user_id", "agent_id", "run_id", "categories", "metadata"}, …]}
    or the list alone, or the pages of `get_all` one behind the other

Each memory becomes a statement of origin import, said when it was last updated; its categories become tags. A memory that has another
text in a newer file is a new statement, which takes the place of the old one as if it had been said later. Whose it is
stands in the metadata: a file with the memories of several people should be imported into a scope for each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from yiku.interfaces import importers
from yiku.interfaces.importers import Consumed, Line, Place, json_items
from yiku.types import BadRecord, ImportRecord, MemoryRecord, SkippedRecord

TAGS = 20  # of one memory
IDS = ("user_id", "agent_id", "app_id", "run_id", "actor_id", "role", "created_at", "updated_at")


def read(path: Place, *, consumed: Consumed | None = None) -> Iterator[ImportRecord]:
    """Yield the memories of a file, in order."""
    number = 0
    for line in json_items.objects(path, consumed):
        if isinstance(line, BadRecord):
            number += 1
            yield BadRecord(number, line.why)
            continue
        results = line.record.get("results")
        items = results if isinstance(results, list) and "memory" not in line.record else [line.record]
        if not items:
            yield SkippedRecord(number + 1, "empty")
        for item in items:
            number += 1
            yield _memory(number, item, line)


def _memory(number: int, item: object, line: Line) -> ImportRecord:
    """Convert one memory to a statement."""
    if not isinstance(item, dict):
        return BadRecord(number, "is not an object")
    text, id = item.get("memory"), importers.one_line(item.get("id"))
    if not isinstance(text, str) or id is None:
        return BadRecord(number, "is not a memory: it has no " + ("memory" if id else "id"))
    if not text.strip():
        return SkippedRecord(number, "empty")
    categories = item.get("categories")
    tags = [tag for one in categories if (tag := importers.one_line(one))][:TAGS] if isinstance(categories, list) else []
    about = {**_mapping(item.get("metadata")), "mem0_id": id, **{key: item[key] for key in IDS if isinstance(item.get(key), str)}}
    details: dict[str, Any] = {
        "said_at": importers.time(item.get("updated_at")) or importers.time(item.get("created_at")),
        "origin": "import",
        "external_id": f"mem0#{id}#{importers.fingerprint(text.strip())}",
        "tags": tags,
        "metadata": importers.bounded(about, replaced=line.replaced),
    }
    return MemoryRecord(number, text.strip(), {key: value for key, value in details.items() if value})


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
