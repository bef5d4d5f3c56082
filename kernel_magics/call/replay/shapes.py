"""Ops that make, move, cut and join arrays, and know no element."""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from jax import lax

from kernel_magics.call.replay.blocks import Kind
from kernel_magics.call.replay.constants import read_elements
from kernel_magics.call.replay.operation import Binary, Blocked, Op, Run, Unary


def fill(elements: np.ndarray, kind: Kind) -> Run:
    """A function without arguments that gives a constant, small in a jaxpr where it can be."""
    if elements.shape == kind.shape:
        return lambda: elements
    return lambda: lax.broadcast_in_dim(elements, kind.shape, ())


def _constant(op: Op) -> Run:
    return fill(read_elements(op.operation, op.callees.resource), op.results[0])


def _iota(op: Op) -> Run:
    kind, dimension = op.results[0], op.number("iota_dimension")
    return lambda: lax.broadcasted_iota(kind.known, kind.shape, dimension)


def _broadcast_in_dim(op: Op) -> Unary:
    shape, dims = op.results[0].shape, op.ints("broadcast_dimensions")
    return lambda x: lax.broadcast_in_dim(x, shape, dims)


def _broadcast(op: Op) -> Unary:
    sizes = op.ints("broadcast_sizes")
    return lambda x: lax.broadcast(x, sizes)


def _reshape(op: Op) -> Unary:
    shape = op.results[0].shape
    return lambda x: lax.reshape(x, shape)


def _transpose(op: Op) -> Unary:
    permutation = op.ints("permutation")
    return lambda x: lax.transpose(x, permutation)


def _reverse(op: Op) -> Unary:
    dimensions = op.ints("dimensions")
    return lambda x: lax.rev(x, dimensions)


def _concatenate(op: Op) -> Run:
    dimension = op.number("dimension")
    return lambda *args: lax.concatenate(args, dimension)


def _slice(op: Op) -> Unary:
    start, limit, strides = (op.ints(f"{n}") for n in ("start_indices", "limit_indices", "strides"))
    return lambda x: lax.slice(x, start, limit, strides)


def _dynamic_slice(op: Op) -> Run:
    sizes = op.ints("slice_sizes")

    def dynamic_slice(x: Any, *starts: Any) -> Any:
        # As StableHLO has it, a start below zero is zero, not one from the end.
        return lax.dynamic_slice(x, starts, sizes, allow_negative_indices=False)

    return dynamic_slice


def _dynamic_update_slice(op: Op) -> Run:
    del op

    def dynamic_update_slice(x: Any, update: Any, *starts: Any) -> Any:
        return lax.dynamic_update_slice(x, update, starts, allow_negative_indices=False)

    return dynamic_update_slice


def _pad(op: Op) -> Binary:
    low, high = op.ints("edge_padding_low"), op.ints("edge_padding_high")
    interior = op.ints("interior_padding")
    config = tuple(zip(low, high, interior, strict=True))
    return lambda x, value: lax.pad(x, value, config)


def _get_dimension_size(op: Op) -> Unary:
    size = np.int32(op.operands[0].shape[op.number("dimension")])
    return lambda _: np.asarray(size)


def _set_dimension_size(op: Op) -> Binary:
    if op.operand_ints(1) != (op.operands[0].shape[op.number("dimension")],):
        raise Blocked("JAX has no arrays of bounded dynamic size")
    return lambda x, _: x


def _tuple(op: Op) -> Run:
    del op
    return lambda *args: args


def _get_tuple_element(op: Op) -> Run:
    return operator.itemgetter(op.number("index"))


SHAPES: dict[str, Callable[[Op], Run]] = {
    "broadcast": _broadcast,
    "broadcast_in_dim": _broadcast_in_dim,
    "concatenate": _concatenate,
    "constant": _constant,
    "dynamic_slice": _dynamic_slice,
    "dynamic_update_slice": _dynamic_update_slice,
    "get_dimension_size": _get_dimension_size,
    "get_tuple_element": _get_tuple_element,
    "iota": _iota,
    "pad": _pad,
    "reshape": _reshape,
    "reverse": _reverse,
    "set_dimension_size": _set_dimension_size,
    "slice": _slice,
    "transpose": _transpose,
    "tuple": _tuple,
}
