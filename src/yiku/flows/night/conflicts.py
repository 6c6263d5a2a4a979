"""
Find live statements that a later one contradicts, and replace or flag them.

Each statement that changed asks its own question of those that share its words or its slot (rules/night/conflicts.py decides).
Where both fill the same slot of one value the later takes its place, as if it had been said then; any other pair is
flagged for a person, or judged by the model, whose word counts for a statement of one clause. What a person has taken back or
confirmed is left as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from yiku.errors import ModelError, ModelUnavailable
from yiku.flows.common import lookup, prompt_files
from yiku.flows.common.lookup import NAME
from yiku.flows.learn import by_model
from yiku.flows.night import near
from yiku.flows.night.run import Night
from yiku.rules.deciding import conflict
from yiku.rules.deciding.slots import index_tokens
from yiku.rules.night import conflicts as rules
from yiku.rules.night.conflicts import Contradiction
from yiku.rules.statements.read import read
from yiku.rules.text.analyze import language_of
from yiku.types import Change, Expect, Memories, NightItem, SemanticMemory, State, UpdateMemory

VERDICT: dict[str, Any] = {
    "type": "object",
    "required": ["verdict"],
    "properties": {"verdict": {"type": "string", "enum": ["replaces", "both", "unclear"]}},
}


def steps(night: Night) -> Iterator[NightItem]:
    """Replace or flag what a statement contradicts, for each one that changed."""
    gone, judged = set[int](), set[frozenset[int]]()
    for row in near.stops(night, near.changed(night)):
        if row.n in gone:
            continue
        for found in rules.contradictions(_named(night, row), [_named(night, other) for other in _candidates(night, row)]):
            pair = frozenset((found.old.n, found.new.n))
            if pair & gone or pair in judged or not near.untouched(night, [found.old]):
                continue
            judged.add(pair)
            now = found if not pair & night.touched else _as_they_are(night, found)
            item = _apply(night, now) if now is not None else None
            if item is not None:
                gone |= {found.old.n} if item.action == "replaced" else set()
                yield item
            if row.n in gone:
                break


def _as_they_are(night: Night, found: Contradiction) -> Contradiction | None:
    """Judge a pair again of which this run has changed one since it was read: it may be flagged with a third."""
    rows = night.handle.store.memories([night.scope], Memories(ns=[found.old.n, found.new.n]))
    return rules.judge(*(_named(night, row) for row in rows)) if len(rows) == len((found.old, found.new)) else None


def _candidates(night: Night, row: SemanticMemory) -> list[SemanticMemory]:
    """Return what shares the words of a statement, or its slot, also under another name of its subject."""
    found = {other.n: other for other in near.neighbours(night, row)}
    if row.subject and row.predicate:
        subjects = {row.subject, lookup.canonical_subject(night.handle, row.subject)}
        predicates = {row.predicate}
        if row.predicate == NAME and row.object:  # now it is known who that is: all that is said of both is compared
            found |= {other.n: other for other in _of(night, [row.subject, row.object.casefold()], None)}
        found |= {other.n: other for other in _of(night, sorted(subjects), sorted(predicates))}
    found.pop(row.n, None)
    return [*found.values()]


def _of(night: Night, subjects: list[str], predicates: list[str] | None) -> list[SemanticMemory]:
    """Return the live statements of some subjects in one of some predicates."""
    select = Memories(states=(State.ACTIVE,), current=True, unexpired_at=night.now, limit=near.BATCH)
    if predicates is None:
        return night.handle.store.memories([night.scope], replace(select, entities=subjects))
    return night.handle.store.memories([night.scope], replace(select, pairs=(subjects, predicates)))


def _named(night: Night, row: SemanticMemory) -> SemanticMemory:
    """Return a statement with its subject under the name by which it is known now: `my sister` for Ann."""
    if not row.subject or not row.predicate or row.predicate == NAME:
        return row
    subject = lookup.canonical_subject(night.handle, row.subject)
    return row if subject == row.subject else replace(row, subject=subject)


def _apply(night: Night, found: Contradiction) -> NightItem | None:
    """Replace the earlier statement, or flag both."""
    if found.verdict == "replaced":
        return _replace(night, found)
    verdict = _asked(night, found) if night.model is not None else "unclear"
    if verdict == "both":
        return night.decide("refused", ids=[found.new.id, found.old.id], reason="both-hold", evidence=_evidence(found))
    return _replace(night, found) if verdict == "replaces" else _flag(night, found)


def _replace(night: Night, found: Contradiction) -> NightItem | None:
    """Put both lines into one chain, of which the later is live; flagged instead where that is not what would come out."""
    old, new = ([*_versions(night, row)] for row in (found.old, found.new))
    updates = conflict.rejoin(old, new)
    after = {row.n: replace(row, **columns) for row, columns in updates}
    last = after.get(found.new.n, found.new)
    if last.superseded_by is not None or any(row.superseded_by is None for n, row in after.items() if n != found.new.n):
        return _flag(night, found)
    changes: list[Change] = [UpdateMemory(row.n, columns, index_tokens(row)) for row, columns in updates]
    changes += night.unflagged(found.old)
    return night.decide(
        "replaced",
        changes,
        ids=[found.new.id, found.old.id],
        reason=found.why,
        evidence=_evidence(found),
        expect=Expect(rows={row.n: row.changed for row in (*old, *new)}),
    )


def _versions(night: Night, row: SemanticMemory) -> list[SemanticMemory]:
    return night.handle.store.memories([night.scope], Memories(line=row.line, states=(State.ACTIVE,)))


def _flag(night: Night, found: Contradiction) -> NightItem | None:
    """Keep both, each flagged with the other."""
    pair = (found.old, found.new), (found.new, found.old)
    changes = [
        UpdateMemory(row.n, {"flag": conflict.CONFLICT, "flagged_with": (*row.flagged_with, other.id)}, index_tokens(row))
        for row, other in pair
    ]
    return night.decide(
        "flagged",
        changes,
        ids=[found.new.id, found.old.id],
        reason=found.why,
        evidence=_evidence(found),
        expect=Expect(rows={row.n: row.changed for row, _ in pair}),
    )


def _evidence(found: Contradiction) -> dict[str, Any]:
    """Where the clauses stand that say it."""
    return {"new": list(found.new_span), "old": list(found.old_span)}


# ------------------------------------------------------------------ a model's word


def _asked(night: Night, found: Contradiction) -> str:
    """Return what a model says of a pair; unclear where it cannot be asked, or its word would take more than the clause."""
    assert night.model is not None
    if len(read(found.old.content)) != 1 or found.new.trust < found.old.trust or found.old.pinned:
        return "unclear"
    lines = (f"  {said}: {' '.join(row.content.split())}" for said, row in (("earlier", found.old), ("later", found.new)))
    messages = [
        {"role": "system", "content": prompt_files.text("conflicts", language_of(found.new.content))},
        {"role": "user", "content": "\n".join(["<statements>", *lines, "</statements>"])},
    ]
    try:
        reply = by_model.timed(night.handle, night.model, messages, VERDICT, purpose="conflicts")
    except ModelError as error:
        why = "the model is not there" if isinstance(error, ModelUnavailable) else "a reply could not be used"
        night.notes.append(f"conflicts: {why}")
        return "unclear"
    return str(reply.value["verdict"])
