"""Plan the import of OpenAkita's data: each statement as a record, versions, turns and the rest as operations."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from yiku.types import ImportRecord, MemoryRecord, OperationRecord
from yiku_compat.openakita import old_values as values
from yiku_compat.openakita import records
from yiku_compat.openakita.old_home import OldHome, Row
from yiku_compat.openakita.old_sessions import attachment_of, episode_of, scratchpad_of
from yiku_compat.openakita.old_turns import turn_records
from yiku_compat.openakita.session_types import Attachment, Episode
from yiku_compat.openakita.turns import pad_as_markdown
from yiku_compat.openakita.types import PREFIX

NOTED = ("source", "source_episode_id", "decay_rate")
TURNS_AT_A_TIME = 100
SlotOf = Callable[[str, Mapping[str, Any]], Mapping[str, Any]]  # of a text with its kind, subject and predicate
_SPACES = re.compile(r"\s+")


@dataclass
class Plan:
    """
    Records in the order in which they are to come in, and what is to be there afterwards.

    texts:   by external id, of statements and turns; ids: of episodes and attachments, each with its old id
    at:      the old id of a record by its line; merged: records that say what another record says
    """

    read: int = 0
    records: list[ImportRecord] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)
    at: dict[int, str] = field(default_factory=dict)
    scratchpads: list[tuple[str | None, str]] = field(default_factory=list)
    merged: int = 0
    skipped: list[tuple[str, str]] = field(default_factory=list)

    def line(self, old_id: str) -> int:
        """Number a record."""
        self.at[len(self.at) + 1] = old_id
        return len(self.at)


def plan(old: OldHome, scope: str, now: datetime, slot_of: SlotOf) -> Plan:
    """Plan an import. `slot_of` is asked for the slot of each version of a statement."""
    made = Plan(skipped=[*old.unreadable], read=len(old.unreadable))
    _plan_turns(made, old, scope, now)
    _plan_memories(made, old.rows("memories"), scope, now, slot_of)
    for table, read in (("episodes", episode_of), ("attachments", attachment_of)):
        for row in old.rows(table):
            made.read += 1
            _plan_record(made, row, scope, now, read(row, now))
    for row in old.rows("scratchpad"):
        made.read += 1
        user = str(row.get("user_id") or "default")
        text = pad_as_markdown(scratchpad_of(row)) or values.text(row.get("content"))
        made.scratchpads.append((None if user == "default" else user, text))
    return made


# ------------------------------------------------------------------ turns


def _plan_turns(made: Plan, old: OldHome, scope: str, now: datetime) -> None:
    found = list(turn_records(old, now))
    made.read += len(found)
    for at in range(0, len(found), TURNS_AT_A_TIME):
        some = [one for one in found[at : at + TURNS_AT_A_TIME] if _is_turn(made, one)]
        lines = [(made.line(record["external_id"].removeprefix(PREFIX)), record) for record in some]
        if lines:
            made.records.append(OperationRecord(lines[0][0], scope, None, _header("record", some[0]["recorded_at"]), tuple(lines)))
            made.texts |= {record["external_id"]: record["content"] for record in some}


def _is_turn(made: Plan, record: Mapping[str, Any]) -> bool:
    if record["external_id"] in made.texts:
        made.merged += 1
        return False
    if not record["content"] and not record.get("tool_calls") and not record.get("tool_results"):
        made.skipped.append((record["external_id"].removeprefix(PREFIX), "is empty"))
        return False
    return True


# ------------------------------------------------------------------ statements


def _plan_memories(made: Plan, rows: Sequence[Row], scope: str, now: datetime, slot_of: SlotOf) -> None:
    """Plan statements: chains of versions as they are, the others to be remembered, each text of a kind once."""
    made.read += len(rows)
    by_id: dict[str, Row] = {}
    said: dict[tuple[str, str], str] = {}
    for row in sorted(rows, key=lambda row: (values.time(row.get("created_at"), now), str(row.get("id")))):
        id, text = str(row.get("id") or ""), values.text(row.get("content"))
        if not id or not text:
            made.skipped.append((id or "?", "is empty" if id else "has no id"))
        elif id in by_id:
            made.merged += 1
        else:
            by_id[id] = row
    replaced = {str(row["superseded_by"]) for row in by_id.values() if row.get("superseded_by")}
    for id, row in by_id.items():
        text = values.text(row.get("content"))
        if row.get("superseded_by") or id in replaced:
            continue
        key = (values.kind(row.get("type")), _SPACES.sub(" ", text).casefold())
        if key in said:
            made.merged += 1
            continue
        said[key] = id
        made.texts[PREFIX + id] = text
        made.records.append(MemoryRecord(made.line(id), text, _details(id, row, now)))
    for chain in _chains(by_id):
        lines = [(made.line(str(row["id"])), _version(row, chain, now, slot_of)) for row in chain]
        made.texts |= {PREFIX + str(row["id"]): values.text(row.get("content")) for row in chain}
        made.records.append(
            OperationRecord(lines[0][0], scope, None, _header("remember", lines[-1][1]["created_at"]), tuple(lines))
        )


def _chains(by_id: Mapping[str, Row]) -> Iterator[list[Row]]:
    """Yield versions that lead to one that holds, or into nothing, the last first. A circle is cut where it was entered."""
    before: dict[str, list[str]] = {}
    for id, row in by_id.items():
        if (after := str(row.get("superseded_by") or "")) and after != id:
            before.setdefault(after, []).append(id)
    done: set[str] = set()
    ends = [id for id, row in by_id.items() if id in before and not row.get("superseded_by")]
    for end in [*ends, *(id for id, row in by_id.items() if row.get("superseded_by"))]:
        if end in done:
            continue
        chain, ahead = list[Row](), [end]
        while ahead:
            id = ahead.pop(0)
            if id not in done:
                done.add(id)
                chain.append(by_id[id])
                ahead += sorted(before.get(id, ()))
        yield chain


def _details(id: str, row: Row, now: datetime) -> dict[str, Any]:
    """Return the details of a statement that is remembered."""
    at = values.time(row.get("created_at"), now)
    found: dict[str, Any] = {
        "external_id": PREFIX + id,
        "kind": values.kind(row.get("type")),
        "importance": values.share(row.get("importance_score", row.get("importance")), 0.5),
        "confidence": values.share(row.get("confidence"), 0.5),
        "said_at": min(at, now).isoformat(),
        "metadata": _noted(row),
        "tags": values.names(row.get("tags")),
    }
    expires = values.optional_time(row.get("expires_at"))
    if expires is not None:
        found["expires_at"] = expires.isoformat()
    elif (priority := values.priority(row.get("priority"))) in (None, "permanent"):
        found["priority"] = "permanent"  # an end that the old home does not have is not made up
    else:
        found["metadata"]["priority"] = priority
    subject, predicate = (values.text(row.get(name))[: values.NAME_CHARS] for name in ("subject", "predicate"))
    if subject and predicate:
        found |= {"subject": subject, "predicate": predicate}
    return {name: value for name, value in found.items() if value not in ([], {})}


def _noted(row: Row) -> dict[str, Any]:
    """Return what has no column of its own here."""
    noted: dict[str, Any] = {name: row[name] for name in NOTED if row.get(name) not in (None, "")}
    if used := values.count(row.get("access_count")):
        noted["access_count"] = used
    if (last := values.optional_time(row.get("last_accessed_at"))) is not None:
        noted["last_accessed_at"] = last.isoformat()
    return noted


def _version(row: Row, chain: Sequence[Row], now: datetime, slot_of: SlotOf) -> dict[str, Any]:
    """Return one version of a chain; the first of the chain is the one that holds, or the last known. Its slot is as if remembered."""
    details, text = _details(str(row["id"]), row, now), values.text(row.get("content"))
    named: dict[str, Any] = {name: details.pop(name) for name in ("subject", "predicate") if name in details}
    id, after = str(row["id"]), str(row.get("superseded_by") or "")
    at = details["said_at"]
    changed = min(values.time(row.get("updated_at"), now), now).isoformat()
    ids = {str(one["id"]): one for one in chain}
    holds = not after
    record: dict[str, Any] = {
        **details,
        **slot_of(text, {"kind": details["kind"], **named}),
        "type": "memory",
        "id": records.id_of("memory", id),
        "line": records.id_of("memory", str(chain[-1]["id"])),
        "state": "active" if holds or after in ids else "archived",
        "reason": None if holds or after in ids else f"superseded by {after}",
        "content": text,
        "confirmed_at": at,
        "valid_from": at,
        "valid_to": changed if not holds else None,
        "superseded_by": records.id_of("memory", after) if after in ids else None,
        "created_at": at,
        "updated_at": changed,
        "sources": [{"origin": "user", "said_at": at, "recorded_at": at}],
    }
    return {name: value for name, value in record.items() if value not in (None, [], {})}


# ------------------------------------------------------------------ what grew out of sessions


def _plan_record(made: Plan, row: Row, scope: str, now: datetime, given: Episode | Attachment) -> None:
    record = records.episode(given, now) if isinstance(given, Episode) else records.attachment(given, now)
    if record["id"] in made.ids:
        made.merged += 1
        return
    made.ids[record["id"]] = str(row.get("id"))
    made.records.append(
        records.operation(made.line(str(row.get("id"))), scope, record, record["created_at"], f"save {record['type']}")
    )


def _header(name: str, at: str) -> dict[str, Any]:
    return {"operation": name, "at": at}
