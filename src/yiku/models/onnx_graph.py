"""
Build multilingual-e5-small as an ONNX graph: twelve transformer layers, mean pooling, unit length.

The graph computes with the 4-bit weights as they are (`MatMulNBits`), so its vectors are those of the packed file; what an
adapter changes is computed beside them, for in 4 bits most of it would be lost.
A row of the embedding table is unpacked when its token occurs. `numpy_engine.py` computes the same in numpy, from the same
file.

    input_ids, attention_mask   (texts, tokens) int64           embedding   (texts, 384) float32
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from yiku.models import onnx_file
from yiku.models.adapter import Change
from yiku.models.weights import BLOCK, Weights

_CONTRIB: Final = "com.microsoft"


def build(weights: Weights, kept: NDArray[np.int64], changes: Mapping[str, Change], done: Callable[[float], None]) -> bytes:
    """Return the model file; `done` is called with the finished share, 0 to 1."""
    graph = _Graph(weights, changes)
    graph.embeddings(kept)
    for layer in range(weights.layers):
        graph.layer(layer)
        done((layer + 1) / weights.layers)
    graph.pooling()
    inputs = [onnx_file.value(name, "int64", ["texts", "tokens"]) for name in ("input_ids", "attention_mask")]
    outputs = [onnx_file.value("embedding", "float32", ["texts", weights.width])]
    return onnx_file.model(graph.nodes, graph.tensors, inputs, outputs)


class _Graph:
    """A graph under construction; each step is named after its output, `x` is the current value."""

    def __init__(self, weights: Weights, changes: Mapping[str, Change]) -> None:
        self.weights, self.changes = weights, changes
        self.nodes: list[bytes] = []
        self.tensors: list[bytes] = []
        self.x = ""

    def embeddings(self, kept: NDArray[np.int64]) -> None:
        """Add the embedding table's rows of the tokens, unpacked, and positions."""
        w, width = self.weights, self.weights.width
        pairs, scales = w.blocks("emb.word", w.pieces_in_all, width)
        self.put("word.pairs", pairs[kept].reshape(len(kept), -1))
        self.put("word.scales", scales[kept])
        self.put("place", w.plain("emb.pos").reshape(-1, width) + w.plain("emb.type")[:width])
        self.put("four", np.array(4, np.uint8))
        self.put("fifteen", np.array(15, np.uint8))
        self.put("eight", np.array(8, np.float32))
        self.put("halves", np.array([0, 0, width // BLOCK, BLOCK // 2]))
        self.put("whole", np.array([0, 0, width]))
        for axis in (0, 1, 2, 3):
            self.put(f"axis{axis}", np.array([axis]))

        self.step("Gather", ["word.pairs", "input_ids"], "pairs")
        self.step("BitwiseAnd", ["pairs", "fifteen"], "low")
        self.step("BitShift", ["pairs", "four"], "high", direction="RIGHT")
        for half in ("low", "high"):
            self.step("Reshape", [half, "halves"], f"{half}.blocks")
            self.step("Cast", [f"{half}.blocks"], f"{half}.floats", to=onnx_file.FLOAT)
        self.step("Concat", ["low.floats", "high.floats"], "both", axis=3)
        self.step("Sub", ["both", "eight"], "signed")
        self.step("Gather", ["word.scales", "input_ids"], "scales16")
        self.step("Cast", ["scales16"], "scales32", to=onnx_file.FLOAT)
        self.step("Unsqueeze", ["scales32", "axis3"], "scales")
        self.step("Mul", ["signed", "scales"], "unpacked")
        self.step("Reshape", ["unpacked", "whole"], "word")
        self.step("Shape", ["input_ids"], "count", start=1, end=2)
        self.step("Slice", ["place", "axis0", "count", "axis0"], "places")
        self.step("Add", ["word", "places"], "placed")
        self.put("emb.ln.weight", w.plain("emb.ln.w"))
        self.put("emb.ln.bias", w.plain("emb.ln.b"))
        norm = ["placed", "emb.ln.weight", "emb.ln.bias"]
        self.step("LayerNormalization", norm, "embedded", axis=-1, epsilon=float(w.epsilon))
        self.x = "embedded"
        self.step("Cast", ["attention_mask"], "mask", to=onnx_file.INT32)

    def layer(self, n: int) -> None:
        """Add one layer: self-attention, then the feed-forward network."""
        x, p, w = self.x, f"l{n}", self.weights
        for part in "qkv":
            self.product(f"{p}.{part}", x, w.width, w.width)
        looked = [f"{p}.q.out", f"{p}.k.out", f"{p}.v.out", "", "mask"]
        self.step("MultiHeadAttention", looked, f"{p}.attention", _CONTRIB, num_heads=w.heads)
        self.product(f"{p}.ao", f"{p}.attention", w.width, w.width)
        self.norm(f"{p}.aln", f"{p}.middle", x, f"{p}.ao.out")
        self.product(f"{p}.fi", f"{p}.middle", w.inner, w.width)
        self.step("Gelu", [f"{p}.fi.out"], f"{p}.gelu", _CONTRIB)
        self.product(f"{p}.fo", f"{p}.gelu", w.width, w.inner)
        self.norm(f"{p}.oln", f"{p}.end", f"{p}.middle", f"{p}.fo.out")

    def pooling(self) -> None:
        """Add mean pooling over real tokens and normalization."""
        self.step("Cast", ["attention_mask"], "share", to=onnx_file.FLOAT)
        self.step("Unsqueeze", ["share", "axis2"], "weight")
        self.step("Mul", [self.x, "weight"], "weighted")
        self.step("ReduceSum", ["weighted", "axis1"], "total", keepdims=0)
        self.step("ReduceL2", ["total", "axis1"], "length", keepdims=1)
        self.step("Div", ["total", "length"], "embedding")

    def product(self, name: str, x: str, rows: int, columns: int) -> None:
        """Add a blockwise quantized matrix product with bias, in MatMulNBits layout, and what an adapter changes of it."""
        pairs, scales = self.weights.blocks(f"{name}.w", rows, columns)
        halves = np.concatenate([pairs & 15, pairs >> 4], 2)
        self.put(f"{name}.pairs", halves[:, :, 0::2] | halves[:, :, 1::2] << 4)
        self.put(f"{name}.scales", scales.astype(np.float32).reshape(-1))
        self.put(f"{name}.bias", self.weights.plain(f"{name}.b"))
        inputs = [x, f"{name}.pairs", f"{name}.scales"]
        self.step("MatMulNBits", inputs, f"{name}.mm", _CONTRIB, K=columns, N=rows, bits=4, block_size=BLOCK, accuracy_level=4)
        if change := self.changes.get(name):
            self.put(f"{name}.down", change.down)
            self.put(f"{name}.up", change.up)
            self.step("MatMul", [x, f"{name}.down"], f"{name}.narrow")
            self.step("MatMul", [f"{name}.narrow", f"{name}.up"], f"{name}.change")
            self.step("Add", [f"{name}.change", f"{name}.bias"], f"{name}.shift")
        self.step("Add", [f"{name}.mm", f"{name}.shift" if change else f"{name}.bias"], f"{name}.out")

    def norm(self, name: str, output: str, x: str, more: str) -> None:
        """Add a residual sum with layer normalization."""
        self.put(f"{name}.weight", self.weights.plain(f"{name}.w"))
        self.put(f"{name}.bias", self.weights.plain(f"{name}.b"))
        inputs = [x, more, f"{name}.weight", f"{name}.bias"]
        self.step("SkipLayerNormalization", inputs, output, _CONTRIB, epsilon=float(self.weights.epsilon))
        self.x = output

    def put(self, name: str, array: NDArray[np.generic]) -> None:
        self.tensors.append(onnx_file.tensor(name, array))

    def step(self, operator: str, inputs: list[str], output: str, domain: str = "", **attributes: int | float | str) -> None:
        self.nodes.append(onnx_file.node(operator, inputs, output, domain, attributes))
