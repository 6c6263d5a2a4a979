"""
Import files of any known format into a memory, without results of its own tools and turns captured by hooks.

    found = formats.find(Path("export.zip"))
    for done in run.each(memory, found, dry_run=True):
        print(done.format, done.place, done.report.turns, done.report.known)

Records are stored in batches under the ids that they have in their file, each at its own time. So a second run stores nothing, and one
that was cut off goes on. Each turn and statement notes the format and the file that it comes from. Results of Yiku's own tools are left
out, as the hooks do: memory does not learn from its own recall. Of a session that hooks have captured only what was said before and
after comes in, also where that was forgotten: the same words have other ids there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from yiku.interfaces import importers
from yiku.interfaces.importers import Place
from yiku.interfaces.importers.formats import Found
from yiku.rules.sessions import agent_events
from yiku.types import ImportRecord, ImportReport, MemoryRecord, SkippedRecord, TurnRecord

if TYPE_CHECKING:
    from yiku.memory import Memory

PROVENANCE = "imported"  # the entry of the metadata that names format and file
CAPTURED = "captured by hooks"
BEFORE, AFTER = timedelta(seconds=10), timedelta(seconds=60)  # around what hooks captured: their clock is not the agent's


@dataclass(frozen=True, slots=True)
class Done:
    """What was done with one file, and from when to when its words were said."""

    place: Place
    format: str
    report: ImportReport
    first: datetime | None
    last: datetime | None


@dataclass(slots=True)
class _Seen:
    """What was seen of a file: when its words were said, and which calls were of Yiku's own tools."""

    first: datetime | None = None
    last: datetime | None = None
    own_calls: set[str] = field(default_factory=set)

    def at(self, said_at: object) -> None:
        """Note when something was said."""
        if (at := importers.time(said_at)) is not None:
            at = at.astimezone(UTC)
            self.first = at if self.first is None or at < self.first else self.first
            self.last = at if self.last is None or at > self.last else self.last


def each(
    memory: Memory,
    found: Found,
    *,
    scope: str | None = None,
    everything: bool = False,
    trust: bool = False,
    dry_run: bool = False,
    progress: Callable[[int], None] | None = None,
) -> Iterator[Done]:
    """
    Import the files one after the other, and yield what was done with each.

    scope:    takes the place of the only scope of an export of Yiku; with `everything` all its scopes come in
    progress: called with how many bytes of a file were read
    What waits in the inbox is recorded before a session of an agent is imported, but not in a dry run.
    Raises InvalidInput, Paused, StoreBusy, StorageFull; what was stored before stays.
    """
    for format, place in found.files:
        seen, source = _Seen(), f"{format.name}: {place.name}"[:200]
        module = format.load()
        if hasattr(module, "take"):  # not made of records
            yield Done(
                place, format.name, module.take(memory, place, dry_run=dry_run, source=source, consumed=progress), None, None
            )
            continue
        if format.agent and not dry_run:
            memory.admin.ingest()
        renamed = {} if scope is None else {"scope": scope}
        records = module.read(place, consumed=progress, **renamed)
        report = memory.admin.import_(
            _prepared(records, source, seen, _Captured(memory) if format.agent else None),
            source=source,
            everything=everything or scope is not None,
            trust=trust,
            dry_run=dry_run,
        )
        yield Done(place, format.name, report, seen.first, seen.last)


class _Captured:
    """From when to when hooks have captured a session."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._times: dict[str, tuple[datetime, datetime] | None] = {}

    def holds(self, turn: Mapping[str, Any]) -> bool:
        """Tell whether a turn was captured when it was said."""
        session, at = turn.get("session"), importers.time(turn.get("said_at"))
        if not isinstance(session, str) or at is None:
            return False
        if session not in self._times:
            said = self._memory.admin.captured(session)
            self._times[session] = (said[0] - BEFORE, said[1] + AFTER) if said else None
        times = self._times[session]
        return times is not None and times[0] <= at <= times[1]


def _prepared(records: Iterable[ImportRecord], source: str, seen: _Seen, captured: _Captured | None) -> Iterator[ImportRecord]:
    """Yield the records with where they come from, and without what memory itself had told."""
    source = importers.one_line(source) or ""
    for record in records:
        if isinstance(record, TurnRecord) and captured is not None and captured.holds(record.turn):
            yield SkippedRecord(record.line, CAPTURED)
        elif isinstance(record, TurnRecord):
            seen.at(record.turn.get("said_at"))
            yield replace(record, turn=_from(_without_recall(record.turn, seen), source))
        elif isinstance(record, MemoryRecord):
            seen.at(record.details.get("said_at"))
            yield replace(record, details=_from(record.details, source))
        else:
            yield record


def _from(given: Mapping[str, Any], source: str) -> Mapping[str, Any]:
    metadata = given.get("metadata", {})
    return {**given, "metadata": {**metadata, PROVENANCE: source}} if isinstance(metadata, Mapping) else given


def _without_recall(turn: Mapping[str, Any], seen: _Seen) -> Mapping[str, Any]:
    """Return a turn without the results of Yiku's own tools; the calls stay."""
    calls, results = turn.get("tool_calls"), turn.get("tool_results")
    for call in calls if isinstance(calls, list) else []:
        if isinstance(call, Mapping) and isinstance(id := call.get("id"), str) and _is_own(call.get("name")):
            seen.own_calls.add(id)
    if not isinstance(results, list) or not any(_is_recalled(result, seen) for result in results):
        return turn
    kept = [{**result, "content": agent_events.LEFT_OUT} if _is_recalled(result, seen) else result for result in results]
    return {**turn, "tool_results": kept}


def _is_recalled(result: object, seen: _Seen) -> bool:
    return isinstance(result, Mapping) and (_is_own(result.get("name")) or result.get("tool_use_id") in seen.own_calls)


def _is_own(name: object) -> bool:
    return isinstance(name, str) and agent_events.OWN_TOOLS.search(name) is not None
