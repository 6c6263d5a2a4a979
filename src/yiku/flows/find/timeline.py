"""
Return turns and memories in the order they were said: a window of time, or what lies around an item.

The order is that of the time, then of the place in the session; what was learned from a turn comes behind it. So of many things
said at one time, as an import has them, those around the item are found, and not the first.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from yiku.errors import NotFound
from yiku.flows.common import checks
from yiku.flows.common.handle import Handle
from yiku.flows.common.lookup import find
from yiku.flows.find.browse import SHOWN
from yiku.flows.find.read_item import read_item
from yiku.types import Attachment, Episode, Filter, Memories, SemanticMemory, Turn, Turns

Said = SemanticMemory | Turn
INSTANT = timedelta(microseconds=1)
LAST = (1 << 63) - 1  # of the numbers of rows


class _Window(NamedTuple):
    """Times between which is looked, and the item behind or before which; None where nothing limits it."""

    since: datetime | None
    until: datetime | None
    where: Filter | None
    item: Said | None = None


def timeline(
    handle: Handle,
    *,
    around: str | None = None,
    since: datetime | str | None = None,
    until: datetime | str | None = None,
    where: Mapping[str, Any] | None = None,
    limit: int = 50,
) -> list[Said]:
    """Return turns and memories in the order they were said; see Memory.timeline."""
    now = handle.now()
    since, until = checks.optional_time(since, "since", now=now), checks.optional_time(until, "until", now=now)
    limit, filter_ = checks.integer(limit, "limit"), checks.where(where, now=now)
    window = _Window(since, until, filter_)
    if around is not None:
        centre = _centre(handle, around)
        if isinstance(centre, Episode):
            return _said(handle, window._replace(since=centre.started_at, until=centre.ended_at + INSTANT), limit)
        window = window._replace(item=centre)
        before = _said(handle, window, limit // 2, newest_first=True)
        return before[::-1] + _said(handle, window, limit - len(before))
    newest = since is None and until is None
    found = _said(handle, window, limit, newest_first=newest)
    return found[::-1] if newest else found


def _centre(handle: Handle, id: str) -> Said | Episode:
    """Return the item in the middle: of an attachment, its turn."""
    try:
        return find(handle, id, handle.reads())
    except NotFound:
        found = read_item(handle, id)
        if isinstance(found, Attachment) and found.turn is not None:
            return find(handle, found.turn, handle.reads())
        if isinstance(found, Episode):
            return found
        raise


def _said(handle: Handle, window: _Window, limit: int, *, newest_first: bool = False) -> list[Said]:
    """Return what was said in a window; with an item what comes before it, newest first, or it and what comes behind it."""
    scopes, item = handle.reads(), window.item
    select: dict[str, Any] = {"since": window.since, "until": window.until, "where": window.where, "limit": limit}
    select |= {"order": "said", "newest_first": newest_first}
    of_turns, of_memories = dict[str, Any](), dict[str, Any]()
    if item is not None:
        at, place, is_memory, n = _place(item)
        cut = "said_before" if newest_first else "said_after"
        mine, others = (at, place, n if newest_first else n - 1), (at, place, LAST if is_memory else 0)  # turns come first
        of_turns[cut], of_memories[cut] = (others, mine) if is_memory else (mine, others)
    turns = handle.store.turns(scopes, Turns(**select, **of_turns))
    both: list[Said] = [*turns, *handle.store.memories(scopes, Memories(states=SHOWN, **select, **of_memories))]
    return sorted(both, key=_place, reverse=newest_first)[:limit]


def _place(item: Said) -> tuple[datetime, int, bool, int]:
    """Return where an item stands on the timeline."""
    place = item.place if isinstance(item, SemanticMemory) else item.position
    return item.said_at, place, isinstance(item, SemanticMemory), item.n
