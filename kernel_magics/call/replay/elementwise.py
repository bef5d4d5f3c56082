"""Elementwise ops: each is the `jax.lax` function that lowers to that very op."""

import operator
import re
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp

from kernel_magics.call.replay.operation import Blocked, Op, Run, Ternary

_ROUNDING = lax.RoundingMethod
_TOLERANCE = re.compile(r"(atol|rtol|ulps) = ([-\w.+]+)")
_ACCURATE = ("cbrt", "cosine", "exponential", "exponential_minus_one", "log", "log_plus_one",
             "logistic", "rsqrt", "sine", "sqrt", "tan", "tanh")  # fmt: skip


def plain(function: Run, kinds: str = "biufc") -> Callable[[Op], Run]:
    """The rule of an op that is one function of JAX, for dtypes of some of NumPy's kinds."""

    def rule(op: Op) -> Run:
        if op.operands and not op.operands[0].of(kinds):
            raise Blocked(f"JAX has no `{op.name}` of `{op.operands[0].text}`")
        return function

    return rule


def _accurate(function: Run, kinds: str) -> Callable[[Op], Run]:
    """The rule of a function that may be asked for an accuracy."""

    def rule(op: Op) -> Run:
        checked = plain(function, kinds)(op)
        asked = op.attribute("result_accuracy")
        text = "" if asked is None else str(asked)  # pyright: ignore[reportUnnecessaryComparison]
        if "HIGHEST" in text:
            return partial(function, accuracy=lax.AccuracyMode.HIGHEST)
        if "TOLERANCE" in text:
            found = dict(_TOLERANCE.findall(text))
            tolerance = lax.Tolerance(
                float(found.get("atol", 0)), float(found.get("rtol", 0)), int(found.get("ulps", 0))
            )
            return partial(function, accuracy=tolerance)
        return checked

    return rule


def _on_booleans(function: Run, logical: Run | None, kinds: str = "iufc") -> Callable[[Op], Run]:
    """The rule of a function that JAX does not have for Booleans."""

    def rule(op: Op) -> Run:
        if op.operands[0].of("b") and logical is not None:
            return logical
        return plain(function, kinds)(op)

    return rule


def _extreme(function: Run) -> Callable[[Op], Run]:
    def rule(op: Op) -> Run:
        if op.operands[0].of("c"):
            # XLA takes the extremes of the parts apart, or not, by platform.
            raise Blocked("there is no one order of complex numbers that JAX and XLA share")
        return function

    return rule


def _power(op: Op) -> Run:
    if op.operands[0].of("fc"):
        return lax.pow
    if op.operands[0].of("b"):
        raise Blocked("JAX has no power of Booleans")
    return integer_power


def integer_power(base: Any, exponent: Any) -> jax.Array:
    """By squaring, modulo the width; of a negative exponent what integer division would give.

    That is StableHLO's meaning. XLA's own differs by its version for exponents above 63.
    """
    bits = jnp.iinfo(base.dtype).bits
    is_signed = jnp.issubdtype(base.dtype, np.signedinteger)
    zero, one = lax.full_like(base, 0), lax.full_like(base, 1)
    result, square, left = one, base, exponent
    for _ in range(bits - is_signed):
        is_odd = lax.ne(lax.bitwise_and(left, one), zero)
        result = lax.select(is_odd, lax.mul(result, square), result)
        square = lax.mul(square, square)
        left = lax.shift_right_logical(left, one)
    if not is_signed:
        return result
    minus_one = lax.full_like(base, -1)
    is_even = lax.eq(lax.bitwise_and(exponent, one), zero)
    inverse = lax.select(lax.eq(base, one), one, zero)
    sign = lax.select(is_even, one, minus_one)
    inverse = lax.select(lax.eq(base, minus_one), sign, inverse)
    return lax.select(lax.lt(exponent, zero), inverse, result)


def _logistic(x: Any, accuracy: Any = None) -> jax.Array:
    if x.dtype != jnp.bfloat16:
        return lax.logistic(x, accuracy=accuracy)
    # XLA rounds once, at the end; JAX's own rounds in between.
    wide = lax.logistic(lax.convert_element_type(x, np.float32), accuracy=accuracy)
    return lax.convert_element_type(wide, x.dtype)


def _real(x: Any) -> Any:
    return lax.real(x) if np.issubdtype(x.dtype, np.complexfloating) else x


def _imag(x: Any) -> Any:
    return lax.imag(x) if np.issubdtype(x.dtype, np.complexfloating) else lax.full_like(x, 0)


def _select(op: Op) -> Ternary:
    del op
    return lambda pred, on_true, on_false: lax.select_n(pred, on_false, on_true)


def _abs(op: Op) -> Run:
    return operator.pos if op.operands[0].of("u") else plain(lax.abs)(op)


def _clamp(op: Op) -> Run:
    if op.operands[0].of("c"):
        raise Blocked("there is no one order of complex numbers that JAX and XLA share")
    low, high = op.constant(0), op.constant(2)
    if low is not None and high is not None and np.all(low <= high):
        return lax.clamp
    shape = op.results[0].shape

    def clamp(low: Any, x: Any, high: Any) -> Any:
        # JAX derives its own in no scalar bounds, and wrongly where they stand in the wrong order.
        above = lax.max(jnp.broadcast_to(low, shape), x)
        return lax.min(above, jnp.broadcast_to(high, shape))

    return clamp


def _compare(op: Op) -> Run:
    direction = op.word("comparison_direction")
    total = op.word("compare_type") == "TOTALORDER" and op.operands[0].of("f")
    if op.operands[0].of("c") and direction not in ("EQ", "NE"):
        raise Blocked("there is no one order of complex numbers that JAX and XLA share")
    return TOTAL_ORDER[direction] if total else COMPARISONS[direction]


def _next_after(op: Op) -> Run:
    return plain(next_after, "f")(op)


@jax.custom_jvp
def next_after(x: Any, y: Any) -> jax.Array:
    """The float beside `x` towards `y`; it moves with `x`, and JAX has no derivative of it."""
    return lax.nextafter(x, y)


def _next_after_jvp(primals: Any, tangents: Any) -> tuple[jax.Array, Any]:
    return next_after(*primals), tangents[0]


next_after.defjvp(_next_after_jvp)


def _differs_in_total_order(x: Any, y: Any) -> jax.Array:
    return lax.bitwise_not(lax.eq_to_p.bind(x, y))


def _swapped(function: Run) -> Run:
    def swapped(x: Any, y: Any) -> Any:
        return function(y, x)

    return swapped


COMPARISONS: dict[str, Run] = {
    "EQ": lax.eq, "NE": lax.ne, "LT": lax.lt, "LE": lax.le, "GT": lax.gt, "GE": lax.ge,
}  # fmt: skip

TOTAL_ORDER: dict[str, Run] = {
    "EQ": lax.eq_to_p.bind,
    "NE": _differs_in_total_order,
    "LT": lax.lt_to_p.bind,
    "LE": lax.le_to_p.bind,
    "GT": _swapped(lax.lt_to_p.bind),
    "GE": _swapped(lax.le_to_p.bind),
}
"""IEEE's order of all floats: -NaN, -inf, …, -0, 0, …, inf, NaN."""

_UNARY: dict[str, tuple[Run, str]] = {
    "cbrt": (lax.cbrt, "f"),
    "ceil": (lax.ceil, "f"),
    "cosine": (lax.cos, "fc"),
    "count_leading_zeros": (lax.clz, "iu"),
    "exponential": (lax.exp, "fc"),
    "exponential_minus_one": (lax.expm1, "fc"),
    "floor": (lax.floor, "f"),
    "is_finite": (lax.is_finite, "f"),
    "log": (lax.log, "fc"),
    "log_plus_one": (lax.log1p, "fc"),
    "logistic": (_logistic, "fc"),
    "negate": (lax.neg, "iufc"),
    "not": (lax.bitwise_not, "biu"),
    "popcnt": (lax.population_count, "iu"),
    "round_nearest_afz": (partial(lax.round, rounding_method=_ROUNDING.AWAY_FROM_ZERO), "f"),
    "round_nearest_even": (partial(lax.round, rounding_method=_ROUNDING.TO_NEAREST_EVEN), "f"),
    "rsqrt": (lax.rsqrt, "fc"),
    "sign": (lax.sign, "iufc"),
    "sine": (lax.sin, "fc"),
    "sqrt": (lax.sqrt, "fc"),
    "tan": (lax.tan, "fc"),
    "tanh": (lax.tanh, "fc"),
}

ELEMENTWISE: dict[str, Callable[[Op], Run]] = {
    **{name: (_accurate if name in _ACCURATE else plain)(f, k) for name, (f, k) in _UNARY.items()},
    "abs": _abs,
    "add": _on_booleans(lax.add, lax.bitwise_or),
    "and": plain(lax.bitwise_and, "biu"),
    "atan2": plain(lax.atan2, "fc"),
    "clamp": _clamp,
    "compare": _compare,
    "complex": plain(lax.complex, "f"),
    "divide": plain(lax.div, "iufc"),
    "imag": plain(_imag),
    "maximum": _extreme(lax.max),
    "minimum": _extreme(lax.min),
    "multiply": _on_booleans(lax.mul, lax.bitwise_and),
    "next_after": _next_after,
    "or": plain(lax.bitwise_or, "biu"),
    "power": _power,
    "real": plain(_real),
    "remainder": plain(lax.rem, "iuf"),
    "select": _select,
    "shift_left": plain(lax.shift_left, "iu"),
    "shift_right_arithmetic": plain(lax.shift_right_arithmetic, "iu"),
    "shift_right_logical": plain(lax.shift_right_logical, "iu"),
    "subtract": plain(lax.sub, "iufc"),
    "xor": plain(lax.bitwise_xor, "biu"),
}
