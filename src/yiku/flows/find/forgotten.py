"""
Leave out the episodes and attachments of turns that were forgotten.

An episode tells what was said in its turns, so where one of these is hidden it is left out as well; it is back with the turn.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import TypeVar

from yiku.flows.common.handle import Handle
from yiku.types import Attachment, Episode, Turn, Turns

Item = TypeVar("Item", Episode, Attachment, Episode | Attachment)


def remembered(handle: Handle, scopes: Sequence[int], items: Sequence[Item]) -> list[Item]:
    """Return those of which no turn is hidden."""
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
    return [
        one for one, ns in zip(items, among, strict=True) if not any(_tells_of(one, forgotten[n]) for n in ns if n in forgotten)
    ]


def _ends(one: Episode | Attachment) -> list[str]:
    ids = (one.first_turn, one.last_turn) if isinstance(one, Episode) else (one.turn,)
    return [id for id in ids if id is not None]


def _tells_of(one: Episode | Attachment, turn: Turn) -> bool:
    return one.scope == turn.scope and (isinstance(one, Attachment) or one.session == turn.session)
