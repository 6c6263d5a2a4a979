"""
Import an export: replay its operations with their original times, merging with what the store already has.

Ids are kept, and what is known is left as it is: what was forgotten or corrected here stays so. A change of a known
row is done only if this store has not seen it and the row is as the change found it. A statement whose slot or
words have other versions here waits, out of recall, until all is in; then it joins them in the order of saying.
What a file says of itself counts as far as `import_trust` says, unless it is trusted. A line that does not fit is a problem.

Operations are gathered into transactions; a killed import has done whole ones, and done again it does the rest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from yiku.errors import InvalidInput, Stale
from yiku.flows.common import checks, tombstones
from yiku.flows.common.handle import Handle, content_hash
from yiku.flows.common.turn_texts import tokens, tool_tokens
from yiku.flows.home import export_lines, import_trust
from yiku.flows.home.export import KINDS
from yiku.flows.home.imported_chains import WAITING, join_chains, present_versions
from yiku.flows.keep import attach
from yiku.flows.keep.record import is_unique, unique_message_id
from yiku.flows.learn import episodes
from yiku.rules.deciding.slots import index_tokens
from yiku.rules.privacy import scopes
from yiku.types import (
    AddMemory,
    AddScope,
    AddSource,
    AddTurns,
    Attachment,
    Cause,
    Change,
    ChangeRow,
    CiteSources,
    Episode,
    Expect,
    Kind,
    Learned,
    Memories,
    OperationRecord,
    Origin,
    Put,
    Records,
    RemoveSources,
    Replayed,
    Scratchpad,
    SemanticMemory,
    SetTurnHidden,
    Source,
    State,
    Turn,
    Turns,
    UpdateMemory,
)

BATCH = 500  # changes a transaction
BATCH_CHARS = 8_000_000
DOUBLE = "imported: another statement with the same words came in with it"
KEPT_AS_IT_IS = "changed here since"  # the name under which changes are counted that this store does not take over
ERASED = "erased"
UNFOUNDED = "summaries of what is not here"

Problem = Callable[[int, str], None]


@dataclass(frozen=True, slots=True)
class _Pending:
    """Pending changes of one operation, with its first line and counts."""

    change: Replayed
    line: int
    counts: Counter[str]


@dataclass(slots=True)
class Replay:
    """An import of one export, into the scopes that it names."""

    handle: Handle
    dry_run: bool
    everything: bool  # also operations of other scopes than the handle's
    problem: Problem
    trust: bool = False  # the owner says that the file is theirs
    counts: Counter[str] = field(default_factory=Counter)
    lowered: Counter[str] = field(default_factory=Counter)  # what is believed less than the file says
    skipped: Counter[str] = field(default_factory=Counter)
    sessions: set[str] = field(default_factory=set)
    pending: list[_Pending] = field(default_factory=list)
    size: int = 0
    fresh: set[str] = field(default_factory=set)  # ids, slots and words of what is pending, or changes
    ours: set[str] = field(default_factory=set)  # ids of the memories of this export so far
    seen: set[str] = field(default_factory=set)  # ids that a dry run would have stored
    said_in: dict[str, str] = field(default_factory=dict)  # the sessions of external ids that a dry run would have stored
    learned: list[str] = field(default_factory=list)  # ids of turns that were learned from there
    linked: dict[str, int] = field(default_factory=dict)  # memories that got a successor, and the line that says so
    altered: set[str] = field(default_factory=set)  # ids of turns that say less here, or were masked: no span of them holds
    erasure: int = 0  # the last that the pending changes were held against

    def __post_init__(self) -> None:
        self.erasure = self.handle.store.erasures.last()

    def take(self, item: OperationRecord) -> None:
        """Import one operation."""
        if item.scope != self.handle.scope:
            if not self.everything:
                raise InvalidInput(
                    f"this export holds the scope {checks.shown(item.scope)}; take it into yours (--as), or all scopes (--all)"
                )
            self.finish()
            if not scopes.is_valid(item.scope):
                return self.problem(item.line, f"{checks.shown(item.scope)} is no name of a scope")
            self.handle = replace(self.handle, scope=item.scope)
            if not self.dry_run and self.handle.store.scope(item.scope) is None:
                label = item.label if isinstance(item.label, str) and item.label.isprintable() else None
                label = label and label[: checks.NAME_CHARS]
                self.handle.store.apply(0, [AddScope(item.scope, label)], self.handle.cause("open scope"))
        try:
            cause = export_lines.cause(item.header)
        except InvalidInput as error:
            return self.problem(item.line, f"is no operation: {error.detail}")
        self.counts["records"] += sum(record.get("type") in ("turn", "memory") for _, record in item.changes)
        _Operation(self, cause, item.line, item.changes).take()
        if len(self.fresh) + len(self.pending) >= BATCH or self.size >= BATCH_CHARS:
            self.flush()

    def skip(self, why: str, count: int = 1) -> None:
        """Count what is not imported."""
        if count:
            self.skipped[why] += count

    def flush(self) -> None:
        """Write pending changes."""
        if self.pending and not self.dry_run:
            self._write()
        if self.learned and not self.dry_run:
            self._mark_learned()
        self.pending, self.fresh, self.size, self.learned = [], set(), 0, []
        self.erasure = self.handle.store.erasures.last()

    def _write(self) -> None:
        """Write in one transaction; if an operation is refused, one by one, and report it."""
        try:
            self._apply(self.pending)
        except Stale:
            if self.erasure != self.handle.store.erasures.last():
                raise
            for one in self.pending:
                try:
                    self._apply([one])
                except Stale:
                    self.counts.subtract(one.counts)
                    self.problem(one.line, "contradicts what is here: a second live row of its kind, or a row that is not there")

    def _apply(self, pending: Sequence[_Pending]) -> None:
        changes, cause = [one.change for one in pending], self.handle.cause("import")
        self.handle.store.apply(self.handle.writes(), changes, cause, Expect(erasure=self.erasure))

    def _mark_learned(self) -> None:
        """Mark imported turns as processed, so that they are not learned from again."""
        own, store = self.handle.own(), self.handle.store
        there = store.turns(own, Turns(ids=self.learned, hidden=True)) if own else []
        ns = [turn.n for turn in there if turn.n > store.learning.upto(own[0])]
        if fresh := sorted({*ns} - store.learning.extracted(own[0], ns)) if ns else []:
            with suppress(Stale):  # somebody learned from them meanwhile
                store.apply(own[0], [Learned(fresh)], self.handle.cause("import"))

    def finish(self) -> None:
        """Write pending changes and link versions."""
        self.flush()
        if not self.dry_run:
            self._unlink()
            join_chains(self.handle)

    def _unlink(self) -> None:
        """Unlink versions whose successor was not imported, to be linked later."""
        own, store = self.handle.own(), self.handle.store
        rows = store.memories(own, Memories(ids=sorted(self.linked))) if own and self.linked else []
        after = (
            {row.id: row for row in store.memories(own, Memories(ids=[row.superseded_by or "" for row in rows]))} if rows else {}
        )
        for row in rows:
            successor = after.get(row.superseded_by or "")
            if row.superseded_by is not None and (successor is None or successor.line != row.line):
                columns = {"superseded_by": None, "valid_to": None, "state": State.ARCHIVED, "reason": WAITING}
                store.apply(self.handle.writes(), [UpdateMemory(row.n, columns, index_tokens(row))], self.handle.cause("import"))
                self.problem(self.linked[row.id], f"the successor of {row.id} did not come in")
        self.linked = {}


@dataclass(slots=True)
class _Operation:
    """One operation: header, lines, and resulting changes."""

    run: Replay
    cause: Cause
    line: int
    lines: Sequence[tuple[int, Mapping[str, Any]]]
    coming: dict[str, SemanticMemory] = field(default_factory=dict)  # the memories that it adds, by id
    changes: list[Change] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)  # what these changes add
    added: set[str] = field(default_factory=set)  # ids of what it adds
    touched: set[str] = field(default_factory=set)  # ids of what it changes, slots and words of both
    retired: set[str] = field(default_factory=set)  # ids of the memories that it takes out of the live ones
    live_words: set[tuple[Kind, bytes]] = field(default_factory=set)  # of the memories that it adds

    def take(self) -> None:
        """Read each line in order; consecutive turns together."""
        memories = {
            line: memory for line, record in self.lines if record.get("type") == "memory" for memory in self._read(line, record)
        }
        self.coming = {memory.id: memory for memory in memories.values()}
        self.retired = {record["memory"] for _, record in self.lines if {"superseded_by", "state"} & _set(record).keys()}
        turns: list[Turn] = []
        for line, record in self.lines:
            try:
                if record.get("type") != "turn" and turns:
                    self._turns(turns)
                    turns = []
                match record.get("type"):
                    case "turn":
                        turns.append(self._turn(line, record))
                    case "memory":
                        if line in memories:
                            self._memory(memories[line], export_lines.made_of(record))
                    case "hide":
                        self._hide(record)
                    case "episode" | "scratchpad" | "attachment":
                        self._record(record)
                    case "update" | "source" | "unsource":
                        self._change(line, record)
                    case other:
                        self.run.problem(line, f"has the unknown type {checks.shown(other)}")
            except InvalidInput as error:
                self.run.counts["records"] += record.get("type") not in ("turn", "memory")
                self.run.problem(line, error.detail)
        if turns:
            self._turns(turns)
        self._pend()

    def _read(self, line: int, record: Mapping[str, Any]) -> Iterator[SemanticMemory]:
        """Yield the memory of a line; nothing if it is invalid or was erased here."""
        run = self.run
        try:
            memory = export_lines.memory(run.handle, record)
            if run.erasure and tombstones.erased_since(run.handle, memory) is not None and not self._known(memory.id):
                run.skip(ERASED)
            else:
                yield memory
        except InvalidInput as error:
            run.problem(line, error.detail)

    def _known(self, id: str) -> bool:
        """Tell whether a memory exists, or in a dry run would."""
        own = self.run.handle.own()
        return id in self.run.seen or bool(own and self.run.handle.store.memories(own, Memories(ids=[id])))

    def _pend(self) -> None:
        if self.changes:
            self.run.pending.append(_Pending(Replayed(tuple(self.changes), self.cause), self.line, self.counts))
            self.run.fresh |= self.added | self.touched
        self.changes, self.counts, self.added, self.touched = [], Counter(), set(), set()

    def _count(self, what: str, number: int = 1) -> None:
        self.counts[what] += number
        self.run.counts[what] += number

    def _flush_if_pending(self, *names: str) -> None:
        """Flush what this change depends on."""
        if not self.added.isdisjoint(names):
            self._pend()
        if not self.run.fresh.isdisjoint(names):
            self.run.flush()

    # -------------------------------------------------------------- turns

    def _turn(self, line: int, record: Mapping[str, Any]) -> Turn:
        """Parse the turn of a line, limited by the file's trust."""
        run = self.run
        turn, lost = export_lines.turn(run.handle, record, keep=not run.dry_run)
        for blob in lost:
            run.problem(line, f"blob: the content {blob[:16]} is not in the file; what there is of it was kept")
        if turn.content_hash != content_hash(record["content"]):
            run.altered.add(turn.id)
        if record.get("learned") is True:
            run.learned.append(turn.id)
        if run.trust:
            return turn
        return import_trust.turn(turn, run.handle.now())

    def _turns(self, turns: list[Turn]) -> None:
        run, handle = self.run, self.run.handle
        self._flush_if_pending(*(turn.id for turn in turns), *(turn.external_id or "" for turn in turns))
        own = handle.own()
        there = handle.store.turns(own, Turns(ids=[turn.id for turn in turns], hidden=True)) if own else []
        externals = [turn.external_id for turn in turns if turn.external_id is not None]
        there += handle.store.turns(own, Turns(external_ids=externals, hidden=True)) if own and externals else []
        ids = {turn.id for turn in there} | run.seen
        said_in = run.said_in | {turn.external_id: turn.session for turn in there if turn.external_id is not None}
        fresh = []
        for turn in turns:
            unique = _with_unique_id(turn, said_in)
            if turn.id not in ids and (unique.external_id is None or unique.external_id not in said_in):
                fresh.append(unique)
                ids.add(unique.id)
                said_in |= {} if unique.external_id is None else {unique.external_id: unique.session}
        run.said_in = said_in if run.dry_run else {}
        kept = list(tombstones.admit_turns(handle, fresh)) if run.erasure else fresh
        self._count("turns", len(kept))
        run.counts["known"] += len(turns) - len(fresh)
        run.lowered["turns"] += 0 if run.trust else sum(turn.role == "user" and turn.origin is Origin.IMPORT for turn in kept)
        run.skip(ERASED, len(fresh) - len(kept))
        said = {turn.id: turn.content_hash for turn in turns}
        run.altered |= {turn.id for turn in (*there, *kept) if said.get(turn.id, turn.content_hash) != turn.content_hash}
        fresh = kept
        run.sessions.update(turn.session for turn in turns)
        self._remember_new(*(turn.id for turn in fresh))
        self.added.update(turn.external_id for turn in fresh if turn.external_id is not None)
        if fresh:
            self.changes.append(AddTurns(fresh, [tokens(turn) for turn in fresh], [tool_tokens(turn) for turn in fresh]))
            run.size += sum(len(turn.content) for turn in fresh)

    def _remember_new(self, *names: str) -> None:
        self.added.update(names)
        if self.run.dry_run:
            self.run.seen.update(names)

    def _hide(self, record: Mapping[str, Any]) -> None:
        id = export_lines.id(record.get("turn"), "turn")
        before, after = (export_lines.optional_time(record.get(name), name) for name in ("before", "after"))
        self._flush_if_pending(id)
        handle = self.run.handle
        found = handle.store.turns(handle.own(), Turns(ids=[id], hidden=True)) if handle.own() else []
        if not found or self._is_done("turn_state", found[0].n, {"hidden_at": before}):
            return
        if found[0].hidden_at != before or not (self.run.trust or found[0].origin is not Origin.USER):
            self.run.skip(KEPT_AS_IT_IS)
            self.run.counts["records"] += 1
            return
        self.touched.add(id)
        self.changes.append(SetTurnHidden(found[0].n, after, tokens(found[0])))

    # -------------------------------------------------------------- what grew out of sessions

    def _record(self, line: Mapping[str, Any]) -> None:
        """Import a new episode, scratchpad or attachment; one scratchpad per user."""
        run, handle = self.run, self.run.handle
        record = export_lines.record(handle, line, keep=not run.dry_run)
        self._flush_if_pending(record.id)
        own, kind = handle.own(), KINDS[line["type"]]
        if record.id in run.seen or (own and handle.store.records(kind, own, Records(ids=[record.id]))):
            return None
        others = own and isinstance(record, Scratchpad) and handle.store.records(Scratchpad, own, Records(user=record.user_id))
        if others or (run.erasure and tombstones.is_erased(handle, record)):
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

    def _memory(self, claimed: SemanticMemory, made_of: Sequence[str] = ()) -> None:
        """Import a new memory. made_of: the statements that it sums up; without all of them it is left out, and made anew."""
        run, handle = self.run, self.run.handle
        memory = claimed if run.trust else import_trust.memory(claimed, handle.now())
        memory = replace(memory, sources=tuple(map(self._drop_moved_span, memory.sources)))
        place = _place(memory)
        self._flush_if_pending(memory.id, place, *made_of)
        own = handle.own()
        there = handle.store.memories(own, Memories(ids=[memory.id])) if own else []
        if memory.id in run.seen or there:
            run.ours.add(memory.id)
            run.counts["known"] += 1
            return self._raise(there[0], claimed) if there and run.trust else None
        cited = handle.store.memories(own, Memories(ids=made_of)) if own and made_of else []
        if {*made_of} - {row.id for row in cited} - run.seen:
            return run.skip(UNFOUNDED)
        self._check_successor(memory.id, memory.line, memory.superseded_by)
        run.ours.add(memory.id)
        self._count("memories")
        if not run.dry_run and memory.state is State.ACTIVE and self._meets_others(memory):
            if run.trust:
                memory = replace(memory, state=State.ARCHIVED, reason=WAITING, superseded_by=None, valid_to=None)
            else:
                memory = import_trust.as_candidate(memory)
        memory = self._first_of_its_words(memory)
        if not run.trust:
            run.lowered["statements"] += memory.trust < claimed.trust
            run.lowered["pins"] += claimed.pinned
            run.lowered["rules"] += claimed.kind is Kind.RULE and claimed.state is State.ACTIVE
        self._remember_new(memory.id)
        self.touched.add(place)
        self.changes.append(AddMemory(memory, index_tokens(memory)))
        self.changes += [CiteSources(memory.id, [row.n for row in cited])] if cited else []
        run.size += len(memory.content)
        return None

    def _raise(self, row: SemanticMemory, claimed: SemanticMemory) -> None:
        """Raise the trust of a statement imported before its file was trusted."""
        if columns := import_trust.trust_updates(row, claimed):
            if row.reason == import_trust.FOREIGN and row.state is State.CANDIDATE:
                live = row.superseded_by is None  # then it waits for its place
                columns |= {"state": State.ARCHIVED, "reason": WAITING} if live else {"state": State.ACTIVE, "reason": None}
            self.touched |= {row.id, _place(row)}
            self.changes.append(UpdateMemory(row.n, columns, index_tokens(row)))

    def _check_successor(self, id: str, line: str, successor: str | None) -> None:
        """Refuse a successor that is missing, of another line, or cyclic."""
        if successor is None:
            return
        handle, seen = self.run.handle, {id}
        if successor not in self.coming:
            self._flush_if_pending(successor)
        moved = [record["memory"] for _, record in self.lines if _set(record).get("line") == line]
        self.run.linked[id] = self.line
        rows = {row.id: row for row in handle.store.memories(handle.own(), Memories(line=line))} if handle.own() else {}
        rows |= {row.id: row for row in handle.store.memories(handle.own(), Memories(ids=moved))} if moved and handle.own() else {}
        rows |= {memory.id: memory for memory in self.coming.values() if memory.line == line and memory.id not in rows}
        if successor not in rows and not (self.run.dry_run and successor in self.run.seen):
            checks.refuse("superseded_by", f"names {successor}, which is no version of line {line}")
        following: str | None = successor
        while following in rows:
            if following in seen:
                checks.refuse("superseded_by", f"leads back to {following}")
            seen.add(following)
            following = rows[following].superseded_by

    def _meets_others(self, memory: SemanticMemory) -> bool:
        """Tell whether its slot or words have a version here from outside this export."""
        live = memory.superseded_by is None and memory.flag is None
        present = present_versions(self.run.handle, memory)
        return any(
            row.id not in self.run.ours or (live and row.live and not row.flag and row.id not in self.retired) for row in present
        )

    def _first_of_its_words(self, memory: SemanticMemory) -> SemanticMemory:
        """Return the statement, archived if one with the same words comes in live with it: both would have one place."""
        if not memory.live or memory.id in self.retired:
            return memory
        words = (memory.kind, memory.content_hash)
        if words in self.live_words:
            return replace(memory, state=State.ARCHIVED, reason=DOUBLE)
        self.live_words.add(words)
        return memory

    def _change(self, line: int, record: Mapping[str, Any]) -> None:
        """Import a change of a memory."""
        id = export_lines.id(record.get("memory"), "memory")
        self._flush_if_pending(id)
        handle = self.run.handle
        found = handle.store.memories(handle.own(), Memories(ids=[id])) if handle.own() else []
        if not found:
            if not self.run.dry_run and id not in self.run.seen:
                checks.refuse("memory", f"{id} is not there to be changed")
            return
        row = handle.store.with_details(found)[0]
        self.touched |= {row.id, _place(row)}
        done = False
        if self.run.trust or row.origin is Origin.IMPORT:
            done = {"update": self._update, "source": self._source, "unsource": self._unsource}[record["type"]](row, record)
        if not done:
            self.run.skip(KEPT_AS_IT_IS)
            self.run.counts["records"] += 1

    def _update(self, row: SemanticMemory, record: Mapping[str, Any]) -> bool:
        handle, trust = self.run.handle, self.run.trust
        before, after = (export_lines.columns(handle, record.get(name, {}), name) for name in ("before", "after"))
        if before.keys() != after.keys():
            checks.refuse("after", "names other columns than before")
        if not trust:
            before, after = import_trust.allowed_columns(before), import_trust.allowed_columns(after)
            if not after:
                return True
        if self._is_done("memories", row.n, before):
            return True
        if row.reason in (WAITING, import_trust.FOREIGN):  # it counts as active, whatever else the other store knew of it
            kept = ("state", "reason") if row.reason == WAITING else ("state", "reason", "superseded_by", "valid_to")
            after = {name: after[name] for name in kept if name in after and ("state" in after or name not in ("state", "reason"))}
            if after.get("state") is State.ACTIVE:
                after["reason"] = row.reason
            if row.reason == WAITING or after.get("state") is State.ACTIVE:
                after.pop("state", None)
        elif any(getattr(row, name) != value for name, value in before.items()) or not self._has_successor(row, after):
            return False
        self._check_successor(row.id, after.get("line", row.line), after.get("superseded_by"))
        if after or not before:
            self.changes.append(UpdateMemory(row.n, after, index_tokens(row)))
        return True

    def _has_successor(self, row: SemanticMemory, after: Mapping[str, Any]) -> bool:
        """Tell whether a superseding version takes its place now."""
        if after.get("superseded_by") is None:
            return True
        added = {change.memory.id: change.memory for change in self.changes if isinstance(change, AddMemory)}
        return (new := added.get(after["superseded_by"])) is None or new.reason != WAITING

    def _source(self, row: SemanticMemory, record: Mapping[str, Any]) -> bool:
        source = self._drop_moved_span(export_lines.source(self.run.handle, record.get("source")))
        if not self._is_done("memory_sources", row.n, {"seq": source.seq}):
            self.changes.append(AddSource(row.n, source if self.run.trust else import_trust.source(source)))
        return True

    def _unsource(self, row: SemanticMemory, record: Mapping[str, Any]) -> bool:
        parsed = export_lines.sources(self.run.handle, record.get("sources"))
        gone = parsed if self.run.trust else tuple(import_trust.source(source) for source in parsed)
        if self._is_done("memory_sources", row.n, {"sources": gone}):
            return True
        if not {*map(_spanless, gone)} < {*map(_spanless, row.sources)}:
            return False
        self.changes.append(RemoveSources(row.n, [source.seq for source in gone]))
        return True

    def _drop_moved_span(self, source: Source) -> Source:
        """Drop a source's span if its turn differs here."""
        return _spanless(source) if source.turn in self.run.altered else source

    def _is_done(self, table: str, n: int, before: Mapping[str, Any]) -> bool:
        """Tell whether the journal contains this change already."""
        handle, cause = self.run.handle, self.cause
        same: Callable[[ChangeRow], bool] = lambda row: (row.at, row.operation) == (cause.at, cause.operation)  # noqa: E731
        found = handle.store.journal(handle.own(), table=table, row_ns=[n], after=0)
        return any(same(row) and _comparable(row.before or {}) == _comparable(before) for row in found)


def _with_unique_id(turn: Turn, said_in: Mapping[str, str]) -> Turn:
    """Give a turn its own external id if another session uses it."""
    id = turn.external_id
    if id is None or is_unique(id) or said_in.get(id, turn.session) == turn.session:
        return turn
    return replace(turn, external_id=unique_message_id(id, turn.session))


def _set(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what a change line sets; empty for other lines."""
    after = record.get("after")
    return after if record.get("type") == "update" and isinstance(after, Mapping) and isinstance(record.get("memory"), str) else {}


def _place(memory: SemanticMemory) -> str:
    """Return a statement's slot, or words."""
    return memory.slot or memory.content_hash.hex()


def _spanless(source: Source) -> Source:
    return replace(source, start=None, end=None)


def _comparable(before: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row image without spans, which may differ between stores."""
    return {**before, "sources": tuple(map(_spanless, before["sources"]))} if "sources" in before else dict(before)
