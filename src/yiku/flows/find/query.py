"""
What is asked, and what may answer it: the values that the steps of recall hand on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from yiku.flows.common.handle import Handle
from yiku.rules import ask
from yiku.types import Attachment, Episode, Filter, SemanticMemory, Turn

Item = SemanticMemory | Turn | Episode | Attachment
Key = tuple[str, int]  # (type, row number)


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """
    A question, checked and taken apart.

    scopes: that are read; where, as_of, valid_at, types: which rows are asked for, and of which time
    around: words of the running conversation, which the question may leave out
    """

    handle: Handle
    text: str
    question: ask.Question
    scopes: Sequence[int]
    now: datetime
    limit: int
    where: Filter | None
    as_of: datetime | None
    valid_at: datetime | None
    types: Sequence[str]
    around: Sequence[str] = ()

    @property
    def past(self) -> bool:
        """Whether rows out of recall may be wanted."""
        return self.question.wants_history or self.as_of is not None or self.valid_at is not None


class Candidate(NamedTuple):
    """
    A row that may answer.

    routes: what found it, with the value of each; relevance: of all together
    """

    item: Item
    routes: Mapping[str, float]
    relevance: float


Candidates = Mapping[Key, Candidate]
