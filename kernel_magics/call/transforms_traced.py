"""A program as traced JAX, for the rules: traced once, and which results need which arguments."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any

import jax
from jax.core import ShapedArray
from jax.extend import source_info_util
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal, jaxpr_as_fun

from kernel_magics.call.program import Program
from kernel_magics.call.scalars import Run
from kernel_magics.call.shapes import static_program
from kernel_magics.call.transforms_prepared import prepared
from kernel_magics.ir.source import Source

Avals = tuple[ShapedArray, ...]

_CALLS = ("jit", "pjit", "closed_call", "core_call", "custom_jvp_call", "custom_vjp_call", "remat")
"""Primitives whose inner jaxpr takes and gives what they take and give."""


def traced(program: Program) -> Run:
    """A program replayed, under one `jax.jit`, so that calls of it share their traces."""
    return _traced(program, program.source)


@lru_cache(maxsize=64)
def _traced(program: Program, source: Source) -> Run:
    # Late: it costs as much to import as all else, and few calls are transformed.
    from kernel_magics.call.replay.replay import to_jax  # noqa: PLC0415

    # Programs are equal that say the same; errors must show the text that was given.
    del source
    whole = to_jax(program)

    def derivable(*args: Any) -> tuple[jax.Array, ...]:
        jaxpr = jax.make_jaxpr(whole)(*map(jax.typeof, args))
        return tuple(jaxpr_as_fun(prepared(jaxpr))(*args))

    derivable.__name__ = derivable.__qualname__ = program.entry
    return jax.jit(derivable)


def has_form(program: Program, avals: Avals) -> bool:
    """Whether JAX has a form of all that the program does."""
    from kernel_magics.call.replay.replay import blockers  # noqa: PLC0415 - as above

    return not blockers(static_program(program, avals))


def avals_of(args: Sequence[Any]) -> Avals:
    """Abstract values of arguments, tracers included."""
    return tuple(jax.typeof(arg) for arg in args)


def is_typed(aval: ShapedArray) -> bool:
    """Whether the type of a value says how it lies on devices: by `shard_map`, or explicitly."""
    mesh = aval.sharding.mesh
    return not mesh.empty and not mesh.are_all_axes_auto


def of_some(program: Program, args: Sequence[Any], places: Sequence[int]) -> Run:
    """The program as a function of the arguments at some places; the others are as they are."""
    run = traced(program)

    def of_some_arguments(*values: Any) -> tuple[jax.Array, ...]:
        given = list(args)
        for place, value in zip(places, values, strict=True):
            given[place] = value
        return run(*given)

    return of_some_arguments


def own_lines() -> AbstractContextManager[None]:
    """What is traced here has its own lines.

    JAX runs rules for equations of jaxprs, and would give their lines to all that is traced there.
    """
    return source_info_util.user_context(None)


def traced_jaxpr(program: Program, avals: Avals) -> ClosedJaxpr:
    """The program as JAX's own operations, for arguments of these types."""
    with own_lines():
        return jax.make_jaxpr(traced(program))(*avals)


def traced_results(program: Program, avals: Avals) -> list[ShapedArray]:
    """Abstract values of the results, with the shardings and manual axes that JAX gives them."""
    return list(traced_jaxpr(program, avals).out_avals)  # pyright: ignore[reportReturnType]


def needs(program: Program, avals: Avals) -> list[frozenset[int]]:
    """The arguments that each result depends on, by their places."""
    return _needs(program, program.source, avals)


@lru_cache(maxsize=256)
def _needs(program: Program, source: Source, avals: Avals) -> list[frozenset[int]]:
    del source
    jaxpr = traced_jaxpr(program, avals).jaxpr
    return _dependence(jaxpr, [frozenset([i]) for i in range(len(avals))])


def _dependence(jaxpr: Jaxpr, taken: Sequence[frozenset[int]]) -> list[frozenset[int]]:
    """What the results of a jaxpr depend on, given what its arguments depend on."""
    known: dict[Any, frozenset[int]] = dict(zip(jaxpr.invars, taken, strict=True))

    def of(atom: Any) -> frozenset[int]:
        return frozenset() if isinstance(atom, Literal) else known.get(atom, frozenset())

    for equation in jaxpr.eqns:
        read = [of(atom) for atom in equation.invars]
        inner: Any = equation.params.get("jaxpr", equation.params.get("call_jaxpr"))
        if equation.primitive.name in _CALLS and inner is not None:
            made = _dependence(getattr(inner, "jaxpr", inner), read)
        else:
            made = [frozenset().union(*read)] * len(equation.outvars)
        known.update(zip(equation.outvars, made, strict=True))
    return [of(atom) for atom in jaxpr.outvars]
