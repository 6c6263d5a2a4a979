"""
Read and write ONNX files without the package `onnx`; just enough for one model.

An ONNX file is a protobuf message. A message is a run of fields; a field is its number and its kind in one
integer, then its value: an integer in groups of seven bits, four bytes of a float, or a length and so many bytes,
which may be a message again. The numbers below are those of the public `onnx.proto`, IR version 9.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

IR_VERSION = 9
OPSETS = {"": 20, "com.microsoft": 1}  # the second holds the operators for 4-bit weights and for attention

_VARINT, _BYTES, _FLOAT = 0, 2, 5
_MODEL_IR, _MODEL_GRAPH, _MODEL_OPSET = 1, 7, 8
_GRAPH_NODE, _GRAPH_NAME, _GRAPH_TENSOR, _GRAPH_INPUT, _GRAPH_OUTPUT = 1, 2, 5, 11, 12
_TENSOR_DIM, _TENSOR_TYPE, _TENSOR_NAME, _TENSOR_RAW = 1, 2, 8, 9
_TYPES = {"float32": 1, "uint8": 2, "int32": 6, "int64": 7, "float16": 10}
_NAMES = {number: name for name, number in _TYPES.items()}
FLOAT, INT32 = _TYPES["float32"], _TYPES["int32"]  # what the operator Cast is told


def model(nodes: Sequence[bytes], tensors: Sequence[bytes], inputs: Sequence[bytes], outputs: Sequence[bytes]) -> bytes:
    """Return a model file built from nodes, tensors, inputs and outputs."""
    parts = {_GRAPH_NODE: nodes, _GRAPH_TENSOR: tensors, _GRAPH_INPUT: inputs, _GRAPH_OUTPUT: outputs}
    graph = _text(_GRAPH_NAME, "e5") + b"".join(_block(number, part) for number in parts for part in parts[number])
    opsets = (_text(1, domain) + _int(2, version) for domain, version in OPSETS.items())
    return _int(_MODEL_IR, IR_VERSION) + b"".join(_block(_MODEL_OPSET, opset) for opset in opsets) + _block(_MODEL_GRAPH, graph)


def node(operator: str, inputs: Sequence[str], output: str, domain: str, attributes: Mapping[str, int | float | str]) -> bytes:
    """Return one node: an operator with named inputs and one named output."""
    return (
        b"".join(_text(1, name) for name in inputs)
        + _text(2, output)
        + _text(4, operator)
        + b"".join(_block(5, _attribute(*attribute)) for attribute in attributes.items())
        + _text(7, domain)
    )


def _attribute(name: str, value: float | str) -> bytes:
    match value:
        case int():
            return _text(1, name) + _int(3, value) + _int(20, 2)
        case float():
            return _text(1, name) + _key(2, _FLOAT) + struct.pack("<f", value) + _int(20, 1)
        case str():
            return _text(1, name) + _text(4, value) + _int(20, 3)


def tensor(name: str, array: NDArray[np.generic]) -> bytes:
    """Return a named tensor."""
    shape = b"".join(_int(_TENSOR_DIM, size) for size in array.shape)
    raw = np.ascontiguousarray(array).tobytes()
    return shape + _int(_TENSOR_TYPE, _TYPES[array.dtype.name]) + _text(_TENSOR_NAME, name) + _block(_TENSOR_RAW, raw)


def value(name: str, kind: str, shape: Sequence[int | str]) -> bytes:
    """Return an input or output: type and shape, where a name stands for a variable dimension."""
    sizes = (_text(2, size) if isinstance(size, str) else _int(1, size) for size in shape)
    tensor_type = _int(1, _TYPES[kind]) + _block(2, b"".join(_block(1, size) for size in sizes))
    return _text(1, name) + _block(2, _block(1, tensor_type))


def tensors(content: memoryview) -> dict[str, NDArray[Any]]:
    """Return all tensors of a file by name, as views."""
    graph = next(part for number, part in _fields(content) if number == _MODEL_GRAPH and isinstance(part, memoryview))
    found: dict[str, NDArray[Any]] = {}
    for number, part in _fields(graph):
        if number != _GRAPH_TENSOR or not isinstance(part, memoryview):
            continue
        shape: list[int] = []
        name, kind, raw = "", 0, memoryview(b"")
        for inner, got in _fields(part):
            match inner, got:
                case 1, int(size):
                    shape.append(size)
                case 2, int(kind):
                    pass
                case 8, memoryview():
                    name = bytes(got).decode()
                case 9, memoryview() as raw:
                    pass
        found[name] = np.frombuffer(raw, _NAMES[kind]).reshape(shape)
    return found


def _fields(message: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """Yield the integer and bytes fields of a message."""
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        if key & 7 == _FLOAT:
            at += 4
            continue
        size, at = _varint(message, at)
        if key & 7 == _VARINT:
            yield key >> 3, size
        else:
            yield key >> 3, message[at : at + size]
            at += size


def _varint(message: memoryview, at: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = message[at]
        at += 1
        number |= (byte & 127) << shift
        if byte < 128:
            return number, at
        shift += 7


def _key(number: int, kind: int) -> bytes:
    return _groups(number << 3 | kind)


def _int(number: int, integer: int) -> bytes:
    return _key(number, _VARINT) + _groups(integer % 2**64)  # a negative one as its complement of two


def _block(number: int, content: bytes) -> bytes:
    return _key(number, _BYTES) + _groups(len(content)) + content


def _text(number: int, text: str) -> bytes:
    return _block(number, text.encode())


def _groups(integer: int) -> bytes:
    """Encode an integer as a varint."""
    out = bytearray()
    while integer > 127:
        out.append(integer & 127 | 128)
        integer >>= 7
    return bytes([*out, integer])
