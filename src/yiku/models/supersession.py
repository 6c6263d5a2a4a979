"""
Load the weights with which the local model scores whether a later statement supersedes an earlier one.

    supersession.npz    an adapter, as in adapter.py, and
                        `segments` (3, width): what is added to a token of a lone text (zeros), of the earlier, and of the later
                        `hidden` (5 * width, hidden), `hidden.bias`, `out` (hidden), `out.bias`: the head, float16

The head reads the first token, the means of both statements, their difference and their product. Without the file nothing
is compared this way.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from yiku.models import adapter
from yiku.models.adapter import Change

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FILE = Path(__file__).with_name("supersession.npz")
EARLIER, LATER = 1, 2  # the segments of a pair
EARLIER_TOKENS, LATER_TOKENS = 64, 96  # of a statement that are read; it was trained on so many
PARTS = ("hidden", "hidden.bias", "out", "out.bias")


class Supersession(NamedTuple):
    """The changes of the layers, the table of segments, and the head: float32."""

    changes: Mapping[str, Change]
    segments: NDArray[np.float32]
    head: Mapping[str, NDArray[np.float32]]


def digest() -> str:
    """Return what tells this file from others; empty without one."""
    return adapter.digest(FILE)


def load(of: str, layers: int) -> Supersession | None:
    """
    Return the model; None without the file, or for other weights than its own.

    of: the SHA256 of the weights
    """
    import numpy as np

    if not (read := adapter.arrays(FILE, of)):
        return None
    head = {name: read[name].astype(np.float32) for name in PARTS}
    return Supersession(adapter.changes(read, layers), read["segments"].astype(np.float32), head)
