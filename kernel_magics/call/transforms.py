"""How JAX differentiates and batches a call: by way of the program replayed as `jax.lax`.

A call that is only evaluated runs the original program. Where JAX differentiates it, results
and derivatives come from one replay: derivatives need the values inside, which the original
does not give, and to run it as well would compute all of them twice.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import jax
from jax import dtypes
from jax import numpy as jnp
from jax.extend.core import Primitive, mapped_aval
from jax.interpreters import ad, batching

from kernel_magics.call.program import Program
from kernel_magics.call.transforms_batching import (
    OF_CUSTOM_CALLS,
    Batching,
    run_batched,
    with_method,
)
from kernel_magics.call.transforms_errors import ensure_form
from kernel_magics.call.transforms_refused import (
    batching_error,
    derivative_error,
    with_loops_told,
)
from kernel_magics.call.transforms_traced import avals_of, needs, of_some, traced


def register_rules(call: Primitive) -> None:
    """Gives the primitive its derivatives, forwards and backwards, and its batches."""
    ad.primitive_jvps[call] = _jvp
    ad.primitive_transposes[call] = _transpose
    batching.fancy_primitive_batchers[call] = partial(_batch, call)


def _jvp(
    primals: Sequence[Any],
    tangents: Sequence[Any],
    *,
    program: Program,
    batching: Batching | None = None,  # noqa: ARG001 - derivatives are batched as JAX's own
) -> tuple[Sequence[Any], Sequence[Any]]:
    """Results and their tangents; those that depend on nothing that varies have none."""
    avals = avals_of(primals)
    ensure_form(program, avals, "differentiated")
    varying = [i for i, t in enumerate(tangents) if _is_varying(t)]
    needed = needs(program, avals)
    run = of_some(program, primals, varying)
    try:
        results, changes = jax.jvp(
            run, [primals[i] for i in varying], [tangents[i] for i in varying]
        )
    except (ValueError, NotImplementedError) as error:
        raise derivative_error(program, avals, error) from error
    found: list[Any] = []
    for places, result, change in zip(needed, results, changes, strict=True):
        is_constant = change.dtype == dtypes.float0 or places.isdisjoint(varying)
        found.append(ad.Zero(jax.typeof(result).to_tangent_aval()) if is_constant else change)
    return results, with_loops_told(program, avals, varying, found)


def _transpose(
    cotangents: Sequence[Any], *args: Any, program: Program, batching: Batching | None = None
) -> list[Any]:
    """The transpose of a function that is linear in the arguments whose values are unknown."""
    del batching
    linear = [i for i, arg in enumerate(args) if ad.is_undefined_primal(arg)]
    unknown = [args[i].aval for i in linear]
    avals = tuple(a.aval if ad.is_undefined_primal(a) else jax.typeof(a) for a in args)
    ensure_form(program, avals, "transposed")
    used = [i for i, cotangent in enumerate(cotangents) if _is_varying(cotangent)]
    run = of_some(program, args, linear)

    def used_results(*values: Any) -> list[jax.Array]:
        results = run(*values)
        return [results[i] for i in used]

    transposed = jax.linear_transpose(used_results, *unknown)
    found: list[Any] = [None] * len(args)
    for i, value in zip(linear, transposed([cotangents[i] for i in used]), strict=True):
        found[i] = value
    return found


def _is_varying(tangent: Any) -> bool:
    return not isinstance(tangent, ad.Zero) and jax.typeof(tangent).dtype != dtypes.float0


def _batch(
    call: Primitive,
    axis: Any,
    args: Sequence[Any],
    dimensions: Sequence[int | None],
    *,
    program: Program,
    batching: Batching | None = None,
) -> tuple[Sequence[Any], Sequence[int | None]]:
    """A call for each row; results that depend on no row are there once."""
    if all(dimension is None for dimension in dimensions):
        params = {} if batching is None else {"batching": batching}
        return call.bind(*args, program=program, **params), [None] * len(program.signature.results)
    if batching is not None and batching.method not in OF_CUSTOM_CALLS:
        rows = [
            a if d is None else jnp.moveaxis(a, d, 0) for a, d in zip(args, dimensions, strict=True)
        ]
        results = run_batched(call, program, batching, rows, dimensions, axis.size)
        return results, [0] * len(results)
    avals = tuple(_row(axis.size, d, arg) for arg, d in zip(args, dimensions, strict=True))
    ensure_form(program, avals, "batched")
    batched = frozenset(i for i, d in enumerate(dimensions) if d is not None)
    given = [None if needed.isdisjoint(batched) else 0 for needed in needs(program, avals)]
    run = traced(program)
    if batching is not None:
        run = with_method(program, program.source, batching.method)
    run = jax.vmap(
        run,
        in_axes=tuple(dimensions),
        out_axes=tuple(given),
        axis_size=axis.size,
        spmd_axis_name=axis.spmd_name,
    )
    try:
        return run(*args), given
    except NotImplementedError as error:
        raise batching_error(program, error) from error


def _row(size: int, dimension: int | None, batch: Any) -> Any:
    aval = jax.typeof(batch)
    return aval if dimension is None else mapped_aval(size, dimension, aval)
