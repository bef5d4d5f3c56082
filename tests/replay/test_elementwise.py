"""Elementwise ops give XLA's own bits, at the edges too."""

import jax
import numpy as np
import pytest
from jax import numpy as jnp

from kernel_magics.call.replay.elementwise import integer_power
from kernel_magics.errors import PreflightError
from tests.replay.programs import assert_same, one, replayed

FLOATS = [-np.inf, -3.5, -2.5, -1.0, -0.5, -1e-40, -0.0, 0.0, 1e-40, 0.3, 0.5, 1.5, 2.5, 1e30]
FLOATS += [np.inf, np.nan]
INTEGERS = [-128, -127, -8, -3, -1, 0, 1, 2, 3, 7, 31, 127]
UNSIGNED = [0, 1, 2, 3, 7, 8, 127, 128, 255]
COMPLEX = [0j, 1 + 2j, -1.5 + 0.5j, 3j, -2, 1e3 - 1e3j]

UNARY = [
    "abs",
    "cbrt",
    "ceil",
    "cosine",
    "exponential",
    "exponential_minus_one",
    "floor",
    "log",
    "log_plus_one",
    "logistic",
    "negate",
    "round_nearest_afz",
    "round_nearest_even",
    "rsqrt",
    "sign",
    "sine",
    "sqrt",
    "tan",
    "tanh",
]
CHLO = [
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "bessel_i1e",
    "conj",
    "cosh",
    "digamma",
    "erf",
    "erf_inv",
    "erfc",
    "lgamma",
    "sinh",
    "square",
    "tan",
]
BINARY = [
    "add",
    "atan2",
    "divide",
    "maximum",
    "minimum",
    "multiply",
    "power",
    "remainder",
    "subtract",
]
INTEGER = [
    "add",
    "and",
    "divide",
    "maximum",
    "minimum",
    "multiply",
    "or",
    "power",
    "remainder",
    "subtract",
    "xor",
]
SHIFTS = ["shift_left", "shift_right_arithmetic", "shift_right_logical"]


def pairs(values, dtype):
    left, right = np.meshgrid(np.array(values).astype(dtype), np.array(values).astype(dtype))
    return left.ravel(), right.ravel()


@pytest.mark.parametrize("op", [f"stablehlo.{op}" for op in UNARY] + [f"chlo.{op}" for op in CHLO])
@pytest.mark.parametrize("dtype", ["f32", "bf16"])
def test_functions_of_one_float(op, dtype):
    x = np.array(FLOATS).astype(jnp.float32 if dtype == "f32" else jnp.bfloat16)
    kind = f"tensor<{len(x)}x{dtype}>"
    # JAX has a lgamma of its own by now.
    rtol = 0.0 if op != "chlo.lgamma" else 1e-6 if dtype == "f32" else 1e-2
    assert_same(one(f'"{op}"(%0) : ({kind}) -> {kind}', kind, result=kind), x, rtol=rtol)


@pytest.mark.parametrize("op", [f"stablehlo.{op}" for op in BINARY] + ["chlo.next_after"])
def test_functions_of_two_floats(op):
    x, y = pairs(FLOATS, np.float32)
    kind = f"tensor<{len(x)}xf32>"
    assert_same(one(f'"{op}"(%0, %1) : ({kind}, {kind}) -> {kind}', kind, kind, result=kind), x, y)


@pytest.mark.parametrize("dtype", ["i8", "ui8", "i32"])
@pytest.mark.parametrize("op", INTEGER)
def test_integers_divide_by_zero_wrap_and_overflow_as_xla_does(op, dtype):
    values = UNSIGNED if dtype == "ui8" else INTEGERS
    wide = np.array(values, {"i8": np.int8, "ui8": np.uint8, "i32": np.int32}[dtype])
    x, y = pairs(wide, wide.dtype)
    kind = f"tensor<{len(x)}x{dtype}>"
    text = one(f"stablehlo.{op} %0, %1 : {kind}", kind, kind, result=kind)
    # Of powers above the 63rd XLA's versions say different things.
    assert_same(text, x, np.minimum(y, 63) if op == "power" else y)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint32])
def test_integer_powers_are_those_of_python_modulo_the_width(dtype):
    x, y = pairs([0, 1, 2, 3, 5, 63, 64, 100, 127], dtype)
    found = np.asarray(integer_power(jnp.asarray(x), jnp.asarray(y)))
    modulus = 2 ** (8 * np.dtype(dtype).itemsize)
    expected = [pow(int(base), int(exponent), modulus) for base, exponent in zip(x, y, strict=True)]
    np.testing.assert_array_equal(found.astype(np.int64) % modulus, expected)


@pytest.mark.parametrize("op", SHIFTS)
def test_shifts_by_more_than_the_width(op):
    x, y = pairs(INTEGERS, np.int8)
    kind = f"tensor<{len(x)}xi8>"
    assert_same(one(f"stablehlo.{op} %0, %1 : {kind}", kind, kind, result=kind), x, y)


@pytest.mark.parametrize("op", ["add", "multiply", "maximum", "minimum", "and", "or", "xor"])
def test_booleans(op):
    x, y = pairs([False, True], np.bool_)
    kind = "tensor<4xi1>"
    assert_same(one(f"stablehlo.{op} %0, %1 : {kind}", kind, kind, result=kind), x, y)


@pytest.mark.parametrize("op", ["add", "subtract", "multiply", "divide", "power", "atan2"])
def test_complex_numbers(op):
    x, y = pairs(COMPLEX, np.complex64)
    kind = f"tensor<{len(x)}xcomplex<f32>>"
    text = one(f"stablehlo.{op} %0, %1 : {kind}", kind, kind, result=kind)
    assert_same(text, x, y, rtol=1e-6)


@pytest.mark.parametrize("op", ["popcnt", "count_leading_zeros", "not", "negate"])
@pytest.mark.parametrize("dtype", ["i8", "ui8"])
def test_bits(op, dtype):
    x = np.array(INTEGERS, np.int8).view(np.int8 if dtype == "i8" else np.uint8)
    kind = f"tensor<{len(x)}x{dtype}>"
    assert_same(one(f"stablehlo.{op} %0 : {kind}", kind, result=kind), x)


@pytest.mark.parametrize("direction", ["EQ", "NE", "LT", "LE", "GT", "GE"])
@pytest.mark.parametrize("order", ["FLOAT", "TOTALORDER"])
def test_comparisons_of_floats(direction, order):
    x, y = pairs([*FLOATS, -np.nan], np.float32)
    kind, result = f"tensor<{len(x)}xf32>", f"tensor<{len(x)}xi1>"
    op = f"stablehlo.compare {direction}, %0, %1, {order} : ({kind}, {kind}) -> {result}"
    assert_same(one(op, kind, kind, result=result), x, y)


@pytest.mark.parametrize("result", ["i8", "ui8", "i1", "i32", "f16", "bf16", "f8E4M3FN"])
def test_conversions_of_floats(result):
    x = np.array(FLOATS, np.float32)
    kind, made = f"tensor<{len(x)}xf32>", f"tensor<{len(x)}x{result}>"
    assert_same(one(f"stablehlo.convert %0 : ({kind}) -> {made}", kind, result=made), x)


@pytest.mark.parametrize(
    ("source", "result", "shape"),
    [("4xf32", "4xi32", (4,)), ("2x4xi8", "2xf32", (2, 4)), ("4xf32", "4x4xi8", (4,))],
)
def test_casts_of_bits(source, result, shape):
    dtype = np.int8 if "i8" in source else np.float32
    x = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    kind, made = f"tensor<{source}>", f"tensor<{result}>"
    assert_same(one(f"stablehlo.bitcast_convert %0 : ({kind}) -> {made}", kind, result=made), x)


def test_precision_is_reduced():
    kind = f"tensor<{len(FLOATS)}xf32>"
    op = f"stablehlo.reduce_precision %0, format = e5m2 : {kind}"
    assert_same(one(op, kind, result=kind), np.array(FLOATS, np.float32))


def test_scalars_choose_and_bound_whole_arrays():
    text = """
    func.func @main(%p: tensor<i1>, %x: tensor<4xf32>, %l: tensor<f32>) -> tensor<4xf32> {
      %0 = stablehlo.negate %x : tensor<4xf32>
      %1 = stablehlo.select %p, %x, %0 : tensor<i1>, tensor<4xf32>
      %2 = stablehlo.clamp %l, %1, %x : (tensor<f32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      return %2 : tensor<4xf32>
    }"""
    assert_same(text, True, np.array([-2, 0, 1, 5], np.float32), np.float32(0.5))


@pytest.mark.parametrize("signs", ["", "_pos", "_neg"])
def test_infinities_are_told_apart(signs):
    kind, result = f"tensor<{len(FLOATS)}xf32>", f"tensor<{len(FLOATS)}xi1>"
    op = f"chlo.is{signs}_inf %0 : {kind} -> {result}"
    assert_same(one(op, kind, result=result), np.array(FLOATS, np.float32))


def test_operands_are_broadcast():
    types = "(tensor<3x1xf32>, tensor<4xf32>) -> tensor<3x4xf32>"
    op = f"chlo.broadcast_subtract %0, %1 : {types}"
    text = one(op, "tensor<3x1xf32>", "tensor<4xf32>", result="tensor<3x4xf32>")
    assert_same(text, np.arange(3, dtype=np.float32).reshape(3, 1), np.arange(4, dtype=np.float32))


@pytest.mark.parametrize("dtype", ["i8", "ui8", "i32"])
def test_upper_halves_of_products(dtype):
    wide = {"i8": np.int8, "ui8": np.uint8, "i32": np.int32}[dtype]
    x, y = pairs(UNSIGNED if dtype == "ui8" else INTEGERS, wide)
    kind = f"tensor<{len(x)}x{dtype}>"
    assert_same(
        one(f'"chlo.mulhi"(%0, %1) : ({kind}, {kind}) -> {kind}', kind, kind, result=kind), x, y
    )


def test_order_of_complex_numbers_is_refused():
    kind = "tensor<2xcomplex<f32>>"
    text = one(f"stablehlo.maximum %0, %0 : {kind}", kind, result=kind)
    with pytest.raises(PreflightError) as error:
        replayed(text)(np.zeros(2, np.complex64))
    assert str(error.value) == (
        "`@main` has no form in JAX: `stablehlo.maximum`: there is no one order of complex "
        "numbers that JAX and XLA share\n"
        "  text:2:8\n"
        "    %r = stablehlo.maximum %0, %0 : tensor<2xcomplex<f32>>\n"
        "         ^^^^^^^^^^^^^^^^^ there is no one order of complex numbers that JAX and XLA share\n"
        "  It runs as it is; what JAX cannot see through are the ops named here."
    )


def test_an_accuracy_that_is_asked_for_is_passed_on():
    attribute = "#stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>"
    kind = "tensor<2xf32>"
    op = f'"stablehlo.exponential"(%0) {{result_accuracy = {attribute}}} : ({kind}) -> {kind}'
    function = replayed(one(op, kind, result=kind))
    x = np.array([0.5, 2], np.float32)
    assert "accuracy=AccuracyMode.HIGHEST" in str(jax.make_jaxpr(function)(x))
