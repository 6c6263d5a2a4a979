"""
Search turns and tool calls, outdated ones too, by keyword, session, time, role and tool.

Unlike recall it looks at turns only, and leaves nothing out for being old, replaced or repeated. Three sources: the turns, their
tool calls with their results, and transcripts of turns that the database does not know, as after an older backup was
restored. Without a keyword it lists what the conditions let through.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime

from yiku.files import transcripts
from yiku.files.transcripts import Line
from yiku.flows.common import checks
from yiku.flows.common.handle import Handle
from yiku.flows.common.turn_texts import tokens, tool_tokens
from yiku.flows.keep.record import ROLES
from yiku.rules.finding import score
from yiku.rules.sessions.agent_events import HOOK_ID
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
    """
    Return matching turns: best first with a keyword, else newest first.

    Turns that only a transcript holds have the number 0 and come last where there is a keyword.
    """
    now = handle.now()
    if role is not None and role not in ROLES:
        checks.refuse("role", f"must be one of {', '.join(ROLES)}")
    scopes, limit = handle.reads(), checks.integer(limit, "limit")
    ns = None
    if keyword is not None:
        sought = checks.question(keyword, "keyword")
        ns = _search(handle, sought, scopes)

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
        every = [*select(None, limit), *_in_transcripts(handle, None, conditions)]
        return sorted(every, key=lambda turn: (turn.said_at, turn.position), reverse=True)[:limit]
    found: list[Turn] = []
    for start in range(0, len(ns), FETCH):
        rows = {turn.n: turn for turn in select(ns[start : start + FETCH], None)}
        found += [rows[n] for n in ns[start : start + FETCH] if n in rows]
        if len(found) >= limit:
            return found[:limit]
    return [*found, *_in_transcripts(handle, keyword, conditions)][:limit]


def captured(handle: Handle, session: str) -> tuple[datetime, datetime] | None:
    """Return when hooks have captured the first and the last turn of a session, forgotten turns too; None where they have not."""
    conditions = Turns(session=checks.name(session, "session"), hidden=True)
    turns = [*handle.store.turns(handle.reads(), conditions), *_in_transcripts(handle, None, conditions)]
    said = [turn.said_at for turn in turns if (turn.external_id or "").startswith(HOOK_ID)]
    return (min(said), max(said)) if said else None


def _in_transcripts(handle: Handle, keyword: str | None, conditions: Turns) -> list[Turn]:
    """Turns of the scopes read that only transcripts hold, the best first; there are none as long as nothing was lost."""
    paths = transcripts.lost(handle.paths)
    if not paths:
        return []
    reads = {number: name for number, name, _ in handle.store.scopes() if number in handle.reads()}
    by_id = {}
    for path in paths:
        for line in transcripts.lines(path):
            if isinstance(line, Line) and line.scope in (handle.scope, *reads.values()):
                with suppress(ValueError):
                    by_id[line.id] = transcripts.turn(line)
    known = {turn.id for turn in handle.store.turns([*reads], Turns(ids=[*by_id], hidden=True))} if reads else set()
    terms = set(analyze.question(keyword).words) if keyword is not None else set()
    scored = [(_shared(turn, terms), turn) for id, turn in by_id.items() if id not in known and _fits(turn, conditions)]
    best = sorted(scored, key=lambda one: (one[0], one[1].said_at, one[1].position), reverse=True)
    return [turn for shared, turn in best if shared or keyword is None]


def _fits(turn: Turn, conditions: Turns) -> bool:
    """Whether a turn is what the database would be asked for."""
    return (
        turn.hidden_at is None
        and conditions.session in (None, turn.session)
        and (not conditions.roles or turn.role in conditions.roles)
        and (conditions.tool is None or any(call.get("name") == conditions.tool for call in turn.tool_calls))
        and (conditions.since is None or turn.said_at >= conditions.since)
        and (conditions.until is None or turn.said_at < conditions.until)
    )


def _shared(turn: Turn, terms: set[str]) -> int:
    """How many terms of a question a turn holds, its tool calls among them."""
    used = tool_tokens(turn) if terms else None
    return len(terms.intersection((*tokens(turn).words, *(used.words if used else ())))) if terms else 0


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
