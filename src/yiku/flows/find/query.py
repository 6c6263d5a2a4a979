"""
Values passed between the steps of recall: the parsed query and its candidates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from yiku.flows.common.handle import Handle
from yiku.rules.finding import ask
from yiku.types import Attachment, Episode, Filter, Note, SemanticMemory, Turn

Item = SemanticMemory | Turn | Episode | Attachment | Note
Key = tuple[str, int]  # (type, row number)


class Query(NamedTuple):
    """
    A parsed question.

    scopes: that are read; where, as_of, valid_at, types: which rows are asked for, and of which time
    past:   rows out of recall may be wanted
    around: words of the running conversation, which the question may leave out
    pool:   how many of the best hits a reranker orders; 0 where none is asked
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
    past: bool
    around: Sequence[str] = ()
    pool: int = 0


class Candidate(NamedTuple):
    """
    A row that may answer a question.

    routes: what found it, with the value of each; relevance: of all together
    """

    item: Item
    routes: Mapping[str, float]
    relevance: float


Candidates = Mapping[Key, Candidate]


def place_in_session(item: Item) -> int:
    """Return where in its session an item was said; 0 for what was not said in one."""
    return item.position if isinstance(item, Turn) else item.place if isinstance(item, SemanticMemory) else 0
