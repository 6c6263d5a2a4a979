"""
What Yiku asks of an embedding model: texts in, one vector of unit length each out.

    e5.py         multilingual-e5-small on this machine          embed.py   any OpenAI-compatible endpoint
    choose.py     which of them the settings mean                cached.py  the questions asked last

A vector lives in a space, and two spaces have nothing to do with each other, even where their dimensions agree.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors: TypeAlias = NDArray[np.float32]

Role = Literal["query", "passage"]

Progress = Callable[[str, float], None]  # what is being done, and which share of it is done, 0 to 1


class Embedder(Protocol):
    """A model that makes vectors. It may be used by several threads at once."""

    @property
    def space(self) -> str:
        """The name of its vector space. It says all that a vector depends on, so vectors of two names never meet in a ranking."""
        ...

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        """
        The vectors of some texts: (len(texts), dimensions) float32, rows of unit length, in the order of the texts.

        role: a question and what may answer it are embedded differently
        Raises ModelUnavailable when the model is not there, ModelFailed when its answer cannot be used.
        """
        ...

    def close(self) -> None:
        """Let go of what it holds. The next `embed` takes it up again."""
        ...
