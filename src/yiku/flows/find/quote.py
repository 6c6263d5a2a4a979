"""
Format hits or whole items as fenced prompt text, with source, date, trust and id, within a size budget.

`listed` packs hits a line each within a budget of tokens; `whole` gives items with every line and every call of a tool.
Neither counts anything as retrieved: whoever shows the text reports that once, after the answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from yiku.flows.common import checks
from yiku.flows.common.handle import Handle
from yiku.flows.common.turn_texts import content, with_results
from yiku.flows.find.context import MOST_TOKENS, language
from yiku.rules.finding import pack
from yiku.rules.finding import whole as whole_items
from yiku.rules.finding.pack import Item
from yiku.rules.text import analyze
from yiku.types import Context, Hit, Turn

MOST_CHARS = 400_000
MOST_LINES = 10_000_000


def listed(handle: Handle, hits: Sequence[Hit], question: str = "", *, max_tokens: int | None = None) -> Context:
    """Pack hits in the order given; see Agent.quote."""
    if isinstance(hits, str) or not isinstance(hits, Sequence) or not all(isinstance(hit, Hit) for hit in hits):
        checks.refuse("hits", "must be the hits of a search")
    budget = checks.integer(handle.settings.context_tokens if max_tokens is None else max_tokens, "max_tokens", at_most=MOST_TOKENS)
    asked = checks.question(question) if question else ""
    terms = analyze.question(asked)
    return pack.pack(hits, budget, language(handle, asked or _first(hits)), (*terms.words, *terms.characters), seal=handle.seal)


def _first(hits: Sequence[Hit]) -> str:
    return hits[0].text if hits else ""


def whole(handle: Handle, items: Sequence[Item], *, max_chars: int = 16_000, from_line: int = 1) -> str:
    """Return items in full; see Agent.quote_whole."""
    if not isinstance(items, Sequence) or not all(isinstance(item, get_args(Item)) for item in items):
        checks.refuse("items", "must be memories, turns, episodes, attachments or notes")
    most = checks.integer(max_chars, "max_chars", at_most=MOST_CHARS)
    first = max(1, checks.integer(from_line, "from_line", at_most=MOST_LINES))
    items = [with_results(handle, item) if isinstance(item, Turn) else item for item in items]
    texts = {item.id: content(handle, item) for item in items if isinstance(item, Turn) and item.blob is not None}
    spoken = language(handle, items[0].content if items and isinstance(items[0], Turn) else "")
    return whole_items.quote(items, spoken, seal=handle.seal, max_chars=most, now=handle.now(), texts=texts, from_line=first)
