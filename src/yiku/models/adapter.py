"""
The adapter of the local model: a low-rank change of its upper layers, trained on talk (scripts/train_adapter.py).

    adapter.npz    `of`: the SHA256 of the weights beside which it was trained
                   for q, k, v, ao, fi, fo: `down` (layers, rank, inputs) and `up` (layers, rank, outputs) as int8, each with
                   `scale` (layers, rank), float32; the last layers of the model have them

A layer's output x·W becomes x·W + x·down·up. Without the file the model is the published one.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FILE = Path(__file__).with_name("adapter.npz")
KINDS = ("q", "k", "v", "ao", "fi", "fo")


class Change(NamedTuple):
    """The change of one linear layer: down (inputs, rank), up (rank, outputs), float32."""

    down: NDArray[np.float32]
    up: NDArray[np.float32]


def digest() -> str:
    """Return what tells this adapter from others, a part of its SHA256; empty without one."""
    return _digest(FILE)


@cache
def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()[:8] if file.is_file() else ""


def changes(of: str, layers: int) -> Mapping[str, Change]:
    """
    Return the changes by layer, such as `l11.q`; none without the file, or for other weights than its own.

    of: the SHA256 of the weights
    """
    import numpy as np

    if not digest():
        return {}
    with np.load(io.BytesIO(FILE.read_bytes()), allow_pickle=False) as read:
        if str(read["of"]) != of:
            return {}
        found: dict[str, Change] = {}
        for kind in KINDS:
            down, up = (read[f"{kind}.{part}"] * read[f"{kind}.{part}.scale"][:, :, None] for part in ("down", "up"))
            for n in range(len(down)):
                found[f"l{layers - len(down) + n}.{kind}"] = Change(down[n].T, up[n])
        return found
