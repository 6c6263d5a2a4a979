"""
Run the local embedding model in numpy, where onnxruntime is missing, with the same weights and vector space.

Texts are not padded to one length: their tokens lie behind each other in one matrix, and only in the attention does
each text take its own rows. Vectors agree with onnxruntime's to a cosine of 0.9999: there Gelu is computed with the
error function, here with the usual tanh.
"""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from yiku.models import onnx_file
from yiku.models.supersession import EARLIER, LATER

if TYPE_CHECKING:
    from yiku.models.api import Vectors

HEAD = 32  # numbers of a token that one head looks at
EPSILON = np.float32(1e-12)


class _Linear(NamedTuple):
    """A linear layer, x·weight + bias, and what the adapters of lone texts and of pairs change of it, each down and up."""

    weight: Vectors
    bias: Vectors
    lone: Sequence[tuple[Vectors, Vectors]]
    pair: Sequence[tuple[Vectors, Vectors]]

    def of(self, x: Vectors, *, pairs: bool) -> Vectors:
        out: Vectors = x @ self.weight + self.bias
        for down, up in self.pair if pairs else self.lone:
            out += x @ down @ up
        return out


class _Layer(NamedTuple):
    looked: Sequence[_Linear]  # queries, keys and values
    out: _Linear
    middle: Vectors  # scale and shift of the normalisation
    middle_bias: Vectors
    wider: _Linear
    narrower: _Linear
    end: Vectors
    end_bias: Vectors


class Plain:
    """The model in numpy; about 90 MB: layers are unpacked, the embedding table is not."""

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            self._file = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._tensors = onnx_file.tensors(memoryview(self._file))
        layers = sum(name.endswith(".q.pairs") for name in self._tensors)
        self._layers = [self._layer(f"l{n}") for n in range(layers)]

    def run(self, texts: Sequence[Sequence[int]]) -> Vectors:
        """Return the vectors of texts given as token ids; none may be empty."""
        starts = np.concatenate([[0], np.cumsum([len(text) for text in texts])])
        total = np.add.reduceat(self._read(texts, starts), starts[:-1], axis=0)
        unit: Vectors = total / np.linalg.norm(total, axis=1, keepdims=True)
        return unit

    def compare(self, pairs: Sequence[tuple[Sequence[int], Sequence[int]]]) -> Vectors:
        """Return the log of the odds that the later of two texts supersedes the earlier, for each pair; none may be empty."""
        t = self._tensors
        segments = np.concatenate([np.repeat((EARLIER, LATER), (len(one), len(other))) for one, other in pairs])
        starts = np.concatenate([[0], np.cumsum([len(text) for pair in pairs for text in pair])])
        x = self._read([[*one, *other] for one, other in pairs], starts[::2], t["segment"][segments])
        means = np.add.reduceat(x, starts[:-1], axis=0) / np.diff(starts)[:, None]
        earlier, later = means[::2], means[1::2]
        read = np.concatenate([x[starts[:-1:2]], earlier, later, earlier - later, earlier * later], 1)
        odds: Vectors = _gelu(read @ t["head.hidden"] + t["head.hidden.bias"]) @ t["head.out"] + t["head.out.bias"]
        return odds[:, 0]

    def _read(self, texts: Sequence[Sequence[int]], starts: NDArray[np.int64], segments: Vectors | None = None) -> Vectors:
        """Return what the last layer makes of all tokens: (tokens, 384)."""
        x = self._embed(np.concatenate(texts), np.concatenate([np.arange(len(text)) for text in texts]), segments)
        pairs = segments is not None
        for layer in self._layers:
            looked = np.concatenate([part.of(x, pairs=pairs) for part in layer.looked], 1)
            seen: Vectors = np.concatenate([_attention(looked[a:b]) for a, b in pairwise(starts)])
            x = _norm(x + layer.out.of(seen, pairs=pairs), layer.middle, layer.middle_bias)
            wide = _gelu(layer.wider.of(x, pairs=pairs))
            x = _norm(x + layer.narrower.of(wide, pairs=pairs), layer.end, layer.end_bias)
        return x

    def _embed(self, numbers: NDArray[np.int64], places: NDArray[np.int64], segments: Vectors | None) -> Vectors:
        t = self._tensors
        pairs = t["word.pairs"][numbers].reshape(len(numbers), -1, 16)
        signed = np.concatenate([pairs & 15, pairs >> 4], 2).astype(np.float32) - 8
        signed *= t["word.scales"][numbers].astype(np.float32)[:, :, None]
        words = signed.reshape(len(numbers), -1) + t["place"][places]
        words = words if segments is None else words + segments
        return _norm(words, t["emb.ln.weight"], t["emb.ln.bias"])

    def _layer(self, p: str) -> _Layer:
        t = self._tensors
        return _Layer(
            [self._linear(f"{p}.{part}") for part in "qkv"],
            self._linear(f"{p}.ao"),
            t[f"{p}.aln.weight"],
            t[f"{p}.aln.bias"],
            self._linear(f"{p}.fi"),
            self._linear(f"{p}.fo"),
            t[f"{p}.oln.weight"],
            t[f"{p}.oln.bias"],
        )

    def _linear(self, name: str) -> _Linear:
        """Unpack a 4-bit matrix, (columns, rows) float32, with what adapters change of it."""
        t = self._tensors
        pairs, scales = t[f"{name}.pairs"], t[f"{name}.scales"]
        weights = np.stack([pairs & 15, pairs >> 4], 3).astype(np.float32).reshape(*pairs.shape[:2], -1) - 8
        weights *= scales.reshape(*pairs.shape[:2], 1)
        whole = np.ascontiguousarray(weights.reshape(len(pairs), -1).T)
        lone, pair = (
            [(t[f"{name}.{switch}.down"], t[f"{name}.{switch}.up"])] if f"{name}.{switch}.down" in t else []
            for switch in ("lone", "pair")
        )
        return _Linear(whole, t[f"{name}.bias"], lone, pair)


def _attention(looked: Vectors) -> Vectors:
    """Return the attention output of one text's tokens."""
    size, width = len(looked), looked.shape[1] // 3
    query, key, value = looked.reshape(size, 3, -1, HEAD).transpose(1, 2, 0, 3)
    fit = query @ key.transpose(0, 2, 1) / np.sqrt(np.float32(HEAD))
    fit = np.exp(fit - fit.max(-1, keepdims=True))
    fit /= fit.sum(-1, keepdims=True)
    seen: Vectors = (fit @ value).transpose(1, 0, 2).reshape(size, width)
    return seen


def _norm(x: Vectors, weight: Vectors, bias: Vectors) -> Vectors:
    x = x - x.mean(-1, keepdims=True)
    x /= np.sqrt(np.einsum("ij,ij->i", x, x) / x.shape[1] + EPSILON)[:, None]
    return x * weight + bias


def _gelu(x: Vectors) -> Vectors:
    x *= 0.5 * (1 + np.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))  # x ** 3 would take 250 times as long
    return x
