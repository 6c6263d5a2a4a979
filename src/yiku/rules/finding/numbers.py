"""
Set operations on row numbers, without the slow imports of numpy's own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]


def distinct(numbers: Array) -> tuple[Array, Array, Array]:
    """Return unique numbers ascending, the first place of each, and the inverse index."""
    import numpy as np

    order = np.argsort(numbers, kind="stable")
    ordered = numbers[order]
    new = np.ones(len(ordered), np.bool_)
    new[1:] = ordered[1:] != ordered[:-1]
    places = np.empty(len(ordered), np.int64)
    places[order] = np.cumsum(new) - 1
    return ordered[new], order[new], places


def among(numbers: Array, others: Any) -> Array:
    """Return which of the numbers are among others: (k,) bool."""
    import numpy as np

    known = np.sort(np.asarray(others, np.int64))
    if not len(known):
        return np.zeros(len(numbers), np.bool_)
    found: Array = known[np.searchsorted(known, numbers).clip(max=len(known) - 1)] == numbers
    return found
