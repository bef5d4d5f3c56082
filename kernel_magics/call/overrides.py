"""Derivatives and batches that the user gives a function, in place of those that JAX finds."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from jax import dtypes
from jax import numpy as jnp
from jax.core import ShapedArray

from kernel_magics.call.primitive import call_program
from kernel_magics.call.program import Program
from kernel_magics.call.scalars import Run, cast_arguments
from kernel_magics.call.transforms_batching import METHODS, Batching
from kernel_magics.call.transforms_errors import ensure_types
from kernel_magics.errors import SignatureError, UsageError
from kernel_magics.ir.signature import Signature
from kernel_magics.ir.types import TensorType

Rule = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Overrides:
    """What a function does under JAX's transformations, where the user said so."""

    vjp: Rule | None = None
    """Takes the arguments, then cotangents; gives cotangents of the arguments."""
    jvp: Rule | None = None
    """Takes the arguments, then tangents; gives tangents of the results."""
    batching: Batching | None = None


NONE = Overrides()
"""JAX finds all by itself."""


def read_batching(method: Any) -> Batching:
    """How to batch, from what a user says.

    Raises:
        UsageError: It is neither a method that we have, nor a function.
    """
    if callable(method):
        return Batching("", method)
    if method in METHODS:
        return Batching(method)
    raise UsageError(
        f"{method!r} is no way to batch a function of MLIR",
        details=[f"wanted: {', '.join(map(repr, METHODS))}, or a function"],
        advice="Give a method of `jax.ffi`, or a function that takes a whole batch.",
    )


def ensure_rule(program: Program, rule: Any, method: str) -> Rule:
    """A rule for derivatives as a user gives it, when it fits as far as can be told.

    Args:
        program: The function that it is for.
        rule: What the user gave.
        method: `with_vjp` or `with_jvp`.

    Raises:
        UsageError: It cannot be called.
        SignatureError: It is an MLIR function that takes or gives something else.
    """
    if not callable(rule):
        raise UsageError(
            f"A `{type(rule).__name__}` is no rule for `{method}`",
            details=["wanted: an MLIR function such as `km.load` gives, or a JAX function"],
            advice="Load a text with `km.load` first.",
        )
    signature = getattr(rule, "signature", None)
    if isinstance(signature, Signature):
        _ensure_fits(program.signature, signature, method)
    return rule


def _ensure_fits(function: Signature, rule: Signature, method: str) -> None:
    arguments = [argument.type for argument in function.arguments]
    varying, results = _floats(arguments), _floats(function.results)
    more, made = (results, varying) if method == "with_vjp" else (varying, results)
    wanted = _said(arguments, more, made)
    given = _said([argument.type for argument in rule.arguments], (), rule.results)
    dynamic = function.is_dynamic or rule.is_dynamic
    if wanted != given and not dynamic:
        change = "cotangents" if method == "with_vjp" else "tangents"
        raise SignatureError(
            f"`@{rule.name}` is no rule for `{method}` of `@{function.name}`",
            details=[f"wanted: {wanted}", f"given: {given}"],
            advice=f"It takes the arguments, then {change}, and gives {change}; "
            "integers and booleans have none.",
        )


def _floats(types: Sequence[TensorType]) -> list[TensorType]:
    return [t for t in types if t.dtype is not None and jnp.issubdtype(t.dtype, jnp.inexact)]


def _said(
    arguments: Sequence[TensorType], more: Sequence[TensorType], results: Sequence[TensorType]
) -> str:
    return f"({', '.join(map(str, [*arguments, *more]))}) -> ({', '.join(map(str, results))})"


def overridden(program: Program, overrides: Overrides) -> Run:
    """A program as a function that JAX transforms as the user said."""

    def plain(*args: Any) -> tuple[jax.Array, ...]:
        return call_program(program, args, overrides.batching)

    run: Run = plain
    if overrides.vjp is not None:
        run = _with_vjp(program, plain, overrides.vjp)
    elif overrides.jvp is not None:
        run = _with_jvp(program, plain, overrides.jvp)

    def entry(*args: Any) -> tuple[jax.Array, ...]:
        return run(*cast_arguments(program.signature, args))

    entry.__name__ = entry.__qualname__ = program.entry
    return jax.jit(entry, inline=True)


def _with_vjp(program: Program, plain: Run, rule: Rule) -> Run:
    def forward(*args: Any) -> tuple[tuple[jax.Array, ...], tuple[Any, ...]]:
        return plain(*args), args

    def backward(args: tuple[Any, ...], cotangents: tuple[Any, ...]) -> tuple[Any, ...]:
        given = [each for each in cotangents if _is_real(jax.typeof(each))]
        made = _leaves(rule(*args, *given))
        varying = [jax.typeof(arg) for arg in args if _is_differentiable(jax.typeof(arg))]
        ensure_types(
            program, "with_vjp", "a cotangent for each argument of float type", made, varying
        )
        values: Iterator[Any] = iter(made)
        return tuple(next(values) if _is_differentiable(jax.typeof(arg)) else None for arg in args)

    plain.__name__ = program.entry
    run = jax.custom_vjp(plain)
    run.defvjp(forward, backward)
    return run


def _with_jvp(program: Program, plain: Run, rule: Rule) -> Run:
    def derivative(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        results = plain(*primals)
        given = [each for each in tangents if _is_real(jax.typeof(each))]
        made = _leaves(rule(*primals, *given))
        avals = [jax.typeof(result) for result in results]
        wanted = [aval for aval in avals if _is_differentiable(aval)]
        ensure_types(program, "with_jvp", "a tangent for each result of float type", made, wanted)
        values: Iterator[Any] = iter(made)
        return results, tuple(
            next(values) if _is_differentiable(aval) else np.zeros(aval.shape, dtypes.float0)
            for aval in avals
        )

    plain.__name__ = program.entry
    run = jax.custom_jvp(plain)
    run.defjvp(derivative)
    return run


def _leaves(made: Any) -> list[Any]:
    return [jnp.asarray(value) for value in jax.tree.leaves(made)]


def _is_differentiable(aval: ShapedArray) -> bool:
    return bool(jnp.issubdtype(aval.dtype, jnp.inexact))


def _is_real(aval: ShapedArray) -> bool:
    """Whether it is a tangent at all: integers have none."""
    return aval.dtype != dtypes.float0
