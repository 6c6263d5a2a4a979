"""
Taking in an export: each operation of another store is done here as it was done there, under its own header.

Ids are kept, and what is known is left as it is: what was forgotten or corrected here stays so. A change of a known
row is done only if this store has not seen it and the row is as the change found it. A statement whose slot or
words have other versions here waits, out of recall, until all is in; then it joins them in the order of saying.

Operations are gathered into transactions; a killed import has done whole ones, and done again it does the rest.
"""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, is_dataclass, replace
from datetime import datetime
from typing import Any, TypeVar, get_args

from yiku.errors import InvalidInput, Stale
from yiku.files import blobs
from yiku.flows import attach, barred, checks, episodes
from yiku.flows.export import KINDS
from yiku.flows.handle import Handle, content_hash, settled
from yiku.flows.intake import clean, clean_file
from yiku.flows.record import tokens, tool_tokens
from yiku.rules import conflict, scopes
from yiku.rules.slots import index_tokens
from yiku.types import (
    ActionNode,
    AddMemory,
    AddScope,
    AddSource,
    AddTurns,
    Attachment,
    Cardinality,
    Cause,
    Change,
    ChangeRow,
    Direction,
    Episode,
    EpisodeOutcome,
    EpisodeSource,
    Expect,
    Kind,
    Learned,
    Memories,
    OperationRecord,
    Origin,
    Put,
    Record,
    Records,
    Relation,
    RemoveSources,
    Replayed,
    Scratchpad,
    SemanticMemory,
    SetTurnHidden,
    Source,
    Standing,
    State,
    Task,
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
    learned: list[str] = field(default_factory=list)  # ids of turns that were learned from there
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
        if self.learned and not self.dry_run:
            self._learned()
        self.pending, self.fresh, self.size, self.learned = [], set(), 0, []
        self.erasure = self.handle.store.last_erasure()

    def _learned(self) -> None:
        """What was learned from turns came with them: they are not learned from again, nor taken back twice."""
        own, store = self.handle.own(), self.handle.store
        there = store.turns(own, Turns(ids=self.learned, hidden=True)) if own else []
        ns = [turn.n for turn in there if turn.n > store.learned(own[0])]
        if fresh := sorted({*ns} - store.extracted(own[0], ns)) if ns else []:
            with suppress(Stale):  # somebody learned from them meanwhile
                store.apply(own[0], [Learned(fresh)], self.handle.cause("import"))

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
                        turns.append((line, turn := _turn(self.run.handle, record, keep=not self.run.dry_run)))
                        self.run.learned += [turn.id] if record.get("learned") is True else []
                    case "memory":
                        self._memory(record)
                    case "hide":
                        self._hide(record)
                    case "episode" | "scratchpad" | "attachment":
                        self._record(record)
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

    # -------------------------------------------------------------- what grew out of sessions

    def _record(self, line: Mapping[str, Any]) -> None:
        """An episode, a scratchpad or an attachment that is not known; and of scratchpads one for each user."""
        run, handle = self.run, self.run.handle
        record = _grown(handle, line, keep=not run.dry_run)
        self._stored(record.id)
        own, kind = handle.own(), KINDS[line["type"]]
        if record.id in run.seen or (own and handle.store.records(kind, own, Records(ids=[record.id]))):
            return None
        others = own and isinstance(record, Scratchpad) and handle.store.records(Scratchpad, own, Records(user=record.user_id))
        if others or (run.erasure and barred.is_erased(handle, record)):
            run.counts["records"] += 1
            return run.skip(KEPT_AS_IT_IS if others else ERASED)
        self._remember_new(record.id)
        match record:
            case Episode():
                self.changes.append(Put(record, episodes.tokens(record)))
            case Attachment():
                self.changes.append(Put(record, attach.tokens(record)))
            case Scratchpad():
                self.changes.append(Put(record))
        return None

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
    " last_mentioned created_at updated_at started_at ended_at timestamp since until focus_since".split()
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
    "action_nodes": lambda nodes: tuple(_made(ActionNode, node) for node in nodes),
    "recent": lambda tasks: tuple(_made(Task, task) for task in tasks),
    **dict.fromkeys("tools_used decisions linked_memory_ids active_projects open_questions next_steps".split(), tuple),
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
    given = clean(handle, {name: value for name, value in record.items() if name not in ("type", "hidden_at", "learned", "crc")})
    turn = _made(Turn, given)
    if turn.blob is not None:  # it was missing already where the export was made
        return turn
    results = tuple(_shortened(handle, result, keep) for result in turn.tool_results)
    turn = replace(turn, content_hash=content_hash(turn.content), tool_results=results)
    if not blobs.is_long(turn.content):
        return turn
    blob = blobs.put(handle.blobs, turn.content) if keep else None
    return replace(turn, blob=blob, content=blobs.excerpt(turn.content))


def _grown(handle: Handle, line: Mapping[str, Any], *, keep: bool) -> Record:
    """An episode, a scratchpad or an attachment; with `keep` the content that was kept is a blob on the disk already. As `_memory`."""
    given: dict[str, Any] = {name: value for name, value in line.items() if name not in ("type", "content_base64", "crc")}
    given = clean(handle, given)
    if line["type"] == "scratchpad":
        given.setdefault("user_id", handle.scope)
    if (content := line.get("content_base64")) is not None:
        whole = clean_file(handle, base64.b64decode(content, validate=True))
        given["blob"] = blobs.put_bytes(handle.blobs, whole) if keep else blobs.name_of(whole)
    made: Record = _made(KINDS[line["type"]], given)
    _fits(made)
    return made


_ONE_OF = {"outcome": get_args(EpisodeOutcome), "source": get_args(EpisodeSource), "direction": get_args(Direction)}
_TYPES: Mapping[str, Any] = {"str": str, "int": int, "float": (int, float), "bool": bool, "datetime": datetime}


def _fits(value: Any) -> None:
    """Raise ValueError where a field holds what no such field can: these lines may come from anywhere."""
    for entry in fields(value):
        held, kind = getattr(value, entry.name), str(entry.type)
        if kind.startswith("tuple"):
            for part in held:
                if is_dataclass(part):
                    _fits(part)
            fine = "[str" not in kind or all(isinstance(part, str) for part in held)
        elif kind.startswith("Mapping"):
            fine = isinstance(held, dict) and ("Any" in kind or all(isinstance(part, str) for part in held.values()))
        elif entry.name in _ONE_OF and kind not in _TYPES:
            fine = held in _ONE_OF[entry.name]
        else:
            fine = (held is None and "None" in kind) or isinstance(held, _TYPES[kind.removesuffix(" | None")])
        if not fine:
            raise ValueError(f"{entry.name} cannot be {checks.shown(held)}")


def _shortened(handle: Handle, result: Mapping[str, Any], keep: bool) -> Mapping[str, Any]:
    content = result.get("content")
    if not keep or not isinstance(content, str) or not blobs.is_long(content):
        return result
    return {**result, "content": blobs.excerpt(content), "blob": blobs.put(handle.blobs, content)}
