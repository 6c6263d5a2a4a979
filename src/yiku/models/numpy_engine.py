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

if TYPE_CHECKING:
    from yiku.models.api import Vectors

HEAD = 32  # numbers of a token that one head looks at
EPSILON = np.float32(1e-12)


class _Layer(NamedTuple):
    looked: Vectors  # (384, 1152): queries, keys and values at once
    looked_bias: Vectors
    out: Vectors
    out_bias: Vectors
    middle: Vectors  # scale and shift of the normalisation
    middle_bias: Vectors
    wider: Vectors
    wider_bias: Vectors
    narrower: Vectors
    narrower_bias: Vectors
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
        lengths = [len(text) for text in texts]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        x = self._embed(np.concatenate(texts), np.concatenate([np.arange(n) for n in lengths]))
        for layer in self._layers:
            looked = x @ layer.looked + layer.looked_bias
            seen: Vectors = np.concatenate([_attention(looked[a:b]) for a, b in pairwise(starts)])
            x = _norm(x + seen @ layer.out + layer.out_bias, layer.middle, layer.middle_bias)
            wide = _gelu(x @ layer.wider + layer.wider_bias)
            x = _norm(x + wide @ layer.narrower + layer.narrower_bias, layer.end, layer.end_bias)
        total = np.add.reduceat(x, starts[:-1], axis=0)
        unit: Vectors = total / np.linalg.norm(total, axis=1, keepdims=True)
        return unit

    def _embed(self, numbers: NDArray[np.int64], places: NDArray[np.int64]) -> Vectors:
        t = self._tensors
        pairs = t["word.pairs"][numbers].reshape(len(numbers), -1, 16)
        signed = np.concatenate([pairs & 15, pairs >> 4], 2).astype(np.float32) - 8
        signed *= t["word.scales"][numbers].astype(np.float32)[:, :, None]
        words = signed.reshape(len(numbers), -1) + t["place"][places]
        return _norm(words, t["emb.ln.weight"], t["emb.ln.bias"])

    def _layer(self, p: str) -> _Layer:
        t = self._tensors
        looked = [self._unpack(f"{p}.{part}") for part in "qkv"]
        return _Layer(
            np.concatenate(looked, 1),
            np.concatenate([t[f"{p}.{part}.bias"] for part in "qkv"]),
            self._unpack(f"{p}.ao"),
            t[f"{p}.ao.bias"],
            t[f"{p}.aln.weight"],
            t[f"{p}.aln.bias"],
            self._unpack(f"{p}.fi"),
            t[f"{p}.fi.bias"],
            self._unpack(f"{p}.fo"),
            t[f"{p}.fo.bias"],
            t[f"{p}.oln.weight"],
            t[f"{p}.oln.bias"],
        )

    def _unpack(self, name: str) -> Vectors:
        """Unpack a 4-bit matrix, with an adapter's change: (columns, rows) float32."""
        pairs, scales = self._tensors[f"{name}.pairs"], self._tensors[f"{name}.scales"]
        weights = np.stack([pairs & 15, pairs >> 4], 3).astype(np.float32).reshape(*pairs.shape[:2], -1) - 8
        weights *= scales.reshape(*pairs.shape[:2], 1)
        whole = np.ascontiguousarray(weights.reshape(len(pairs), -1).T)
        if f"{name}.down" in self._tensors:
            whole += self._tensors[f"{name}.down"] @ self._tensors[f"{name}.up"]
        return whole


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
