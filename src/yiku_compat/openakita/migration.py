"""
Migrate OpenAkita's data: statements with versions, episodes, scratchpads, turns, pending queue, attachments.

Statements that hold are remembered, oldest first, so a correction finds what it corrects; versions of one statement, episodes, turns
and attachments come as they are. Ids are made of the old ids, so a run that was cut off goes on, and a second one changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from yiku import Memory
from yiku.errors import InvalidInput, KeptOut
from yiku.types import MemoryRecord
from yiku_compat.migration import Migrated, NotVerified
from yiku_compat.openakita import old_home, old_records
from yiku_compat.openakita.old_records import Plan
from yiku_compat.openakita.types import PREFIX

PAGE = 5_000  # rows of one look
SLOT = ("subject", "predicate", "object", "cardinality", "slot")
SECONDS = 60.0  # for one
CHANGED_ON_PURPOSE = ("[secret ", "[private]", "[私密]", "[erased]")
NOT_TAKEN = "was erased, is private or was refused"


def migrate(old: Path, home: Path, *, scope: str | None = None, progress: Callable[[int], None] | None = None) -> Migrated:
    """
    Bring the data of an old home into a Yiku home, and verify it. `progress` is told how many records were taken.

    Raises NotFound, InvalidInput, NotVerified, StoreError.
    """
    source = old_home.read(Path(old))
    before = source.sha256
    with Memory(home, scope=scope, durability="fast") as memory:
        plan = old_records.plan(source, memory.scope, datetime.now(UTC), partial(_slot, memory))
        known = _there(memory, plan)
        report = memory.admin.import_(plan.records, source="openakita", trust=True, progress=progress)
        _bring_scratchpads(memory, plan)
        there = _there(memory, plan)
        missing = [key for key in (*plan.texts, *plan.ids) if key not in there]
        said = [key for key in missing if _said_otherwise(memory, plan, key)]
    refused = {plan.at.get(line, f"record {line}"): why for line, why in report.problems}
    lost = [key for key in missing if key not in said]
    if len(lost) > len(refused) + sum(report.skipped.values()):
        raise NotVerified(f"{len(lost)} records of {old} are not there as they were: {', '.join(lost[:5])} …")
    if old_home.read(Path(old)).sha256 != before:
        raise NotVerified(f"{old} was changed meanwhile")
    names = [plan.ids.get(key, key.removeprefix(PREFIX)) for key in lost]
    return Migrated(
        read=plan.read,
        imported=len(there - known) + len(plan.scratchpads) * (not known),
        known=len(known) + len(plan.scratchpads) * bool(known),
        merged=plan.merged + len(said),
        skipped=(*plan.skipped, *((name, refused.get(name, NOT_TAKEN)) for name in names)),
        sha256=before,
    )


def _slot(memory: Memory, text: str, details: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the slot that a statement has when it is remembered; nothing where it is refused, or is told by another one."""
    try:
        found = memory.remember(text, dry_run=True, **details).memory
    except (InvalidInput, KeptOut):
        return {}
    return {name: getattr(found, name) for name in SLOT if getattr(found, name) is not None} if found.content == text else {}


def _bring_scratchpads(memory: Memory, plan: Plan) -> None:
    """Give users their scratchpads, where they have none here."""
    for user, text in plan.scratchpads:
        pad = memory.sessions.scratchpad(user)
        if text and not memory.sessions.to_markdown(pad).strip():
            memory.sessions.edit_scratchpad(text, user)


def _there(memory: Memory, plan: Plan) -> set[str]:
    """Return the keys of the plan that are there: external ids with their words, ids of records."""
    found: set[str] = set()
    for table, blob in (("memories", "null"), ("conversation_turns", "blob")):
        sql = f"select n, external_id, content, {blob} from yiku_{table} where n > ? and external_id like '{PREFIX}%' order by n"
        for id, content, long in _rows(memory, sql):
            wanted = plan.texts.get(id)
            if wanted is not None and (wanted == content or long or any(mark in content for mark in CHANGED_ON_PURPOSE)):
                found.add(id)
    for table in ("episodes", "attachments"):
        found |= {id for (id,) in _rows(memory, f"select n, id from yiku_{table} where n > ? order by n") if id in plan.ids}
    return found


def _rows(memory: Memory, sql: str) -> list[tuple[Any, ...]]:
    """Return all rows of a statement that begins with their number, page by page, without it."""
    rows, last = list[tuple[Any, ...]](), 0
    while True:
        page = memory.admin.sql(sql, (last,), limit=PAGE, timeout_s=SECONDS)
        rows += [row[1:] for row in page.rows]
        if not page.truncated:
            return rows
        last = int(str(page.rows[-1][0]))


def _said_otherwise(memory: Memory, plan: Plan, key: str) -> bool:
    """Tell whether a statement is there in the words of another, which it confirms."""
    if key not in plan.texts:
        return False
    for record in plan.records:
        if isinstance(record, MemoryRecord) and record.details.get("external_id") == key:
            details = {name: value for name, value in record.details.items() if name != "external_id"}
            return memory.remember(record.text, dry_run=True, **details).kind in ("confirmed", "past")
    return False
