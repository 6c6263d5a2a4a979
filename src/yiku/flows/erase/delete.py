"""
Delete the rows of an erasure plan in one transaction, relink version chains, write keyed-hash tombstones.

A tombstone is a keyed hash of what must not come back; nobody can read the words from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from yiku.flows.common import turn_texts
from yiku.flows.common.handle import Handle
from yiku.flows.common.turn_texts import tokens, tool_tokens
from yiku.flows.erase import quotes, redact
from yiku.flows.erase.plan import ErasurePlan
from yiku.flows.keep.forget import clear_flags, relink_neighbours
from yiku.rules.deciding import conflict
from yiku.rules.deciding.slots import index_tokens
from yiku.rules.privacy import erasure, redaction
from yiku.rules.statements import keys
from yiku.rules.statements.read import read
from yiku.rules.values import canonical
from yiku.types import (
    AddMemory,
    Cause,
    Change,
    Erase,
    ErasedRow,
    Expect,
    Memories,
    RedactedTurn,
    State,
    Tokens,
    Turn,
    UpdateMemory,
)


def delete_planned(
    handle: Handle,
    scope: int,
    plan: ErasurePlan,
    *,
    cause: Cause,
    seals: Sequence[bytes],
    named: Mapping[str, Any],
    notes: Mapping[int, Tokens] | None = None,
) -> int:
    """
    Delete, relink and write tombstones in one transaction; return the number of the erasure.

    named: what the erasure takes, by ids, as it is remembered; notes: passages that leave the index
    """
    mended: list[Change] = []
    if not plan.whole_scope:
        for memory, columns in [*_relink_others(handle, plan), *_clear_flags(handle, plan)]:
            mended.append(UpdateMemory(memory.n, columns, index_tokens(memory)))
        mended += [*_relink_slots(handle, plan), *plan.derived.put()]
    erasing = Erase(
        memories=[ErasedRow(memory.n, memory.id, index_tokens(memory)) for memory in plan.statements.gone],
        turns=[_deleted(turn) for turn in plan.turns if plan.deletes],
        blanked=[*_redact_turns(handle, plan)],
        records=plan.derived.ids(),
        images=[*plan.derived.images],
        notes=notes or {},
        sessions=[state.id for state in plan.derived.states],
        texts=quotes.replacements(plan.quotes, plan.sought),
        whole_scope=plan.whole_scope,
        seals=seals,
        rows=named,
    )
    expect = Expect(rows={memory.n: memory.changed for memory in plan.statements.gone}, erasure=handle.store.erasures.last())
    done = handle.store.apply(scope, [erasing, *mended], cause, expect).transaction
    for forget in (read.cache_clear, keys.forget, canonical.forget, redaction.forget):  # what was read of it goes, too
        forget()
    return done


def _redact_turns(handle: Handle, plan: ErasurePlan) -> Iterator[RedactedTurn]:
    """Return the redacted turns, and the ranges removed from each."""
    for one in (*plan.redacted, *(() if plan.deletes else (redact.redact_whole(handle, turn) for turn in plan.turns))):
        said = turn_texts.content(handle, one.before)
        cuts = [(start, end, len(redaction.mark(said[start:end]))) for start, end in one.cuts]
        yield RedactedTurn(_deleted(one.before), one.after, tokens(one.after), tool_tokens(one.after), cuts)


def erased_rows(plan: ErasurePlan) -> dict[str, Any]:
    """Return the record of an erasure: rows and blobs, without any text."""
    blank = {one.before.id for one in plan.redacted if one.blanked}
    return {
        "memories": [memory.id for memory in plan.statements.gone],
        "turns": [turn.id for turn in plan.turns],
        "redacted": [one.before.id for one in plan.redacted if one.before.id not in blank],
        "blanked": sorted(blank),
        "sources": plan.statements.lost,
        "retold": {id: memory.id for id, memory in plan.statements.retold.items()},
        "blobs": sorted(blobs(plan)),
        "records": plan.derived.ids(),
        "session": plan.deletes,
        "whole_scope": plan.whole_scope,
        "spared": plan.spared,
    }


def seals(handle: Handle, plan: ErasurePlan) -> list[bytes]:
    """Return the seals of erased texts, except those that a remaining statement contains."""
    sealed = [text for memory in plan.statements.gone for text in erasure.of_statement(memory)]
    for turn in plan.turns:
        sealed += [
            *erasure.of_turn(turn),
            *(text for said in turn_texts.texts(handle, turn) for text in erasure.of_sentences(said)),
        ]
    for one in plan.redacted:
        left = {text for said in turn_texts.texts(handle, one.after) for text in erasure.runs(said)}
        whole = redaction.around(turn_texts.content(handle, one.before), one.cuts)  # sentences that lost something
        sealed += [text for text in erasure.of_parts([*whole, *one.texts]) if text not in left]
    if plan.deletes:
        sealed += [erasure.of_session(session) for session in sorted({turn.session for turn in plan.turns})]
    sealed += [erasure.of_record(id) for ids in plan.derived.ids().values() for id in ids]
    stays = {text for memory in (*plan.statements.kept, *plan.statements.retold.values()) for text in erasure.of_statement(memory)}
    return [handle.scope_seal(text) for text in dict.fromkeys(sealed) if text not in stays]


def _deleted(turn: Turn) -> ErasedRow:
    return ErasedRow(turn.n, turn.id, tokens(turn), tool_tokens(turn))


def blobs(plan: ErasurePlan) -> set[str]:
    """Return the blobs that deleted rows referred to."""
    named = plan.derived.blobs()
    for turn in (*plan.turns, *(one.before for one in plan.redacted)):
        named |= {blob for blob in (turn.blob, *(result.get("blob") for result in turn.tool_results)) if isinstance(blob, str)}
    return named


# ------------------------------------------------------------------ what is left joins again


def _relink_slots(handle: Handle, plan: ErasurePlan) -> list[Change]:
    """Relink slots that lose a version, inserting restated statements."""
    changes: list[Change] = []
    restated = {memory.id: memory for memory in plan.statements.retold.values()}
    for slot in sorted({memory.slot for memory in restated.values() if memory.slot and memory.state is State.ACTIVE}):
        gone = {memory.n for memory in plan.statements.gone}
        versions = handle.store.memories(handle.own(), Memories(slot=slot, states=(State.ACTIVE,)))
        back = [memory for memory in restated.values() if memory.slot == slot and memory.state is State.ACTIVE]
        for memory, columns in conflict.rejoin(back, [row for row in versions if row.n not in gone]):
            if memory.id in restated:
                restated[memory.id] = replace(memory, **columns)
            else:
                changes.append(UpdateMemory(memory.n, columns, index_tokens(memory)))
    closed = {memory.slot for memory in restated.values()}
    others = [memory for memory in plan.statements.gone if memory.slot not in closed]
    changes += [UpdateMemory(memory.n, columns, index_tokens(memory)) for memory, columns in relink_neighbours(handle, others)]
    changes += [AddMemory(memory, index_tokens(memory)) for memory in restated.values()]
    return changes


def _clear_flags(handle: Handle, plan: ErasurePlan) -> list[conflict.Update]:
    """Clear conflict flags that deleted statements caused; restated ones keep theirs."""
    changed: list[conflict.Update] = []
    for rival, columns in clear_flags(handle, plan.statements.gone):
        remaining = [plan.statements.retold[id].id for id in rival.flagged_with if id in plan.statements.retold]
        flagged = (*columns["flagged_with"], *remaining)
        changed.append((rival, {"flagged_with": flagged, "flag": rival.flag if flagged else None}))
    return changed


def _relink_others(handle: Handle, plan: ErasurePlan) -> list[conflict.Update]:
    """Point versions outside a slot's chain to the next remaining one, or none."""
    gone, retold = {memory.id: memory for memory in plan.statements.gone}, plan.statements.retold
    lines = sorted({memory.line for memory in plan.statements.gone})
    rest = [row for line in lines for row in handle.store.memories(handle.own(), Memories(line=line)) if row.id not in gone]
    changed: list[conflict.Update] = []
    for row in rest:
        successor, passed = row.superseded_by, set[str]()
        while successor in gone and successor not in retold:
            if successor in passed:  # a circle, which an older version took in
                successor = None
                break
            passed.add(successor)
            successor = gone[successor].superseded_by
        if successor is not None and successor in retold:
            successor = retold[successor].id
        if successor != row.superseded_by and not (row.slot and row.state is State.ACTIVE):
            ended: dict[str, Any] = {} if successor else {"valid_to": None, "reason": None} if row.state is State.ACTIVE else {}
            changed.append((row, {"superseded_by": successor, **ended}))
    return changed
