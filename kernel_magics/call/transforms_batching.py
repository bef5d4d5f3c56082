"""Batches that the user says how to make: a call for each row, or another function for all."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
from jax import lax
from jax import numpy as jnp
from jax.extend.core import Primitive, mapped_aval, unmapped_aval

from kernel_magics.call.program import Program
from kernel_magics.call.shapes import result_avals
from kernel_magics.call.transforms_errors import ensure_types

METHODS = ("sequential", "sequential_unrolled")
"""Methods of `jax.ffi` that a function of fixed ranks can be batched by."""


@dataclass(frozen=True, slots=True)
class Batching:
    """How a call is batched instead of by replay."""

    method: str
    """One of `METHODS`; of no meaning where there is a rule."""
    rule: Callable[..., Any] | None = None
    """Takes every argument with a leading dimension for the rows, gives every result with one."""

    def __repr__(self) -> str:
        """Short, and the same in every process: jaxprs print it."""
        return self.method if self.rule is None else getattr(self.rule, "__name__", "rule")


def run_batched(
    call: Primitive,
    program: Program,
    batching: Batching,
    rows: Sequence[Any],
    dimensions: Sequence[int | None],
    size: int,
) -> list[Any]:
    """Calls it for each row.

    Args:
        call: The primitive.
        program: The function.
        batching: How.
        rows: Arguments, with the leading dimension of the batch where they have one.
        dimensions: None for those that are the same in each row.
        size: How many rows there are.

    Returns:
        The results, each with the leading dimension of the batch.

    Raises:
        SignatureError: The rule gives something else.
    """
    if batching.rule is not None:
        return _by_rule(program, batching.rule, rows, dimensions, size)
    varying = [i for i, dimension in enumerate(dimensions) if dimension is not None]

    def step(carry: Any, row: Sequence[Any]) -> Any:
        given = list(rows)
        for place, value in zip(varying, row, strict=True):
            given[place] = value
        return carry, call.bind(*given, program=program, batching=batching)

    unroll = batching.method == "sequential_unrolled"
    _, results = lax.scan(step, (), [rows[i] for i in varying], unroll=unroll)
    return list(results)


def _by_rule(
    program: Program,
    rule: Callable[..., Any],
    rows: Sequence[Any],
    dimensions: Sequence[int | None],
    size: int,
) -> list[Any]:
    whole = [
        jnp.broadcast_to(row, (size, *jnp.shape(row))) if d is None else row
        for row, d in zip(rows, dimensions, strict=True)
    ]
    made = jax.tree.leaves(rule(*whole))
    avals: Any = tuple(mapped_aval(size, 0, jax.typeof(value)) for value in whole)
    wanted: list[Any] = [unmapped_aval(size, 0, aval) for aval in result_avals(program, avals)]
    ensure_types(
        program, "with_batching", "each result with a leading dimension for the rows", made, wanted
    )
    return made
