"""A program as traced JAX: a plain function, its jaxpr, and what stands in the way."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import lru_cache, partial
from typing import Any, Protocol

import jax
from jax import lax
from jax import numpy as jnp
from jax.extend.core import ClosedJaxpr

from kernel_magics.call.program import Program
from kernel_magics.call.replay.build import Blocker, Replayed, build
from kernel_magics.call.scalars import cast_arguments
from kernel_magics.call.shapes import result_avals, static_program
from kernel_magics.errors import PreflightError
from kernel_magics.ir.diagnostics import SHOWN
from kernel_magics.ir.source import Source


class Function(Protocol):
    """An MLIR function as a value, such as an `HloFunction`."""

    @property
    def program(self) -> Program:
        """What it says."""
        ...


@lru_cache(maxsize=256)
def _built_of(program: Program, source: Source) -> Replayed:
    # Programs are equal that say the same; excerpts must show the text that was given.
    del source
    return build(program)


def _built(program: Program) -> Replayed:
    return _built_of(program, program.source)


def blockers(program: Program) -> list[Blocker]:
    """The ops that an entry uses, directly or not, and that have no form in JAX.

    Args:
        program: With static shapes.
    """
    return list(_built(program).blockers)


def replay(program: Program, args: Sequence[Any]) -> tuple[Any, ...]:
    """Runs a program op by op as `jax.lax`, so that JAX sees each of its operations.

    Args:
        program: The function.
        args: JAX values, tracers included, of the types that it takes; Python scalars too.

    Returns:
        One value for each result.

    Raises:
        SignatureError: The arguments do not fit.
        PrecisionError: It works in 64 bits and `jax_enable_x64` is off.
        PreflightError: Ops of it have no form in JAX; lists them all.
    """
    values = cast_arguments(program.signature, args)
    avals = tuple(jax.typeof(value) for value in values)
    result_avals(program, avals)
    replayed = _ready(static_program(program, avals))
    needs_x64 = replayed.uses_64_bits and not jax.config.read("jax_enable_x64")
    with jax.enable_x64(True) if needs_x64 else nullcontext():  # noqa: FBT003 - JAX's own
        # Weakly typed values would make their results weak, as no MLIR function does.
        strong = [
            lax.convert_element_type(v, aval.dtype) for v, aval in zip(values, avals, strict=True)
        ]
        return tuple(map(jnp.asarray, replayed.block(strong)))


def to_jax(function: Function | Program) -> Callable[..., tuple[jax.Array, ...]]:
    """The same function as traced JAX, for use with any JAX library.

    Args:
        function: An MLIR function.

    Returns:
        A plain function of arrays that gives what `function` gives, by JAX's own operations:
        all of JAX's transformations take it. Outside of a trace it is compiled whole.
    """
    program = function if isinstance(function, Program) else function.program

    def replayed(*args: Any) -> tuple[jax.Array, ...]:
        return replay(program, args)

    replayed.__name__ = replayed.__qualname__ = program.entry
    return jax.jit(replayed)


def works_in_64_bits(program: Program) -> bool:
    """Whether a value of 64 bits is in it, so that it means less while `jax_enable_x64` is off."""
    return _built(program).uses_64_bits


def make_jaxpr(program: Program) -> ClosedJaxpr:
    """The program as a jaxpr, for arguments as its signature has them.

    Raises:
        PreflightError: Ops of it have no form in JAX, its shapes are known at a call only, or it
            takes or gives what is no array.
    """
    if program.signature.is_dynamic:
        raise PreflightError(
            f"`@{program.entry}` has dimensions that are known at a call only",
            advice="Use `jax.make_jaxpr(km.to_jax(fn))` with arguments.",
        )
    strange = [str(t) for t in program.signature.types if not t.is_callable]
    if strange:
        raise PreflightError(
            f"`@{program.entry}` takes or gives `{strange[0]}`, and JAX has no such values",
            advice="Choose another function as the entry.",
        )
    avals = [
        jax.ShapeDtypeStruct(argument.type.shape, argument.type.dtype)
        for argument in program.signature.arguments
    ]
    return jax.make_jaxpr(partial(_called, program))(*avals)


def _called(program: Program, *args: Any) -> tuple[Any, ...]:
    return replay(program, args)


def refusal(program: Program, found: Sequence[Blocker]) -> PreflightError:
    """The error that lists what blocks, each with its line and reason."""
    first = found[0]
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    sentences = [f"`{blocker.op}` in `@{blocker.function}`: {blocker.reason}" for blocker in found]
    where = [f"{blocker.excerpt} {blocker.reason}" for blocker in found[:SHOWN] if blocker.excerpt]
    hidden = [f"… and {len(found) - SHOWN} more"] if len(found) > SHOWN else []
    return PreflightError(
        f"`@{program.entry}` has no form in JAX: `{first.op}`: {first.reason}{more}",
        where=where + (hidden if where else []),
        details=[] if where else sentences[:SHOWN] + hidden,
        advice="It runs as it is; what JAX cannot see through are the ops named here.",
    )


def _ready(program: Program) -> Replayed:
    replayed = _built(program)
    if replayed.blockers:
        raise refusal(program, replayed.blockers)
    return replayed
