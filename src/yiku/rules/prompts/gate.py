"""
Decide which recalled hits are certain enough to enter a prompt without having been asked for.

A memory that is put beside every message distracts more often than it helps. So with `auto_recall = gated` a hit has to
be certain: it fills the very slot that is asked for, or it holds every content word of the message. A message that says nothing
(thanks, 好的) asks for nothing. What the gate leaves out is found by the tools of which the prompt tells.
"""

from __future__ import annotations

from collections.abc import Sequence

from yiku.rules.lexicon import built_in
from yiku.rules.lexicon.lists import made_of
from yiku.rules.statements.question import question, stated
from yiku.rules.text.folding import folded
from yiku.types import Hit

CERTAIN = 1.0  # the least of a slot's value, or of the share of content words in one hit; until confidence is calibrated
FEWEST_WORDS = 2  # of content, without a slot: a single word is in too many texts
READ_CHARS = 4_000  # of a hit


def certain(message: str, hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits that surely belong to a message."""
    if made_of(folded(message), "records.noise", "records.nothing"):
        return []
    wanted = question(message, built_in()).content
    return [hit for hit in hits if not hit.superseded_by and not hit.taken_back and _certainty(hit, wanted) >= CERTAIN]


def _certainty(hit: Hit, wanted: frozenset[str]) -> float:
    """How sure it is that a hit is meant, 0 to 1."""
    slot = hit.routes["slot"][1] if "slot" in hit.routes else 0.0
    if slot >= CERTAIN or len(wanted) < FEWEST_WORDS:
        return slot
    return max(slot, len(wanted & stated(hit.text[:READ_CHARS])) / len(wanted))
