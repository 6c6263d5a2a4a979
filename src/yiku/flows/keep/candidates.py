"""
Store a statement as a candidate: it waits, compared with nothing, until somebody confirms it.

What is known in the same words is not stored again. What a person rejected, forgot or took back stays out, and the answer says
so, with the way back; what an agent took back itself, what was replaced and what is over may wait again. What is read from a turn
is not stored where its words exist in any state, unless they went only because the rules did not learn them any more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from yiku.flows.common.handle import Handle
from yiku.flows.keep.forget import FORGOTTEN
from yiku.rules.deciding.history import RETRACTED
from yiku.rules.deciding.slots import index_tokens
from yiku.rules.learning.reread import OUTGROWN
from yiku.types import AddMemory, Change, Confirmed, Expect, Memories, New, Outcome, Receipt, Refused, SemanticMemory, State

REJECTED = "rejected"  # reasons to forget: by a person who reviewed it
BY_AGENT = "by an agent"
AMENDED = "amended"  # by an agent, with the id of what it says now
SHORT_ID = 8  # characters


def store(handle: Handle, new: SemanticMemory, expect: Expect, receipt: Receipt | None, *, dry_run: bool) -> Outcome:
    """Store a candidate with the receipt of its call, unless its words are known or a person took them out."""
    same = [row for row in handle.store.memories(handle.own(), Memories(hash=new.content_hash)) if row.reason != OUTGROWN]
    if known := _known(same, new.created_at, read=new.sources[0].turn is not None):
        if receipt is not None and not dry_run:
            kept = replace(receipt, result={"outcome": Confirmed.kind, "ids": [known.id]})
            handle.store.apply(handle.writes(), [kept], handle.cause("learn"), expect)
        return Confirmed(memory=handle.store.with_details([known])[0])
    last = max(same, key=lambda row: row.changed, default=None)
    if last is not None and (how := _by_person(last)):
        on = f"{last.updated_at.astimezone(new.created_at.tzinfo):%Y-%m-%d %H:%M}"
        return Refused(memory=new, why=f"{how} on {on}; `yiku restore {last.id[-SHORT_ID:]}` brings it back")
    if dry_run:
        return New(memory=new)
    changes: list[Change] = [AddMemory(new, index_tokens(new))]
    if receipt is not None:
        changes.append(replace(receipt, result={"outcome": New.kind, "ids": [new.id]}))
    done = handle.store.apply(handle.writes(), changes, handle.cause("learn"), expect)
    return New(memory=handle.store.version(handle.writes(), new.id), operation=done.transaction)


def taken_out(memory: SemanticMemory) -> bool:
    """Tell whether somebody forgot a memory or took it back."""
    return memory.state in (State.ARCHIVED, State.JUNK) and (memory.reason or "").startswith((FORGOTTEN, RETRACTED))


def _known(same: Sequence[SemanticMemory], now: datetime, *, read: bool) -> SemanticMemory | None:
    """Return the statement that stands for these words: the one that holds, else one that waits."""
    current = [row for row in same if row.state in (State.ACTIVE, State.CANDIDATE) and not (row.superseded_by or row.expired(now))]
    return next((row for row in (*sorted(current, key=lambda row: not row.live), *(same if read else ()))), None)


def _by_person(memory: SemanticMemory) -> str | None:
    """Return what a person did who took a memory out; None where nobody or an agent did."""
    if not taken_out(memory):
        return None
    how, _, why = (memory.reason or "").partition(": ")
    if how != FORGOTTEN:
        return "taken back"
    return None if why == BY_AGENT or why.startswith(f"{AMENDED}: ") else REJECTED if why == REJECTED else FORGOTTEN
