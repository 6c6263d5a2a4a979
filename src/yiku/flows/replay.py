"""
Taking in an export: each operation of another store is done here as it was done there, under its own header.

Ids are kept, and what is known is left as it is: what was forgotten or corrected here stays so. A change of a known
row is done only if this store has not seen it and the row is as the change found it. A statement whose slot or
words have other versions here waits, out of recall, until all is in; then it joins them in the order of saying.

Operations are gathered into transactions; a killed import has done whole ones, and done again it does the rest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from typing import Any, TypeVar

from yiku.errors import InvalidInput
from yiku.files import blobs
from yiku.flows import barred, checks
from yiku.flows.handle import Handle, content_hash, settled
from yiku.flows.intake import clean
from yiku.flows.record import tokens, tool_tokens
from yiku.flows.remember import index_tokens
from yiku.rules import conflict, scopes
from yiku.types import (
    AddMemory,
    AddScope,
    AddSource,
    AddTurns,
    Cardinality,
    Cause,
    Change,
    ChangeRow,
    Expect,
    Kind,
    Memories,
    OperationRecord,
    Origin,
    Relation,
    RemoveSources,
    Replayed,
    SemanticMemory,
    SetTurnHidden,
    Source,
    Standing,
    State,
    Turn,
    Turns,
    UpdateMemory,
)

BATCH = 500  # changes a transaction
BATCH_CHARS = 8_000_000
WAITING = "imported: waits for its place among what is known"
KEPT_AS_IT_IS = "changed here since"  # the name under which changes are counted that this store does not take over
ERASED = "erased"

Problem = Callable[[int, str], None]
T = TypeVar("T")


@dataclass(slots=True)
class Replay:
    """One export being taken in, into the scopes that it names."""

    handle: Handle
    dry_run: bool
    everything: bool  # also operations of other scopes than the handle's
    problem: Problem
    counts: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    sessions: set[str] = field(default_factory=set)
    pending: list[Change] = field(default_factory=list)
    size: int = 0
    fresh: set[str] = field(default_factory=set)  # ids, slots and words of what is pending, or changes
    ours: set[str] = field(default_factory=set)  # ids of the memories of this export so far
    seen: set[str] = field(default_factory=set)  # ids that a dry run would have stored
    erasure: int = 0  # the last that the pending changes were held against

    def __post_init__(self) -> None:
        self.erasure = self.handle.store.last_erasure()

    def take(self, item: OperationRecord) -> None:
        """One operation."""
        if item.scope != self.handle.scope:
            if not self.everything:
                raise InvalidInput(
                    f"this export holds the scope {checks.shown(item.scope)}; take it into yours (--as), or all scopes (--all)"
                )
            self.finish()
            if not scopes.allowed(item.scope):
                return self.problem(item.line, f"{checks.shown(item.scope)} is no name of a scope")
            self.handle = replace(self.handle, scope=item.scope)
            if not self.dry_run and self.handle.store.scope(item.scope) is None:
                self.handle.store.apply(0, [AddScope(item.scope, item.label)], self.handle.cause("open scope"))
        try:
            cause = _cause(item.header)
        except (KeyError, ValueError, TypeError) as error:
            return self.problem(item.line, f"is no operation: {error}")
        self.counts["records"] += sum(record.get("type") in ("turn", "memory") for _, record in item.changes)
        _Operation(self, cause, item.changes).take()
        if len(self.fresh) + len(self.pending) >= BATCH or self.size >= BATCH_CHARS:
            self.flush()

    def skip(self, why: str, count: int = 1) -> None:
        """Count what this store does not take in."""
        if count:
            self.skipped[why] += count

    def flush(self) -> None:
        """Write what is pending."""
        if self.pending and not self.dry_run:
            self.handle.store.apply(self.handle.writes(), self.pending, self.handle.cause("import"), Expect(erasure=self.erasure))
        self.pending, self.fresh, self.size = [], set(), 0
        self.erasure = self.handle.store.last_erasure()

    def finish(self) -> None:
        """Write what is pending, and give what waits its place."""
        self.flush()
        if not self.dry_run:
            _join(self.handle)


@dataclass(slots=True)
class _Operation:
    """One operation: its header, its lines, and what is to be done of it here."""

    run: Replay
    cause: Cause
    lines: Sequence[tuple[int, Mapping[str, Any]]]
    changes: list[Change] = field(default_factory=list)
    added: set[str] = field(default_factory=set)  # ids of what it adds
    touched: set[str] = field(default_factory=set)  # ids of what it changes, slots and words of both

    def take(self) -> None:
        """Each line in order; turns that follow each other together."""
        turns: list[tuple[int, Turn]] = []
        for line, record in self.lines:
            try:
                if record.get("type") != "turn" and turns:
                    self._turns(turns)
                    turns = []
                match record.get("type"):
                    case "turn":
                        turns.append((line, _turn(self.run.handle, record, keep=not self.run.dry_run)))
                    case "memory":
                        self._memory(record)
                    case "hide":
                        self._hide(record)
                    case "update" | "source" | "unsource":
                        self._change(line, record)
                    case other:
                        self.run.problem(line, f"has the unknown type {checks.shown(other)}")
            except (KeyError, ValueError, TypeError, InvalidInput) as error:
                self.run.counts["records"] += record.get("type") not in ("turn", "memory")
                self.run.problem(line, f"cannot be used: {type(error).__name__} {error}")
        if turns:
            self._turns(turns)
        self._pend()

    def _pend(self) -> None:
        if self.changes:
            self.run.pending.append(Replayed(tuple(self.changes), self.cause))
            self.run.fresh |= self.added | self.touched
        self.changes, self.added, self.touched = [], set(), set()

    def _stored(self, *names: str) -> None:
        """Write first what this change rests on."""
        if not self.added.isdisjoint(names):
            self._pend()
        if not self.run.fresh.isdisjoint(names):
            self.run.flush()

    # -------------------------------------------------------------- turns

    def _turns(self, given: list[tuple[int, Turn]]) -> None:
        run, handle = self.run, self.run.handle
        turns = [turn for _, turn in given]
        self._stored(*(turn.id for turn in turns), *(turn.external_id or "" for turn in turns))
        own = handle.own()
        there = handle.store.turns(own, Turns(ids=[turn.id for turn in turns], hidden=True)) if own else []
        externals = [turn.external_id for turn in turns if turn.external_id is not None]
        there += handle.store.turns(own, Turns(external_ids=externals, hidden=True)) if own and externals else []
        known = {turn.id for turn in there} | {turn.external_id for turn in there if turn.external_id is not None} | run.seen
        fresh = [turn for turn in turns if turn.id not in known and turn.external_id not in known]
        kept = list(barred.turns(handle, fresh)) if run.erasure else fresh
        run.counts.update(turns=len(kept), known=len(turns) - len(fresh))
        run.skip(ERASED, len(fresh) - len(kept))
        fresh = kept
        run.sessions.update(turn.session for turn in turns)
        self._remember_new(*(turn.id for turn in fresh), *(turn.external_id for turn in fresh if turn.external_id is not None))
        if fresh:
            self.changes.append(AddTurns(fresh, [tokens(turn) for turn in fresh], [tool_tokens(turn) for turn in fresh]))
            run.size += sum(len(turn.content) for turn in fresh)

    def _remember_new(self, *names: str) -> None:
        self.added.update(names)
        if self.run.dry_run:
            self.run.seen.update(names)

    def _hide(self, record: Mapping[str, Any]) -> None:
        self._stored(record["turn"])
        handle = self.run.handle
        found = handle.store.turns(handle.own(), Turns(ids=[record["turn"]], hidden=True)) if handle.own() else []
        if not found or self._is_done("turn_state", found[0].n, {"hidden_at": _time(record.get("before"))}):
            return
        before, after = _time(record.get("before")), _time(record.get("after"))
        if found[0].hidden_at != before:
            self.run.skip(KEPT_AS_IT_IS)
            self.run.counts["records"] += 1
            return
        self.touched.add(record["turn"])
        self.changes.append(SetTurnHidden(found[0].n, after, tokens(found[0])))

    # -------------------------------------------------------------- memories

    def _memory(self, record: Mapping[str, Any]) -> None:
        run, handle = self.run, self.run.handle
        memory = _memory(handle, record)
        place = _place(memory)
        run.ours.add(memory.id)
        self._stored(memory.id, place)
        own = handle.own()
        if memory.id in run.seen or (own and handle.store.memories(own, Memories(ids=[memory.id]))):
            run.counts["known"] += 1
            return
        if run.erasure and barred.since(handle, memory) is not None:
            return run.skip(ERASED)
        run.counts["memories"] += 1
        if not run.dry_run and memory.state is State.ACTIVE and self._meets_others(memory):
            memory = replace(memory, state=State.ARCHIVED, reason=WAITING, superseded_by=None, valid_to=None)
        self._remember_new(memory.id)
        self.touched.add(place)
        self.changes.append(AddMemory(memory, index_tokens(memory)))
        run.size += len(memory.content)

    def _meets_others(self, memory: SemanticMemory) -> bool:
        """Whether its slot, or its words, have a version here that is not of this export, or one that this store made live again."""
        updates = (record for _, record in self.lines if record.get("type") == "update")
        retired = {record.get("memory") for record in updates if {"superseded_by", "state"} & {*record.get("after", ())}}
        live = memory.superseded_by is None and memory.flag is None
        present = _present(self.run.handle, memory)
        return any(row.id not in self.run.ours or (live and row.live and not row.flag and row.id not in retired) for row in present)

    def _change(self, line: int, record: Mapping[str, Any]) -> None:
        """A change of a memory that is there, or comes with this import."""
        self._stored(record["memory"])
        handle = self.run.handle
        found = handle.store.memories(handle.own(), Memories(ids=[record["memory"]])) if handle.own() else []
        if not found:
            if not self.run.dry_run and record["memory"] not in self.run.seen:
                self.run.counts["records"] += 1
                self.run.problem(line, f"changes the memory {checks.shown(record['memory'])}, which is not there")
            return
        row = handle.store.filled(found)[0]
        self.touched |= {row.id, _place(row)}
        done = {"update": self._update, "source": self._source, "unsource": self._unsource}[record["type"]](row, record)
        if not done:
            self.run.skip(KEPT_AS_IT_IS)
            self.run.counts["records"] += 1

    def _update(self, row: SemanticMemory, record: Mapping[str, Any]) -> bool:
        before, after = _columns(record.get("before", {})), _columns(record.get("after", {}))
        if self._is_done("memories", row.n, before):
            return True
        if row.reason == WAITING:  # it counts as active, whatever else the other store knew of it
            after = {name: after[name] for name in ("state", "reason") if name in after and "state" in after}
            if after.get("state") is State.ACTIVE:
                after["reason"] = WAITING
            after.pop("state", None)
        elif any(getattr(row, name) != value for name, value in before.items()) or not self._has_successor(row, after):
            return False
        if after or not before:
            self.changes.append(UpdateMemory(row.n, after, index_tokens(row)))
        return True

    def _has_successor(self, row: SemanticMemory, after: Mapping[str, Any]) -> bool:
        """Whether what retires a version comes into its place, and does not wait for one."""
        if after.get("superseded_by") is None:
            return True
        added = {change.memory.id: change.memory for change in self.changes if isinstance(change, AddMemory)}
        return (new := added.get(after["superseded_by"])) is None or new.reason != WAITING

    def _source(self, row: SemanticMemory, record: Mapping[str, Any]) -> bool:
        source = _source(record["source"])
        if not self._is_done("memory_sources", row.n, {"seq": source.seq}):
            self.changes.append(AddSource(row.n, source))
        return True

    def _unsource(self, row: SemanticMemory, record: Mapping[str, Any]) -> bool:
        gone = tuple(_source(source) for source in record["sources"])
        if self._is_done("memory_sources", row.n, {"sources": gone}):
            return True
        if not set(gone) <= set(row.sources):
            return False
        self.changes.append(RemoveSources(row.n, [source.seq for source in gone]))
        return True

    def _is_done(self, table: str, n: int, before: Mapping[str, Any]) -> bool:
        """Whether the journal has this very change already."""
        handle, cause = self.run.handle, self.cause
        same: Callable[[ChangeRow], bool] = lambda row: (row.at, row.operation) == (cause.at, cause.operation)  # noqa: E731
        found = handle.store.journal(handle.own(), table=table, row_ns=[n], after=0)
        return any(same(row) and dict(row.before or {}) == dict(before) for row in found)


# ------------------------------------------------------------------ giving what waits its place


def _place(memory: SemanticMemory) -> str:
    """What a statement shares with those that it meets: its slot, or its words."""
    return memory.slot or memory.content_hash.hex()


def _present(handle: Handle, memory: SemanticMemory) -> list[SemanticMemory]:
    """The active versions with which a statement shares its slot, or its words."""
    own = handle.own()
    if not own:
        return []
    if memory.slot is not None:
        return handle.store.memories(own, Memories(slot=memory.slot, states=(State.ACTIVE,), order="said"))
    same = Memories(hash=memory.content_hash, states=(State.ACTIVE,), current=True)
    return [row for row in handle.store.memories(own, same) if row.kind is memory.kind]


def _join(handle: Handle) -> None:
    """What waits becomes one chain with what was known, in the order of saying."""
    own = handle.own()
    archived = handle.store.memories(own, Memories(states=(State.ARCHIVED,))) if own else []
    places: dict[tuple[str | None, bytes, Kind | None], list[int]] = {}
    for memory in archived:
        if memory.reason == WAITING:
            place = (memory.slot, b"", None) if memory.slot else (None, memory.content_hash, memory.kind)
            places.setdefault(place, []).append(memory.n)
    for ns in places.values():
        settled(handle, lambda ns=ns: _joined(handle, ns))  # type: ignore[misc]


def _joined(handle: Handle, ns: Sequence[int]) -> None:
    back = handle.store.memories(handle.own(), Memories(ns=ns))
    present = _present(handle, back[0])
    updates = conflict.rejoined(back, present)
    changes = [
        UpdateMemory(row.n, {"reason": None, **columns} if row in back else columns, index_tokens(row)) for row, columns in updates
    ]
    expect = Expect(rows={row.n: row.changed for row in (*back, *present)})
    handle.store.apply(handle.writes(), changes, handle.cause("import", "joined in the order of saying"), expect)


# ------------------------------------------------------------------ from lines to values


_TIMES = frozenset(
    "said_at recorded_at hidden_at confirmed_at valid_from valid_to expires_at auto_delete_at last_retrieved last_used"
    " last_mentioned created_at updated_at".split()
)
_WORDS: Mapping[str, Callable[[Any], Any]] = {
    "kind": Kind,
    "standing": Standing,
    "state": State,
    "origin": Origin,
    "cardinality": Cardinality,
    "content_hash": bytes.fromhex,
    "flagged_with": tuple,
    "tags": tuple,
    "entities": tuple,
    "tool_calls": tuple,
    "tool_results": tuple,
    "relations": lambda relations: tuple(Relation(*relation) for relation in relations),
    "sources": lambda sources: tuple(_source(source) for source in sources),
}
_EMPTY: Mapping[str, Any] = {"flagged_with": (), "tags": (), "metadata": {}}


def _cause(header: Mapping[str, Any]) -> Cause:
    at = _time(header["at"])
    if at is None or not isinstance(header["operation"], str):
        raise ValueError("it has no time or no name")
    return Cause(header["operation"], at, header.get("actor"), header.get("run"), header.get("reason"))


def _time(text: Any) -> datetime | None:
    if text is None:
        return None
    at = datetime.fromisoformat(text)
    if at.tzinfo is None:
        raise ValueError(f"{text} has no offset")
    return at


def _columns(given: Mapping[str, Any]) -> dict[str, Any]:
    """Values as our dataclasses have them."""
    return {name: _value(name, value) for name, value in given.items()}


def _value(name: str, value: Any) -> Any:
    if value is None:
        return _EMPTY.get(name)
    if name in _TIMES:
        return _time(value)
    return _WORDS[name](value) if name in _WORDS else value


def _made(type_: Callable[..., T], given: Mapping[str, Any]) -> T:
    """A dataclass from an object; what is not there was empty. Raises ValueError for what the dataclass does not know."""
    known = {entry.name for entry in fields(type_)}  # type: ignore[arg-type]
    if unknown := sorted(given.keys() - known):
        raise ValueError(f"it has {', '.join(unknown)[:80]}")
    return type_(**_columns(given))


def _source(given: Mapping[str, Any]) -> Source:
    return _made(Source, given)


def _memory(handle: Handle, record: Mapping[str, Any]) -> SemanticMemory:
    """A memory as it was when it was added, without secrets that the other store had kept."""
    given = clean(handle, {name: value for name, value in record.items() if name not in ("type", "was", "crc")})
    was = record.get("was", {})
    memory = _made(SemanticMemory, given)
    updated_at = memory.created_at if was else memory.updated_at
    return replace(memory, **_columns(was), updated_at=updated_at)


def _turn(handle: Handle, record: Mapping[str, Any], *, keep: bool) -> Turn:
    """A turn as it was when it was recorded; with `keep` its long contents are blobs on the disk already. As `_memory`."""
    given = clean(handle, {name: value for name, value in record.items() if name not in ("type", "hidden_at", "crc")})
    turn = _made(Turn, given)
    if turn.blob is not None:  # it was missing already where the export was made
        return turn
    results = tuple(_shortened(handle, result, keep) for result in turn.tool_results)
    turn = replace(turn, content_hash=content_hash(turn.content), tool_results=results)
    if not blobs.is_long(turn.content):
        return turn
    blob = blobs.put(handle.blobs, turn.content) if keep else None
    return replace(turn, blob=blob, content=blobs.excerpt(turn.content))


def _shortened(handle: Handle, result: Mapping[str, Any], keep: bool) -> Mapping[str, Any]:
    content = result.get("content")
    if not keep or not isinstance(content, str) or not blobs.is_long(content):
        return result
    return {**result, "content": blobs.excerpt(content), "blob": blobs.put(handle.blobs, content)}
