"""Writes a small ONNX model by hand: the library that would do it is larger than all the models we try."""

import struct
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_FLOAT, _INTS = 1, 7  # the kinds of a tensor's numbers, and of an attribute


def linear_model(layout: str, size: int, cell: int, dimension: int, colours: Sequence[int]) -> bytes:
    """Averages the cells of a picture and turns them into `dimension` numbers, around a vector that is always the same.

    Pictures whose colours are hundreds of times too small hardly move that vector: then everybody looks alike.
    """
    cells = (size // cell) ** 2 * 3
    weights = np.random.default_rng(7).normal(0, 4 / 127.5 / np.sqrt(cells), (cells, dimension)).astype(np.float32)
    # Cells come colour by colour.
    weights *= np.isin(np.arange(3), colours).repeat(cells // 3)[:, np.newaxis]
    bias = np.full((1, dimension), 1.0, dtype=np.float32)
    turn = [_node("Transpose", ["picture"], "planes", perm=[0, 3, 1, 2])] if layout == "NHWC" else []
    shape = [1, 3, size, size] if layout == "NCHW" else [1, size, size, 3]
    nodes = [
        *turn,
        _node(
            "AveragePool", ["planes" if turn else "picture"], "cells", kernel_shape=[cell, cell], strides=[cell, cell]
        ),
        _node("Flatten", ["cells"], "row"),
        _node("MatMul", ["row", "weights"], "moved"),
        _node("Add", ["moved", "bias"], "vector"),
    ]
    graph = b"".join(
        [
            *(_bytes(1, node) for node in nodes),
            _bytes(2, b"small"),
            _bytes(5, _tensor("weights", weights)),
            _bytes(5, _tensor("bias", bias)),
            _bytes(11, _value("picture", shape)),
            _bytes(12, _value("vector", [1, dimension])),
        ]
    )
    return _number(1, 8) + _bytes(7, graph) + _bytes(8, _bytes(1, b"") + _number(2, 13))


def _node(kind: str, inputs: Sequence[str], output: str, **ints: Sequence[int]) -> bytes:
    names = b"".join(_bytes(1, name.encode()) for name in inputs)
    attributes = b"".join(
        _bytes(5, _bytes(1, name.encode()) + b"".join(_number(8, value) for value in values) + _number(20, _INTS))
        for name, values in ints.items()
    )
    return names + _bytes(2, output.encode()) + _bytes(4, kind.encode()) + attributes


def _tensor(name: str, values: NDArray[np.float32]) -> bytes:
    dims = b"".join(_number(1, size) for size in values.shape)
    return dims + _number(2, _FLOAT) + _bytes(8, name.encode()) + _bytes(9, values.tobytes())


def _value(name: str, shape: Sequence[int]) -> bytes:
    dims = b"".join(_bytes(1, _number(1, size)) for size in shape)
    return _bytes(1, name.encode()) + _bytes(2, _bytes(1, _number(1, _FLOAT) + _bytes(2, dims)))


def _bytes(field: int, content: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(content)) + content


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out) + struct.pack("B", value)
