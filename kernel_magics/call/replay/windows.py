"""Reductions over windows, and the scattering of values to the elements that windows select."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from jax import lax

from kernel_magics.call.replay.blocks import Kind
from kernel_magics.call.replay.bodies import (
    COMBINE,
    compared,
    identity,
    is_identity,
    monoids,
    over_arrays,
)
from kernel_magics.call.replay.operation import Op, Run


@dataclass(frozen=True, slots=True)
class Window:
    """Where the windows of an array lie; one number for each dimension."""

    dimensions: tuple[int, ...]
    strides: tuple[int, ...]
    padding: tuple[tuple[int, int], ...]
    base_dilations: tuple[int, ...]
    window_dilations: tuple[int, ...]

    @property
    def is_dilated(self) -> bool:
        """Whether there are gaps between the elements of the array or of the windows."""
        return {*self.base_dilations, *self.window_dilations} != {1}

    def offsets(self) -> np.ndarray:
        """Of the elements of a window, in row-major order."""
        places = np.indices(self.dimensions).reshape(len(self.dimensions), -1).T
        return (places * np.array(self.window_dilations, np.int64)).astype(np.int32)

    def spread(self, x: Any, value: Any) -> Any:
        """The array with gaps and margins, of which windows are cut."""
        config = [
            (low, high, dilation - 1)
            for (low, high), dilation in zip(self.padding, self.base_dilations, strict=True)
        ]
        return lax.pad(x, value, config)

    def cut(self, spread: Any, offset: Any, shape: tuple[int, ...]) -> Any:
        """The elements at one offset of all windows.

        Args:
            spread: What `spread` gives.
            offset: One row of `offsets`.
            shape: How many windows there are.
        """
        sizes = [(n - 1) * stride + 1 for n, stride in zip(shape, self.strides, strict=True)]
        starts = [offset[i] for i in range(len(shape))]
        part = lax.dynamic_slice(spread, starts, sizes, allow_negative_indices=False)
        return lax.slice(part, [0] * len(shape), sizes, self.strides)


def _window(op: Op, rank: int) -> Window:
    ones = (1,) * rank
    margins = op.ints("padding", (0,) * (2 * rank))
    return Window(
        op.ints("window_dimensions", ones),
        op.ints("window_strides", ones),
        tuple(zip(margins[::2], margins[1::2], strict=True)),
        op.ints("base_dilations", ones),
        op.ints("window_dilations", ones),
    )


def _reduce_window(op: Op) -> Run:
    count, window = len(op.results), _window(op, op.results[0].rank)
    known = monoids(op)
    # JAX differentiates these backwards, the maximum and minimum without gaps only.
    served = ("add",) if window.is_dilated else ("add", "maximum", "minimum")
    kinds = op.results
    is_served = known is not None and all(
        monoid in served or not kind.of("fc") for monoid, kind in zip(known, kinds, strict=True)
    )
    if known is None or not is_served or 0 in op.operands[0].shape:
        return _general_reduce_window(op, window)
    needs_start = [
        not is_identity(op.constant(count + i), monoid, kinds[i]) for i, monoid in enumerate(known)
    ]

    def reduce_window(_: Any, *args: Any) -> Any:
        results: list[Any] = []
        for i, monoid in enumerate(known):
            result = _reduce_one(args[i], monoid, window, kinds[i])
            if needs_start[i]:
                start = lax.broadcast(args[count + i], result.shape)
                result = COMBINE[monoid](start, result)
            results.append(result)
        return results[0] if count == 1 else results

    return reduce_window


def _reduce_one(x: Any, monoid: str, window: Window, kind: Kind) -> jax.Array:
    return lax.reduce_window(
        x,
        identity(monoid, kind.known),
        COMBINE[monoid],
        window.dimensions,
        window.strides,
        window.padding,
        window.base_dilations,
        window.window_dilations,
    )


def _general_reduce_window(op: Op, window: Window) -> Run:
    """Any body, in sequence; gaps and margins are passed over, as XLA's CPU does."""
    count, shape = len(op.results), op.results[0].shape

    def reduce_window(regions: Any, *args: Any) -> Any:
        operands, starts = args[:count], args[count:]
        body = over_arrays(regions[0], len(shape))
        spread = [window.spread(x, start) for x, start in zip(operands, starts, strict=True)]
        outside = np.zeros((), np.bool_)
        inside = window.spread(lax.full(operands[0].shape, ~outside), outside)

        def step(totals: Any, offset: Any) -> Any:
            is_inside = window.cut(inside, offset, shape)
            elements = [window.cut(x, offset, shape) for x in spread]
            after = body(*totals, *elements)
            chosen = [
                lax.select(is_inside, new, old) for new, old in zip(after, totals, strict=True)
            ]
            return tuple(chosen), None

        totals = tuple(lax.broadcast(start, shape) for start in starts)
        results = totals if 0 in shape else lax.scan(step, totals, window.offsets())[0]
        return results[0] if count == 1 else results

    return reduce_window


def _select_and_scatter(op: Op) -> Run:
    window = _window(op, op.results[0].rank)
    primitive = {"GE": lax.ge_p, "LE": lax.le_p}.get(compared(op) or "")
    if monoids(op, 1) != ["add"] or primitive is None:
        return _general_select_and_scatter(op, window)
    needs_start = not is_identity(op.constant(2), "add", op.results[0])

    def select_and_scatter(_: Any, operand: Any, source: Any, start: Any) -> Any:
        result = lax.select_and_scatter_add_p.bind(
            source,
            operand,
            select_prim=primitive,
            window_dimensions=window.dimensions,
            window_strides=window.strides,
            padding=window.padding,
        )
        return lax.add(lax.broadcast(start, result.shape), result) if needs_start else result

    return select_and_scatter


def _general_select_and_scatter(op: Op, window: Window) -> Run:
    shape, places = op.operands[1].shape, op.operands[0].size

    def select_and_scatter(regions: Any, operand: Any, source: Any, start: Any) -> Any:
        keeps = over_arrays(regions[0], len(shape))
        numbers = lax.reshape(lax.iota(np.int32, places), operand.shape)
        # A margin is no element: its number is none.
        spread_numbers = window.spread(numbers, np.int32(-1))
        spread = window.spread(operand, start)

        def choose(chosen: Any, offset: Any) -> Any:
            value, number = chosen
            new = window.cut(spread, offset, shape)
            new_number = window.cut(spread_numbers, offset, shape)
            kept = lax.bitwise_and(keeps(value, new)[0], lax.ge(number, lax.full_like(number, 0)))
            kept = lax.bitwise_or(kept, lax.lt(new_number, lax.full_like(number, 0)))
            return (lax.select(kept, value, new), lax.select(kept, number, new_number)), None

        none = lax.full(shape, np.int32(-1))
        first = (lax.broadcast(start, shape), none)
        number = lax.scan(choose, first, window.offsets())[0][1]

        def add(total: Any, item: Any) -> Any:
            at, value = item
            old = lax.dynamic_index_in_dim(total, at, keepdims=False)
            new = lax.select(at >= 0, regions[1](old, value)[0], old)
            return lax.dynamic_update_index_in_dim(total, new, at, 0), None

        flat = (lax.reshape(number, (number.size,)), lax.reshape(source, (source.size,)))
        result = lax.scan(add, lax.full((places,), start), flat)[0]
        return lax.reshape(result, operand.shape)

    return select_and_scatter


WINDOWS: dict[str, Callable[[Op], Run]] = {
    "reduce_window": _reduce_window,
    "select_and_scatter": _select_and_scatter,
}
