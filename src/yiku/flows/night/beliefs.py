"""
Weigh hedged statements (beliefs) again when new evidence for or against them came in.

A belief is weighed when it changed, or when a fact that shares its words or its slot did (rules/night/beliefs.py). What counts
is written into the belief itself: a fact that supports it becomes one of its sources, one that contradicts it is flagged with
it. So each counts once, and what a fact has changed is undone with the decision.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from yiku.flows.night import near
from yiku.flows.night.duplicates import merge
from yiku.flows.night.run import Night
from yiku.rules.deciding import conflict
from yiku.rules.deciding.slots import index_tokens
from yiku.rules.night import beliefs as rules
from yiku.rules.night import ends
from yiku.types import (
    AddSource,
    Change,
    Condition,
    Expect,
    Memories,
    NightAction,
    NightItem,
    SemanticMemory,
    Source,
    Standing,
    State,
    UpdateMemory,
)

SHARE = 0.3  # of the words of one that a belief or fact has which is weighed with it: its value is another one


def steps(night: Night) -> Iterator[NightItem]:
    """Weigh each belief that changed, and each that shares words with a fact that changed."""
    if not _are_there(night):
        return
    for row in near.stops(night, near.changed(night)):
        others = [*near.neighbours(night, row, SHARE), *_of_slot(night, row)]
        pairs = {(row.n, other.n) if row.standing is Standing.BELIEF else (other.n, row.n) for other in others}
        for pair in sorted(pairs):
            if (item := _weigh(night, *pair)) is not None:
                yield item


def _are_there(night: Night) -> bool:
    """Whether there is any belief."""
    select = Memories(where=Condition("standing", "eq", Standing.BELIEF), states=(State.ACTIVE,), current=True, limit=1)
    return bool(night.handle.store.memories([night.scope], select))


def _of_slot(night: Night, row: SemanticMemory) -> list[SemanticMemory]:
    if not row.subject or not row.predicate:
        return []
    select = Memories(pairs=([row.subject], [row.predicate]), states=(State.ACTIVE,), current=True, limit=near.BATCH)
    return [other for other in night.handle.store.memories([night.scope], select) if other.n != row.n]


def _weigh(night: Night, belief_n: int, fact_n: int) -> NightItem | None:
    """Weigh a fact against a belief, both as they are now, and write down what it changes."""
    rows = {row.n: row for row in night.handle.store.memories([night.scope], Memories(ns=[belief_n, fact_n]))}
    belief, fact = rows[belief_n], rows[fact_n]
    evidence = rules.weigh(belief, fact)
    if evidence is None or not near.untouched(night, [belief]):
        return None
    belief, fact = night.handle.store.with_details([belief, fact])
    match evidence:
        case "confirms":
            return _confirm(night, belief, fact)
        case "refutes":
            columns = {"state": State.ARCHIVED, "reason": f"{ends.REFUTED}: {fact.id}"}
            return _decide(night, belief, fact, "archived", [UpdateMemory(belief.n, columns, index_tokens(belief))])
        case "supports":
            return _support(night, belief, fact)
        case "contradicts":
            return _doubt(night, belief, fact)


def _confirm(night: Night, belief: SemanticMemory, fact: SemanticMemory) -> NightItem | None:
    """The belief becomes history of the fact, which has its sources then."""
    return merge(night, fact, belief, "belief-confirmed")


def _support(night: Night, belief: SemanticMemory, fact: SemanticMemory) -> NightItem | None:
    """Add the sources of the fact to the belief, and raise its confidence; from FACT upwards it is one."""
    known = {(source.turn, source.said_at, source.text) for source in belief.sources}
    fresh = [replace(source, text=source.text or fact.content, seq=0) for source in fact.sources]
    fresh = [source for source in fresh if (source.turn, source.said_at, source.text) not in known]
    if not fresh:
        return None
    columns: dict[str, Any] = {"confidence": rules.moved(belief, "supports")}
    if columns["confidence"] >= rules.FACT:
        columns["standing"] = Standing.FACT
    changes: list[Change] = [UpdateMemory(belief.n, columns, index_tokens(belief)), *(_added(belief, one) for one in fresh)]
    return _decide(night, belief, fact, "confirmed", changes)


def _added(belief: SemanticMemory, source: Source) -> AddSource:
    return AddSource(belief.n, source)


def _doubt(night: Night, belief: SemanticMemory, fact: SemanticMemory) -> NightItem | None:
    """Lower the confidence of the belief, and flag both; below OVER it is over."""
    if fact.id in belief.flagged_with:
        return None
    confidence = rules.moved(belief, "contradicts")
    columns: dict[str, Any] = {"confidence": confidence}
    if confidence < rules.OVER:
        columns |= {"state": State.ARCHIVED, "reason": f"{ends.REFUTED}: {fact.id}"}
    columns |= {"flag": conflict.CONFLICT, "flagged_with": (*belief.flagged_with, fact.id)}
    changes = [UpdateMemory(belief.n, columns, index_tokens(belief))]
    return _decide(night, belief, fact, "archived" if confidence < rules.OVER else "flagged", changes)


def _decide(
    night: Night, belief: SemanticMemory, fact: SemanticMemory, action: NightAction, changes: Sequence[Change]
) -> NightItem | None:
    reason = {"archived": "belief-refuted", "flagged": "belief-doubted"}.get(action, "belief-supported")
    confidence = next((change.columns.get("confidence") for change in changes if isinstance(change, UpdateMemory)), None)
    return night.decide(
        action,
        [*changes, *(night.unflagged(belief) if action == "archived" else [])],
        ids=[belief.id, fact.id],
        reason=reason,
        evidence={"before": belief.confidence, "after": belief.confidence if confidence is None else confidence},
        expect=Expect(rows={row.n: row.changed for row in (belief, fact)}),
    )
