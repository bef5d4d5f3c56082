"""Reductions, whole or over windows, by any function of two values."""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from kernel_magics.call.python.arithmetic import MONOIDS
from kernel_magics.call.python.body import Body
from kernel_magics.call.python.functions import define, parameter
from kernel_magics.call.python.layout import Code, call, pack
from kernel_magics.call.python.operand import written

_WINDOW = ("window_dimensions", "window_strides", "padding", "base_dilation", "window_dilation")
_ALWAYS = 3
"""So many of them are always said."""


def _combiner(body: Body, params: Any) -> Code:
    """A function of two values, or of two groups of values."""
    closed = params["jaxpr"]
    jaxpr, constants = getattr(closed, "jaxpr", closed), params.get("consts", ())
    constants = getattr(closed, "consts", constants)
    equations = jaxpr.eqns
    name = equations[0].primitive.name if len(equations) == 1 else ""
    if name in MONOIDS and list(equations[0].invars) == list(jaxpr.invars):
        return Code(MONOIDS[name])
    count = len(jaxpr.outvars)

    def fill(inner: Body) -> Sequence[str]:
        for variable, value in zip(jaxpr.constvars, constants, strict=True):
            inner.bind(variable, inner.module.constant(np.asarray(value)))
        parameters = [
            parameter(inner, jaxpr.invars[:count], "total"),
            parameter(inner, jaxpr.invars[count:], "element"),
        ]
        inner.returns([pack(inner.write(jaxpr))])
        return parameters

    return Code(define(body, "combine", fill))


def _reduce(body: Body, equation: Any) -> None:
    count = len(equation.outvars)
    combiner = _combiner(body, equation.params)
    codes = [body.operand(v).code for v in equation.invars]
    dimensions = written(tuple(equation.params["dimensions"]), "its dimensions")
    made = call("lax.reduce", pack(codes[:count]), pack(codes[count:]), combiner, dimensions)
    body.give(equation, made)


def _reduce_window(body: Body, equation: Any) -> None:
    count = len(equation.outvars)
    combiner = _combiner(body, equation.params)
    codes = [body.operand(v).code for v in equation.invars]
    window = _window(equation.params)
    made = call("lax.reduce_window", pack(codes[:count]), pack(codes[count:]), combiner, *window)
    body.give(equation, made)


def _window(params: Any) -> list[Code]:
    ones = str((1,) * len(params["window_dimensions"]))
    found = [written(tuple(params[name]), f"its {name}") for name in _WINDOW]
    while len(found) > _ALWAYS and found[-1].flat == ones:
        found.pop()
    return found


def _known(function: str, start: Callable[[np.dtype], Any]) -> Callable[[Body, Any], None]:
    """A reduction over windows from the value that changes nothing."""

    def write(body: Body, equation: Any) -> None:
        (variable,) = equation.invars
        dtype = np.dtype(variable.aval.dtype)
        first = body.module.constant(np.asarray(start(dtype)).astype(dtype)).code
        window = _window(equation.params)
        x = body.operand(variable).code
        body.give(equation, call("lax.reduce_window", x, first, Code(function), *window))

    return write


def _smallest(dtype: np.dtype) -> Any:
    if dtype == np.bool_:
        return False
    is_float = jax.numpy.issubdtype(dtype, np.floating)
    return -np.inf if is_float else jax.numpy.iinfo(dtype).min


def _largest(dtype: np.dtype) -> Any:
    if dtype == np.bool_:
        return True
    is_float = jax.numpy.issubdtype(dtype, np.floating)
    return np.inf if is_float else jax.numpy.iinfo(dtype).max


COMBINERS: dict[str, Callable[[Body, Any], None]] = {
    "reduce": _reduce,
    "reduce_window": _reduce_window,
    "reduce_window_max": _known("lax.max", _smallest),
    "reduce_window_min": _known("lax.min", _largest),
    "reduce_window_sum": _known("lax.add", lambda _: 0),
}
"""Primitives to what writes them."""
