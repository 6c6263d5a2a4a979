"""
Get and list memories and turns: by id, filter, entity, relation or version.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import Any, Literal

from yiku.errors import NotFound
from yiku.flows.common import checks
from yiku.flows.common.handle import Handle
from yiku.flows.common.lookup import find_any, find_memory, may_be_id
from yiku.flows.find.as_of import recorded, visible
from yiku.flows.find.recall import recall
from yiku.flows.find.said_later import among, mark
from yiku.rules.finding import said_later
from yiku.rules.statements import keys
from yiku.types import Memories, Note, SemanticMemory, State, Turn

SHOWN = (State.CANDIDATE, State.ACTIVE)


def get(handle: Handle, id: str, *, as_of: datetime | str | None = None) -> SemanticMemory | Turn | Note:
    """Return one version of a memory, one turn or one passage of a note, with all details."""
    at = checks.optional_time(as_of, "as_of", now=handle.now())
    found = find_any(handle, id, handle.reads())
    if isinstance(found, Note):
        if at is not None:
            raise NotFound(f"the note {found.path} has no history", "Ask without `as_of` for what it says now.")
        return found
    if isinstance(found, Turn):
        if at is not None and found.recorded_at > at:
            raise NotFound(f"there was no memory or turn with the id {found.id} at {at}")
        return found
    then = recorded(handle, handle.store.with_details([found]), at)
    if not then:
        raise NotFound(f"there was no memory or turn with the id {found.id} at {at}")
    return then[0]


def get_all(
    handle: Handle,
    *,
    where: Mapping[str, Any] | None = None,
    limit: int = 100,
    offset: int = 0,
    order: Literal["said", "updated"] = "said",
    as_of: datetime | str | None = None,
    valid_at: datetime | str | None = None,
) -> list[SemanticMemory]:
    """Return live memories, newest first; filtered, paged, or as of a time."""
    now = handle.now()
    limit, offset = checks.integer(limit, "limit"), checks.integer(offset, "offset", at_most=10**9)
    if order not in ("said", "updated"):
        checks.refuse("order", "must be said or updated")
    filter_ = checks.where(where, now=now)
    as_of, valid_at = checks.optional_time(as_of, "as_of", now=now), checks.optional_time(valid_at, "valid_at", now=now)
    scopes = handle.reads()
    if as_of is None and valid_at is None:
        named = _mentions(filter_, "state")
        select = Memories(
            states=() if named else SHOWN,
            current=not named,
            unexpired_at=None if named else now,
            where=filter_,
            order=order,
            newest_first=True,
            limit=limit,
            offset=offset,
        )
        return mark(handle, handle.store.with_details(handle.store.memories(scopes, select)))
    rows = handle.store.memories(scopes, Memories(where=filter_, order=order, newest_first=True))
    then = visible(handle, rows, as_of, valid_at)
    page = handle.store.with_details(then[offset : offset + limit])
    return among(recorded(handle, page, as_of), then)  # once more, for what hangs on the rows


def current(
    handle: Handle, *, state: str | None = None, where: Mapping[str, Any] | None = None, limit: int = 100, offset: int = 0
) -> list[SemanticMemory]:
    """Return current, unexpired memories, newest first; see Agent.current."""
    now = handle.now()
    select = Memories(
        states=SHOWN if state is None else (checks.enum_member(state, State, "state"),),
        current=True,
        unexpired_at=now,
        where=checks.where(where, now=now),
        order="said",
        newest_first=True,
        limit=checks.integer(limit, "limit"),
        offset=checks.integer(offset, "offset", at_most=10**9),
    )
    return mark(handle, handle.store.with_details(handle.store.memories(handle.reads(), select)))


def by_entity(handle: Handle, entity: str, *, limit: int = 100) -> list[SemanticMemory]:
    """Return the live memories about an entity, newest first."""
    name = keys.subject_of(checks.name(entity, "entity"), names=handle.settings.names)
    select = Memories(
        entities=[name],
        states=SHOWN,
        current=True,
        unexpired_at=handle.now(),
        order="said",
        newest_first=True,
        limit=checks.integer(limit, "limit"),
    )
    return mark(handle, handle.store.with_details(handle.store.memories(handle.reads(), select)))


def related(
    handle: Handle, *, subject: str | None = None, relation_type: str | None = None, object: str | None = None, limit: int = 100
) -> list[SemanticMemory]:
    """Return live memories with a matching relation, newest first."""
    triple = (
        checks.optional_name(subject, "subject"),
        checks.optional_name(relation_type, "relation_type"),
        checks.optional_name(object, "object"),
    )
    select = Memories(
        relation=triple,
        states=SHOWN,
        current=True,
        unexpired_at=handle.now(),
        order="said",
        newest_first=True,
        limit=checks.integer(limit, "limit"),
    )
    return mark(handle, handle.store.with_details(handle.store.memories(handle.reads(), select)))


def history(handle: Handle, id_or_text: str, *, as_of: datetime | str | None = None) -> list[SemanticMemory]:
    """
    Return all versions of one line, in the order they were said.

    Found by what it is about, there are also the live statements about which what counts now was said later: each names it.
    """
    at = checks.optional_time(as_of, "as_of", now=handle.now())
    text = checks.question(id_or_text, "id").strip()
    scopes = handle.reads()
    if may_be_id(text) and not text.isalpha():
        start, outdated = find_memory(handle, text, scopes), list[SemanticMemory]()
    else:
        start, outdated = _resolve_text(handle, text, scopes)
    versions = recorded(handle, handle.store.with_details(_line(handle, start, scopes)), at)
    if at is not None or not outdated:
        return versions if at is not None else mark(handle, versions)
    lines = {version.id for version in versions}
    found = [*mark(handle, versions), *(one for one in handle.store.with_details(outdated) if one.id not in lines)]
    return sorted(found, key=lambda one: (one.said_at, one.place, one.n))


def _resolve_text(handle: Handle, text: str, scopes: Sequence[int]) -> tuple[SemanticMemory, list[SemanticMemory]]:
    """Return the memory that a text refers to, and those found with it that are outdated; a text may also be an id suffix."""
    if may_be_id(text):
        with suppress(NotFound):
            return find_memory(handle, text, scopes), []
    for question in (text, f"{text} previously"):
        hits = recall(handle, question, limit=said_later.POOL, types=("memory",))
        for hit in hits[:1]:
            outdated = [
                replace(one.item, said_later=one.said_later)
                for one in hits
                if isinstance(one.item, SemanticMemory) and one.said_later is not None
            ]
            return hit.item, outdated
    raise NotFound(f"there is no memory about {text[:80]!r}")


def _line(handle: Handle, memory: SemanticMemory, scopes: Sequence[int]) -> list[SemanticMemory]:
    return handle.store.memories(scopes, Memories(line=memory.line, order="said"))


def _mentions(filter_: Any, field: str) -> bool:
    parts = getattr(filter_, "parts", None)
    return any(_mentions(part, field) for part in parts) if parts is not None else getattr(filter_, "field", None) == field
