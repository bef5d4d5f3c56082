"""Ops of `math` are run after lowering and compared with NumPy."""

import math

import numpy as np
import pytest
from jax import numpy as jnp

from tests.lowering import FLOATS, INTEGERS, apply, run, same_bits


def elementwise(function):
    return lambda x: np.array([function(float(v)) for v in x], np.float32)


MATH_OPS = {
    "absf": np.abs,
    "acos": np.arccos,
    "acosh": np.arccosh,
    "asin": np.arcsin,
    "asinh": np.arcsinh,
    "atan": np.arctan,
    "atanh": np.arctanh,
    "cbrt": np.cbrt,
    "ceil": np.ceil,
    "cos": np.cos,
    "cosh": np.cosh,
    "erf": elementwise(math.erf),
    "erfc": elementwise(math.erfc),
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "floor": np.floor,
    "log": np.log,
    "log10": np.log10,
    "log1p": np.log1p,
    "log2": np.log2,
    "round": lambda x: np.copysign(np.floor(np.abs(x) + np.float32(0.5)), x),
    "roundeven": np.round,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "sin": np.sin,
    "sinh": np.sinh,
    "sqrt": np.sqrt,
    "tan": np.tan,
    "tanh": np.tanh,
    "trunc": np.trunc,
}


@pytest.mark.parametrize("name", MATH_OPS)
@np.errstate(all="ignore")
def test_math_is_numpys_to_the_last_digits(name):
    values = FLOATS[:9]
    given, wanted = apply(f"math.{name}", values), MATH_OPS[name](values)
    np.testing.assert_allclose(given, wanted, rtol=2e-6)
    if name in ("absf", "ceil", "floor", "round", "roundeven", "trunc"):
        same_bits(given, wanted)


@np.errstate(all="ignore")
def test_math_of_two_operands_is_numpys():
    values = np.array([1.0, -1.0, 0.0, 2.0, np.nan, -0.0], np.float32)
    others = np.array([2.0, 3.0, -1.0, np.inf, 0.0, -1.0], np.float32)
    np.testing.assert_allclose(apply("math.powf", values, others), values**others, rtol=1e-6)
    given = apply("math.atan2", values, others)
    np.testing.assert_allclose(given, np.arctan2(values, others), rtol=1e-6)


def test_copysign_takes_the_sign_of_zero_and_of_nan():
    signs = np.array([-0.0, 0.0, -np.nan, np.nan, -np.inf, 1, -1, 1, -1, -1], np.float32)
    given = apply("math.copysign", FLOATS, signs)
    np.testing.assert_array_equal(given.view(np.int32), np.copysign(FLOATS, signs).view(np.int32))


@pytest.mark.parametrize("name", ["isnan", "isinf", "isfinite"])
def test_classes_of_floats_are_numpys(name):
    given = apply(f"math.{name}", FLOATS, result="tensor<10xi1>")
    np.testing.assert_array_equal(given, getattr(np, name)(FLOATS))


def test_math_on_integers_counts_bits():
    natural = [int(value) for value in INTEGERS.view(np.uint32)]
    counts = {
        "ctpop": [value.bit_count() for value in natural],
        "ctlz": [32 - value.bit_length() for value in natural],
        "cttz": [(value & -value).bit_length() - 1 if value else 32 for value in natural],
        "absi": np.abs(INTEGERS),
    }
    for name, wanted in counts.items():
        np.testing.assert_array_equal(apply(f"math.{name}", INTEGERS), wanted)


def test_sincos_has_both_results():
    text = """func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %0, %1 = math.sincos %x : tensor<2xf32>
  return %0, %1 : tensor<2xf32>, tensor<2xf32>
}"""
    x = np.array([0.5, 2.0], np.float32)
    np.testing.assert_allclose(run(text, x), [np.sin(x), np.cos(x)], rtol=1e-6)


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("dtype", [jnp.float16, jnp.bfloat16, np.float64])
def test_signs_are_copied_in_floats_of_every_width(dtype):
    x, y = np.array([1.5, -0.0, -2.0], dtype), np.array([-0.0, 1.0, -1.0], dtype)
    same_bits(apply("math.copysign", x, y), np.copysign(x, y))
