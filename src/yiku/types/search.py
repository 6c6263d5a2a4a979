"""
Types for search: arrays of turn attributes, vectors, similarities, embedding progress, pairs of superseded turns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from yiku.types.value import value

if TYPE_CHECKING:
    import numpy as np

Item = Literal["turn", "memory", "note"]  # what has vectors


@value(frozen=True, slots=True)
class TurnColumns:
    """
    Ranking columns of every turn of the scopes, by row number.

    ns:       (k,) int64, row numbers, ascending
    sessions: (k,) int64, numbers of sessions
    said_at:  (k,) int64, microseconds UTC
    user:     (k,) bool, whether the user said it
    speakers: (k,) int32, places in `names`, -1 for none
    """

    ns: np.ndarray[Any, Any]
    sessions: np.ndarray[Any, Any]
    said_at: np.ndarray[Any, Any]
    user: np.ndarray[Any, Any]
    speakers: np.ndarray[Any, Any]
    names: tuple[str, ...]


@value(frozen=True, slots=True)
class Vector:
    """
    The vector of one window of a turn or memory: (dimensions,) float32, unit length.

    is_cjk: whether its text is mostly in a script without spaces, Chinese above all
    """

    item: Item
    n: int
    part: int
    is_cjk: bool
    values: np.ndarray[Any, Any]


@value(frozen=True, slots=True)
class Similar:
    """
    Similarity of turns and memories to a question: the best cosine of each one's windows.

    ns:       (k,) int64, row numbers, in no order
    memories: (k,) bool, whether it is a memory's
    is_cjk:   (k,) bool, whether its text is in a script without spaces
    alike:    (k,) float32, cosines, or cosines beyond what is common to a script
    """

    ns: np.ndarray[Any, Any]
    memories: np.ndarray[Any, Any]
    is_cjk: np.ndarray[Any, Any]
    alike: np.ndarray[Any, Any]


@value(frozen=True, slots=True)
class Superseded:
    """
    A pair of turns, by their numbers: how likely the later one means that the earlier no longer holds, 0 to 1.

    start, end: the characters of the earlier one that this is about
    """

    earlier: int
    later: int
    likely: float
    start: int
    end: int


@value(frozen=True, slots=True)
class Embedded:
    """
    Embedding progress of a scope in a space: last turn and memory, and rows to redo.

    failed: rows behind of which the model could make nothing, however often it was asked
    """

    turns: int = 0
    memories: int = 0
    again: Sequence[tuple[Item, int]] = ()
    failed: int = 0
