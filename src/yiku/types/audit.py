"""
Result types of `why` and `audit`: the provenance of a statement, and the findings of an audit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from yiku.types.changes import ChangeRow
from yiku.types.memories import SemanticMemory, Source
from yiku.types.value import value


@value(frozen=True, slots=True)
class Words:
    """The words that a memory rests on. text: as they stand in their turn; None where the turn is gone. role: of the turn."""

    source: Source
    text: str | None
    role: str | None = None


@value(frozen=True, slots=True, kw_only=True)
class Why:
    """
    Why something is believed.

    memory:   the version that was asked for
    current:  the version that counts now, where that is another one
    words:    what it rests on, oldest first
    replaced: the versions before it in its line or slot, oldest first
    others:   memories that it may contradict, and the one that was said later
    changes:  what was done to it and to its line, oldest first
    pages:    published pages on which it stands
    page:     all of this for a person, as Markdown
    """

    memory: SemanticMemory
    current: SemanticMemory | None = None
    words: tuple[Words, ...] = ()
    replaced: tuple[SemanticMemory, ...] = ()
    others: tuple[SemanticMemory, ...] = ()
    changes: tuple[ChangeRow, ...] = ()
    pages: tuple[str, ...] = ()
    page: str = ""


Check = Literal["duplicates", "contradictions", "unsupported", "secrets", "never_recalled", "stale", "orphans"]


@value(frozen=True, slots=True)
class Finding:
    """
    What one check of an audit found.

    count: how many; of: among how many were looked at; budget: the share (or number) that is allowed; over: whether it is more
    examples: ids, a few of them, those that belong together as one group
    """

    check: Check
    count: int
    of: int
    examples: tuple[tuple[str, ...], ...] = ()
    budget: float | None = None
    over: bool = False

    @property
    def share(self) -> float:
        """How many of those that were looked at."""
        return self.count / self.of if self.of else 0.0


@value(frozen=True, slots=True, kw_only=True)
class Audit:
    """
    What an audit found: a finding for each check, and all of it for a person, as Markdown.

    memories: how many live ones were looked at; turns: how many were searched for secrets
    details:  of orphans, what sort there is how many of
    """

    findings: tuple[Finding, ...]
    memories: int
    turns: int
    details: Mapping[str, int]
    seconds: float
    page: str

    @property
    def over(self) -> tuple[Check, ...]:
        """Return the checks that found more than their budget."""
        return tuple(one.check for one in self.findings if one.over)
