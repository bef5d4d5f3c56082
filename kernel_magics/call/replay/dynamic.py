"""Ops whose shapes are operands: those are constants once the program's shapes are known."""

from collections.abc import Callable
from typing import Any

import numpy as np
from jax import lax

from kernel_magics.call.replay.operation import Binary, Op, Run, Unary


def _broadcast_in_dim(op: Op) -> Binary:
    shape, dims = op.results[0].shape, op.ints("broadcast_dimensions")
    return lambda x, _: lax.broadcast_in_dim(x, shape, dims)


def _iota(op: Op) -> Unary:
    kind, dimension = op.results[0], op.number("iota_dimension")
    return lambda _: lax.broadcasted_iota(kind.known, kind.shape, dimension)


def _reshape(op: Op) -> Binary:
    shape = op.results[0].shape
    return lambda x, _: lax.reshape(x, shape)


def _slice(op: Op) -> Run:
    start, limit, strides = (op.operand_ints(i) for i in (1, 2, 3))

    def real_dynamic_slice(x: Any, *_: Any) -> Any:
        return lax.slice(x, start, limit, strides)

    return real_dynamic_slice


def _pad(op: Op) -> Run:
    config = tuple(zip(*(op.operand_ints(i) for i in (2, 3, 4)), strict=True))

    def pad(x: Any, value: Any, *_: Any) -> Any:
        return lax.pad(x, value, config)

    return pad


def _shape_of(op: Op) -> Unary:
    shape = np.array(op.operands[0].shape, op.results[0].known)
    return lambda _: shape


DYNAMIC: dict[str, Callable[[Op], Run]] = {
    "dynamic_broadcast_in_dim": _broadcast_in_dim,
    "dynamic_iota": _iota,
    "dynamic_pad": _pad,
    "dynamic_reshape": _reshape,
    "real_dynamic_slice": _slice,
    "shape.shape_of": _shape_of,
}
