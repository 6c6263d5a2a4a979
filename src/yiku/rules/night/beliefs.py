"""
Weigh the evidence for and against a belief (a hedged statement), and update its confidence.

    confirms     a fact says the very same without the hedge, or gives the same value for the same slot: the belief becomes
                 part of that fact
    supports     a fact that says more implies it: its confidence rises by SUPPORT
    refutes      a fact said later gives the slot of one value another value, or denies the very same: the belief is over
    contradicts  the same said earlier, or with less trust: its confidence falls by DOUBT, and both are flagged

From FACT upwards a belief counts as a fact, below OVER it is over. Each fact counts once, whichever night it came in.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from yiku.rules.deciding import conflict, slots
from yiku.rules.lexicon import built_in
from yiku.rules.lexicon import flags as F
from yiku.rules.night.duplicates import HAPPENINGS, SAME_DAY, form
from yiku.rules.statements.clause import AGENT, Clause
from yiku.rules.statements.read import read
from yiku.rules.text.folding import folded
from yiku.rules.text.words import content, words
from yiku.rules.values import canonical
from yiku.types import Cardinality, SemanticMemory, Standing

Evidence = Literal["confirms", "supports", "refutes", "contradicts"]
SUPPORT, DOUBT = 0.1, 0.2
FACT, OVER = 0.85, 0.2
LEAST_SHARED = 2  # content words of a belief that a fact must hold to support it


def weigh(belief: SemanticMemory, fact: SemanticMemory) -> Evidence | None:
    """Return what a live fact says of a belief; None where it says nothing."""
    if not _comparable(belief, fact):
        return None
    one, other = _with_slot(belief), _with_slot(fact)
    if one.predicate and (one.subject, one.predicate) == (other.subject, other.predicate) and one.object and other.object:
        if conflict.same_object(one, other):
            return "confirms"
        return _against(belief, fact) if one.cardinality is other.cardinality is Cardinality.SINGLE else None
    first, second = (form(row.content, row.said_at, without=F.HEDGE) for row in (belief, fact))
    if first is not None and first == second:
        return None if first.context or (first.moment and abs(fact.said_at - belief.said_at) > SAME_DAY) else "confirms"
    return _by_clauses(belief, fact)


def moved(belief: SemanticMemory, evidence: Evidence) -> float:
    """Return the confidence of a belief after a fact that supports or contradicts it."""
    step = SUPPORT if evidence == "supports" else -DOUBT
    return round(min(1.0, max(0.0, belief.confidence + step)), 6)


def _comparable(belief: SemanticMemory, fact: SemanticMemory) -> bool:
    """Whether a fact may say something of a belief: live, of one project and agent, no happening, of a source as good."""
    if not (belief.live and fact.live) or belief.standing is not Standing.BELIEF or fact.standing is not Standing.FACT:
        return False
    same = (belief.scope, belief.project, belief.agent) == (fact.scope, fact.project, fact.agent)
    return same and not {belief.kind, fact.kind} & HAPPENINGS and fact.valid_to is None


def _with_slot(memory: SemanticMemory) -> SemanticMemory:
    """Return a statement with the slot that it fills, hedged or not; a row keeps none of what is hedged."""
    clauses = [clause for clause in read(memory.content) if not clause.bare]
    if memory.predicate or len(clauses) != 1 or (filled := slots.plain_slot(clauses[0], hedged=True)) is None:
        return memory
    slot = slots.slot_for(memory.content, clauses[0], filled)
    return replace(memory, subject=slot.subject, predicate=slot.predicate, object=slot.object, cardinality=slot.cardinality)


def _against(belief: SemanticMemory, fact: SemanticMemory) -> Evidence:
    return "refutes" if fact.said_at > belief.said_at and fact.trust >= belief.trust else "contradicts"


def _by_clauses(belief: SemanticMemory, fact: SemanticMemory) -> Evidence | None:
    """Compare a belief of one clause with the clauses of a fact."""
    clauses = [clause for clause in read(belief.content) if not clause.bare]
    if len(clauses) != 1 or not _names_somebody(clauses[0]) or not clauses[0].alone:
        return None
    for clause in read(fact.content):
        if not clause.plain or not _names_somebody(clause) or not clauses[0].who & clause.who:
            continue
        own, other = clauses[0].content - _hedges(belief, clauses[0]), clause.content
        if len(own) < LEAST_SHARED or not own <= other or not _values(belief, clauses[0]) <= _values(fact, clause):
            continue
        if clauses[0].denied is not clause.denied:
            return _against(belief, fact) if own == other else None
        if own < other and not clause.denied:  # who does not eat fish on Fridays may eat fish
            return "supports"
    return None


def _hedges(memory: SemanticMemory, clause: Clause) -> frozenset[str]:
    """The content words of a clause that hedge it."""
    found = words(folded(memory.content), clause.start, clause.end, built_in())
    return content(word for word in found if word.flags & F.HEDGE)


def _names_somebody(clause: Clause) -> bool:
    return clause.subject not in ("", "?", AGENT)


def _values(memory: SemanticMemory, clause: Clause) -> frozenset[str]:
    return frozenset(canonical.form(memory.content[value.start : value.end], memory.said_at) for value in clause.values)
