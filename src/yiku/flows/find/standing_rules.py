"""
Select the standing instructions (memories of kind rule) that apply to a project, session and time.

They hold whatever is asked, so every `context` begins with them: the live rules of the handle's own scope that apply
here and now. A rule that names a project applies where that project is asked for, or where the handle works in it; a rule
for one task applies in the session in which it was said, also where that goes on after its end. Of two rules in the same
slot only the later is given.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from yiku.flows.common import checks, intake
from yiku.flows.common.handle import Handle
from yiku.flows.find.as_of import visible
from yiku.rules.deciding import history, retention
from yiku.rules.text import analyze
from yiku.types import Cardinality, Condition, Filter, Group, Hit, Kind, Link, Memories, SemanticMemory, Session, State, Turn

_AT_ONCE = timedelta(minutes=1)  # that the end of a session may take
_BEFORE = timedelta(days=1)  # that a rule may be stated before the first turn of its session is recorded


def standing_rules(
    handle: Handle,
    *,
    limit: int,
    where: Mapping[str, Any] | None = None,
    session: str | None = None,
    as_of: datetime | str | None = None,
    valid_at: datetime | str | None = None,
) -> tuple[tuple[Hit, ...], int]:
    """
    Return the rules that apply now, or did at a time, latest first; and how many exceed the limit.

    where: the filter of the question: only the projects that it names are used
    """
    own, now = handle.own(), handle.now()
    projects = _projects(checks.where(where, now=now)) or {*filter(None, [handle.settings.project])}
    name = None if session is None else intake.name(handle, session, "session")
    applies = _applies(projects, name)
    recorded, valid = checks.optional_time(as_of, "as_of", now=now), checks.optional_time(valid_at, "valid_at", now=now)
    if recorded is not None or valid is not None:
        found, further = _then(handle, applies, recorded, valid), 0
    else:
        found, further = _now(handle, own, applies, limit)
        if name is not None and (more := _of_session(handle, own, name)):
            again = {rule.content: rule for rule in (*more, *found)}  # said again after its end, it is one rule
            found = sorted(again.values(), key=lambda rule: rule.confirmed_at, reverse=True)
    kept = _latest_of_each_slot(found)
    return tuple(map(as_hit, handle.store.with_details(kept[:limit]))), further + len(kept[limit:])


def _now(handle: Handle, own: Sequence[int], applies: Sequence[Filter], limit: int) -> tuple[list[SemanticMemory], int]:
    """Return the newest rules that apply now, and how many more there are."""
    now = handle.now()
    goes_on = Group("or", (Condition("valid_to", "exists", False), Condition("valid_to", "gt", now)))
    select = Memories(
        live_kind=Kind.RULE,
        unexpired_at=now,
        where=Group("and", (*applies, goes_on)),
        order="confirmed",
        newest_first=True,
        limit=limit,
    )
    found = handle.store.memories(own, select)
    return found, max(0, handle.store.count(own, select) - limit) if len(found) == limit else 0


def _of_session(handle: Handle, own: Sequence[int], name: str) -> list[SemanticMemory]:
    """Return the rules of a session that ended with it, where the session goes on after that, also where a night put them away."""
    known = handle.store.sessions(own[0], id=name) if own else []
    if not known or known[0].closed_at is None:
        return []
    now, session = handle.now(), known[0]
    ended = (Condition(f"metadata.{retention.UNTIL_SESSION}", "eq", name), Condition("expires_at", "lte", now))
    live = handle.store.memories(own, Memories(live_kind=Kind.RULE, where=Group("and", ended))) if goes_on(session) else []
    found = [row for row in live if ended_with(row, session)]
    away = [row for row in put_away_with(handle, own, session) if goes_on(session) or not row.expired(now)]
    return away + found


def put_away_with(handle: Handle, own: Sequence[int], session: Session) -> list[SemanticMemory]:
    """Return the rules that ended with a session, and that a night archived after that."""
    if session.closed_at is None or session.started_at is None:
        return []
    of_it = (Condition("kind", "eq", Kind.RULE), Condition(f"metadata.{retention.UNTIL_SESSION}", "eq", session.id))
    select = Memories(
        states=(State.ARCHIVED,),
        current=True,
        where=Group("and", of_it),
        since=session.started_at - _BEFORE,
        until=session.closed_at + _AT_ONCE,
    )
    return [row for row in handle.store.memories(own, select) if history.put_away(row) and ended_with(row, session)]


def outlives_its_end(handle: Handle, scope: int, rule: SemanticMemory) -> bool:
    """Tell whether a rule that ended with its session holds on, because that goes on."""
    name = rule.metadata.get(retention.UNTIL_SESSION)
    known = handle.store.sessions(scope, id=name) if rule.kind is Kind.RULE and isinstance(name, str) else []
    return any(goes_on(session) and ended_with(rule, session) for session in known)


def goes_on(session: Session) -> bool:
    """Tell whether something was said in a session since its end."""
    return session.closed_at is not None and session.ended_at is not None and session.ended_at > session.closed_at


def ended_with(rule: SemanticMemory, session: Session) -> bool:
    """Tell whether a rule has its end from that of a session, and not from what somebody said."""
    if rule.kind is not Kind.RULE or rule.expires_at is None or session.closed_at is None:
        return False
    return abs(rule.expires_at - retention.AFTER_SESSION - session.closed_at) < _AT_ONCE


def _then(handle: Handle, applies: Sequence[Filter], as_of: datetime | None, valid_at: datetime | None) -> list[SemanticMemory]:
    """Return the rules that applied at a time."""
    is_rule = Condition("kind", "eq", Kind.RULE)
    select = Memories(where=Group("and", (is_rule, *applies)), order="confirmed", newest_first=True)
    found = visible(handle, handle.store.memories(handle.own(), select), as_of, valid_at)
    at = valid_at or as_of or handle.now()
    return [memory for memory in found if history.holds(memory, at)]


def _applies(projects: Collection[str], session: str | None) -> list[Filter]:
    """Return a test for rules of no project or one of these, and of no session or this one."""
    project: list[Filter] = [Condition("project", "exists", False)]
    project += [Condition("project", "in", sorted(projects))] if projects else []
    task: list[Filter] = [Condition("metadata.until_session", "exists", False)]
    task += [Condition("metadata.until_session", "eq", session)] if session is not None else []
    return [Group("or", tuple(project)), Group("or", tuple(task))]


def _projects(where: Filter | None) -> set[str]:
    """Return the projects that a filter names."""
    match where:
        case Group(how="and" | "or", parts=parts):
            return {name for part in parts for name in _projects(part)}
        case Condition(field="project", operator="eq", value=str(name)):
            return {name}
        case Condition(field="project", operator="in", value=names):
            return {name for name in names if isinstance(name, str)}
    return set()


def _latest_of_each_slot(newest_first: Sequence[SemanticMemory]) -> list[SemanticMemory]:
    """Drop rules whose slot a later rule fills; multi-valued predicates keep all."""
    kept: dict[tuple[str, str | None], SemanticMemory] = {}
    for memory in newest_first:
        one_value = memory.subject and memory.predicate and memory.cardinality is not Cardinality.MULTI
        kept.setdefault((memory.subject or "", memory.predicate) if one_value else (memory.id, None), memory)
    return [*kept.values()]


def as_hit(memory: SemanticMemory) -> Hit:
    """Return a statement with details as a hit that nobody searched for."""
    links = (Link(id=s.turn, session=s.session, speaker=s.actor, origin=s.origin, said_at=s.said_at) for s in memory.sources)
    return Hit(item=memory, relevance=1.0, score=1.0, routes={}, sources=tuple(sorted(links, key=lambda link: link.said_at)))


def without(hits: Sequence[Hit], rules: Sequence[Hit]) -> list[Hit]:
    """Return the hits without these rules, and without turns that say nothing else."""
    memories = [rule.item for rule in rules if isinstance(rule.item, SemanticMemory)]
    known = {memory.id for memory in memories}
    said = {(source.turn, analyze.plain(source.text or memory.content)) for memory in memories for source in memory.sources}
    return [
        hit
        for hit in hits
        if hit.id not in known and not (isinstance(hit.item, Turn) and (hit.id, analyze.plain(hit.item.content)) in said)
    ]
