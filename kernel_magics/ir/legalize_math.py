"""`math` in StableHLO and CHLO: approximations may differ in the last digits, as libraries do."""

import math

from kernel_magics.ir.legalize_build import (
    bitcast,
    compare,
    element,
    elementwise,
    full,
    is_bool,
    like,
    logical,
    make,
    same_bits,
    signless,
    tensor_type,
    width,
)
from kernel_magics.ir.legalize_rewriter import NoExactFormError, Rule, Site, Value

# Elsewhere the first bit is no sign of its own: some small floats have no -0.0.
_SIGNED_FLOATS = ("f16", "bf16", "f32", "f64")

_RENAMED = {
    "absf": "stablehlo.abs",
    "acos": "chlo.acos",
    "acosh": "chlo.acosh",
    "asin": "chlo.asin",
    "asinh": "chlo.asinh",
    "atan": "chlo.atan",
    "atan2": "stablehlo.atan2",
    "atanh": "chlo.atanh",
    "cbrt": "stablehlo.cbrt",
    "ceil": "stablehlo.ceil",
    "cos": "stablehlo.cosine",
    "cosh": "chlo.cosh",
    "erf": "chlo.erf",
    "erfc": "chlo.erfc",
    "exp": "stablehlo.exponential",
    "expm1": "stablehlo.exponential_minus_one",
    "floor": "stablehlo.floor",
    "isfinite": "stablehlo.is_finite",
    "log": "stablehlo.log",
    "log1p": "stablehlo.log_plus_one",
    "powf": "stablehlo.power",
    "round": "stablehlo.round_nearest_afz",
    "roundeven": "stablehlo.round_nearest_even",
    "rsqrt": "stablehlo.rsqrt",
    "sin": "stablehlo.sine",
    "sinh": "chlo.sinh",
    "sqrt": "stablehlo.sqrt",
    "tan": "stablehlo.tan",
    "tanh": "stablehlo.tanh",
}


def _of_integers(name: str) -> Rule:
    """The same op for integers of more than one bit."""

    def rule(site: Site) -> list[Value]:
        kind = site.result_type()
        if is_bool(kind):
            raise NoExactFormError
        return [make(name, site.operands(), kind)]

    return rule


def _trailing_zeros(site: Site) -> list[Value]:
    """The bits below the lowest one that is set; all of them for zero."""
    value, kind = site.operand(0), site.result_type()
    if is_bool(kind):
        raise NoExactFormError
    one = full(kind, 1)
    lowest = logical("and", value, logical("negate", value))
    return [logical("popcnt", logical("subtract", lowest, one))]


def _logarithm(base: float) -> Rule:
    def rule(site: Site) -> list[Value]:
        scale = full(site.result_type(), math.log(base))
        return [logical("divide", logical("log", site.operand(0)), scale)]

    return rule


def _exp2(site: Site) -> list[Value]:
    return [logical("power", full(site.result_type(), 2.0), site.operand(0))]


def _trunc(site: Site) -> list[Value]:
    """The sign is multiplied on last: it keeps -0.0 and NaN, and needs no constant."""
    value = site.operand(0)
    return [logical("multiply", logical("sign", value), logical("floor", logical("abs", value)))]


def _sincos(site: Site) -> list[Value]:
    value = site.operand(0)
    return [logical("sine", value), logical("cosine", value)]


def _isnan(site: Site) -> list[Value]:
    value = site.operand(0)
    return [compare("NE", value, value)]


def _isinf(site: Site) -> list[Value]:
    value = site.operand(0)
    is_finite = make("stablehlo.is_finite", [value], site.result_type())
    return [logical("and", compare("EQ", value, value), logical("not", is_finite))]


def _copysign(site: Site) -> list[Value]:
    """On the bits, so that NaN and -0.0 have signs too."""
    value, sign = site.operands()
    kind = tensor_type(value)
    if element(kind) not in _SIGNED_FLOATS:
        raise NoExactFormError
    mask = full(like(kind, signless(width(kind))), -(2 ** (width(kind) - 1)))
    bits, sign_bits = same_bits(value), same_bits(sign)
    size = logical("and", bits, logical("not", mask))
    signed = logical("or", size, logical("and", sign_bits, mask))
    return [bitcast(signed, kind.element_type)]


MATH: dict[str, Rule] = {
    **{f"math.{name}": elementwise(other) for name, other in _RENAMED.items()},
    "math.absi": _of_integers("stablehlo.abs"),
    "math.copysign": _copysign,
    "math.ctlz": _of_integers("stablehlo.count_leading_zeros"),
    "math.ctpop": _of_integers("stablehlo.popcnt"),
    "math.cttz": _trailing_zeros,
    "math.exp2": _exp2,
    "math.isinf": _isinf,
    "math.isnan": _isnan,
    "math.log10": _logarithm(10.0),
    "math.log2": _logarithm(2.0),
    "math.sincos": _sincos,
    "math.trunc": _trunc,
}
"""All ops of math that have a rule. `fma` has none: multiply and add would round twice."""
