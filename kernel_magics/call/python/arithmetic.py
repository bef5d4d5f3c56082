"""Elementwise operations: Python's operators where they mean the same, else `jax.lax`."""

from typing import Any

import numpy as np
from jax import lax

from kernel_magics.call.python.layout import UNARY, Code, call, infix
from kernel_magics.call.python.operand import Form, Operation

_PAIR = 2
_COMPARE, _OR, _XOR, _AND, _SUM, _PRODUCT = 1, 2, 3, 4, 6, 7


def function(name: str, *parameters: str) -> Form:
    """An operation that is one call; parameters that are not `None` by name."""

    def form(op: Operation) -> Code:
        return call(name, *op.codes, **op.others(*parameters))

    return form


def _operator(sign: str, strength: int, otherwise: str, letters: str = "iufc") -> Form:
    """An operator of Python, for dtypes of some of NumPy's kinds."""

    def form(op: Operation) -> Code:
        if op.is_arithmetic and _kind(op.operands[0].dtype) in letters:
            left, right = op.sides
            # A comparison beside a comparison would be a chain.
            if strength == _COMPARE:
                left = Code(left.within(_COMPARE + 1))
            return infix(left, sign, right, strength)
        return call(otherwise, *op.codes)

    return form


def _bitwise(sign: str, strength: int, otherwise: str) -> Form:
    def form(op: Operation) -> Code:
        is_plain = all(o.is_traced and o.number is None for o in op.operands)
        if is_plain and _kind(op.operands[0].dtype) in "biu":
            return infix(op.codes[0], sign, op.codes[1], strength)
        return call(otherwise, *op.codes)

    return form


def _kind(dtype: np.dtype) -> str:
    """NumPy's letter; bfloat16 is a float, and the narrower ones are none of these."""
    return "f" if dtype.name == "bfloat16" else dtype.kind


def _negative(op: Operation) -> Code:
    (x,) = op.operands
    if x.is_traced and x.number is None and _kind(x.dtype) in "fc":
        return Code(f"-{x.code.within(UNARY)}", UNARY)
    return call("lax.neg", x.code)


def _extreme(short: str, otherwise: str) -> Form:
    def form(op: Operation) -> Code:
        has_number = any(o.number is not None for o in op.operands)
        if has_number and op.is_arithmetic and _kind(op.operands[0].dtype) in "iuf":
            return call(short, *op.sides)
        return call(otherwise, *op.codes)

    return form


def _select(op: Operation) -> Code:
    which, *cases = op.operands
    chosen = Operation(op.name, op.parameters, tuple(cases), op.results)
    is_full = any(case.shape == op.results[0].shape and case.number is None for case in cases)
    if which.dtype == np.bool_ and len(cases) == _PAIR and is_full:
        is_same = chosen.is_arithmetic or all(case.number is None for case in cases)
        if is_same and which.is_traced:
            no, yes = chosen.sides
            return call("jnp.where", which.code, yes, no)
    return call("lax.select_n", *op.codes)


def _convert(op: Operation) -> Code:
    return call("lax.convert_element_type", *op.codes, op.parameter("new_dtype"))


def _cast_bits(op: Operation) -> Code:
    return call("lax.bitcast_convert_type", *op.codes, op.parameter("new_dtype"))


def _round(op: Operation) -> Code:
    return call("lax.round", *op.codes, op.parameter("rounding_method"))


def _integer_power(op: Operation) -> Code:
    return call("lax.integer_pow", *op.codes, op.parameter("y"))


def _reduce_precision(op: Operation) -> Code:
    return call("lax.reduce_precision", *op.codes, **op.others("exponent_bits", "mantissa_bits"))


def _bound(name: str) -> Form:
    return lambda op: call(f"lax.{name}_p.bind", *op.codes)


_SAME_NAME = (
    "abs", "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "bessel_i0e",
    "bessel_i1e", "cbrt", "ceil", "clamp", "clz", "complex", "conj", "cos", "cosh", "digamma",
    "erf", "erf_inv", "erfc", "exp", "exp2", "expm1", "floor", "igamma", "igammac", "imag",
    "is_finite", "lgamma", "log", "log1p", "logistic", "mulhi", "nextafter", "polygamma",
    "population_count", "pow", "real", "rem", "rsqrt", "shift_left", "shift_right_arithmetic",
    "shift_right_logical", "sign", "sin", "sinh", "sqrt", "square", "tan", "tanh", "zeta",
)  # fmt: skip

_RENAMED = {"not": "bitwise_not", "regularized_incomplete_beta": "betainc"}

ARITHMETIC: dict[str, Form] = {
    **{name: function(f"lax.{name}", "accuracy") for name in _SAME_NAME},
    **{name: function(f"lax.{renamed}") for name, renamed in _RENAMED.items()},
    "add": _operator("+", _SUM, "lax.add"),
    "and": _bitwise("&", _AND, "lax.bitwise_and"),
    "bitcast_convert_type": _cast_bits,
    "convert_element_type": _convert,
    "div": _operator("/", _PRODUCT, "lax.div", "f"),
    "eq": _operator("==", _COMPARE, "lax.eq"),
    "eq_to": _bound("eq_to"),
    "ge": _operator(">=", _COMPARE, "lax.ge", "iuf"),
    "gt": _operator(">", _COMPARE, "lax.gt", "iuf"),
    "integer_pow": _integer_power,
    "le": _operator("<=", _COMPARE, "lax.le", "iuf"),
    "le_to": _bound("le_to"),
    "lt": _operator("<", _COMPARE, "lax.lt", "iuf"),
    "lt_to": _bound("lt_to"),
    "max": _extreme("jnp.maximum", "lax.max"),
    "min": _extreme("jnp.minimum", "lax.min"),
    "mul": _operator("*", _PRODUCT, "lax.mul"),
    "ne": _operator("!=", _COMPARE, "lax.ne"),
    "neg": _negative,
    "or": _bitwise("|", _OR, "lax.bitwise_or"),
    "reduce_precision": _reduce_precision,
    "round": _round,
    "select_n": _select,
    "sub": _operator("-", _SUM, "lax.sub"),
    "xor": _bitwise("^", _XOR, "lax.bitwise_xor"),
}

MONOIDS: dict[str, str] = {
    "add": "lax.add",
    "and": "lax.bitwise_and",
    "max": "lax.max",
    "min": "lax.min",
    "mul": "lax.mul",
    "or": "lax.bitwise_or",
    "xor": "lax.bitwise_xor",
}
"""Primitives of two values that a reduction may be given as they are."""


def is_public(path: str, name: str) -> bool:
    """Whether a module of JAX has that attribute."""
    home: Any = lax.linalg if path == "lax.linalg" else lax
    return hasattr(home, name)
