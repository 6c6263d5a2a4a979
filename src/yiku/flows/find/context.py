"""
Build prompt context from standing rules and recalled hits.

Standing rules first, within their share of the budget; then recall more than will fit, pack in rank order what the rules do
not say already, and report what went in as retrieved.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import Any

from yiku.errors import ReadOnly, StorageFull
from yiku.flows.common import checks
from yiku.flows.common.handle import Handle
from yiku.flows.find.recall import recall, report_shown
from yiku.flows.find.standing_rules import standing_rules, without
from yiku.rules.finding import pack
from yiku.rules.text.analyze import UNSPACED_RUN
from yiku.types import Context, Hits

TOKENS_PER_HIT = 20  # a short turn with its label: so many hits could fit
MOST_TOKENS = 100_000
FEWEST_RULES = 5  # that are looked at, so that a short one behind long ones is found
INJECTED = ("memory", "turn", "attachment", "note")  # an episode is shown to who asks for it


def context(
    handle: Handle,
    question: str,
    *,
    max_tokens: int | None = None,
    where: Mapping[str, Any] | None = None,
    as_of: datetime | str | None = None,
    valid_at: datetime | str | None = None,
    session: str | None = None,
    rules: bool = True,
) -> Context:
    """Return a fenced text within the token budget; empty if there is nothing. See Memory.context."""
    budget = checks.integer(handle.settings.context_tokens if max_tokens is None else max_tokens, "max_tokens", at_most=MOST_TOKENS)
    limit = max(10, min(200, budget // TOKENS_PER_HIT))
    asked = checks.question(question)
    spoken = language(handle, asked)
    how: dict[str, Any] = {"where": where, "as_of": as_of, "valid_at": valid_at, "session": session}
    standing = pack.PackedRules()
    if checks.flag(rules, "rules"):
        most = max(FEWEST_RULES, int(budget * pack.RULES_SHARE) // pack.RULE_TOKENS)
        found, further = standing_rules(handle, limit=most, **how)
        standing = pack.standing_rules(found, budget, spoken, further=further)
    hits = recall(handle, asked, limit=limit, types=INJECTED, reranked=True, **how)
    rest = without(hits.hits, standing.shown) if hits.fits else []
    packed = pack.pack(rest, budget, spoken, hits.explanation.terms, seal=handle.seal, rules=standing)
    packed = replace(packed, diagnostics=(*hits.diagnostics, *nothing_fits(hits)), confidence=hits.confidence)
    with suppress(ReadOnly, StorageFull):  # an answer is worth more than its count; `yiku status` says what is wrong
        report_shown(handle, (*standing.shown, *packed.hits))
    return packed


def nothing_fits(hits: Hits) -> tuple[str, ...]:
    """Return a line that says that nothing comes near the question, if nothing does."""
    return () if hits.fits else ("nothing in memory comes near this question: `recall` shows what is the closest",)


def language(handle: Handle, text: str) -> str:
    """Return the language of the framing text: as set, else that of the text."""
    chosen = handle.settings.language
    return chosen if chosen != "auto" else "zh" if UNSPACED_RUN.search(text) else "en"
