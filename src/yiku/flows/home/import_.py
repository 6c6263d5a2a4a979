"""
Import conversations, statements and Yiku exports in resumable batches, reporting every record left out.

An importer gives records in order: turns, statements, what holds nothing to keep, and what it
could not read. Turns are stored in batches, each a transaction, so an import that was cut short goes on
where it stopped: a record whose external id is known is only counted, and a statement is kept under an
idempotency key. A bad record is reported with its line and the rest goes on; no record is dropped in
silence: every one is counted as a turn, a memory, known, skipped or a problem. What is wholly private, or was
said in a folder that is switched off, is skipped, and counted under that name. With `dry_run` the same
checks are made, nothing is written, and the counts are those of the real run.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from yiku.errors import InvalidInput, KeptOut, NotFound, Paused, StoreError
from yiku.flows.common import checks, pause
from yiku.flows.common.handle import Handle, retry_if_stale
from yiku.flows.common.intake import clean
from yiku.flows.home import import_trust, replay
from yiku.flows.keep import transcripts
from yiku.flows.keep.record import is_unique, record, unique_message_id, validate_turn, wholly_private
from yiku.flows.keep.remember import remember
from yiku.flows.keep.remember import validate as checked_statement
from yiku.rules.deciding.slots import index_tokens
from yiku.types import (
    BadRecord,
    Details,
    Expect,
    How,
    ImportRecord,
    ImportReport,
    Kind,
    Memories,
    MemoryRecord,
    OperationRecord,
    Origin,
    Refused,
    SemanticMemory,
    SkippedRecord,
    State,
    Turn,
    TurnRecord,
    Turns,
    UpdateMemory,
)

BATCH = 500  # turns a transaction
MERGED_FROM = 500  # turns and statements that came in: the search index is merged behind them
BATCH_CHARS = 8_000_000  # of a transaction: some turns are as long as a book
PROBLEMS_KEPT = 1_000  # in the report; there are as many as records that nothing else counts
NAMES_KEPT = 100  # of what was skipped; further names count as "other"

PRIVATE, ERASED, SWITCHED_OFF = "private", "erased", "in a folder that is switched off"

RESULT_CHARS = 1_000  # compared of each tool result; the store keeps at least so much beside a blob

Words = bytes  # a hash of what makes two turns of one external id the same: role, content, what tools were given and gave


@dataclass(slots=True)
class _Run:
    """State of one import."""

    handle: Handle
    dry_run: bool
    trust: bool
    waiting: list[TurnRecord] = field(default_factory=list)
    waiting_chars: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    lowered: Counter[str] = field(default_factory=Counter)  # what is believed less than the file says
    problems: list[tuple[int, str]] = field(default_factory=list)
    sessions: set[str] = field(default_factory=set)
    turns_seen: dict[str, Words] = field(default_factory=dict)  # external ids that a dry run would have stored
    said_in: dict[str, str] = field(default_factory=dict)  # the sessions of ids that a dry run would have stored
    memories_seen: set[str] = field(default_factory=set)
    folders: dict[str, bool] = field(default_factory=dict)  # whether each is switched off

    def problem(self, line: int, why: str) -> None:
        """Record a problem with a line, up to a limit."""
        if len(self.problems) < PROBLEMS_KEPT:
            self.problems.append((line, why))

    def skip(self, what: str, count: int = 1) -> None:
        """Count what was skipped."""
        if count:
            self.skipped[what] = self.skipped.get(what, 0) + count

    def off(self, said: Mapping[str, Any]) -> bool:
        """Tell whether something was said in a folder that is switched off."""
        for path in pause.folders_of(said):
            if path not in self.folders:
                self.folders[path] = pause.switched_off(path, self.handle.settings.private_folders) is not None
            if self.folders[path]:
                return True
        return False


def import_(
    handle: Handle,
    records: Iterable[ImportRecord],
    *,
    source: str,
    everything: bool = False,
    trust: bool = False,
    dry_run: bool = False,
    progress: Callable[[int], None] | None = None,
) -> ImportReport:
    """
    Import records; with `dry_run` only check and count. `progress` is called with each line number.

    everything: an export's operations in whatever scopes they name, not in this handle's alone
    trust:      the file is the owner's own: origins, trust, pins and rules count as it says
    """
    checks.flag(everything, "everything")
    run, name = _Run(handle, checks.flag(dry_run, "dry_run"), checks.flag(trust, "trust")), checks.name(source, "source")
    if isinstance(records, (str, bytes, Mapping)) or not isinstance(records, Iterable):
        checks.refuse("records", "must be what an importer reads")
    checks.optional_call(progress, "progress")
    pause.raise_if_paused(handle)
    replayed = replay.Replay(handle, dry_run, everything, run.problem, trust)
    for item in records:
        if isinstance(item, OperationRecord):
            replayed.take(item)
            continue
        run.counts["records"] += 1
        _import_record(run, item)
        if progress is not None:
            progress(getattr(item, "line", run.counts["records"]))
    _store_turns(run)
    replayed.finish()
    run.counts.update(replayed.counts)
    run.skipped.update(replayed.skipped)
    run.lowered.update(replayed.lowered)
    run.sessions |= replayed.sessions
    if not dry_run:
        transcripts.note_write(handle)
    if not dry_run and run.counts["turns"] + run.counts["memories"] >= MERGED_FROM:
        with suppress(StoreError):  # all of it is in; the night merges
            handle.store.upkeep.merge()
    return ImportReport(
        source=name,
        records=run.counts["records"],
        turns=run.counts["turns"],
        memories=run.counts["memories"],
        known=run.counts["known"],
        skipped=dict(sorted(run.skipped.items())),
        problems=tuple(sorted(run.problems)),
        sessions=len(run.sessions),
        dry_run=dry_run,
        lowered={what: count for what, count in sorted(run.lowered.items()) if count},
    )


def _import_record(run: _Run, item: ImportRecord) -> None:
    """Import one record that is not an operation."""
    match item:
        case TurnRecord(turn=Mapping() as said) | MemoryRecord(details=Mapping() as said) if run.off(said):
            run.skip(SWITCHED_OFF)
        case TurnRecord(turn=Mapping()):
            run.waiting.append(item)
            run.waiting_chars += _chars(item.turn)
            if len(run.waiting) >= BATCH or run.waiting_chars >= BATCH_CHARS:
                _store_turns(run)
        case MemoryRecord(details=Mapping()):
            _store_turns(run)  # a statement may name a turn before it as its source
            _store_memory(run, item)
        case SkippedRecord(what=what):
            run.skipped[what if what in run.skipped or len(run.skipped) < NAMES_KEPT else "other"] += 1
        case BadRecord(line=line, why=why):
            run.problem(line, why)
        case _:
            run.problem(getattr(item, "line", run.counts["records"]), f"not a record: {checks.shown(item)}")


# ------------------------------------------------------------------ turns


def _chars(turn: Mapping[str, Any]) -> int:
    """Estimate the length of a turn with its tool data."""
    return sum(
        len(value) if isinstance(value := turn.get(key), str) else len(repr(value))
        for key in ("content", "tool_calls", "tool_results")
    )


def _store_turns(run: _Run) -> None:
    """Store the pending turns together, without refused ones."""
    batch, run.waiting, run.waiting_chars = _with_unique_ids(run, run.waiting), [], 0
    if not batch:
        return
    try:
        _store_or_check(run, batch)
    except InvalidInput:
        if fine := _valid_turns(run, batch):
            _store_or_check(run, fine)


def _with_unique_ids(run: _Run, batch: list[TurnRecord]) -> list[TurnRecord]:
    """Give turns whose external id is used in another session an id of their own."""

    def named(item: TurnRecord) -> tuple[str, str]:
        id, session = item.turn.get("external_id"), item.turn.get("session") or "default"
        both = isinstance(id, str) and isinstance(session, str) and not is_unique(id)
        return (clean(run.handle, id.strip()), clean(run.handle, session.strip())) if both else ("", "")  # type: ignore[union-attr]

    ids, own = [id for id, _ in map(named, batch) if id], run.handle.own()
    stored = run.handle.store.turns(own, Turns(external_ids=ids, hidden=True)) if ids and own else []
    known = run.said_in | {turn.external_id: turn.session for turn in stored if turn.external_id is not None}
    renamed = []
    for item in batch:
        id, session = named(item)
        again = id and known.setdefault(id, session) != session
        renamed.append(replace(item, turn={**item.turn, "external_id": unique_message_id(id, session)}) if again else item)
    run.said_in = known if run.dry_run else {}
    return renamed


def _valid_turns(run: _Run, batch: list[TurnRecord]) -> list[TurnRecord]:
    """Return the turns that can be stored; the others become problems."""
    fine = []
    for item in batch:
        try:
            _check_batch(run, [item])
            fine.append(item)
        except InvalidInput as error:
            run.problem(item.line, str(error))
    return fine


def _store_or_check(run: _Run, batch: list[TurnRecord]) -> None:
    """Store turns, or with `dry_run` simulate it. Raises InvalidInput, storing nothing."""
    if run.dry_run:
        turns = _check_batch(run, batch)
        words = run.turns_seen | _read_stored(run, turns)
        storable, fresh = [turn for turn in turns if not wholly_private(turn)], 0
        for turn in storable:
            fresh += turn.external_id is None or turn.external_id not in words
            if turn.external_id is not None:
                words.setdefault(turn.external_id, _words(turn))
                run.turns_seen.setdefault(turn.external_id, words[turn.external_id])
        known, erased = len(storable) - fresh, 0
    else:
        recorded = record(run.handle, [item.turn for item in batch])
        fresh, known, erased = len(recorded.ids), recorded.known, recorded.erased
        turns = _check_batch(run, batch) if known else []
        words = _read_stored(run, turns)
    run.skip(PRIVATE, len(batch) - fresh - known - erased)
    run.skip(ERASED, erased)
    for item, turn in zip(batch, turns, strict=False):
        if turn.external_id is not None and not wholly_private(turn) and words[turn.external_id] != _words(turn):
            run.problem(
                item.line, f"external_id {turn.external_id} is that of a turn with other words; give this one an id of its own"
            )
            known -= 1
    run.counts.update(turns=fresh, known=known)
    run.sessions.update(str(item.turn.get("session") or "default") for item in batch)


def _check_batch(run: _Run, batch: list[TurnRecord]) -> list[Turn]:
    now = run.handle.now()
    return [validate_turn(run.handle, item.turn, None, now, keep=False) for item in batch]


def _read_stored(run: _Run, turns: list[Turn]) -> dict[str, Words]:
    """Return the contents of stored turns by external id, also forgotten ones."""
    ids, own = [turn.external_id for turn in turns if turn.external_id is not None], run.handle.own()
    found = run.handle.store.turns(own, Turns(external_ids=ids, hidden=True)) if ids and own else []
    return {turn.external_id: _words(turn) for turn in found if turn.external_id is not None}


def _words(turn: Turn) -> Words:
    results = [(result.get("tool_use_id"), str(result.get("content"))[:RESULT_CHARS]) for result in turn.tool_results]
    said = (turn.role, turn.content_hash, list(turn.tool_calls), results)
    return hashlib.blake2b(repr(said).encode(), digest_size=16).digest()


# ------------------------------------------------------------------ statements


def _store_memory(run: _Run, item: MemoryRecord) -> None:
    """Remember a statement once: its external id is the idempotency key."""
    try:
        details, how = _as_trusted(run, _with_source(run, item.details))
        checked = details.get("external_id") is not None or (how is not None and run.dry_run)  # else `remember` checks it
        claimed = checked_statement(run.handle, item.text, details) if checked else None
        key = None if claimed is None or claimed.external_id is None else _key(claimed.external_id)
        if claimed is not None and key is not None and (key in run.memories_seen or _is_known(run, claimed, key, how)):
            if run.trust and not run.dry_run:
                retry_if_stale(run.handle, lambda: _raise(run, item, details, claimed))
            run.counts["known"] += 1
            return
        if key is not None:
            run.memories_seen.add(key)
        receipt = key if how is None else None
        kept = None
        if how is None or not run.dry_run:
            kept = remember(run.handle, item.text, details, idempotency_key=receipt, dry_run=run.dry_run, how=how)
        if isinstance(kept, Refused):
            run.skip(ERASED)
        else:
            run.counts["memories"] += 1
    except (InvalidInput, NotFound) as error:
        run.problem(item.line, str(error))
    except Paused:
        raise
    except KeptOut:
        run.skip(PRIVATE)


def _key(id: str) -> str:
    """Return the idempotency key of an external id."""
    return f"import {hashlib.blake2b(id.encode(), digest_size=16).hexdigest()}"


def _is_known(run: _Run, claimed: SemanticMemory, key: str, how: How | None) -> bool:
    """Tell whether a statement was imported before; candidates have no receipt, and are known by their id."""
    own = run.handle.own()
    if own and run.handle.store.receipt(own[0], key) is not None:
        return True
    return bool(_imported(run, claimed)) if run.trust or how is not None else False


def _imported(run: _Run, claimed: SemanticMemory) -> list[SemanticMemory]:
    """Return what came in with an external id; where the file is trusted, what has these words, too."""
    own, words = run.handle.own(), claimed.content_hash if run.trust else None
    return run.handle.store.memories(own, Memories(external_id=claimed.external_id, hash=words)) if own else []


def _raise(run: _Run, item: MemoryRecord, details: Details, claimed: SemanticMemory) -> None:
    """Give a statement what it was lowered by before its file was trusted; what its owner did with it since stays."""
    handle, key = run.handle, _key(claimed.external_id or "")
    for row in _imported(run, claimed):
        if row.state is State.CANDIDATE:
            receipt = None if handle.store.receipt(handle.own()[0], key) is not None else key
            remember(handle, item.text, details, idempotency_key=receipt, how=How(method="told", confirms=row))
        elif row.state is State.ACTIVE:
            columns = {name: value for name, value in import_trust.trust_updates(row, claimed).items() if name != "pinned"}
            if claimed.pinned and not row.pinned and (columns or row.updated_at == row.created_at):  # else somebody unpinned it
                columns["pinned"] = True
            if columns:
                change = UpdateMemory(row.n, columns, index_tokens(row))
                handle.store.apply(handle.writes(), [change], handle.cause("import"), Expect(rows={row.n: row.changed}))


def _as_trusted(run: _Run, details: Details) -> tuple[Details, How | None]:
    """
    Limit the details to what the file is trusted with.

    A pin, a rule and words of the user's own count in a trusted file only.
    """
    if run.trust:
        return details, None
    given: dict[str, Any] = dict(details)
    rule = _is_rule(given.get("kind"))
    run.lowered["rules"] += rule
    run.lowered["pins"] += given.pop("pinned", None) is True
    run.lowered["statements"] += given.get("origin") in (Origin.USER, Origin.USER.value)
    if given.get("origin") in (None, Origin.USER, Origin.USER.value):
        given["origin"] = Origin.IMPORT.value
    return given, How(method="told", state=State.CANDIDATE) if rule else None  # type: ignore[return-value]


def _is_rule(kind: object) -> bool:
    """Tell whether a kind means a rule, under any alias."""
    with suppress(ValueError):
        return isinstance(kind, str) and Kind(kind) is Kind.RULE
    return False


def _with_source(run: _Run, details: Mapping[str, Any]) -> Details:
    """Replace the source turn's external id by ours."""
    given: dict[str, Any] = dict(details)
    if isinstance(source := given.get("source"), str):
        source = clean(run.handle, source)
    if isinstance(source, str) and run.handle.own():
        found = run.handle.store.turns(run.handle.own(), Turns(external_ids=[source], hidden=True))
        given["source"] = found[0].id if found else source
    if run.dry_run and source in run.turns_seen:
        del given["source"]  # it will be there
    return given  # type: ignore[return-value]
