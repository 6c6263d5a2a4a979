"""
Memory-mapped vectors of a large scope, prefiltered by sign bits.

A search over hundreds of thousands of vectors need not look at all their numbers: the signs of what is left of each
beyond its language (vectors/similarity.py) say which few thousand come near a question, and only those are measured exactly.
The rest get what their signs say on average, learned on a fixed sample, so that means and deviations stay right.

The file is derived from the rows of vectors.db, written whole under another name and then renamed; it says of which
rows it was made. Where it is missing, of other rows or damaged, the rows themselves are read. Its head and columns
carry a checksum, and each vector its own, which is looked at when it is measured.

    line of JSON, then each column of COLUMNS from the next multiple of ALIGNED on, in the order of that table
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from yiku.errors import Damaged
from yiku.store.vectors import similarity

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

FORMAT = 1
FROM = 20_000  # vectors of a scope, below which all are measured
ALIGNED = 64  # bytes
HEAD_BYTES = 4_096
WORD = 64  # signs in one whole number
BLOCK = 65_536  # signs that are compared at a time: they stay in the processor's cache
MEASURED = 1_000  # of those whose signs come nearest
SAMPLE = 1_024  # on which it is learned what signs say
COUNTED = 16_384  # by which it is known how near the nearest come
# What is kept of each vector, with its type; `numbers` and `signs` have further sides.
COLUMNS = {
    "ns": "<i8",
    "unspaced": "?",
    "lengths": "<f4",
    "factors": "<f4",
    "sums": "<i4",
    "means": "<f4",
    "signs": "<u8",
    "numbers": "i1",
}


@dataclass(frozen=True, slots=True)
class BuiltFrom:
    """What a matrix was built from: vector file, last vector, number of removals, dimensions."""

    made: str
    last: int
    removals: int
    dimensions: int


@dataclass(slots=True)
class SignIndex:
    """
    A mapped matrix of k vectors: turns first, by row number, the windows of a row adjacent.

    turns:  how many of the vectors are turns'
    starts: (r,) int64, where each row's vectors begin
    ns, unspaced, memories: (r,), of each row its number, whether its script has no spaces, whether it is a memory
    """

    of: BuiltFrom
    columns: Mapping[str, Array]
    turns: int
    starts: Array
    ns: Array
    is_cjk: Array
    memories: Array

    @property
    def means(self) -> Array:
        """Mean vectors by script: (2, d) float32."""
        return self.columns["means"]


# ------------------------------------------------------------------ searching


def similarities(matrix: SignIndex, question: Array, *, is_cjk: bool, always_score: Sequence[tuple[bool, Array]] = ()) -> Array:
    """
    Return each row's similarity to a question beyond that of its language: (r,) float32.

    always_score: rows to be measured exactly in any case: whether they are memories, and their numbers, ascending
    Raises Damaged where a vector is not what was written.
    """
    import numpy as np

    means = matrix.means
    rest = question - means[int(is_cjk)]
    distances = _hamming(matrix.columns["signs"], _signs(rest[None, :])[:, 0])
    step = max(1, len(distances) // SAMPLE)
    sample = np.arange(0, len(distances), step)
    known = _exact(matrix, sample, rest)
    found = _expected_hamming_mean(distances, distances[sample], known)
    near = _nearest(distances, MEASURED)
    wanted = np.unique(np.concatenate([near, *(_places(matrix, *rows) for rows in always_score)]))
    found[sample] = known
    found[wanted] = _exact(matrix, wanted, rest)
    best: Array = np.maximum.reduceat(found, matrix.starts) if len(matrix.starts) < len(found) else found
    return best


def _hamming(signs: Array, question: Array) -> Array:
    """Return the Hamming distance of each vector's signs to the question's: (k,) uint16."""
    import numpy as np

    found = np.empty(signs.shape[1], np.uint16)
    differ, count = np.empty(BLOCK, np.uint64), np.empty(BLOCK, np.uint8)
    for start in range(0, len(found), BLOCK):
        block = found[start : start + BLOCK]
        block[:] = 0
        for word, asked in zip(signs, question, strict=True):
            some = word[start : start + BLOCK]
            np.bitwise_xor(some, asked, out=differ[: len(some)])
            np.bitwise_count(differ[: len(some)], out=count[: len(some)])
            block += count[: len(some)]
    return found


def _expected_hamming_mean(distances: Array, sample: Array, known: Array) -> Array:
    """Fit the mean similarity as a function of Hamming distance to a sample."""
    import numpy as np

    x = sample.astype(np.float64)
    spread = float(x.var())
    slope = float(((x - x.mean()) * (known - known.mean())).mean()) / spread if spread else 0.0
    table = (known.mean() + slope * (np.arange(int(distances.max()) + 1) - x.mean())).astype(np.float32)
    found: Array = table[distances]
    return found


def _nearest(distances: Array, most: int) -> Array:
    """Return the vectors with the smallest Hamming distance, guided by a sample."""
    import numpy as np

    if len(distances) <= most:
        return np.arange(len(distances))
    some = distances[:: max(1, len(distances) // COUNTED)]
    share = min(len(some) - 1, 2 * most * len(some) // len(distances) + 1)
    among = np.flatnonzero(distances <= np.partition(some, share)[share])
    if len(among) < most:
        among = np.arange(len(distances))
    found: Array = among[np.argpartition(distances[among], most - 1)[:most]] if len(among) > most else among
    return found


def _places(matrix: SignIndex, memories: bool, ns: Array) -> Array:
    """Return the places of the vectors of some rows."""
    import numpy as np

    first, end = (matrix.turns, len(matrix.columns["ns"])) if memories else (0, matrix.turns)
    among = matrix.columns["ns"][first:end]
    left, right = np.searchsorted(among, ns), np.searchsorted(among, ns, "right")
    longest = int((right - left).max(initial=0))
    spread = left[:, None] + np.arange(longest)
    found: Array = first + spread[spread < right[:, None]]
    return found


def _exact(matrix: SignIndex, places: Array, rest: Array) -> Array:
    """Return the exact similarity of these vectors to a centred question."""
    import numpy as np

    columns = matrix.columns
    numbers = columns["numbers"][places]
    if (numbers.sum(1, dtype=np.int32) != columns["sums"][places]).any():
        raise Damaged("the matrix of vectors")
    common = (columns["means"] @ rest)[columns["unspaced"][places].astype(np.int8)]
    alike = np.vecdot(numbers.astype(np.float32), rest) * columns["factors"][places] - common
    found: Array = alike / (columns["lengths"][places] * max(float(np.linalg.norm(rest)), similarity.SHORTEST))
    return found


def _signs(floats: Array) -> Array:
    """Pack the signs of each vector: (words, k) uint64."""
    import numpy as np

    packed = np.packbits(floats > 0, axis=1)
    whole = np.zeros((len(floats), -(-floats.shape[1] // WORD) * 8), np.uint8)
    whole[:, : packed.shape[1]] = packed
    return np.ascontiguousarray(whole.view("<u8").T)


# ------------------------------------------------------------------ the file


def open_mapped(path: Path, made: str, removals: int, dimensions: int) -> SignIndex | None:
    """Return the matrix in a file, or None if it is missing, damaged, or of other rows."""
    import numpy as np

    try:
        with path.open("rb") as file:
            head = json.loads(file.read(HEAD_BYTES).rstrip(b"\0"))
            of = BuiltFrom(**head["of"])
            if head["format"] != FORMAT or (of.made, of.removals, of.dimensions) != (made, removals, dimensions):
                return None
            size, crc = _size(head["count"], dimensions), head.pop("crc")
            if os.fstat(file.fileno()).st_size != size:
                return None
            whole = np.memmap(file, np.uint8, "r")
    except (OSError, ValueError, LookupError, TypeError):
        return None
    columns = _columns(whole, head["count"], dimensions)
    if crc != _crc(head, columns):
        return None
    ns, turns = columns["ns"], head["turns"]
    another = ns[1:] != ns[:-1]
    if 0 < turns < len(ns):
        another[turns - 1] = True
    starts = np.concatenate([[0], np.flatnonzero(another) + 1])
    one_each = slice(None) if len(starts) == len(ns) else starts  # then nothing is copied
    return SignIndex(of, columns, turns, starts, ns[one_each], columns["unspaced"][one_each], starts >= turns)


def write(path: Path, of: BuiltFrom, count: int, turns: int, rows: Iterable[Sequence[tuple[int, int, float, bytes]]]) -> None:
    """
    Write a new file under this name.

    count, turns: how many vectors there are, and how many of them are turns'
    rows: (row number, unspaced, factor, numbers) of each vector, turns first, by row numbers, some at a time
    """
    import numpy as np

    new = path.with_name(f"{path.name}.new")
    with suppress(FileNotFoundError):
        new.unlink()
    try:
        with os.fdopen(os.open(new, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600), "r+b") as file:
            file.truncate(_size(count, of.dimensions))
            whole = np.memmap(file, np.uint8, "r+")
        columns = _columns(whole, count, of.dimensions)
        _fill(columns, rows)
        _beyond_language(columns)
        head = {"format": FORMAT, "of": {name: getattr(of, name) for name in BuiltFrom.__slots__}, "count": count, "turns": turns}
        line = json.dumps({**head, "crc": _crc(head, columns)}).encode()
        whole[: len(line)] = np.frombuffer(line, np.uint8)
        whole.flush()
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)


def _fill(columns: Mapping[str, Array], rows: Iterable[Sequence[tuple[int, int, float, bytes]]]) -> None:
    import numpy as np

    at = 0
    for some in rows:
        ns, is_cjk, factors, numbers = zip(*some, strict=True)
        till = at + len(some)
        columns["ns"][at:till], columns["unspaced"][at:till], columns["factors"][at:till] = ns, is_cjk, factors
        block = np.frombuffer(b"".join(numbers), np.int8).reshape(len(some), -1)
        columns["numbers"][at:till], columns["sums"][at:till] = block, block.sum(1, dtype=np.int32)
        at = till


def _beyond_language(columns: Mapping[str, Array]) -> None:
    """Compute the mean of each script, and each centred vector's length and signs."""
    import numpy as np

    codes = similarity.Codes([columns["numbers"]], [columns["factors"]], columns["unspaced"])
    columns["means"][:] = similarity.means([codes], [len(columns["ns"])])
    for start, floats in similarity.blocks(codes, 0):
        left = floats - columns["means"][columns["unspaced"][start : start + len(floats)].astype("i1")]
        columns["lengths"][start : start + len(floats)] = np.maximum(np.linalg.norm(left, axis=1), similarity.SHORTEST)
        columns["signs"][:, start : start + len(floats)] = _signs(left)


def _shape(name: str, count: int, dimensions: int) -> tuple[int, ...]:
    match name:
        case "means":
            return 2, dimensions
        case "signs":
            return -(-dimensions // WORD), count
        case "numbers":
            return count, dimensions
    return (count,)


def _layout(count: int, dimensions: int) -> Iterator[tuple[str, int, int]]:
    """Return each column with its start and end offset."""
    import numpy as np

    at = HEAD_BYTES
    for name, kind in COLUMNS.items():
        end = at + int(np.prod(_shape(name, count, dimensions))) * np.dtype(kind).itemsize
        yield name, at, end
        at = -(-end // ALIGNED) * ALIGNED


def _size(count: int, dimensions: int) -> int:
    return max(end for _, _, end in _layout(count, dimensions))


def _columns(whole: Array, count: int, dimensions: int) -> dict[str, Array]:
    import numpy as np

    plain = whole.view(np.ndarray)  # a memmap's own slices cost more
    return {
        name: plain[at:end].view(COLUMNS[name]).reshape(_shape(name, count, dimensions))
        for name, at, end in _layout(count, dimensions)
    }


def _crc(head: Mapping[str, Any], columns: Mapping[str, Array]) -> int:
    """Return the checksum of everything except the numbers, which have their own sums."""
    crc = zlib.crc32(json.dumps(head, sort_keys=True).encode())
    for name, column in columns.items():
        if name != "numbers":
            crc = zlib.crc32(column.data, crc)
    return crc
