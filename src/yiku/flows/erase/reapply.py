"""
Apply recorded erasures to another copy of the database: a backup, or a restored, repaired or rebuilt store.

A copy knows nothing of the call that erased. What is remembered of it are ids, seals and flags, and not a word.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from yiku.flows.common import turn_texts
from yiku.flows.common.handle import Handle
from yiku.flows.erase import derived, redact
from yiku.flows.erase.delete import delete_planned
from yiku.flows.erase.plan import ErasurePlan, Selection, SourceKey, Statements, complete, restate, source_key
from yiku.flows.erase.redact import Redaction
from yiku.rules.privacy import erasure, redaction
from yiku.store.api import moment, with_id
from yiku.types import Cause, EmptyNotes, Memories, SemanticMemory, Turns


def reapply(handle: Handle, entries: Iterable[Mapping[str, Any]]) -> int:
    """
    Delete from a store what was erased from another copy of it.

    entries: erasures as `Store.erasures` has them; how many rows went
    """
    distinct, count = [*{entry["id"]: entry for entry in map(with_id, entries)}.values()], 0  # each once, wherever it is told
    names = {number: name for number, name, _ in handle.store.scopes()}
    known = handle.store.erasures.known([entry["id"] for entry in distinct])
    seals = {bytes.fromhex(seal) for entry in distinct for seal in entry["seals"]}
    numbers = [number for number, *_ in handle.store.scopes()]
    if distinct and handle.store.notes.count(numbers):
        handle.store.apply(numbers[0], [EmptyNotes()], handle.cause("erase"))  # derived: the next sync makes it anew
    for entry in distinct:
        at = moment(entry["at"])
        assert at is not None
        one = replace(handle, scope=names.get(entry["scope"], handle.scope))
        plan = _plan(one, entry["rows"], seals, at) if entry["scope"] in names else ErasurePlan()
        if plan or entry["id"] not in known:
            own = [bytes.fromhex(seal) for seal in entry["seals"]]
            delete_planned(one, entry["scope"], plan, cause=Cause("erase", at), seals=own, named=entry["rows"])
            count += len(plan.statements.gone) + len(plan.turns) + len(plan.redacted) + len(plan.derived.gone)
    return count


def _plan(handle: Handle, named: Mapping[str, Any], seals: Container[bytes], at: datetime) -> ErasurePlan:
    """Return the plan of a recorded erasure, for the rows that this store has."""
    own, store = handle.own(), handle.store
    ids = [id for among in named.get("records", {}).values() for id in among]  # older erasures name none
    if named["whole_scope"]:
        return _of_scope(handle, named, ids, at)
    memories = store.with_details(store.memories(own, Memories(ids=named["memories"])))
    turns = [turn for turn in store.turns(own, Turns(ids=named["turns"], hidden=True)) if turn != redact.blank(turn)]
    statements, redacted = _statements(handle, named, memories), [*_redact(handle, named, memories, seals)]
    if not (memories or statements.lost or turns or redacted or derived.select_by_id(handle, ids)):
        return ErasurePlan()
    spared = named.get("spared", False)
    chosen = Selection(statements=statements, turns=turns, records=ids, deletes=named["session"], spared=spared)
    return complete(handle, chosen, redacted)


def _of_scope(handle: Handle, named: Mapping[str, Any], ids: Sequence[str], at: datetime) -> ErasurePlan:
    """Return the plan for a whole scope up to a time."""
    store, every = handle.store, handle.store.memories(handle.own(), Memories())
    said = store.turns(handle.own(), Turns(hidden=True))
    memories = [memory for memory in every if memory.created_at <= at or memory.id in named["memories"]]
    turns = [turn for turn in said if turn.recorded_at <= at or turn.id in named["turns"]]
    grown, now = derived.select_all(handle, until=at, ids=ids), derived.select_all(handle)
    left = len(every) - len(memories) + len(said) - len(turns) + len(now.gone) - len(grown.gone)
    return ErasurePlan(
        statements=Statements(store.with_details(memories)), turns=turns, derived=grown, deletes=True, whole_scope=not left
    )


def _statements(handle: Handle, named: Mapping[str, Any], memories: Sequence[SemanticMemory]) -> Statements:
    """Return the deleted statements, and the deleted sources of those that stayed."""
    retold, kept, lost = dict[str, SemanticMemory](), list[SemanticMemory](), dict[str, list[SourceKey]]()
    for memory in memories:
        going = [tuple(each) for each in named["sources"].get(memory.id, ())]
        left = [source for source in memory.sources if source_key(source) not in going]
        if memory.id in named["retold"] and left:
            retold[memory.id] = replace(restate(handle, memory, left), id=named["retold"][memory.id])
    stayed = sorted({*named["sources"]} - {*named["memories"]})
    for memory in handle.store.with_details(handle.store.memories(handle.own(), Memories(ids=stayed))):
        going = [tuple(each) for each in named["sources"][memory.id]]
        if any(source_key(source) in going for source in memory.sources):
            kept.append(memory)
            lost[memory.id] = going
    return Statements(memories, retold, kept, lost)


def _redact(
    handle: Handle, named: Mapping[str, Any], memories: Sequence[SemanticMemory], seals: Container[bytes]
) -> Iterator[Redaction]:
    """Return the turns that lost sentences, where they still contain them."""
    ids = [*named["redacted"], *named["blanked"]]

    def also(text: str) -> list[redaction.Range]:
        return [place for key, places in erasure.runs(text).items() if handle.scope_seal(key) in seals for place in places]

    sought = redact.prepare(memories)
    for turn in handle.store.turns(handle.own(), Turns(ids=ids, hidden=True)):
        one = redact.redact_turn(handle, turn, sought, keep=True, also=also)
        swept = any(mark in text for text in turn_texts.texts(handle, turn) for mark in redaction.marks())
        if turn.id in named["blanked"] or (one.after == turn and not swept):  # nobody can tell here which sentence it was
            one = redact.redact_whole(handle, turn)
        if one.after != turn:
            yield one
