"""Scatters: known bodies as JAX's own, any other one window after another."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from jax import lax

from kernel_magics.call.replay.bodies import is_argument, monoids, over_arrays, returned
from kernel_magics.call.replay.gathers import IndexVectors
from kernel_magics.call.replay.operation import Op, Run, numbers

_KNOWN: dict[str, Run] = {
    "add": lax.scatter_add,
    "multiply": lax.scatter_mul,
    "maximum": lax.scatter_max,
    "minimum": lax.scatter_min,
}


@dataclass(frozen=True, slots=True)
class _Form:
    """Which dimensions mean what."""

    vectors: IndexVectors
    dims: lax.ScatterDimensionNumbers
    is_sorted: bool
    is_unique: bool

    @property
    def missing(self) -> tuple[int, ...]:
        """Dimensions of the operand that windows in the updates do not have."""
        return tuple(sorted((*self.dims.inserted_window_dims, *self.dims.operand_batching_dims)))


def _form(op: Op, indices: int) -> _Form:
    fields = op.fields("scatter_dimension_numbers")
    vector_dimension = numbers(fields.get("index_vector_dim", "0"))[0]
    vectors = IndexVectors(vector_dimension, op.operands[indices].rank)
    dims = lax.ScatterDimensionNumbers(
        update_window_dims=numbers(fields.get("update_window_dims")),
        inserted_window_dims=numbers(fields.get("inserted_window_dims")),
        scatter_dims_to_operand_dims=numbers(fields.get("scatter_dims_to_operand_dims")),
        operand_batching_dims=numbers(fields.get("input_batching_dims")),
        scatter_indices_batching_dims=vectors.moved(
            numbers(fields.get("scatter_indices_batching_dims"))
        ),
    )
    return _Form(vectors, dims, op.flag("indices_are_sorted"), op.flag("unique_indices"))


def _scatter(op: Op) -> Run:
    count = len(op.results)
    form = _form(op, count)
    known = _replacement(op) or (monoids(op) if count == 1 else None)
    function = lax.scatter if known == ["replace"] else _KNOWN.get((known or [""])[0])
    # JAX has no derivative of products at places that may repeat.
    is_hard = known == ["multiply"] and op.results[0].of("fc") and not form.is_unique
    if function is None or is_hard or 0 in op.operands[count + 1].shape:
        return _general(op, form)

    def scatter(_: Any, operand: Any, indices: Any, updates: Any) -> jax.Array:
        # As StableHLO has it, windows that stand out are left away.
        return function(
            operand,
            form.vectors.last(indices),
            updates,
            form.dims,
            indices_are_sorted=form.is_sorted,
            unique_indices=form.is_unique,
            mode=lax.GatherScatterMode.FILL_OR_DROP,
        )

    return scatter


def _replacement(op: Op) -> list[str] | None:
    block = op.operation.regions[0].blocks[0]
    values = returned(block)
    is_update = len(values) == 1 and is_argument(values[0], block, 1)
    return ["replace"] if is_update else None


def _general(op: Op, form: _Form) -> Run:
    """Any body: windows in row-major order of their indices, as XLA's CPU does."""
    count, shape = len(op.results), op.operands[0].shape
    update_dims = form.dims.update_window_dims
    rank = op.operands[count + 1].rank
    others = [d for d in range(rank) if d not in update_dims]
    sizes = [op.operands[count + 1].shape[d] for d in update_dims]
    for dimension in form.missing:
        sizes.insert(dimension, 1)

    def scatter(regions: Any, *args: Any) -> Any:
        operands, updates = args[:count], args[count + 1 :]
        starts = _starts(form, args[count], shape)
        body = over_arrays(regions[0], len(shape))
        windows = [
            lax.reshape(lax.transpose(u, (*others, *update_dims)), (len(starts), *sizes))
            for u in updates
        ]
        limits = np.array(shape, np.int64) - np.array(sizes, np.int64)

        def step(totals: Any, item: Any) -> Any:
            start, update = item
            is_inside = jax.numpy.all((start >= 0) & (start <= limits))
            at = [start[i] for i in range(len(shape))]
            old = [_cut(total, at, sizes) for total in totals]
            new = body(*old, *update)
            pairs = zip(totals, new, old, strict=True)
            return tuple(_put(t, lax.select_n(is_inside, o, n), at) for t, n, o in pairs), None

        results = operands
        if windows[0].size:
            results = lax.scan(step, tuple(operands), (starts, tuple(windows)))[0]
        return results[0] if count == 1 else results

    return scatter


def _cut(x: Any, start: Any, sizes: list[int]) -> jax.Array:
    return lax.dynamic_slice(x, start, sizes, allow_negative_indices=False)


def _put(x: Any, window: Any, start: Any) -> jax.Array:
    return lax.dynamic_update_slice(x, window, start, allow_negative_indices=False)


def _starts(form: _Form, indices: Any, shape: tuple[int, ...]) -> jax.Array:
    """The corner of every window, one row each."""
    vectors = form.vectors.last(indices)
    batch = vectors.shape[:-1]
    columns: list[Any] = [lax.full(batch, np.zeros((), vectors.dtype))] * len(shape)
    for i, dimension in enumerate(form.dims.scatter_dims_to_operand_dims):
        columns[dimension] = lax.index_in_dim(vectors, i, vectors.ndim - 1, keepdims=False)
    pairs = zip(
        form.dims.operand_batching_dims, form.dims.scatter_indices_batching_dims, strict=True
    )
    for dimension, batching in pairs:
        columns[dimension] = lax.broadcasted_iota(vectors.dtype, batch, batching)
    flat = [lax.reshape(column, (column.size,)) for column in columns]
    if not flat:
        return lax.full((int(np.prod(batch)), 0), np.zeros((), vectors.dtype))
    return lax.concatenate([lax.expand_dims(column, (1,)) for column in flat], 1)


SCATTERS: dict[str, Callable[[Op], Run]] = {"scatter": _scatter}
