"""
The local model multilingual-e5-small, in onnxruntime or numpy: text embeddings, and supersession scores of pairs.

Nothing is loaded before the first text. Then its files are made ready (prepare.py), and run with onnxruntime where
that can be imported, else with numpy alone: one space, so a home may change from one to the other. A text is folded,
gets the prefix that the model was trained with, and of what is longer than 512 tokens the beginning counts; cut long
texts into windows before they come here.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from yiku.errors import ModelUnavailable
from yiku.models import adapter, supersession
from yiku.models.api import Progress, Role, Vocab
from yiku.models.fork_lock import Guarded

if TYPE_CHECKING:
    from yiku.models.api import Vectors
    from yiku.models.unigram import Tokenizer

DIMENSIONS = 384
PREFIXES: dict[Role, str] = {"query": "query: ", "passage": "passage: "}
SPACE = f"local multilingual-e5-small q4 en+zh folded-1 {DIMENSIONS} {PREFIXES['query']!r} {PREFIXES['passage']!r}"
ADAPTED = " adapter {}"  # behind it, where one takes part
FULL_SPACE = SPACE.replace("en+zh", "full")
SLOTS = 1_024  # places for tokens in one run, padding counted: more gains no time, and takes memory
NO_TELEMETRY = "ORT_DISABLE_TELEMETRY"  # onnxruntime reads it when it is imported
SORTED = 2_048  # texts that are sorted by length at a time, and the most that are held as tokens

_log = logging.getLogger(__name__)


Pair: TypeAlias = "tuple[Sequence[int], Sequence[int]]"  # token ids of the earlier and of the later statement


class Engine(Protocol):
    """Computes vectors from token ids, and of pairs the log of the odds that the later supersedes the earlier: (pairs,)."""

    def run(self, texts: Sequence[Sequence[int]]) -> Vectors: ...

    def compare(self, pairs: Sequence[Pair]) -> Vectors: ...


class LocalE5(Guarded):
    """
    The local model. Raises ModelUnavailable if its package is missing or damaged.

    folder:   where its files are made ready; by default in the user's cache
    progress: is told while they are made
    threads:  of onnxruntime; numpy takes what its BLAS takes
    vocab:    the pieces that are kept: of English and Chinese, or `full`, of every language, which leaves accents as they are
    """

    dimensions = DIMENSIONS

    def __init__(
        self, *, folder: Path | None = None, progress: Progress | None = None, threads: int = 1, vocab: Vocab = "en+zh"
    ) -> None:
        super().__init__()
        self._vocab: Vocab = vocab
        self._folder, self._progress, self._threads = folder, progress, threads
        self._loaded: tuple[Tokenizer, Engine] | None = None
        self._common: Vectors | None = None

    @property
    def space(self) -> str:
        """See Embedder. Each vocabulary and each adapter makes a space of its own."""
        space = FULL_SPACE if self._vocab == "full" else SPACE
        return space + ADAPTED.format(found) if (found := adapter.digest()) else space

    @property
    def calibrated(self) -> bool:
        """See Embedder."""
        return bool(adapter.digest())

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        """See Embedder. Texts of similar length are computed together."""
        import numpy as np

        from yiku.models.unigram import fold

        vectors = np.empty((len(texts), DIMENSIONS), np.float32)
        if not texts:
            return vectors
        tokenizer, engine = self._load()
        for first in range(0, len(texts), SORTED):
            part = texts[first : first + SORTED]
            numbers = [tokenizer.encode(PREFIXES[role] + fold(text, accents=self._vocab == "full")) for text in part]
            for group in _groups([len(one) for one in numbers]):
                vectors[[first + n for n in group]] = engine.run([numbers[n] for n in group])
        return vectors

    @property
    def compares(self) -> str:
        """See Embedder."""
        return supersession.digest()

    def superseded(self, pairs: Sequence[tuple[str, str]]) -> Vectors:
        """See Embedder."""
        import numpy as np

        from yiku.models.unigram import fold

        found = np.empty(len(pairs), np.float32)
        if not pairs:
            return found
        tokenizer, engine = self._load()
        accents = self._vocab == "full"
        numbers = [
            (
                tokenizer.encode(fold(earlier, accents=accents))[: supersession.EARLIER_TOKENS],
                tokenizer.encode(fold(later, accents=accents))[1:][: supersession.LATER_TOKENS],  # one beginning for both
            )
            for earlier, later in pairs
        ]
        for group in _groups([len(earlier) + len(later) for earlier, later in numbers]):
            found[group] = engine.compare([numbers[n] for n in group])
        return (1 / (1 + np.exp(-found))).astype(np.float32)

    def common(self) -> Vectors:
        """Return the mean vectors by script, (2, 384): see everyday.py. Raises as `embed` does."""
        from yiku.models import everyday, prepare

        if self._common is None:
            self._common = everyday.common(self, self._folder or prepare.cache(self._vocab), DIMENSIONS)
        return self._common

    def close(self) -> None:
        """Release the engine."""
        with self._lock:
            self._loaded = None

    def _load(self) -> tuple[Tokenizer, Engine]:
        with self._lock:
            if self._loaded is None:
                from yiku.models import prepare
                from yiku.models.unigram import Tokenizer

                folder = prepare.ready(self._folder or prepare.cache(self._vocab), self._progress, self._vocab)
                tokenizer = Tokenizer(*prepare.vocabulary(folder))
                self._loaded = tokenizer, _engine(folder / prepare.MODEL, self._threads)
            return self._loaded


def _engine(path: Path, threads: int) -> Engine:
    try:
        return _OnnxRuntime(path, threads)
    except ImportError as error:
        from yiku.models.numpy_engine import Plain

        _log.info("the local model runs in numpy alone (%s)", error)
        return Plain(path)


def _silent_onnxruntime() -> Any:
    """
    Import onnxruntime without telemetry. Raises ImportError.

    Since 1.31 its import writes a device id and a database of events into the user's cache, to be sent to its makers. Only
    a variable that is set before the import keeps it from that; it is put back, so that no other program inherits it. Where
    somebody else has imported the package already, no further events are noted.
    """
    before = os.environ.get(NO_TELEMETRY)
    os.environ[NO_TELEMETRY] = "1"
    try:
        import onnxruntime
    finally:
        if before is None:
            del os.environ[NO_TELEMETRY]
        else:
            os.environ[NO_TELEMETRY] = before
    onnxruntime.disable_telemetry_events()
    return onnxruntime


def _groups(lengths: Sequence[int]) -> list[list[int]]:
    """Group texts so that padding to the longest wastes little."""
    groups: list[list[int]] = []
    for n in sorted(range(len(lengths)), key=lengths.__getitem__):
        if not groups or lengths[n] * (len(groups[-1]) + 1) > SLOTS:
            groups.append([])
        groups[-1].append(n)
    return groups


class _OnnxRuntime:
    """The model in onnxruntime. Raises ImportError."""

    def __init__(self, path: Path, threads: int) -> None:
        onnxruntime = _silent_onnxruntime()
        from onnxruntime.capi import onnxruntime_pybind11_state as state

        names = "Fail InvalidArgument InvalidGraph InvalidProtobuf NoSuchFile NotImplemented RuntimeException".split()
        self._failures = tuple(getattr(state, name) for name in names)  # they have no common class but Exception
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # else an idle thread burns a core
        try:
            self._session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        except self._failures as error:
            raise ModelUnavailable(
                f"onnxruntime {onnxruntime.__version__} cannot run the local model: pip install --upgrade onnxruntime, or"
                f" uninstall it and numpy alone will do ({error})"
            ) from error

    def run(self, texts: Sequence[Sequence[int]]) -> Vectors:
        return self._computed("embedding", [(text, ()) for text in texts], 0)

    def compare(self, pairs: Sequence[Pair]) -> Vectors:
        return self._computed("supersedes", pairs, supersession.EARLIER)[:, 0]

    def _computed(self, what: str, pairs: Sequence[Pair], first: int) -> Vectors:
        """Compute an output. first: the segment of the tokens that come first; those behind them have the next."""
        import numpy as np

        size = (len(pairs), max(len(one) + len(other) for one, other in pairs))
        given = {"input_ids": np.ones(size, np.int64), "attention_mask": np.zeros(size, np.int64)}  # 1 is padding
        segments = np.zeros(size, np.int64)
        for row, (one, other) in enumerate(pairs):
            whole = len(one) + len(other)
            given["input_ids"][row, :whole] = (*one, *other)
            given["attention_mask"][row, :whole] = 1
            segments[row, : len(one)] = first
            segments[row, len(one) : whole] = first + 1
        try:
            with_pairs = len(self._session.get_inputs()) > len(given)
            found: Vectors = self._session.run([what], {**given, **({"segments": segments} if with_pairs else {})})[0]
        except self._failures as error:
            raise ModelUnavailable(f"onnxruntime failed: {error}") from error
        return found
