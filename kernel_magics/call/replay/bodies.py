"""What the body of a region says: whether it is a single well-known operation, and which."""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax import lax
from jax.extend.mlir import ir

from kernel_magics.call.replay.blocks import Kind
from kernel_magics.call.replay.operation import Op, Run

MONOIDS = ("add", "multiply", "maximum", "minimum", "and", "or", "xor")

_OF_BOOLEANS = {"add": "or", "multiply": "and", "maximum": "or", "minimum": "and"}

COMBINE: dict[str, Run] = {
    "add": lax.add,
    "multiply": lax.mul,
    "maximum": lax.max,
    "minimum": lax.min,
    "and": lax.bitwise_and,
    "or": lax.bitwise_or,
    "xor": lax.bitwise_xor,
}
"""Monoids as functions of two values."""


def returned(block: ir.Block) -> list[Any]:
    """The values that a region returns."""
    last = list(block.operations)[-1]
    return list(last.operation.operands)


def maker(value: Any) -> ir.Operation | None:
    """The op that makes a value; None for the argument of a block."""
    return value.owner.operation if isinstance(value, ir.OpResult) else None


def is_argument(value: Any, block: ir.Block, position: int) -> bool:
    """Whether a value is that argument of that block."""
    if not isinstance(value, ir.BlockArgument):
        return False
    return value.arg_number == position and value.owner == block


def bare_name(operation: ir.Operation) -> str:
    """The name of a StableHLO, CHLO or MHLO op without its dialect; others as they are."""
    dialect, _, name = operation.name.partition(".")
    return name if dialect in ("stablehlo", "chlo", "mhlo") else operation.name


def monoids(op: Op, region: int = 0) -> list[str] | None:
    """The monoid of each operand of a reduction; None where its body is anything else.

    Booleans have no sums here: their `add` is called `or`, as XLA takes it.
    """
    block = op.operation.regions[region].blocks[0]
    values = returned(block)
    found: list[str] = []
    for position, value in enumerate(values):
        made = maker(value)
        if made is None or bare_name(made) not in MONOIDS:
            return None
        pair, other = list(made.operands), position + len(values)
        if is_argument(pair[0], block, other):
            pair.reverse()
        if not (is_argument(pair[0], block, position) and is_argument(pair[1], block, other)):
            return None
        kind = op.results[position]
        if kind.of("c") and bare_name(made) in ("maximum", "minimum"):
            return None
        name = bare_name(made)
        found.append(_OF_BOOLEANS.get(name, name) if kind.of("b") else name)
    return found


def compared(op: Op, region: int = 0) -> str | None:
    """The direction of a body that compares its two arguments; None for any other body."""
    block = op.operation.regions[region].blocks[0]
    made = maker(returned(block)[0])
    if made is None or bare_name(made) != "compare" or "TOTALORDER" in str(made):
        return None
    left, right = made.operands
    if not (is_argument(left, block, 0) and is_argument(right, block, 1)):
        return None
    return str(made.attributes["comparison_direction"]).rstrip(">").rpartition(" ")[2]


def identity(monoid: str, dtype: np.dtype) -> np.ndarray:
    """The value that changes nothing."""
    if monoid in ("add", "or", "xor"):
        return np.zeros((), dtype)
    if monoid == "multiply" or dtype == np.bool_:
        return np.array(monoid != "maximum", dtype)
    if monoid == "and":
        return np.invert(np.zeros((), dtype))
    sign = -1 if monoid == "maximum" else 1
    if jax.numpy.issubdtype(dtype, np.integer):
        limits = jax.numpy.iinfo(dtype)
        return np.array(limits.min if sign < 0 else limits.max).astype(dtype)
    infinite = np.array(sign * np.inf).astype(dtype)
    if np.isinf(infinite.astype(np.float32)):
        return infinite
    # Some small floats end at a finite number.
    limits = jax.numpy.finfo(dtype)
    return np.array(limits.min if sign < 0 else limits.max).astype(dtype)


def is_identity(elements: np.ndarray | None, monoid: str, kind: Kind) -> bool:
    """Whether a start value is known, and changes nothing."""
    if elements is None:
        return False
    wanted = identity(monoid, kind.known)
    return elements.size == 1 and bool(elements.ravel()[0] == wanted)


def over_arrays(region: Callable[..., list[Any]], rank: int) -> Callable[..., list[Any]]:
    """A function of scalars as one of arrays of one shape, element by element."""
    if rank == 0:
        return region

    def scalars(*values: Any) -> tuple[Any, ...]:
        return tuple(region(*values))

    mapped = jax.vmap(scalars)

    def over(*arrays: Any) -> list[Any]:
        shape = jax.numpy.shape(arrays[0])
        if rank == 1:
            return list(mapped(*arrays))
        flat = [lax.reshape(array, (array.size,)) for array in arrays]
        return [lax.reshape(result, shape) for result in mapped(*flat)]

    return over
