"""
A statement that no slot leads to what it speaks of: it says an old one again, or is kept beside it, both marked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from yiku.flows.handle import Handle
from yiku.rules import conflict, neighbours
from yiku.types import Expect, Memories, SemanticMemory, State

COMMON = 50  # rows; a word that more statements hold tells nothing


def marked(handle: Handle, new: SemanticMemory, expect: Expect, decision: conflict.Decision) -> tuple[Expect, conflict.Decision]:
    """The decision with the statements that the new one says again or may contradict, if there are some."""
    own, terms = handle.own(), neighbours.terms(new)
    if not own or not terms:
        return expect, decision
    rows = _holding(handle, own, terms, neighbours.enough(new))
    if (known := neighbours.restated(new, rows)) is not None:
        return replace(expect, rows={known.n: known.changed}), conflict.confirmed(new, known)
    if (denied := neighbours.contrary(new, rows)) is not None:
        return replace(expect, rows={denied.n: denied.changed}), conflict.contradicted(new, denied)
    rivals = neighbours.rivals(new, rows)
    if not rivals and (ended := neighbours.ended(new))[0]:
        words, states = ended
        rivals = neighbours.over(new, _holding(handle, own, words), states)
    if not rivals:
        return expect, decision
    return replace(expect, rows={row.n: row.changed for row in rivals}), conflict.flagged(new, rivals)


def _holding(handle: Handle, own: Sequence[int], terms: Sequence[str], least: int = 1) -> list[SemanticMemory]:
    """The live statements that hold the most of these words."""
    postings = handle.store.postings("memory", own, terms, past=False, cap=COMMON)
    ns = neighbours.likely({posting.term: posting.ns.tolist() for posting in postings.found}, least)
    return handle.store.memories(own, Memories(ns=ns, states=(State.ACTIVE,), current=True)) if ns else []
