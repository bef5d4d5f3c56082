"""Integers of `arith` are run after lowering and compared with NumPy."""

import numpy as np
import pytest

from tests.lowering import BITS, DIVISORS, INTEGERS, OTHER_BITS, apply, left, run, same_bits


def as_unsigned(function):
    return lambda a, b: function(a.view(np.uint32), b.view(np.uint32)).view(np.int32)


def truncated(a, b):
    return np.array([int(x / y) for x, y in zip(a.tolist(), b.tolist(), strict=True)], np.int64)


INTEGER_OPS = {
    "addi": np.add,
    "subi": np.subtract,
    "muli": np.multiply,
    "divsi": lambda a, b: truncated(a, b).astype(np.int32),
    "remsi": np.fmod,
    "divui": as_unsigned(np.floor_divide),
    "remui": as_unsigned(np.remainder),
    "floordivsi": np.floor_divide,
    "ceildivsi": lambda a, b: (-(-a.astype(np.int64) // b)).astype(np.int32),
    "ceildivui": as_unsigned(lambda a, b: a // b + (a % b != 0)),
    "andi": np.bitwise_and,
    "ori": np.bitwise_or,
    "xori": np.bitwise_xor,
    "maxsi": np.maximum,
    "minsi": np.minimum,
    "maxui": as_unsigned(np.maximum),
    "minui": as_unsigned(np.minimum),
}


@pytest.mark.parametrize("name", INTEGER_OPS)
@np.errstate(all="ignore")
def test_arith_on_integers_is_numpys(name):
    same_bits(apply(f"arith.{name}", INTEGERS, DIVISORS), INTEGER_OPS[name](INTEGERS, DIVISORS))


SHIFTS = {
    "shli": np.left_shift,
    "shrsi": np.right_shift,
    "shrui": as_unsigned(np.right_shift),
}


@pytest.mark.parametrize("name", SHIFTS)
def test_shifts_are_numpys(name):
    by = np.array([0, 1, 31, 4, 30, 2, 31, 31, 5, 1], np.int32)
    same_bits(apply(f"arith.{name}", INTEGERS, by), SHIFTS[name](INTEGERS, by))


BIT_OPS = {
    "addi": np.logical_xor,
    "subi": np.logical_xor,
    "muli": np.logical_and,
    "andi": np.logical_and,
    "ori": np.logical_or,
    "xori": np.logical_xor,
    "maxui": np.logical_or,
    "minui": np.logical_and,
    # The one bit is a sign: true is -1, below false.
    "maxsi": np.logical_and,
    "minsi": np.logical_or,
}


@pytest.mark.parametrize("name", BIT_OPS)
def test_single_bits_are_numbers_modulo_two(name):
    same_bits(apply(f"arith.{name}", BITS, OTHER_BITS), BIT_OPS[name](BITS, OTHER_BITS))


@pytest.mark.parametrize("name", ["divsi", "divui", "remsi", "remui", "shli", "shrsi", "shrui"])
def test_single_bits_are_not_divided_or_shifted(name):
    assert f"arith.{name}" in left(
        "func.func @main(%x: tensor<4xi1>) -> tensor<4xi1> {\n"
        f"  %0 = arith.{name} %x, %x : tensor<4xi1>\n  return %0 : tensor<4xi1>\n}}"
    )


COMPARISONS = [np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal]


@pytest.mark.parametrize("predicate", range(10))
def test_integer_comparisons_are_numpys(predicate):
    attributes = f"{{predicate = {predicate} : i64}}"
    compare = COMPARISONS[predicate if predicate < 6 else predicate - 4]
    view = np.uint32 if predicate >= 6 else np.int32
    wanted = compare(INTEGERS.view(view), DIVISORS.view(view))
    given = apply("arith.cmpi", INTEGERS, DIVISORS, attributes=attributes, result="tensor<10xi1>")
    np.testing.assert_array_equal(given, wanted)
    signs = -1 if predicate < 6 else 1
    wanted = compare(signs * BITS.astype(int), signs * OTHER_BITS.astype(int))
    given = apply("arith.cmpi", BITS, OTHER_BITS, attributes=attributes)
    np.testing.assert_array_equal(given, wanted)


EXTENDED = """func.func @main(%x: tensor<10xi32>, %y: tensor<10xi32>) -> (tensor<10xi32>, tensor<10x{1}>) {{
  %0, %1 = arith.{0} %x, %y : tensor<10xi32>{2}
  return %0, %1 : tensor<10xi32>, tensor<10x{1}>
}}"""


@pytest.mark.usefixtures("x64")
def test_sums_with_carry_and_wide_products_are_numpys():
    a, b = INTEGERS.view(np.uint32).astype(np.uint64), DIVISORS.view(np.uint32).astype(np.uint64)
    low, carry = run(EXTENDED.format("addui_extended", "i1", ", tensor<10xi1>"), INTEGERS, DIVISORS)
    np.testing.assert_array_equal(low, (a + b).astype(np.uint32).view(np.int32))
    np.testing.assert_array_equal(carry, (a + b) >> 32)
    low, high = run(EXTENDED.format("mului_extended", "i32", ""), INTEGERS, DIVISORS)
    np.testing.assert_array_equal(low, (a * b).astype(np.uint32).view(np.int32))
    np.testing.assert_array_equal(high, ((a * b) >> np.uint64(32)).astype(np.uint32).view(np.int32))
    product = INTEGERS.astype(np.int64) * DIVISORS
    low, high = run(EXTENDED.format("mulsi_extended", "i32", ""), INTEGERS, DIVISORS)
    np.testing.assert_array_equal(low, product.astype(np.int32))
    np.testing.assert_array_equal(high, (product >> 32).astype(np.int32))


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int64])
def test_natural_numbers_of_every_width_are_numpys(dtype):
    x, y = np.array([-1, 5, -128], dtype), np.array([3, -2, 127], dtype)
    natural = np.dtype(dtype.__name__.replace("int", "uint"))
    wanted = (x.view(natural) // y.view(natural)).view(dtype)
    np.testing.assert_array_equal(apply("arith.divui", x, y), wanted)
