"""Reductions over whole dimensions: known bodies as JAX's own, any other in sequence."""

import math
from collections.abc import Callable, Sequence
from typing import Any

from jax import lax

from kernel_magics.call.replay.bodies import COMBINE, is_identity, monoids, over_arrays
from kernel_magics.call.replay.operation import Op, Run

_REDUCERS: dict[str, Run] = {
    "add": lax.reduce_sum,
    "multiply": lax.reduce_prod,
    "maximum": lax.reduce_max,
    "minimum": lax.reduce_min,
    "and": lax.reduce_and,
    "or": lax.reduce_or,
    "xor": lax.reduce_xor,
}


def _reduce(op: Op) -> Run:
    count, dimensions = len(op.results), op.ints("dimensions")
    known = monoids(op)
    if known is None:
        return _general(op, dimensions)
    needs_start = [
        not is_identity(op.constant(count + i), monoid, op.results[i])
        for i, monoid in enumerate(known)
    ]

    def reduce(_: Any, *args: Any) -> Any:
        results: list[Any] = []
        for i, monoid in enumerate(known):
            result = _REDUCERS[monoid](args[i], dimensions)
            if needs_start[i]:
                start = lax.broadcast(args[count + i], result.shape)
                result = COMBINE[monoid](start, result)
            results.append(result)
        return results[0] if count == 1 else results

    return reduce


def _general(op: Op, dimensions: Sequence[int]) -> Run:
    """Any body.

    JAX differentiates its general reduction as if the start value changed nothing, and not
    backwards; so it serves only where nothing is there to be differentiated.
    """
    count = len(op.results)
    has_floats = any(
        kind.of("fc") and any(True for _ in result.uses)
        for kind, result in zip(op.results, op.operation.results, strict=True)
    )
    closes_over = bool(op.regions[0].captured)

    def reduce(regions: Any, *args: Any) -> Any:
        operands, starts = args[:count], args[count:]
        if has_floats or closes_over:
            results = fold(regions[0], operands, starts, dimensions)
        else:
            body = regions[0]
            results = lax.reduce(
                tuple(map(lax.stop_gradient, operands)),
                tuple(map(lax.stop_gradient, starts)),
                lambda total, element: tuple(body(*total, *element)),
                tuple(dimensions),
            )
        return results[0] if count == 1 else results

    return reduce


def fold(
    body: Callable[..., list[Any]],
    operands: Sequence[Any],
    starts: Sequence[Any],
    dimensions: Sequence[int],
) -> list[Any]:
    """Takes the elements of some dimensions together, in row-major order, as XLA's CPU does."""
    shape = operands[0].shape
    kept = [d for d in range(len(shape)) if d not in dimensions]
    kept_shape = tuple(shape[d] for d in kept)
    length = math.prod(shape[d] for d in dimensions)
    rows = [
        lax.reshape(lax.transpose(x, (*dimensions, *kept)), (length, *kept_shape)) for x in operands
    ]
    step = over_arrays(body, len(kept_shape))
    totals = [lax.broadcast(start, kept_shape) for start in starts]
    if length == 0:
        return totals
    return list(lax.scan(lambda t, x: (tuple(step(*t, *x)), None), tuple(totals), tuple(rows))[0])


REDUCTIONS: dict[str, Callable[[Op], Run]] = {"reduce": _reduce}
