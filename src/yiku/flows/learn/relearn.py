"""
Reread all turns with the current rules and reconcile what earlier rules learned.

Batch by batch, in the order in which the turns came. First what rules had learned from these turns: a statement that the present
rules do not find in any of its turns is archived, unless somebody told it outright, confirmed, edited, restored or used it, or a
turn that it came from is gone; flags by shared words are lifted, and so are pins and the kind of what is no rule. Then each turn
teaches what is not known yet, as `learn` would at its own time. What somebody forgot, took back or had erased is not learned
again, in other words neither.

Every operation carries the name of the run, under which `undo` takes all of it back. How far it came is kept in the transaction
behind each batch, so that a run that was cut off goes on; what was done twice changes nothing.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

from yiku.flows.common import checks, pause
from yiku.flows.common.handle import Handle, retry_if_stale
from yiku.flows.keep import retract
from yiku.flows.keep.forget import FORGOTTEN
from yiku.flows.keep.undo import RUN, UNDONE
from yiku.flows.learn import by_rules
from yiku.flows.learn.store_draft import Result, counted, troubles
from yiku.rules.deciding.conflict import Update
from yiku.rules.deciding.history import RETRACTED
from yiku.rules.deciding.slots import index_tokens
from yiku.rules.learning import reread
from yiku.rules.learning.reread import LEARNING_VERSION, OUTGROWN
from yiku.store.api import one_at_a_time
from yiku.types import (
    Change,
    Condition,
    Confirmed,
    Draft,
    Expect,
    Flagged,
    Kind,
    LearningState,
    Memories,
    New,
    Past,
    Relearned,
    Replaced,
    SemanticMemory,
    SetLearning,
    State,
    Turn,
    Turns,
    UpdateMemory,
)

OPERATION = "relearn"
BATCH = 100  # turns between two steps of the mark
RULES = "rules"  # the method of what rules learned
BY_HAND = frozenset(("update", "confirm", "restore", "undo"))  # operations after which a statement is somebody's own
TAKEN_OUT = (FORGOTTEN, RETRACTED, UNDONE)  # how the reasons begin of what somebody took out of memory

Progress = Callable[[int, int], object]


@dataclass(frozen=True, slots=True)
class _Run:
    """State of one call."""

    handle: Handle
    scope: int
    dry_run: bool


@dataclass(frozen=True, slots=True)
class _Readings:
    """Readings of a batch of turns, each computed once."""

    handle: Handle
    read: dict[str, by_rules.Reading] = field(default_factory=dict)  # by the turn's id
    given: dict[str, list[SemanticMemory]] = field(default_factory=dict)

    def of(self, turn: Turn) -> by_rules.Reading:
        """Return the reading of a turn."""
        if turn.id not in self.read:
            self.read[turn.id] = by_rules.read(self.handle, turn)
        return self.read[turn.id]

    def statements(self, turn: Turn) -> list[SemanticMemory]:
        """Return the statements of a turn's reading."""
        if turn.id not in self.given:
            self.given[turn.id] = by_rules.statements(self.handle, turn, self.of(turn))
        return self.given[turn.id]


@dataclass(frozen=True, slots=True)
class _Revision:
    """
    The changes to the statements of a batch.

    columns: by the number of a row; rows: the same rows as they were
    """

    archived: Sequence[SemanticMemory] = ()
    unpinned: Sequence[SemanticMemory] = ()
    unflagged: Sequence[SemanticMemory] = ()
    rows: Mapping[int, SemanticMemory] = field(default_factory=dict)
    columns: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)

    def changes(self) -> list[Change]:
        """Return the changes, archiving first, so that no slot ever has two live values."""
        order = sorted(
            self.columns, key=lambda n: ("state" not in self.columns[n], self.columns[n].get("superseded_by", "") is None)
        )
        return [UpdateMemory(n, self.columns[n], index_tokens(self.rows[n])) for n in order]


@dataclass(frozen=True, slots=True)
class _Batch:
    """What rereading some turns changed and taught; `turns` is 0 at the end."""

    turns: int
    upto: int
    revision: _Revision = field(default_factory=_Revision)
    results: Sequence[Result] = ()


def relearn(handle: Handle, *, budget_s: float | None = None, dry_run: bool = False, progress: Progress | None = None) -> Relearned:
    """
    Reread the turns of the scope within a time budget; with `dry_run` only report.

    budget_s: looked at between turns; the next call goes on. Each reads at least one
    progress: told how many turns are done, of how many
    Raises StoreBusy while another process learns here.
    """
    checks.optional_call(progress, "progress")
    checks.flag(dry_run, "dry_run")
    checks.optional_seconds(budget_s, "budget_s")
    handle.store.upkeep.about()  # a memory that was closed says so
    pause.raise_if_paused(handle)
    began, own = time.monotonic(), handle.own()
    if not own or handle.settings.learn == "off":
        return Relearned(dry_run=dry_run)

    def over() -> bool:
        return budget_s is not None and time.monotonic() - began >= budget_s

    archived, unpinned, unflagged = dict[str, SemanticMemory](), dict[str, SemanticMemory](), dict[str, SemanticMemory]()
    learned, outcomes, lines, turns = dict[bytes, SemanticMemory](), Counter[str](), list[str](), 0
    upto: int | None = None  # the last turn that was read; None when all were
    lock = nullcontext() if dry_run else one_at_a_time(handle.paths.locks / "learner.lock", "another process is learning")
    with lock:
        state = _start_run(handle, own[0], dry_run)
        for batch in _batches(_Run(replace(handle, run=state.run), own[0], dry_run), state, over):
            turns += batch.turns
            archived |= {row.id: row for row in batch.revision.archived}
            unpinned |= {row.id: row for row in batch.revision.unpinned}
            unflagged |= {row.id: row for row in batch.revision.unflagged}
            lines += troubles(batch.results)
            for result in batch.results:
                if isinstance(result, New | Replaced | Past | Flagged):
                    if result.memory.content_hash in learned:
                        continue
                    learned[result.memory.content_hash] = result.memory
                outcomes += counted([result])
            upto = batch.upto if batch.turns else None
            if progress is not None and upto is not None:
                ns = handle.store.columns(own).ns
                progress(int(ns.searchsorted(upto, "right")), len(ns))
        columns = handle.store.columns(own)
        left = 0 if upto is None else int((columns.user & (columns.ns > upto)).sum())
    done = [] if dry_run else handle.store.journal(own, run=state.run)
    return Relearned(
        turns=turns,
        left=left,
        archived=tuple(archived.values()),
        learned=tuple(learned.values()),
        unflagged=tuple(unflagged.values()),
        unpinned=tuple(unpinned.values()),
        outcomes=dict(outcomes),
        operation=done[0].transaction if done else 0,
        dry_run=dry_run,
        seconds=round(time.monotonic() - began, 3),
        troubles=tuple(dict.fromkeys(lines)),
    )


def proposal(handle: Handle) -> str | None:
    """Return the line of `status` that proposes relearning, if due."""
    own = handle.own()
    if not own or handle.settings.learn == "off":
        return None
    state = handle.store.learning.state(own[0])
    if state.version >= LEARNING_VERSION:
        return None
    if state.run is not None and state.target == LEARNING_VERSION:
        return "reading all turns again was interrupted: yiku learn --again continues"
    learned = Memories(where=Condition("method", "eq", RULES), states=(State.ACTIVE, State.CANDIDATE), limit=1)
    if not handle.store.memories(own, learned):
        return None
    return "some statements were learned by the rules of an earlier version: yiku learn --again (--dry-run says what would change)"


def _start_run(handle: Handle, scope: int, dry_run: bool) -> LearningState:
    """Resume an interrupted run, or start one, storing its name first."""
    state = handle.store.learning.state(scope)
    if dry_run:
        return LearningState()
    if state.run is None or state.target != LEARNING_VERSION:
        state = replace(state, target=LEARNING_VERSION, run=f"{OPERATION} {handle.new_id()}", upto=0)
        handle.store.apply(scope, [SetLearning(state)], handle.cause(OPERATION))
    return state


def _batches(run: _Run, state: LearningState, over: Callable[[], bool]) -> Iterator[_Batch]:
    """Process batches until the end or the time limit, advancing the mark after each."""
    store, upto, archived = run.handle.store, state.upto, set[str]()
    begun = False
    while not (begun and over()):
        found = store.turns([run.scope], Turns(after=upto, roles=("user",), limit=BATCH))
        if not found:
            if not run.dry_run:
                done = LearningState(LEARNING_VERSION, offered=store.learning.state(run.scope).offered)
                store.apply(run.scope, [SetLearning(done)], run.handle.cause(OPERATION))
            yield _Batch(0, upto)
            return
        readings = _Readings(run.handle)
        turns = _read(readings, found, over, begun=begun)
        if not turns:  # time was over meanwhile
            return
        said = [turn for turn in turns if by_rules.said_by_person(turn)]
        revision = _revise(run, readings, said)
        archived.update(row.id for row in revision.archived)
        results = [result for turn in said for result in _learn_from(run, readings, turn, archived)]
        upto, begun = turns[-1].n, True
        if not run.dry_run:
            store.apply(run.scope, [SetLearning(replace(state, upto=upto))], run.handle.cause(OPERATION))
        yield _Batch(len(turns), upto, revision, results)


def _read(readings: _Readings, turns: Sequence[Turn], over: Callable[[], bool], *, begun: bool) -> list[Turn]:
    """Return the turns that there was time to read, at least one per call."""
    done: list[Turn] = []
    for turn in turns:
        if (begun or done) and over():
            break
        if by_rules.said_by_person(turn):
            readings.of(turn)
        done.append(turn)
    return done


# ------------------------------------------------------------------ what was learned before


def _revise(run: _Run, readings: _Readings, turns: Sequence[Turn]) -> _Revision:
    """Compare what rules learned from these turns with the new reading."""
    handle, store = run.handle, run.handle.store

    def attempt() -> _Revision:
        erasure = store.erasures.last()
        revision = _revision(run, readings, turns)
        if revision.columns and not run.dry_run:
            expect = Expect(rows={n: row.changed for n, row in revision.rows.items()}, erasure=erasure)
            store.apply(run.scope, revision.changes(), handle.cause(OPERATION, OUTGROWN if revision.archived else None), expect)
        return revision

    return retry_if_stale(handle, attempt)


def _revision(run: _Run, readings: _Readings, turns: Sequence[Turn]) -> _Revision:
    rows, unsure = _learned_first_from(run, turns), list[tuple[SemanticMemory, SemanticMemory | None]]()
    sources = _source_turns(run, rows)
    for row in rows:
        if all(source.turn in sources for source in row.sources):  # else somebody told it outright, or its turn is gone
            said = [sources[source.turn or ""] for source in row.sources]
            same = reread.given(row, [one for turn in said for one in readings.statements(turn)])
            if all(readings.of(turn).whole for turn in said) and (same is None or (row.pinned and not same.pinned)):
                unsure.append((row, same))
    by_hand = _by_hand(run, [row for row, _ in unsure])
    unsure = [(row, same) for row, same in unsure if row.n not in by_hand]
    archived = [row for row, same in unsure if same is None and not (row.used or row.mentioned)]
    gone = {row.id: row for row in archived}
    unpinned = [(row, same) for row, same in unsure if row.id not in gone and (row.pinned or row.kind is Kind.RULE)]
    unflagged = _clear_flags(run, rows, gone)

    updates: list[Update] = [(row, {"state": State.ARCHIVED, "reason": OUTGROWN}) for row in archived]
    updates += [(row, _unpin(run, row, same)) for row, same in unpinned]
    updates += [update for line in dict.fromkeys(row.line for row in archived) for update in _restore_previous(run, line, gone)]
    updates += unflagged
    columns: dict[int, dict[str, Any]] = {}
    for row, changed in updates:
        columns.setdefault(row.n, {}).update(changed)
    return _Revision(
        archived=archived,
        unpinned=[row for row, _ in unpinned],
        unflagged=[row for row, changed in unflagged if not changed["flagged_with"]],
        rows={row.n: row for row, _ in reversed(updates)},
        columns=columns,
    )


def _learned_first_from(run: _Run, turns: Sequence[Turn]) -> list[SemanticMemory]:
    """Return rule-learned statements whose first source is one of these turns."""
    ids = {turn.id for turn in turns}
    select = Memories(sourced_in=sorted(ids), states=(State.ACTIVE, State.CANDIDATE))
    rows = [row for row in run.handle.store.memories([run.scope], select) if row.method == RULES]
    rows = run.handle.store.with_details(rows)
    known = {turn.id: turn.n for turn in _turns(run, rows) if turn.hidden_at is None}
    return [row for row in rows if min(row.sources, key=lambda source: known.get(source.turn or "", 1 << 62)).turn in ids]


def _turns(run: _Run, rows: Sequence[SemanticMemory]) -> list[Turn]:
    ids = sorted({source.turn for row in rows for source in row.sources if source.turn is not None})
    return run.handle.store.turns([run.scope], Turns(ids=ids, hidden=True)) if ids else []


def _source_turns(run: _Run, rows: Sequence[SemanticMemory]) -> dict[str | None, Turn]:
    """Return the turns of people that are sources of these statements, also forgotten ones."""
    return {turn.id: turn for turn in _turns(run, rows) if by_rules.said_by_person(turn)}


def _by_hand(run: _Run, rows: Sequence[SemanticMemory]) -> set[int]:
    """Return the statements that somebody edited, pinned, confirmed or restored."""
    done = run.handle.store.journal([run.scope], table="memories", row_ns=[row.n for row in rows]) if rows else []
    return {change.row for change in done if change.operation in BY_HAND and not (change.reason or "").startswith(f"{RUN} ")}


def _unpin(run: _Run, row: SemanticMemory, same: SemanticMemory | None) -> dict[str, Any]:
    """Turn a rule that is none into a fact, unless the same fact exists."""
    columns: dict[str, Any] = {"pinned": False}
    if row.kind is Kind.RULE and same is None:
        alike = Memories(hash=row.content_hash, states=(State.ACTIVE,), current=True)
        if not any(other.kind is Kind.FACT for other in run.handle.store.memories([run.scope], alike)):
            columns["kind"] = Kind.FACT
    return columns


def _restore_previous(run: _Run, line: str, gone: Mapping[str, SemanticMemory]) -> Iterator[Update]:
    """Revive what an archived statement had replaced, unless something else holds its slot."""
    for row, columns in reread.closed(run.handle.store.memories([run.scope], Memories(line=line)), {*gone}):
        if columns["superseded_by"] is not None or not _has_twin(run, row, gone):
            yield row, columns


def _has_twin(run: _Run, row: SemanticMemory, gone: Mapping[str, SemanticMemory]) -> bool:
    """Tell whether another live statement has the same words or slot."""
    alike = run.handle.store.memories([run.scope], Memories(hash=row.content_hash, states=(State.ACTIVE,), current=True))
    same = [other for other in alike if other.kind is row.kind]
    if row.slot is not None:
        same += run.handle.store.memories([run.scope], Memories(slot=row.slot, states=(State.ACTIVE,), current=True))
    return any(other.id not in gone and other.n != row.n for other in same)


def _clear_flags(run: _Run, rows: Sequence[SemanticMemory], gone: Mapping[str, SemanticMemory]) -> list[Update]:
    """Clear flags against archived statements, and flags based on shared words only."""
    marked = [row for row in rows if row.flagged_with]
    ids = {id for row in marked for id in row.flagged_with}
    found = run.handle.store.memories([run.scope], Memories(ids=sorted(ids), states=(State.ACTIVE,))) if ids else []
    lifted: dict[str, set[str]] = {}
    for row in marked:
        for other in (one for one in found if one.id in row.flagged_with):
            if row.id in gone or (other.method == RULES and reread.flagged_by_words(row, other)):
                lifted.setdefault(row.id, set()).add(other.id)
                lifted.setdefault(other.id, set()).add(row.id)
    updates: list[Update] = []
    for row in {row.id: row for row in (*marked, *found) if row.id in lifted and row.id not in gone}.values():
        rest = tuple(id for id in row.flagged_with if id not in lifted[row.id])
        updates.append((row, {"flagged_with": rest, "flag": row.flag if rest else None}))
    return updates


# ------------------------------------------------------------------ what is not known yet


def _learn_from(run: _Run, readings: _Readings, turn: Turn, archived: Collection[str]) -> Iterator[Result]:
    """
    Learn from a turn what is new and was not removed by a person.

    archived: ids of statements that this run archived; in a dry run they are live yet, and what confirms one of them is new
    """
    rows = list(_remembered(run, turn, archived))
    found = readings.statements(turn)
    out = [row for row in rows if (row.reason or "").startswith(TAKEN_OUT) or _edited(row)]
    others = [row for row in rows if row not in out and reread.given(row, found) is None]

    def unknown(draft: Draft, one: SemanticMemory) -> bool:
        if _taken_back_before(run, draft, one) or any(reread.given(row, [one]) for row in rows):
            return False
        return not any(reread.overlaps(row, one) for row in out) and not reread.known(one, others)

    for result in by_rules.reread(run.handle, turn, readings.of(turn), rows, unknown, dry_run=run.dry_run):
        yield New(memory=result.memory) if isinstance(result, Confirmed) and result.memory.id in archived else result


def _remembered(run: _Run, turn: Turn, archived: Collection[str]) -> Iterator[SemanticMemory]:
    """Return what came from a turn, except what such a run archived."""
    store = run.handle.store
    rows = store.with_details(store.memories([run.scope], Memories(sourced_in=[turn.id])))
    undone = [row.n for row in rows if (row.reason or "").startswith(UNDONE)]
    done = store.journal([run.scope], table="memories", row_ns=undone) if undone else []
    ours = {change.row for change in done if change.action == "insert" and (change.run or "").startswith(f"{OPERATION} ")}
    for row in rows:
        if row.reason != OUTGROWN and row.id not in archived and row.n not in ours:
            yield row


def _edited(row: SemanticMemory) -> bool:
    """Tell whether a person edited it."""
    return (row.reason or "").startswith("updated: ")


def _taken_back_before(run: _Run, draft: Draft, one: SemanticMemory) -> bool:
    """Tell whether earlier rules already processed this retraction."""
    if not by_rules.takes_back(draft):
        return False
    last = retract.last_turn(run.handle, one.sources[0])
    rows = run.handle.store.memories([run.scope], Memories(sourced_in=[last.id])) if last is not None else []
    return any(row.reason == RETRACTED for row in rows)
