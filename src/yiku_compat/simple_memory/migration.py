"""
Migrate SimpleMemory's database to Yiku: each memory to its own scope, verified, resumable, repeatable.

Each scope is one transaction, so a run that was killed has done none or all of a scope. A memory has a Yiku id made of its scope and
its old id, so the next run finds what is there. The same words of one type are active once: the newest, with the tags of
all, the highest strength, and active if one of them was; the others are its earlier versions.
"""

from __future__ import annotations

import hashlib
import json
import unicodedata
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from yiku import Memory
from yiku.errors import InvalidInput, InvalidScope, KeptOut
from yiku.types import OperationRecord
from yiku_compat.migration import Migrated, NotVerified
from yiku_compat.simple_memory import old_home
from yiku_compat.simple_memory.memories import KINDS
from yiku_compat.simple_memory.old_home import OldRecord
from yiku_compat.simple_memory.views import OLD_ID

NOTED = "simple_memory"  # the key of the metadata under which the rest stands
TRUST = 0.7  # as of everything that is imported
LONGEST = 120  # characters of an old id; of a longer one the hash is taken
PAGE = 5_000
SECONDS = 60.0
DOUBLE = "same words"  # in the reason of what Yiku itself archives as a second one
ERASED = "was erased here before"
KEPT_OUT = ("[private]", "[私密]")  # what is left of a text that is private as a whole
_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "yiku-compat:s1")


def migrate(
    old: Path | str, home: Path | str, *, scope: str | None = None, progress: Callable[[int], object] | None = None
) -> Migrated:
    """
    Migrate an old database, or the folder that holds it, into a Yiku home.

    scope:    only the memories of this one; the others are not read
    progress: called with the number of records so far, behind each scope
    Raises NotFound, InvalidInput, InvalidScope, NotVerified.
    """
    database = old_home.find(Path(old))
    found = old_home.read(database)
    by_scope: dict[str, list[OldRecord]] = {}
    for record in found.records:
        if scope in (None, record.scope):
            by_scope.setdefault(record.scope, []).append(record)
    imported, known, merged, read = 0, 0, 0, len(found.skipped)
    skipped = [*found.skipped]
    for name, records in by_scope.items():
        read += len(records)
        if not name:
            skipped += [(record.id, "its scope is empty") for record in records]
            continue
        try:
            with Memory(home, scope=name) as memory:
                done = _bring(memory, records)
        except InvalidScope as error:
            skipped += [(record.id, f"its scope is refused: {error.detail}") for record in records]
            continue
        imported, known, merged = imported + done.imported, known + done.known, merged + done.merged
        skipped += done.skipped
        if progress is not None:
            progress(read)
    if old_home.digest(database) != found.sha256:
        raise NotVerified(f"{database} was written to meanwhile")
    return Migrated(read, imported, known, merged, tuple(skipped), found.sha256)


def _bring(memory: Memory, records: Sequence[OldRecord]) -> Migrated:
    """Import the records of one scope, and compare what is stored with them. Raises NotVerified."""
    private = [record.id for record in records if "<" in record.judgment and _cleaned(memory, record.judgment) in KEPT_OUT]
    records = [record for record in records if record.id not in {*private}]
    planned = [(record.id, line) for group in _groups(records) for record, line in zip(group, _lines(group), strict=True)]
    ids = [line["id"] for _, line in planned]
    before = _stored(memory, ids)
    header = {"type": "operation", "at": datetime.now(UTC).isoformat(), "operation": "import", "changes": len(ids)}
    changes = tuple(enumerate(line for _, line in planned))
    report = memory.admin.import_([OperationRecord(0, memory.scope, None, header, changes)], source=NOTED, trust=True)
    refused = {planned[number][0]: why for number, why in report.problems}
    stored, there = _stored(memory, ids), before.keys()
    gone = [id for id, line in planned if line["id"] not in stored and id not in refused]
    other = [id for id, line in planned if line["id"] in stored and not _is_as_it_was(memory, line, stored, line["id"] in there)]
    if len(gone) > report.skipped.get("erased", 0) or other:
        named = ", ".join([*gone, *other][:5])
        raise NotVerified(f"of {len(ids)} in {memory.scope} {len(gone)} are missing, {len(other)} differ: {named}")
    fresh = stored.keys() - there
    double = sum(DOUBLE in stored[id].reason for id in fresh)
    return Migrated(
        read=len(ids),
        imported=len(fresh) - double,
        known=len(there),
        merged=double,
        skipped=(*((id, "is private") for id in private), *refused.items(), *((id, ERASED) for id in gone)),
        sha256="",
    )


# ------------------------------------------------------------------ what is given to the import


def _groups(records: Iterable[OldRecord]) -> list[list[OldRecord]]:
    """Group the records of a scope that say the same, the newest of each group last."""
    groups: dict[tuple[str, str], list[OldRecord]] = {}
    for record in records:
        words = " ".join(unicodedata.normalize("NFKC", record.judgment).casefold().split()).rstrip(".。!！")
        groups.setdefault((record.type, words), []).append(record)
    return [sorted(group, key=lambda record: (record.updated_at, record.id)) for group in groups.values()]


def _lines(group: Sequence[OldRecord]) -> list[dict[str, Any]]:
    """Return the lines of records that say the same: the last holds, with what the others add."""
    *earlier, last = group
    lines = [
        _line(record, last) | {"superseded_by": made(last), "valid_to": max(last.updated_at, record.created_at).isoformat()}
        for record in earlier
    ]
    added = {
        "tags": list(dict.fromkeys(tag for record in group for tag in record.tags))[: old_home.TAGS_AT_MOST],
        "strength": max(record.strength for record in group),
        "pinned": any(record.is_active for record in group),
    }
    return [*lines, _line(last, last) | added]


def _line(record: OldRecord, last: OldRecord) -> dict[str, Any]:
    """Return the line of a record, which is a version of the last of its group."""
    created = record.created_at.isoformat()
    line: dict[str, Any] = {
        "type": "memory",
        "id": made(record),
        "line": made(last),
        "external_id": external(record.id),
        "kind": KINDS[record.type],
        "state": "active",
        "content": record.judgment,
        "basis": record.reasoning or None,
        "tags": [*record.tags],
        "strength": record.strength,
        "pinned": record.is_active,
        "method": "imported",
        "origin": "import",
        "trust": TRUST,
        "said_at": created,
        "confirmed_at": created,
        "valid_from": created,
        "created_at": created,
        "updated_at": record.updated_at.isoformat(),
        "metadata": {NOTED: dict(record.noted)} if record.noted else None,
        "sources": [{"origin": "import", "said_at": created, "recorded_at": created}],
    }
    return {name: value for name, value in line.items() if value is not None}


def external(id: str) -> str:
    """Return the external id of a record of an old home."""
    return OLD_ID + (id if len(id) <= LONGEST else f"#{hashlib.sha256(id.encode()).hexdigest()}")


def made(record: OldRecord) -> str:
    """Return the id that Yiku gives to a record of an old home."""
    return str(uuid.uuid5(_NAMESPACE, f"{record.scope}\n{external(record.id)}"))


# ------------------------------------------------------------------ what came of it


class _Stored(NamedTuple):
    """A row as it is stored."""

    content: str
    basis: str
    tags: tuple[str, ...]
    strength: int
    pinned: int
    reason: str


def _stored(memory: Memory, ids: Sequence[str]) -> dict[str, _Stored]:
    """Return the rows that have these ids."""
    rows: dict[str, _Stored] = {}
    for at in range(0, len(ids), PAGE):
        page = memory.admin.sql(
            "select m.id, m.content, coalesce(m.basis, ''), (select group_concat(t.name, char(31)) from yiku_memory_tag_rel r"
            " join yiku_memory_tags t on t.id = r.tag_id where r.memory_n = m.n), m.strength, m.pinned, coalesce(m.reason, '')"
            " from json_each(?) j cross join yiku_memories m on m.id = j.value",
            [json.dumps(ids[at : at + PAGE])],
            limit=PAGE,
            timeout_s=SECONDS,
        ).rows
        for id, content, basis, tags, strength, pinned, reason in page:
            names = tuple(sorted(str(tags).split("\x1f"))) if tags else ()
            rows[str(id)] = _Stored(str(content), str(basis), names, int(str(strength)), int(str(pinned)), str(reason))
    return rows


def _is_as_it_was(memory: Memory, line: Mapping[str, Any], stored: Mapping[str, _Stored], known: bool) -> bool:
    """Tell whether a row says what it is to say. Of one that was there before, only the words: the rest may have been changed here."""
    row, basis, tags = stored[line["id"]], line.get("basis", ""), tuple(sorted(line["tags"]))
    if row.content != line["content"] and row.content != _cleaned(memory, line["content"]):
        return False
    if known:
        return True
    if (row.strength, row.pinned) != (line["strength"], line["pinned"]):
        return False
    same = row.basis == basis and row.tags == tags
    return same or (row.basis, row.tags) == (_cleaned(memory, basis), tuple(sorted(_cleaned(memory, tag) for tag in tags)))


def _cleaned(memory: Memory, text: str) -> str:
    """Return a text as Yiku keeps it: without credentials and private parts."""
    if not text:
        return ""
    try:
        return memory.remember(text, dry_run=True).memory.content
    except KeptOut:
        return KEPT_OUT["私密" in text]
    except InvalidInput:  # it is too long, and was refused
        return text
