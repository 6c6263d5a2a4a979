"""
Ranking weights of memories by kind while a persona is active.

A persona influences how something is said and what is looked at first, never what is stored.
"""

from __future__ import annotations

from collections.abc import Mapping

from yiku.types import Kind

NAME_CHARS = 64
WEIGHTS: Mapping[str, Mapping[Kind, float]] = {  # of a score, by persona and kind
    "tech_expert": {Kind.SKILL: 1.2, Kind.ERROR: 1.2},
    "jarvis": {Kind.SKILL: 1.2, Kind.ERROR: 1.2},
}


def is_weighted(name: str) -> bool:
    """Whether a persona changes the ranking, also without a file."""
    return name in WEIGHTS


def weight(persona: str | None, kind: Kind) -> float:
    """Return what the score of a memory is multiplied by."""
    return WEIGHTS.get(persona or "", {}).get(kind, 1.0)
