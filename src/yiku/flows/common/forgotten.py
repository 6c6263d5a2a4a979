"""
Leave out the episodes and attachments of turns that were forgotten.

An episode tells what was said in its turns, so where one of these is hidden it is left out as well; it is back with the turn.
An attachment of no turn goes with the whole of its session.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TypeVar

from yiku.flows.common.handle import Handle
from yiku.types import Attachment, Episode, Records, Turn, Turns

Item = TypeVar("Item", Episode, Attachment, Episode | Attachment)


def remembered(handle: Handle, scopes: Sequence[int], items: Sequence[Item]) -> list[Item]:
    """Return those of which no turn is hidden, or, where they belong to no turn, not the whole session."""
    if not items or not (hidden := sorted(handle.store.hidden(scopes))):
        return list(items)
    turns = {
        turn.id: turn for turn in handle.store.turns(scopes, Turns(ids=[id for one in items for id in _ends(one)], hidden=True))
    }
    spans = [[turns[id].n for id in _ends(one) if id in turns] for one in items]
    among = [hidden[bisect_left(hidden, min(span)) : bisect_right(hidden, max(span))] if span else [] for span in spans]
    forgotten = {
        turn.n: turn for turn in handle.store.turns(scopes, Turns(ns=sorted({n for ns in among for n in ns}), hidden=True))
    }
    left = [
        one for one, ns in zip(items, among, strict=True) if not any(_tells_of(one, forgotten[n]) for n in ns if n in forgotten)
    ]
    gone = _gone(handle, scopes, {one.session for one in left if not _ends(one)})
    hidden_at = [gone.get((one.scope, one.session)) if not _ends(one) else None for one in left]
    return [one for one, at in zip(left, hidden_at, strict=True) if at is None or one.created_at > at]


def newest(handle: Handle, scopes: Sequence[int], kind: type[Item], select: Records, most: int) -> list[Item]:
    """Return the newest records of a selection that are remembered."""
    wanted = most
    while True:
        found = handle.store.records(kind, scopes, replace(select, newest_first=True, limit=wanted))
        left = remembered(handle, scopes, found)
        if len(left) >= most or len(found) < wanted:
            return left[:most]
        wanted *= 4


def _gone(handle: Handle, scopes: Sequence[int], sessions: Collection[str]) -> dict[tuple[str, str], datetime]:
    """Return when the last turn of each session was hidden of which none is left, by scope and name."""
    found: dict[tuple[str, str], datetime] = {}
    for scope in scopes if sessions else ():
        for session in sessions:
            last = handle.store.turns([scope], Turns(session=session, hidden=True, newest_first=True, limit=1))
            if last and last[0].hidden_at and not handle.store.turns([scope], Turns(session=session, limit=1)):
                found[last[0].scope, session] = last[0].hidden_at
    return found


def _ends(one: Episode | Attachment) -> list[str]:
    ids = (one.first_turn, one.last_turn) if isinstance(one, Episode) else (one.turn,)
    return [id for id in ids if id is not None]


def _tells_of(one: Episode | Attachment, turn: Turn) -> bool:
    return one.scope == turn.scope and (isinstance(one, Attachment) or one.session == turn.session)
