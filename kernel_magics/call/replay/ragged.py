"""CHLO's products of rows in groups of unlike length: each group has a matrix of its own."""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax import lax

from kernel_magics.call.replay.operation import Op, Run, numbers

_FIELDS = (
    "lhs_batching_dimensions", "rhs_batching_dimensions", "lhs_contracting_dimensions",
    "rhs_contracting_dimensions", "lhs_ragged_dimensions", "rhs_group_dimensions",
)  # fmt: skip


def _ragged_dot(op: Op) -> Run:
    fields = op.fields("ragged_dot_dimension_numbers")
    # Empty lists may be left out.
    lists = {name: list(numbers(fields.get(name))) for name in _FIELDS}
    words = op.words("precision_config")
    precision: Any = tuple(lax.Precision[word] for word in words) or None
    if lists["rhs_group_dimensions"] and op.operands[2].rank == 1:
        return _by_masks(op, lists, precision)
    dims = lax.RaggedDotDimensionNumbers(
        dot_dimension_numbers=(
            (lists["lhs_contracting_dimensions"], lists["rhs_contracting_dimensions"]),
            (lists["lhs_batching_dimensions"], lists["rhs_batching_dimensions"]),
        ),
        lhs_ragged_dimensions=lists["lhs_ragged_dimensions"],
        rhs_group_dimensions=lists["rhs_group_dimensions"],
    )
    wanted = op.results[0].known

    def ragged_dot(lhs: Any, rhs: Any, group_sizes: Any) -> jax.Array:
        sizes = lax.convert_element_type(group_sizes, np.int32)
        return lax.ragged_dot_general(
            lhs, rhs, sizes, dims, precision=precision, preferred_element_type=wanted
        )

    return ragged_dot


def _by_masks(op: Op, lists: dict[str, list[int]], precision: Any) -> Run:
    """A sum over the groups, of the rows of each.

    It is what JAX lowers its own to but on TPUs, whose derivatives and batches have gaps.
    """
    (ragged,), (group,) = lists["lhs_ragged_dimensions"], lists["rhs_group_dimensions"]
    contracting = (
        (0, *(d + 1 for d in lists["lhs_contracting_dimensions"])),
        (group, *lists["rhs_contracting_dimensions"]),
    )
    batching = (
        tuple(d + 1 for d in lists["lhs_batching_dimensions"]),
        tuple(lists["rhs_batching_dimensions"]),
    )
    shape = (op.operands[1].shape[group], *op.operands[0].shape)
    wanted = op.results[0].known

    def ragged_dot(lhs: Any, rhs: Any, group_sizes: Any) -> jax.Array:
        ends = lax.cumsum(group_sizes, 0)
        starts = lax.sub(ends, group_sizes)
        row = lax.broadcasted_iota(ends.dtype, shape, ragged + 1)
        low, high = (lax.broadcast_in_dim(n, shape, (0,)) for n in (starts, ends))
        rows = lax.broadcast(lhs, shape[:1])
        masked = lax.select((row >= low) & (row < high), rows, lax.full_like(rows, 0))
        return lax.dot_general(
            masked, rhs, (contracting, batching), precision, preferred_element_type=wanted
        )

    return ragged_dot


RAGGED: dict[str, Callable[[Op], Run]] = {"ragged_dot": _ragged_dot}
