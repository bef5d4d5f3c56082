"""Gathers: windows of an array at places that are moved inside where they stand out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from jax import lax

from kernel_magics.call.replay.operation import Binary, Op, Run, Ternary, numbers

_SMALLEST_INDEX_BITS = 32


@dataclass(frozen=True, slots=True)
class IndexVectors:
    """Where an array of indices has its vectors; JAX has them in the last dimension."""

    dimension: int
    rank: int

    def last(self, indices: Any) -> jax.Array:
        """The indices with their vectors in the last dimension, in at least 32 bits."""
        if np.iinfo(indices.dtype).bits < _SMALLEST_INDEX_BITS:
            indices = lax.convert_element_type(indices, np.int32)
        if self.dimension == self.rank:
            return lax.expand_dims(indices, (self.rank,))
        order = [d for d in range(self.rank) if d != self.dimension]
        if self.dimension == self.rank - 1:
            return indices
        return lax.transpose(indices, (*order, self.dimension))

    def moved(self, dimensions: Sequence[int]) -> tuple[int, ...]:
        """Numbers of dimensions of the indices, after `last`."""
        return tuple(d - (d > self.dimension) for d in dimensions)


def _gather(op: Op) -> Run:
    return _gather_of(op, op.ints("slice_sizes"))


def _dynamic_gather(op: Op) -> Ternary:
    run = _gather_of(op, op.operand_ints(2))
    return lambda operand, indices, _: run(operand, indices)


def _gather_of(op: Op, sizes: tuple[int, ...]) -> Run:
    fields = op.fields("dimension_numbers")
    vector_dimension = numbers(fields.get("index_vector_dim", "0"))[0]
    vectors = IndexVectors(vector_dimension, op.operands[1].rank)
    dims = lax.GatherDimensionNumbers(
        offset_dims=numbers(fields.get("offset_dims")),
        collapsed_slice_dims=numbers(fields.get("collapsed_slice_dims")),
        start_index_map=numbers(fields.get("start_index_map")),
        operand_batching_dims=numbers(fields.get("operand_batching_dims")),
        start_indices_batching_dims=vectors.moved(
            numbers(fields.get("start_indices_batching_dims"))
        ),
    )
    is_sorted = op.flag("indices_are_sorted")

    def gather(operand: Any, indices: Any) -> jax.Array:
        # As StableHLO has it, windows that stand out are moved inside.
        return lax.gather(
            operand,
            vectors.last(indices),
            dims,
            sizes,
            indices_are_sorted=is_sorted,
            mode=lax.GatherScatterMode.CLIP,
        )

    return gather


def _index_select(op: Op) -> Binary:
    """PyTorch's `index_select`: whole slices of one dimension, others may be batches."""
    dimension, batches = op.number("dim"), op.number("batch_dims")
    axis = dimension - batches

    def one(operand: Any, indices: Any) -> jax.Array:
        return jax.numpy.take(operand, indices, axis, mode="clip")

    select = one
    for _ in range(batches):
        select = jax.vmap(select)
    return select


GATHERS: dict[str, Callable[[Op], Run]] = {
    "dynamic_gather": _dynamic_gather,
    "gather": _gather,
    "torch_index_select": _index_select,
}
