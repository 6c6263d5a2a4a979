"""
Token budgets and order of the sections of a prompt, and which are shortened first when it is too long.

What changes seldom stands first, so that a prompt cache keeps the beginning: the guide, the agent's identity and persona, the
host's rules and catalogs, then what is known of the user. What changes with each message stands behind: the current work, the
environment, what was recalled.

Each section may take MOST tokens while the whole fits; where it does not, sections shrink to their BUDGETS, and then to nothing,
in the order of GIVES_WAY.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import get_args

from yiku.types.prompts import SectionName

TOTAL = 3_000  # tokens of all sections but the catalogs; the setting `prompt_tokens`
SECTIONS: tuple[SectionName, ...] = get_args(SectionName)  # in the order in which they stand
BUDGETS: Mapping[SectionName, int] = {
    "guide": 250,
    "identity": 350,
    "persona": 200,
    "session_rules": 300,
    "catalogs": 800,  # beside the total
    "user": 120,
    "rules": 400,
    "core": 400,
    "scratchpad": 500,
    "runtime": 150,
    "recalled": 300,
}
MOST: Mapping[SectionName, int] = {**BUDGETS, "identity": 600}  # as large as its compiled summaries may be
SHARES: Mapping[str, int] = {"soul": 100, "agent_core": 120, "agent_tooling": 130}  # of identity, where it has only its budget
CHANGING: tuple[SectionName, ...] = ("scratchpad", "runtime", "recalled")  # with each message
GIVES_WAY: tuple[SectionName, ...] = (
    "recalled",  # a tool finds it
    "runtime",
    "persona",
    "scratchpad",
    "core",
    "user",
    "guide",
    "session_rules",
    "identity",
    "rules",  # what the user asked for, for good
)


def rooms(sizes: Mapping[SectionName, int], total: int) -> dict[SectionName, int]:
    """
    Return how many tokens each section may take.

    sizes: what each would take alone, at most MOST of it; total: for all but the catalogs
    """
    found = {name: min(size, MOST[name]) for name, size in sizes.items()}
    over = sum(size for name, size in found.items() if name != "catalogs") - total
    for least in (BUDGETS, {}):
        for name in GIVES_WAY:
            cut = min(over, found.get(name, 0) - least.get(name, 0))
            if cut > 0:
                found[name] -= cut
                over -= cut
    return found


def in_order(names: Iterable[SectionName]) -> list[SectionName]:
    """Return sections in the order in which they stand."""
    return sorted(names, key=SECTIONS.index)
