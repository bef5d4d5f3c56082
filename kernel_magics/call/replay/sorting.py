"""Sorting by any comparator: by keys where it says which, else by counting what stands before."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from jax import lax
from jax.extend.mlir import ir

from kernel_magics.call.replay.bodies import bare_name, maker, over_arrays, returned
from kernel_magics.call.replay.operation import Op, Run, constant_of

_SWAPPED = {"LT": "GT", "GT": "LT"}


@dataclass(frozen=True, slots=True)
class SortKey:
    """One operand that a comparator looks at."""

    operand: int
    descends: bool
    is_total: bool
    """Whether zeros and NaNs have an order of their own; else zeros are equal, NaNs last."""


def _sort(op: Op) -> Run:
    dimension, is_stable = op.number("dimension", -1) % max(op.results[0].rank, 1), True
    keys = _keys(op)
    count = len(op.results)
    if keys is None:
        return _general(op, dimension)

    def sort(_: Any, *args: Any) -> Any:
        if not args[0].ndim:
            return args[0] if count == 1 else args
        if keys == [SortKey(i, descends=False, is_total=False) for i in range(len(keys))]:
            results = lax.sort(args, dimension, is_stable, len(keys))
        else:
            columns = [_column(args[key.operand], key) for key in keys]
            sorted_all = lax.sort((*columns, *args), dimension, is_stable, len(columns))
            results = sorted_all[len(columns) :]
        return results[0] if count == 1 else results

    return sort


def _column(x: Any, key: SortKey) -> jax.Array:
    """Numbers whose rising order is that of the key."""
    x = lax.stop_gradient(x)
    if x.dtype == np.bool_:
        x = lax.convert_element_type(x, np.uint8)
    if key.is_total and jax.numpy.issubdtype(x.dtype, np.floating):
        bits = jax.numpy.finfo(x.dtype).bits
        x = lax.bitcast_convert_type(x, np.dtype(f"int{bits}"))
        # Of negative floats the larger number has the larger bits.
        x = lax.select(x < 0, lax.bitwise_xor(x, lax.full_like(x, np.iinfo(x.dtype).max)), x)
    if not key.descends:
        return x
    is_float = jax.numpy.issubdtype(x.dtype, np.floating)
    return lax.neg(x) if is_float else lax.bitwise_not(x)


def _general(op: Op, dimension: int) -> Run:
    """Any comparator: an element's place is the number of those that stand before it."""
    count, length = len(op.results), op.results[0].shape[dimension]

    def sort(regions: Any, *args: Any) -> Any:
        compare = over_arrays(regions[0], 1)
        rows = [lax.stop_gradient(_last(x, dimension)) for x in args]
        pairs: list[Any] = []
        for row in rows:
            shape = (*row.shape, length)
            batch = tuple(range(row.ndim - 1))
            one = lax.broadcast_in_dim(row, shape, (*batch, row.ndim - 1))
            other = lax.broadcast_in_dim(row, shape, (*batch, row.ndim))
            pairs += [lax.reshape(one, (one.size,)), lax.reshape(other, (other.size,))]
        shape = (*rows[0].shape, length)
        is_first = lax.reshape(compare(*pairs)[0], shape)
        is_after = lax.transpose(is_first, (*range(len(shape) - 2), len(shape) - 1, len(shape) - 2))
        # Those that neither stands before keep their order.
        i = lax.broadcasted_iota(np.int32, shape, len(shape) - 2)
        j = lax.broadcasted_iota(np.int32, shape, len(shape) - 1)
        after = is_after | (~is_first & (j < i))
        place = lax.reduce_sum(lax.convert_element_type(after, np.int32), (len(shape) - 1,))
        order = jax.numpy.argsort(place, axis=-1)
        results = [
            _from_last(jax.numpy.take_along_axis(_last(x, dimension), order, -1), dimension)
            for x in args
        ]
        return results[0] if count == 1 else results

    return sort


def _last(x: Any, dimension: int) -> jax.Array:
    return jax.numpy.moveaxis(x, dimension, -1)


def _from_last(x: Any, dimension: int) -> jax.Array:
    return jax.numpy.moveaxis(x, -1, dimension)


def _keys(op: Op) -> list[SortKey] | None:
    """The keys of a comparator that compares operands one after another; None of any other."""
    block = op.operation.regions[0].blocks[0]
    reader = _Comparator(op, block)
    keys = reader.lexicographic(returned(block)[0])
    return keys if keys and len({key.operand for key in keys}) == len(keys) else None


@dataclass(frozen=True, slots=True)
class _Comparator:
    """Reads a comparator backwards from what it returns."""

    op: Op
    block: ir.Block

    def lexicographic(self, value: Any) -> list[SortKey] | None:
        """`a < b`, or `a < b or (a == b and …)`."""
        made = maker(value)
        if made is None:
            return None
        name = bare_name(made)
        if name == "compare":
            key = self._comparison(made)
            return None if key is None else [key]
        if name != "or":
            return None
        first, rest = made.operands
        key = self._comparison(maker(first))
        both = maker(rest)
        if key is None or both is None or bare_name(both) != "and":
            return None
        equal, then = both.operands
        found = self.lexicographic(then)
        return [key, *found] if found and self._equates(maker(equal), key) else None

    def _comparison(self, made: ir.Operation | None) -> SortKey | None:
        if made is None or bare_name(made) != "compare":
            return None
        direction, is_total = _direction(made), "TOTALORDER" in str(made)
        sides = [self._side(value) for value in made.operands]
        if sides[0] is None or sides[1] is None or direction not in _SWAPPED:
            return None
        left, right = sides[0], sides[1]
        if left[0] > right[0]:
            left, right, direction = right, left, _SWAPPED[direction]
        operand, is_pair = left[0] // 2, (left[0] % 2, right[0] - left[0]) == (0, 1)
        if not is_pair or left[1] != right[1]:
            return None
        kind = self.op.operands[operand]
        if kind.of("c") or (left[1] and not is_total):
            return None
        return SortKey(operand, direction == "GT", is_total and not left[1] and kind.of("f"))

    def _equates(self, made: ir.Operation | None, key: SortKey) -> bool:
        if made is None or bare_name(made) != "compare" or _direction(made) != "EQ":
            return False
        sides = [self._side(value) for value in made.operands]
        if sides[0] is None or sides[1] is None:
            return False
        pair = sorted((sides[0][0], sides[1][0]))
        is_total = "TOTALORDER" in str(made) and self.op.operands[key.operand].of("f")
        return (
            pair == [2 * key.operand, 2 * key.operand + 1]
            and sides[0][1] == sides[1][1]
            and is_total == (key.is_total or sides[0][1])
        )

    def _side(self, value: Any) -> tuple[int, bool] | None:
        """Which argument a side is; whether it is one whose zeros and NaNs were made equal."""
        if isinstance(value, ir.BlockArgument) and value.owner == self.block:
            return value.arg_number, False
        outer = self._chosen(value, "NE")
        if outer is None or not _is_constant(outer[1], np.isnan, self.op):
            return None
        inner = self._chosen(outer[2], "EQ")
        if inner is None or not _is_constant(inner[1], lambda x: x == 0, self.op):
            return None
        argument = inner[2]
        if not (isinstance(argument, ir.BlockArgument) and argument.owner == self.block):
            return None
        is_self = outer[0] == [outer[2], outer[2]] or outer[0] == [argument, argument]
        is_zero = inner[0][0] == argument and _is_constant(inner[0][1], lambda x: x == 0, self.op)
        return (argument.arg_number, True) if is_self and is_zero else None

    def _chosen(self, value: Any, direction: str) -> tuple[list[Any], Any, Any] | None:
        """`select(compare(direction, …), a, b)`: what is compared, `a`, `b`."""
        made = maker(value)
        if made is None or bare_name(made) != "select":
            return None
        test = maker(made.operands[0])
        if test is None or bare_name(test) != "compare" or _direction(test) != direction:
            return None
        return list(test.operands), made.operands[1], made.operands[2]


def _is_constant(value: Any, holds: Callable[[Any], Any], op: Op) -> bool:
    elements = constant_of(value, op.callees)
    return elements is not None and elements.size == 1 and bool(holds(elements.ravel()[0]))


def _direction(compare: ir.Operation) -> str:
    return str(compare.attributes["comparison_direction"]).rstrip(">").rpartition(" ")[2]


SORTING: dict[str, Callable[[Op], Run]] = {"sort": _sort}
