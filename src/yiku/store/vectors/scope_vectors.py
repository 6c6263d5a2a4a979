"""
`ScopeVectors`: the vectors of a scope in memory, encoded as int8: the mapped matrix, and pieces added since.
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
    """Rows of a scope by number, with the place of their windows' vectors."""

    ns: Array
    memories: Array
    is_cjk: Array
    order: Array
    starts: Array


@dataclass(slots=True)
class ScopeVectors:
    """All vectors of a scope and space at some moment: the matrix and later pieces."""

    removals: int
    matrix: SignIndex | None = None
    last: int = 0
    memories: list[Array] = field(default_factory=list)
    is_cjk: list[Array] = field(default_factory=list)
    ns: list[Array] = field(default_factory=list)
    factors: list[Array] = field(default_factory=list)
    codes: list[Array] = field(default_factory=list)
    rows: Rows | None = None


def encode(values: Array) -> tuple[float, bytes]:
    """Encode a vector as a factor and int8 numbers."""
    import numpy as np

    factor = max(float(np.abs(values).max()) / INT8, 1e-12)
    return factor, np.rint(values / factor).astype(np.int8).tobytes()


def decode(factor: float, code: bytes) -> Array:
    """Return a vector, float32, from its factor and int8 numbers."""
    import numpy as np

    return np.frombuffer(code, np.int8).astype(np.float32) * np.float32(factor)


def add(vectors: ScopeVectors, found: Sequence[tuple[Any, ...]]) -> None:
    """Add rows, merging pieces no longer than the new one so that few remain."""
    import numpy as np

    memories, is_cjk, ns, factors, codes = zip(*found, strict=True)
    kept = np.frombuffer(b"".join(codes), np.int8).reshape(len(codes), -1)
    vectors.memories.append(np.array(memories, np.bool_))
    vectors.is_cjk.append(np.array(is_cjk, np.bool_))
    vectors.ns.append(np.array(ns, np.int64))
    vectors.factors.append(np.array(factors, np.float32))
    vectors.codes.append(kept)
    vectors.rows = None
    while len(vectors.ns) > 1 and len(vectors.ns[-2]) <= len(vectors.ns[-1]) < READ_AT_ONCE:
        for column in (vectors.memories, vectors.is_cjk, vectors.ns, vectors.factors, vectors.codes):
            column[-2:] = [np.concatenate(column[-2:])]


def rows(vectors: ScopeVectors) -> Rows:
    """Return the rows of these vectors; the windows of a row are adjacent."""
    import numpy as np

    if vectors.rows is None:
        ns, memories, is_cjk = map(np.concatenate, (vectors.ns, vectors.memories, vectors.is_cjk))
        order = np.lexsort((memories, ns))
        ns, memories = ns[order], memories[order]
        another = (ns[1:] != ns[:-1]) | (memories[1:] != memories[:-1])
        starts = np.concatenate([[0], np.flatnonzero(another) + 1])
        vectors.rows = Rows(ns[starts], memories[starts], is_cjk[order][starts], order, starts)
    return vectors.rows
