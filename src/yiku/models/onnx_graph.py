"""
Build multilingual-e5-small as an ONNX graph: adapters, mean pooling to unit length, a head comparing two texts.

The graph computes with the 4-bit weights as they are (`MatMulNBits`), so its vectors are those of the packed file; what an
adapter changes is computed beside them, for in 4 bits most of it would be lost.
A row of the embedding table is unpacked when its token occurs. `numpy_engine.py` computes the same in numpy, from the same
file.

    input_ids, attention_mask, segments   (texts, tokens) int64     embedding    (texts, 384) float32
                                                                    supersedes   (texts, 1) float32, the log of the odds

`segments` is 0 for lone texts; for pairs of statements it is 1 and 2 (supersession.py), and another adapter takes part. The
input and its output are there only where that adapter is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from yiku.models import onnx_file
from yiku.models.adapter import Change
from yiku.models.supersession import EARLIER, LATER, Supersession
from yiku.models.weights import BLOCK, Weights

_CONTRIB: Final = "com.microsoft"


def build(
    weights: Weights,
    kept: NDArray[np.int64],
    changes: Mapping[str, Change],
    pairs: Supersession | None,
    done: Callable[[float], None],
) -> bytes:
    """Return the model file; `done` is called with the finished share, 0 to 1."""
    graph = _Graph(weights, changes, pairs)
    graph.embeddings(kept)
    for layer in range(weights.layers):
        graph.layer(layer)
        done((layer + 1) / weights.layers)
    graph.pooling()
    names, outputs = ["input_ids", "attention_mask"], [onnx_file.value("embedding", "float32", ["texts", weights.width])]
    if pairs is not None:
        graph.comparison(pairs)
        names.append("segments")
        outputs.append(onnx_file.value("supersedes", "float32", ["texts", 1]))
    inputs = [onnx_file.value(name, "int64", ["texts", "tokens"]) for name in names]
    return onnx_file.model(graph.nodes, graph.tensors, inputs, outputs)


class _Graph:
    """A graph under construction; each step is named after its output, `x` is the current value."""

    def __init__(self, weights: Weights, changes: Mapping[str, Change], pairs: Supersession | None) -> None:
        self.weights, self.changes, self.pairs = weights, changes, pairs
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
        self.step("Add", ["word", "places"], "placed" if self.pairs is None else "in place")
        if self.pairs is not None:
            self.segments(self.pairs)
        self.put("emb.ln.weight", w.plain("emb.ln.w"))
        self.put("emb.ln.bias", w.plain("emb.ln.b"))
        norm = ["placed", "emb.ln.weight", "emb.ln.bias"]
        self.step("LayerNormalization", norm, "embedded", axis=-1, epsilon=float(w.epsilon))
        self.x = "embedded"
        self.step("Cast", ["attention_mask"], "mask", to=onnx_file.INT32)

    def segments(self, pairs: Supersession) -> None:
        """Add the segments of pairs, and the switch between the adapters: `lone` and `pair` are 1 and 0, or 0 and 1."""
        self.put("segment", pairs.segments)
        self.put("one", np.array([1], np.float32))
        self.step("Gather", ["segment", "segments"], "of segments")
        self.step("Add", ["in place", "of segments"], "placed")
        self.step("ReduceMax", ["segments"], "highest", keepdims=0)
        self.step("Cast", ["highest"], "highest.float", to=onnx_file.FLOAT)
        self.step("Min", ["highest.float", "one"], "pair")
        self.step("Sub", ["one", "pair"], "lone")

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
        bias = f"{name}.bias"
        of_pairs = self.pairs.changes if self.pairs else {}
        for switch, change in (("lone", self.changes.get(name)), ("pair", of_pairs.get(name))):
            if change is not None:
                bias = self.change(f"{name}.{switch}", x, change, bias, switch if self.pairs else None)
        self.step("Add", [f"{name}.mm", bias], f"{name}.out")

    def change(self, name: str, x: str, change: Change, bias: str, switch: str | None) -> str:
        """Add an adapter's change of a layer to its bias; return the name of the sum."""
        self.put(f"{name}.down", change.down)
        self.put(f"{name}.up", change.up)
        self.step("MatMul", [x, f"{name}.down"], f"{name}.narrow")
        narrow = f"{name}.narrow"
        if switch:
            self.step("Mul", [narrow, switch], f"{name}.gated")
            narrow = f"{name}.gated"
        self.step("MatMul", [narrow, f"{name}.up"], f"{name}.change")
        self.step("Add", [f"{name}.change", bias], f"{name}.shift")
        return f"{name}.shift"

    def comparison(self, pairs: Supersession) -> None:
        """Add the head that reads the tokens of a pair."""
        self.put("start", np.array(0))
        self.step("Gather", [self.x, "start"], "opening", axis=1)
        for name, segment in (("earlier", EARLIER), ("later", LATER)):
            self.put(f"{name}.segment", np.array(segment))
            self.step("Equal", ["segments", f"{name}.segment"], f"{name}.tokens")
            self.step("Cast", [f"{name}.tokens"], f"{name}.share", to=onnx_file.FLOAT)
            self.step("ReduceSum", [f"{name}.share", "axis1"], f"{name}.counted", keepdims=1)
            self.step("Max", [f"{name}.counted", "one"], f"{name}.count")
            self.step("Unsqueeze", [f"{name}.share", "axis2"], f"{name}.weight")
            self.step("Mul", [self.x, f"{name}.weight"], f"{name}.weighted")
            self.step("ReduceSum", [f"{name}.weighted", "axis1"], f"{name}.total", keepdims=0)
            self.step("Div", [f"{name}.total", f"{name}.count"], name)
        self.step("Sub", ["earlier", "later"], "difference")
        self.step("Mul", ["earlier", "later"], "likeness")
        self.step("Concat", ["opening", "earlier", "later", "difference", "likeness"], "read", axis=1)
        for name, array in pairs.head.items():
            self.put(f"head.{name}", array.reshape(-1, 1) if name == "out" else array)
        self.step("MatMul", ["read", "head.hidden"], "head.wide")
        self.step("Add", ["head.wide", "head.hidden.bias"], "head.shifted")
        self.step("Gelu", ["head.shifted"], "head.gelu", _CONTRIB)
        self.step("MatMul", ["head.gelu", "head.out"], "head.sum")
        self.step("Add", ["head.sum", "head.out.bias"], "supersedes")

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
