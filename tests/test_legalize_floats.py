"""Floats of `arith`, conversions and selections are run after lowering and compared with NumPy."""

import numpy as np
import pytest

from kernel_magics.ir import legalize as legalizing
from tests.lowering import (
    BITS,
    DIVISORS,
    FLOATS,
    INTEGERS,
    OTHERS,
    apply,
    left,
    legalized,
    run,
    same_bits,
)


@pytest.fixture
def with_addf(monkeypatch):
    monkeypatch.setattr(legalizing, "LEFT_ON_PURPOSE", frozenset())


FLOAT_OPS = {
    "addf": np.add,
    "subf": np.subtract,
    "mulf": np.multiply,
    "divf": np.divide,
    "remf": np.fmod,
    "maximumf": np.maximum,
    "minimumf": np.minimum,
    "maxnumf": np.fmax,
    "minnumf": np.fmin,
}


@pytest.mark.parametrize("name", FLOAT_OPS)
@pytest.mark.usefixtures("with_addf")
@np.errstate(all="ignore")
def test_arith_on_floats_is_numpys(name):
    wanted = FLOAT_OPS[name](FLOATS, OTHERS)
    given = apply(f"arith.{name}", FLOATS, OTHERS)
    # Zeros of both signs meet in no pair here: the signs of the results are NumPy's.
    same_bits(given, wanted)


@pytest.mark.parametrize(("name", "zero"), [("maximumf", 0.0), ("minimumf", -0.0)])
def test_greatest_and_least_tell_zeros_apart(name, zero):
    zeros = np.array([0.0, -0.0], np.float32)
    same_bits(apply(f"arith.{name}", zeros, zeros[::-1].copy()), np.full(2, zero, np.float32))


def test_negation_turns_the_sign_of_zero():
    same_bits(apply("arith.negf", FLOATS), -FLOATS)


@pytest.mark.parametrize("predicate", range(16))
def test_float_comparisons_say_what_holds_for_nan(predicate):
    a, b = (grid.ravel() for grid in np.meshgrid(FLOATS, OTHERS))
    is_unordered = np.isnan(a) | np.isnan(b)
    relations = [a == b, a > b, a >= b, a < b, a <= b, (a < b) | (a > b)]
    ordered = [np.zeros_like(is_unordered), *relations, ~is_unordered]
    unordered = [relation | is_unordered for relation in relations]
    every = [*ordered, *unordered, is_unordered, np.ones_like(is_unordered)]
    attributes = f"{{predicate = {predicate} : i64}}"
    given = apply("arith.cmpf", a, b, attributes=attributes, result="tensor<100xi1>")
    np.testing.assert_array_equal(given, every[predicate])


def test_select_takes_a_tensor_or_one_condition():
    given = apply("arith.select", BITS, INTEGERS[:4], DIVISORS[:4], result="tensor<4xi32>")
    np.testing.assert_array_equal(given, np.where(BITS, INTEGERS[:4], DIVISORS[:4]))
    text = """func.func @main(%c: tensor<i1>, %x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  %0 = tensor.extract %c[] : tensor<i1>
  %1 = arith.select %0, %x, %y : tensor<4xi32>
  return %1 : tensor<4xi32>
}"""
    (given,) = run(text, np.array(False), INTEGERS[:4], DIVISORS[:4])
    np.testing.assert_array_equal(given, DIVISORS[:4])


IN_RANGE = np.array([0.0, -0.0, 0.9, -0.9, 100.5, -100.5], np.float32)
CONVERSIONS = [
    ("extf", FLOATS, "f64", lambda x: x.astype(np.float64)),
    ("truncf", FLOATS, "f16", lambda x: x.astype(np.float16)),
    ("extsi", INTEGERS, "i64", lambda x: x.astype(np.int64)),
    ("extui", INTEGERS, "i64", lambda x: x.view(np.uint32).astype(np.int64)),
    ("extsi", BITS, "i32", lambda x: -x.astype(np.int32)),
    ("extui", BITS, "i32", lambda x: x.astype(np.int32)),
    ("trunci", INTEGERS, "i8", lambda x: x.astype(np.int8)),
    ("trunci", INTEGERS, "i1", lambda x: (x & 1).astype(bool)),
    ("sitofp", INTEGERS, "f32", lambda x: x.astype(np.float32)),
    ("uitofp", INTEGERS, "f32", lambda x: x.view(np.uint32).astype(np.float32)),
    ("sitofp", BITS, "f32", lambda x: -x.astype(np.int32).astype(np.float32) + np.float32(0)),
    ("uitofp", BITS, "f32", lambda x: x.astype(np.float32)),
    ("fptosi", IN_RANGE, "i32", lambda x: x.astype(np.int32)),
    ("fptoui", np.abs(IN_RANGE) * 4e7, "i32", lambda x: x.astype(np.uint32).view(np.int32)),
    ("fptosi", np.array([-1.0, -0.5, 0.5], np.float32), "i1", lambda x: x == -1),
    ("fptoui", np.array([1.0, 1.5, 0.5], np.float32), "i1", lambda x: x >= 1),
    ("bitcast", FLOATS, "i32", lambda x: x.view(np.int32)),
    ("bitcast", INTEGERS, "f32", lambda x: x.view(np.float32)),
]


@pytest.mark.parametrize(("name", "values", "element", "wanted"), CONVERSIONS)
@pytest.mark.usefixtures("x64")
@np.errstate(all="ignore")
def test_conversions_are_numpys(name, values, element, wanted):
    given = apply(f"arith.{name}", values, result=f"tensor<{values.size}x{element}>")
    same_bits(given, np.asarray(wanted(values)))


def test_conversions_between_floats_round_to_even_only():
    text = """func.func @main(%x: tensor<3xf32>) -> tensor<3xf16> {
  %0 = arith.truncf %x toward_zero : tensor<3xf32> to tensor<3xf16>
  return %0 : tensor<3xf16>
}"""
    assert "arith.truncf" in left(text)
    legalized(text.replace("toward_zero", "to_nearest_even"))


@pytest.mark.usefixtures("with_addf")
def test_addf_has_a_rule_all_the_same():
    text = "func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {\n  %0 = arith.addf %x, %x : tensor<3xf32>\n  return %0 : tensor<3xf32>\n}"
    assert "stablehlo.add" in legalized(text)
