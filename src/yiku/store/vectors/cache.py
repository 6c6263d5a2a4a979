"""
The vectors of a scope in memory: a matrix, where there is one, and the pieces that came since.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from yiku.store.vectors.sign_index import SignIndex

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

READ_AT_ONCE = 65_536  # rows, before they become arrays
INT8 = 127


@dataclass(slots=True)
class Rows:
    """The rows of a scope in the order of their numbers: where their windows' vectors are, and where each row begins there."""

    ns: Array
    memories: Array
    is_cjk: Array
    order: Array
    starts: Array


@dataclass(slots=True)
class ScopeVectors:
    """All vectors of a scope in a space as they were at some moment: a matrix, and what came since, in that order."""

    removals: int
    matrix: SignIndex | None = None
    last: int = 0
    memories: list[Array] = field(default_factory=list)
    is_cjk: list[Array] = field(default_factory=list)
    ns: list[Array] = field(default_factory=list)
    factors: list[Array] = field(default_factory=list)
    codes: list[Array] = field(default_factory=list)
    rows: Rows | None = None


def coded(values: Array) -> tuple[float, bytes]:
    """A vector as one factor and int8 numbers."""
    import numpy as np

    factor = max(float(np.abs(values).max()) / INT8, 1e-12)
    return factor, np.rint(values / factor).astype(np.int8).tobytes()


def add(held: ScopeVectors, found: Sequence[tuple[Any, ...]]) -> None:
    """These rows are held, too. Pieces that are no longer than the new one are joined with it, so that there are few."""
    import numpy as np

    memories, is_cjk, ns, factors, codes = zip(*found, strict=True)
    kept = np.frombuffer(b"".join(codes), np.int8).reshape(len(codes), -1)
    held.memories.append(np.array(memories, np.bool_))
    held.is_cjk.append(np.array(is_cjk, np.bool_))
    held.ns.append(np.array(ns, np.int64))
    held.factors.append(np.array(factors, np.float32))
    held.codes.append(kept)
    held.rows = None
    while len(held.ns) > 1 and len(held.ns[-2]) <= len(held.ns[-1]) < READ_AT_ONCE:
        for column in (held.memories, held.is_cjk, held.ns, held.factors, held.codes):
            column[-2:] = [np.concatenate(column[-2:])]


def rows(held: ScopeVectors) -> Rows:
    """The rows that these vectors are of. A row's windows lie side by side in its order."""
    import numpy as np

    if held.rows is None:
        ns, memories, is_cjk = map(np.concatenate, (held.ns, held.memories, held.is_cjk))
        order = np.lexsort((memories, ns))
        ns, memories = ns[order], memories[order]
        another = (ns[1:] != ns[:-1]) | (memories[1:] != memories[:-1])
        starts = np.concatenate([[0], np.flatnonzero(another) + 1])
        held.rows = Rows(ns[starts], memories[starts], is_cjk[order][starts], order, starts)
    return held.rows
