"""Python scalars as arguments: they mean any dtype of their kind, and must fit it."""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax import numpy as jnp

from kernel_magics.errors import SignatureError
from kernel_magics.ir.signature import Argument, Signature

Run = Callable[..., tuple[jax.Array, ...]]


def cast_arguments(signature: Signature, args: Sequence[Any]) -> list[Any]:
    """Arguments with Python scalars, traced ones included, in the dtypes that are wanted.

    Raises:
        SignatureError: An integer that does not fit, or something that is no array at all.
    """
    wanted = signature.arguments
    if len(wanted) != len(args):
        return list(args)
    return [_cast(signature, i, arg, wanted[i]) for i, arg in enumerate(args)]


def with_integers(signature: Signature, run: Run) -> Run:
    """A `jax.jit` function that also takes Python integers for small or unsigned types.

    `jax.jit` makes an int32 of every Python integer, in which 300 for an i8 would be cut
    without a word. Functions that take no integer scalar are given back as they are.
    """
    places = [i for i, argument in enumerate(signature.arguments) if _is_integer_scalar(argument)]
    if not places:
        return run

    def checked(*args: Any) -> tuple[jax.Array, ...]:
        given = list(args)
        for i in places:
            if i < len(given) and type(given[i]) is int:
                given[i] = _fitting(signature, i, given[i])
        return run(*given)

    return checked


def _cast(signature: Signature, i: int, arg: Any, argument: Argument) -> Any:
    if type(arg) is int and _is_integer_scalar(argument):
        return _fitting(signature, i, arg)
    dtype = argument.type.dtype
    try:
        aval = jax.typeof(arg)
    except TypeError as error:
        raise SignatureError(
            f"Argument {i} of `@{signature.name}` is a `{type(arg).__name__}`, not an array",
            details=[f"wanted: `{argument.type.mlir_type}`"],
            advice="Give a JAX or NumPy array, or a Python scalar.",
        ) from error
    if dtype is None or not aval.weak_type or aval.shape or aval.dtype == dtype:
        return arg
    # Weakly typed values keep their kind: an integer may become a float, never the reverse.
    return arg if jnp.result_type(arg, dtype) != dtype else jax.lax.convert_element_type(arg, dtype)


def _is_integer_scalar(argument: Argument) -> bool:
    kind = argument.type
    return kind.shape == () and kind.dtype is not None and jnp.issubdtype(kind.dtype, jnp.integer)


def _fitting(signature: Signature, i: int, value: int) -> np.ndarray:
    kind = signature.arguments[i].type
    assert kind.dtype is not None
    limits = jnp.iinfo(kind.dtype)
    if not limits.min <= value <= limits.max:
        raise SignatureError(
            f"{value} does not fit argument {i} of `@{signature.name}`",
            details=[f"wanted: `{kind.mlir_type}`, from {limits.min} to {limits.max}"],
            advice="Give a value in that range.",
        )
    return np.asarray(value, kind.dtype)
