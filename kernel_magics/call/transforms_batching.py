"""Batches that the user says how to make: a call for each row, or another function for all."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import jax
from jax import lax
from jax import numpy as jnp
from jax.extend.core import ClosedJaxpr, Primitive, jaxpr_as_fun, mapped_aval, unmapped_aval

from kernel_magics.call.program import Program
from kernel_magics.call.scalars import Run
from kernel_magics.call.shapes import result_avals
from kernel_magics.call.transforms_errors import ensure_types
from kernel_magics.call.transforms_traced import traced
from kernel_magics.ir.source import Source

LOOPS = ("sequential", "sequential_unrolled")
"""Methods of `jax.ffi` that call the whole function for each row."""

OF_CUSTOM_CALLS = ("broadcast_all", "expand_dims", "legacy_vectorized")
"""Methods of `jax.ffi` that give custom calls a batch: those inside the function get it."""

METHODS = (*LOOPS, *OF_CUSTOM_CALLS)


@dataclass(frozen=True, slots=True)
class Batching:
    """How a call is batched instead of by replay."""

    method: str
    """One of `METHODS`; empty where there is a rule."""
    rule: Callable[..., Any] | None = None
    """Takes every argument with a leading dimension for the rows, gives every result with one."""

    def __repr__(self) -> str:
        """Short, and the same in every process: jaxprs print it."""
        return self.method if self.rule is None else getattr(self.rule, "__name__", "rule")


@lru_cache(maxsize=64)
def with_method(program: Program, source: Source, method: str) -> Run:
    """The program as traced JAX, its custom calls batched by a method of `jax.ffi`."""
    del source
    whole = traced(program)

    def batched(*args: Any) -> tuple[jax.Array, ...]:
        jaxpr = jax.make_jaxpr(whole)(*map(jax.typeof, args))
        return tuple(jaxpr_as_fun(_by_method(jaxpr, method))(*args))

    batched.__name__ = batched.__qualname__ = program.entry
    return jax.jit(batched)


def _by_method(closed: ClosedJaxpr, method: str) -> ClosedJaxpr:
    equations = [
        equation.replace(
            params={name: _param(name, value, method) for name, value in equation.params.items()}
        )
        for equation in closed.jaxpr.eqns
    ]
    return ClosedJaxpr(closed.jaxpr.replace(eqns=equations), closed.consts)


def _param(name: str, value: Any, method: str) -> Any:
    """A parameter of an equation, inner jaxprs included; `ffi_call` alone has a `vmap_method`."""
    if name == "vmap_method":
        return method
    if isinstance(value, ClosedJaxpr):
        return _by_method(value, method)
    if isinstance(value, tuple) and value and isinstance(value[0], ClosedJaxpr):
        return tuple(_by_method(each, method) for each in value)
    return value


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
