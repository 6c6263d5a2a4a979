"""
Cosine similarity of vectors to a question, after subtracting the mean vector of the text's script (CJK or not).

A model puts every text into one corner of its space, and texts of one language into one corner of that: of a
Chinese question every Chinese text is nearer than any English one. So what is common to a script is taken off, from
vectors and questions alike, before their angle is measured: the mean of what the scopes hold in that script.
The lengths of what is left of each vector are kept, so a search looks at every vector once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

BLOCK = 256  # vectors that are turned into floats at a time: they stay in the processor's cache
FEW = 8  # vectors of a script, whose mean says nothing
SHORTEST = 1e-3  # of what is left of a vector


@dataclass(frozen=True, slots=True)
class Codes:
    """Encoded vectors: int8 pieces with their factors, and whether each text is CJK."""

    codes: Sequence[Array]
    factors: Sequence[Array]
    is_cjk: Array


@dataclass(slots=True)
class Centre:
    """Mean vector of each script, (2, d), and the length of each centred vector."""

    means: Array
    of: tuple[int, ...]  # how many vectors of each scope they are the means of
    lengths: list[Array]


def centre(
    scopes: Sequence[Codes], known: Centre | None, given: Array | None = None, common: Callable[[], Array] | None = None
) -> Centre:
    """
    Return the means of these scopes over the first 1, 2, 4, 8 … vectors of each, or those given.

    So they move seldom, and who asks first has the same as who has asked all day. What is known is kept.
    """
    import numpy as np

    of = () if given is not None else tuple(1 << (len(each.is_cjk).bit_length() - 1) for each in scopes)
    if known is None or known.of != of:
        known = Centre(means(scopes, of, common) if given is None else given, of, [np.empty(0, np.float32) for _ in scopes])
    for place, each in enumerate(scopes):
        lengths = known.lengths[place]
        if len(lengths) < len(each.is_cjk):
            known.lengths[place] = np.concatenate([lengths, _lengths(each, known.means, len(lengths))])
    return known


def means(scopes: Sequence[Codes], of: Sequence[int], common: Callable[[], Array] | None = None) -> Array:
    """
    Return the mean of each script over the first vectors of each scope.

    Where a script has few, what everyday texts have in common stands for it; where nobody knows that, the mean of all.
    """
    import numpy as np

    sums, counts = np.zeros((2, scopes[0].codes[0].shape[1])), np.zeros(2)
    for each, first in zip(scopes, of, strict=True):
        for start, block in blocks(each, 0):
            floats = block[: max(0, first - start)]
            is_cjk = each.is_cjk[start : start + len(floats)]
            for script in (0, 1):
                sums[script] += floats[is_cjk == script].sum(0)
                counts[script] += np.count_nonzero(is_cjk == script)
    if (counts >= FEW).all():
        return (sums / counts[:, None]).astype(np.float32)
    total = counts.sum()
    of_all = sums.sum(0) / total if total >= FEW else np.zeros(sums.shape[1])
    usual = common() if common else np.array([of_all, of_all])
    return np.array([sums[script] / counts[script] if counts[script] >= FEW else usual[script] for script in (0, 1)], np.float32)


def cosines(vectors: Codes, question: Array) -> Array:
    """Return the cosine of each vector with a question, both of unit length."""
    import numpy as np

    found = np.empty(len(vectors.is_cjk), np.float32)
    buffer = np.empty((BLOCK, len(question)), np.float32)
    for start, codes, factors in _pieces(vectors, 0):
        floats = buffer[: len(codes)]
        np.copyto(floats, codes)
        found[start : start + len(codes)] = np.vecdot(floats, question) * factors  # not `@`: its threads cost more than they save
    return found


def centred_cosines(vectors: Codes, lengths: Array, means: Array, question: Array, *, is_cjk: bool) -> Array:
    """Return the cosine of each vector with a question after the script's mean is subtracted."""
    import numpy as np

    rest = question - means[int(is_cjk)]
    common = (means @ rest)[vectors.is_cjk.astype(np.int8)]
    found: Array = (cosines(vectors, rest) - common) / (lengths * max(float(np.linalg.norm(rest)), SHORTEST))
    return found


def _lengths(vectors: Codes, means: Array, start: int) -> Array:
    """Return the length of each centred vector from a place on."""
    import numpy as np

    found = []
    for place, floats in blocks(vectors, start):
        of = vectors.is_cjk[place : place + len(floats)].astype(np.int8)
        found.append(np.sqrt(np.vecdot(floats, floats) - 2 * np.vecdot(floats, means[of]) + np.vecdot(means, means)[of]))
    lengths: Array = np.maximum(np.concatenate(found), SHORTEST)
    return lengths


def blocks(vectors: Codes, start: int) -> Iterator[tuple[int, Array]]:
    """Yield blocks of vectors as floats from a place on, reusing one buffer."""
    import numpy as np

    buffer = np.empty((BLOCK, vectors.codes[0].shape[1]), np.float32)
    for place, codes, factors in _pieces(vectors, start):
        floats = buffer[: len(codes)]
        np.multiply(codes, factors[:, None], out=floats)
        yield place, floats


def _pieces(vectors: Codes, start: int) -> Iterator[tuple[int, Array, Array]]:
    """Yield blocks of encoded vectors from a place on: start, numbers, factors."""
    before = 0
    for codes, factors in zip(vectors.codes, vectors.factors, strict=True):
        for first in range(max(0, start - before), len(codes), BLOCK):
            yield before + first, codes[first : first + BLOCK], factors[first : first + BLOCK]
        before += len(codes)
