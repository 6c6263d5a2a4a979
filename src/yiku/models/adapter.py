"""
Load low-rank (LoRA) weights for the local model's upper layers: its adapter from scripts/train_adapter.py.

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
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FILE = Path(__file__).with_name("adapter.npz")
KINDS = ("q", "k", "v", "ao", "fi", "fo")


class Change(NamedTuple):
    """The change of one linear layer: down (inputs, rank), up (rank, outputs), float32."""

    down: NDArray[np.float32]
    up: NDArray[np.float32]


def digest(file: Path | None = None) -> str:
    """Return what tells this file, or the adapter's, from others: a part of its SHA256; empty without one."""
    return _digest(file or FILE)


@cache
def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()[:8] if file.is_file() else ""


def arrays(file: Path, of: str) -> Mapping[str, Any]:
    """
    Return the arrays of a file; none without it, or for other weights than those beside which it was trained.

    of: the SHA256 of the weights
    """
    import numpy as np

    if not digest(file):
        return {}
    with np.load(io.BytesIO(file.read_bytes()), allow_pickle=False) as read:
        return dict(read) if str(read["of"]) == of else {}


def changes(read: Mapping[str, Any], layers: int) -> Mapping[str, Change]:
    """Return the changes in the arrays of a file by layer, such as `l11.q`; none of none."""
    found: dict[str, Change] = {}
    for kind in KINDS if read else ():
        down, up = (read[f"{kind}.{part}"] * read[f"{kind}.{part}.scale"][:, :, None] for part in ("down", "up"))
        for n in range(len(down)):
            found[f"l{layers - len(down) + n}.{kind}"] = Change(down[n].T, up[n])
    return found
