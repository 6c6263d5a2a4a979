"""
Search turns and tool calls by keyword, session, time, role and tool.

Unlike recall it looks at turns only, tool calls and their results among them, and leaves nothing out for
being old, replaced or repeated. Without a keyword it lists what the conditions let through.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from yiku.flows.common import checks
from yiku.flows.common.handle import Handle
from yiku.flows.keep.record import ROLES
from yiku.rules.finding import score
from yiku.rules.text import analyze
from yiku.store.api import Index
from yiku.types import Turn, Turns

FETCH = 200  # rows a step, until enough fit the conditions


def search_traces(
    handle: Handle,
    keyword: str | None = None,
    *,
    session: str | None = None,
    role: str | None = None,
    tool: str | None = None,
    since: datetime | str | None = None,
    until: datetime | str | None = None,
    limit: int = 20,
) -> list[Turn]:
    """Return matching turns: best first with a keyword, else newest first."""
    now = handle.now()
    if role is not None and role not in ROLES:
        checks.refuse("role", f"must be one of {', '.join(ROLES)}")
    scopes, limit = handle.reads(), checks.integer(limit, "limit")
    ns = _search(handle, checks.text(keyword, "keyword", at_most=checks.QUESTION_CHARS), scopes) if keyword is not None else None

    conditions = Turns(
        session=checks.optional_name(session, "session"),
        roles=() if role is None else (role,),
        tool=checks.optional_name(tool, "tool"),
        since=checks.optional_time(since, "since", now=now),
        until=checks.optional_time(until, "until", now=now),
        order="said",
        newest_first=True,
    )

    def select(ns: Sequence[int] | None, at_most: int | None) -> list[Turn]:
        return handle.store.turns(scopes, replace(conditions, ns=ns, limit=at_most))

    if ns is None:
        return select(None, limit)
    found: list[Turn] = []
    for start in range(0, len(ns), FETCH):
        rows = {turn.n: turn for turn in select(ns[start : start + FETCH], None)}
        found += [rows[n] for n in ns[start : start + FETCH] if n in rows]
        if len(found) >= limit:
            break
    return found[:limit]


def _search(handle: Handle, keyword: str, scopes: Sequence[int]) -> list[int]:
    """Return row numbers, best first, over contents and tool data."""
    if not scopes:
        return []
    terms = analyze.question(keyword)
    best: dict[int, float] = {}
    indexes: tuple[Index, ...] = ("turn", "tool")
    for index in indexes:
        postings = handle.store.postings(index, scopes, (*terms.words, *terms.characters), past=False, cap=score.COMMON_ROWS)
        weights = [1.0] * len(terms.words) + [score.CHARACTER_WEIGHT] * len(terms.characters)
        ns, scores, _ = score.bm25(postings, weights)
        for n, value in zip(ns.tolist(), scores.tolist(), strict=True):
            best[n] = max(best.get(n, 0.0), value)
    return sorted(best, key=lambda n: (-best[n], -n))
