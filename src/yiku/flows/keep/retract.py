"""
Retract the last statement on phrases such as `just kidding`, reviving the version before it.

One transaction, undone by one call. What the same sentence states beside that (`… I still live in Ghent`) is decided
as if what is taken back had never been said. With nothing to take back a bare joke is refused; a slip, and what states
something beside, is a statement like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from yiku.flows.common.handle import Handle
from yiku.flows.keep.forget import clear_flags, flagged_again
from yiku.rules.deciding import conflict, retract, slots
from yiku.rules.deciding.history import RETRACTED
from yiku.rules.deciding.slots import index_tokens
from yiku.rules.learning import importance
from yiku.types import (
    AddMemory,
    AddSource,
    Cardinality,
    Change,
    ConflictSet,
    Expect,
    Memories,
    Receipt,
    Refused,
    RemoveSources,
    Retracted,
    SemanticMemory,
    Source,
    State,
    Turn,
    Turns,
    UpdateMemory,
)

Updated = Callable[[Sequence[conflict.Update]], None]
LOOKED_AT = 60  # statements, the last told first
_NO_SLOT: dict[str, Any] = dict.fromkeys(("subject", "predicate", "object", "cardinality", "slot"))
NOTHING = "it takes back what was said, and nothing was said in this session"
_INSTANT = timedelta(microseconds=1)


def retract_last(
    handle: Handle,
    new: SemanticMemory,
    sort: retract.Marker,
    receipt: Receipt | None,
    *,
    stated: bool = False,
    dry_run: bool = False,
) -> Retracted | Refused | None:
    """
    Return the outcome of a retraction; None if the text retracts nothing.

    sort:   as what it takes something back
    stated: the caller named the slot of what it states beside that
    """
    said = new if stated else _stated(handle, new, sort)
    target = _target(handle, said or new, new.content, sort)
    if target is None:
        return (
            None
            if stated or sort == "slip" or said is not None or retract.says_more(new.content)
            else Refused(memory=new, why=NOTHING)
        )
    if sort == "joke" and said is not None and not stated and said.slot != target.slot:
        said = None  # `back to soldering boards tomorrow` goes on with the joke
    if sort == "slip" and said is not None and said.slot is not None and said.slot == target.slot:
        return None  # a newer value of the same slot retires the slip by itself
    return _applied(handle, new, target, said, receipt, dry_run=dry_run)


def _stated(handle: Handle, new: SemanticMemory, sort: retract.Marker) -> SemanticMemory | None:
    """Return what the text states besides the retraction, if that counts."""
    remainder = retract.rest(new.content)
    slot = slots.read(remainder, speaker=new.sources[0].actor, names=handle.settings.names) if remainder else None
    if slot is None or (sort == "void" and slot.cardinality is not Cardinality.SINGLE and not retract.states(remainder)):
        kept = sort == "slip" or (sort == "void" and retract.states(remainder))
        return replace(new, **_NO_SLOT) if kept else None
    fields: dict[str, Any] = {
        "subject": slot.subject,
        "predicate": slot.predicate,
        "object": slot.object,
        "cardinality": slot.cardinality,
    }
    kind, words = slots.kind_of(slot), conflict.text_hash(remainder, slot)
    return replace(new, content=remainder, content_hash=words, kind=kind, slot=slot.key or None, **fields)


def _target(handle: Handle, new: SemanticMemory, text: str, sort: retract.Marker) -> SemanticMemory | None:
    own = handle.own()
    until = new.said_at + _INSTANT
    select = Memories(states=(State.ACTIVE,), until=until, order="said", newest_first=True, limit=LOOKED_AT)
    statements = handle.store.with_details(handle.store.memories(own, select)) if own else []
    statements = [memory for memory in statements if not _is_after(memory, new)]
    last = last_turn(handle, new.sources[0])
    recent = [memory for memory in statements if last is None or any(_as_late(source, last) for source in memory.sources)]
    return retract.target(replace(new, content=text), statements[::-1], sort, recent)


def last_turn(handle: Handle, source: Source) -> Turn | None:
    """Return the speaker's previous turn, skipping `lol` and the like; None if no turn is retracted."""
    if source.turn is None or source.session is None:
        return None
    until = source.said_at + _INSTANT
    select = Turns(session=source.session, roles=("user",), until=until, order="said", newest_first=True, limit=LOOKED_AT)
    turns = handle.store.turns(handle.own(), select)
    here = next((place for place, turn in enumerate(turns) if turn.id == source.turn), len(turns))
    before = (turn for turn in turns[here + 1 :] if turn.speaker == turns[here].speaker)
    return next((turn for turn in before if not importance.noise(turn.content)), None)


def _as_late(source: Source, turn: Turn) -> bool:
    """Tell whether a memory was said in this turn or, without a turn, no earlier."""
    return source.turn == turn.id or (source.turn is None and source.said_at >= turn.said_at)


def _is_after(memory: SemanticMemory, new: SemanticMemory) -> bool:
    """Tell whether a statement of the same session and second follows this turn."""
    turn = new.sources[0]
    here = [source for source in memory.sources if source.session == turn.session]
    return bool(here and turn.turn) and all((source.said_at, source.place) > (turn.said_at, turn.place) for source in here)


def _applied(
    handle: Handle,
    new: SemanticMemory,
    target: SemanticMemory,
    said: SemanticMemory | None,
    receipt: Receipt | None,
    *,
    dry_run: bool,
) -> Retracted:
    own, columns = handle.own(), dict[int, dict[str, Any]]()
    touched = {slot for slot in (target.slot, said and said.slot) if slot}
    marks = handle.store.marks(own[0], touched, [said.content_hash] if said else [])  # first: what changes after makes this stale
    select = Memories(slot=target.slot, states=(State.ACTIVE,), order="said")
    chain = handle.store.memories(own, select) if target.slot else [target]
    left = [row for row in chain if row.n != target.n]
    rows = {row.n: row for row in (target, *left)}

    def change(updates: Sequence[conflict.Update]) -> None:
        for row, wanted in updates:
            rows.setdefault(row.n, row)
            columns.setdefault(row.n, {}).update(wanted)

    again = [source for source in target.sources if source.session == new.sources[0].session]
    repeated = len(target.sources) > len(again) > 0
    changes: list[Change] = []
    if repeated:  # it had been said before, in earnest
        rest = [source for source in target.sources if source not in again]
        change([(target, {"confirmed_at": max(source.said_at for source in rest)})])
        changes.append(RemoveSources(target.n, [source.seq for source in again]))
        left = chain
    else:
        change([(target, {"state": State.ARCHIVED, "reason": RETRACTED, "superseded_by": None, "valid_to": None})])
        change(conflict.rejoin((), left) if left else [])
        change(clear_flags(handle, [target]))
    holding = [replace(row, **columns.get(row.n, {})) for row in left]
    current = target if repeated else next((row for row in reversed(holding) if row.said_at <= new.said_at), None)
    added: list[Change] = []
    if said is not None:
        alike = said.slot is not None and said.slot == target.slot
        said = (
            _decided(handle, said, current, holding, change=change, added=added)
            if alike
            else _remember_other(handle, said, change, added)
        )
    change(flagged_again(handle, [(row, columns.get(row.n, {})) for row in left], [target]))
    changes = [*(UpdateMemory(n, wanted, index_tokens(rows[n])) for n, wanted in columns.items()), *changes, *added]
    ids = [target.id, current.id if current else "", said.id if said else ""]
    if dry_run:
        return Retracted(memory=target, current=current, said=said)
    if receipt is not None:
        changes.append(replace(receipt, result={"outcome": "retracted", "ids": ids}))
    expect = replace(marks, rows={row.n: row.changed for row in rows.values()})
    done = handle.store.apply(handle.writes(), changes, handle.cause("remember", RETRACTED), expect)
    return retracted(handle, ids, done.transaction)


def _decided(
    handle: Handle,
    said: SemanticMemory,
    current: SemanticMemory | None,
    holding: Sequence[SemanticMemory],
    *,
    change: Updated,
    added: list[Change],
) -> SemanticMemory:
    """Decide on the accompanying statement in the retracted slot, against what is live again."""
    if current is not None and conflict.same_object(current, said):
        change([(current, conflict.confirmation(current, said))])
        text = None if said.content == current.content else said.content
        added.append(AddSource(current.n, replace(said.sources[0], text=text)))
        return current
    following = next((row for row in holding if row.said_at > said.said_at), None)
    conflicts = ConflictSet(expect=Expect(), previous=current, following=following, live=holding[-1] if following else current)
    return _apply(handle, conflict.decide(said, conflicts, split_id=handle.new_id()), said, change, added)


def _remember_other(handle: Handle, said: SemanticMemory, change: Updated, added: list[Change]) -> SemanticMemory:
    """Decide on the accompanying statement in another slot as usual."""
    conflicts = handle.store.conflict_set(handle.writes(), said)
    return _apply(handle, conflict.decide(said, conflicts, split_id=handle.new_id()), said, change, added)


def _apply(
    handle: Handle, decision: conflict.Decision, said: SemanticMemory, change: Updated, added: list[Change]
) -> SemanticMemory:
    change(decision.updates)
    added.extend(AddMemory(row, index_tokens(row)) for row in decision.adds)
    if decision.source_for is not None:
        added.append(AddSource(decision.source_for.n, said.sources[0]))
    return decision.subject


def retracted(handle: Handle, ids: Sequence[str], operation: int) -> Retracted:
    """Build the outcome from the current rows."""
    memory, current, said = (handle.store.version(handle.writes(), id) if id else None for id in ids)
    assert memory is not None
    return Retracted(memory=memory, current=current, said=said, operation=operation)
