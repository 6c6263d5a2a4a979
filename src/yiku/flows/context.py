"""
context: what memory has to say on a question, packed for a prompt.

Recall more than will fit, pack in rank order within the budget, and report what went in as retrieved.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import Any

from yiku.errors import ReadOnly, StorageFull
from yiku.flows import checks
from yiku.flows.handle import Handle
from yiku.flows.recall import recall, report
from yiku.rules import pack
from yiku.rules.analyze import UNSPACED_RUN
from yiku.types import Context

TOKENS_PER_HIT = 20  # a short turn with its label: so many hits could fit
MOST_TOKENS = 100_000
INJECTED = ("memory", "turn", "attachment")  # an episode is shown to who asks for it


def context(
    handle: Handle,
    question: str,
    *,
    max_tokens: int | None = None,
    where: Mapping[str, Any] | None = None,
    as_of: datetime | str | None = None,
    valid_at: datetime | str | None = None,
    session: str | None = None,
) -> Context:
    """A fenced text of at most so many estimated tokens; empty when nothing was found."""
    budget = checks.whole(handle.settings.context_tokens if max_tokens is None else max_tokens, "max_tokens", at_most=MOST_TOKENS)
    limit = max(10, min(200, budget // TOKENS_PER_HIT))
    hits = recall(handle, question, limit=limit, where=where, as_of=as_of, valid_at=valid_at, types=INJECTED, session=session)
    packed = pack.pack(hits.hits, budget, language(handle, question), hits.explanation.terms, seal=handle.seal)
    packed = replace(packed, diagnostics=hits.diagnostics, confidence=hits.confidence)
    with suppress(ReadOnly, StorageFull):  # an answer is worth more than its count; `yiku status` says what is wrong
        report(handle, packed.hits)
    return packed


def language(handle: Handle, text: str) -> str:
    """The language of what Yiku writes around memories: as set, else that of the text."""
    chosen = handle.settings.language
    return chosen if chosen != "auto" else "zh" if UNSPACED_RUN.search(text) else "en"
