"""Each op is run after legalizing and compared with NumPy."""

import math

import jax
import numpy as np
import pytest
from jax import numpy as jnp
from jax.extend.mlir import ir
from jax.interpreters import mlir

import kernel_magics as km
from kernel_magics.ir import legalize as legalizing
from kernel_magics.ir.context import new_context
from kernel_magics.ir.legalize import RULES, legalize, needs_legalizing
from kernel_magics.ir.symbols import scan

MIN, MAX = np.iinfo(np.int32).min, np.iinfo(np.int32).max
INTEGERS = np.array([0, 1, -1, 7, -7, 13, MIN, MAX, 2, -2], np.int32)
DIVISORS = np.array([1, -1, 3, -3, 2, 7, 5, -5, MIN, MAX], np.int32)
FLOATS = np.array([0.0, -0.0, 0.5, -0.5, 2.5, -3.5, np.inf, -np.inf, np.nan, 1e30], np.float32)
OTHERS = FLOATS[::-1].copy()
BITS = np.array([False, False, True, True])
OTHER_BITS = np.array([False, True, False, True])

WORDS = {"float32": "f32", "float16": "f16", "bfloat16": "bf16", "float64": "f64", "bool": "i1"}
WORDS |= {f"int{n}": f"i{n}" for n in (8, 16, 32, 64)}


def legalized(text: str) -> str:
    module = ir.Module.parse(text, new_context())
    assert legalize(module)
    assert module.operation.verify()
    return str(module)


def run(text: str, *arguments) -> list[np.ndarray]:
    after = legalized(text)
    # XLA takes constants of scalars as long as nothing reads them.
    foreign = after.replace("arith.constant", "")
    assert not any(f"{dialect}." in foreign for dialect in ("arith", "math", "scf", "tensor")), (
        after
    )
    return [np.asarray(result) for result in km.hlo_call(after, *arguments)]


def left(text: str) -> str:
    """The text of a module in which nothing changes."""
    module = ir.Module.parse(text, new_context())
    before = str(module)
    assert not legalize(module)
    assert str(module) == before
    return before


def kind(value) -> str:
    dims = "".join(f"{size}x" for size in value.shape)
    return f"tensor<{dims}{WORDS[value.dtype.name]}>"


def apply(op: str, *values, attributes: str = "", result=None) -> np.ndarray:
    """Runs one op in generic form on tensors."""
    made = result or kind(values[0])
    names = ", ".join(f"%{number}" for number in range(len(values)))
    types = ", ".join(map(kind, values))
    parameters = ", ".join(f"%{number}: {kind(v)}" for number, v in enumerate(values))
    text = f"""func.func @main({parameters}) -> {made} {{
  %r = "{op}"({names}) {attributes} : ({types}) -> {made}
  return %r : {made}
}}"""
    return run(text, *values)[0]


@pytest.fixture
def with_addf(monkeypatch):
    monkeypatch.setattr(legalizing, "LEFT_ON_PURPOSE", frozenset())


def same_bits(given, wanted) -> None:
    """Equal, signed zeros told apart; any NaN is a NaN."""
    np.testing.assert_array_equal(given, wanted)
    if given.dtype.kind == "f":
        numbers = ~np.isnan(wanted)
        np.testing.assert_array_equal(np.signbit(given)[numbers], np.signbit(wanted)[numbers])


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


X = np.arange(24, dtype=np.float32).reshape(4, 6)
TENSOR_OPS = [
    ("tensor.extract_slice %x[1, 2] [2, 3] [1, 1] : {x} to {r}", X[1:3, 2:5]),
    ("tensor.extract_slice %x[1, 0] [2, 3] [2, 2] : {x} to {r}", X[1::2, ::2]),
    ("tensor.extract_slice %x[1, 2] [1, 3] [1, 1] : {x} to {r}", X[1, 2:5]),
    ("tensor.collapse_shape %x [[0, 1]] : {x} into {r}", X.ravel()),
    (
        "tensor.expand_shape %x [[0, 1], [2]] output_shape [2, 2, 6] : {x} into {r}",
        X.reshape(2, 2, 6),
    ),
    ("tensor.concat dim(1) %x, %x : ({x}, {x}) -> {r}", np.concatenate([X, X], 1)),
    ("tensor.reshape %x(%shape) : ({x}, tensor<2xi32>) -> {r}", X.reshape(8, 3)),
    ("tensor.bitcast %x : {x} to {r}", X.view(np.int32)),
    ("tensor.splat %s : {r}", np.full((2, 3), 7, np.float32)),
    ("tensor.from_elements %s, %e, %s, %e : {r}", np.array([[7, 15], [7, 15]], np.float32)),
    ("tensor.from_elements %e : {r}", np.float32(15)),
    ("tensor.insert_slice %p into %x[1, 1] [2, 2] [1, 1] : tensor<2x2xf32> into {r}", None),
    ("tensor.insert_slice %p into %x[1, 1] [2, 2] [2, 3] : tensor<2x2xf32> into {r}", None),
    ("tensor.insert_slice %p into %x[%i, 1] [2, 2] [1, 1] : tensor<2x2xf32> into {r}", None),
    ("tensor.insert %s into %x[%i, %j] : {r}", None),
]


def written(line: str) -> np.ndarray:
    """What the inserting ops of the table make."""
    result = X.copy()
    if "tensor.insert " in line:
        result[2, 3] = 7
    elif "%i" in line:
        result[2:4, 1:3] = 9
    else:
        result[1:4:2, 1:5:3] = 9
        if "[2, 2] [1, 1]" in line:
            result = X.copy()
            result[1:3, 1:3] = 9
    return result


@pytest.mark.parametrize(("line", "wanted"), TENSOR_OPS)
def test_tensor_ops_are_numpys(line, wanted):
    wanted = written(line) if wanted is None else np.asarray(wanted)
    types = {"x": kind(X), "r": kind(wanted)}
    text = f"""func.func @main(%x: {types["x"]}, %p: tensor<2x2xf32>) -> {types["r"]} {{
  %i = arith.constant 2 : index
  %j = arith.constant 3 : index
  %s = arith.constant 7.0 : f32
  %shape = stablehlo.constant dense<[8, 3]> : tensor<2xi32>
  %e = tensor.extract %x[%i, %j] : {types["x"]}
  %r = {line.format(**types)}
  return %r : {types["r"]}
}}"""
    np.testing.assert_array_equal(run(text, X, np.full((2, 2), 9, np.float32))[0], wanted)


PAD = """func.func @main(%x: tensor<3xf32>, %v: tensor<f32>) -> tensor<6xf32> {
  %e = tensor.extract %v[] : tensor<f32>
  %r = tensor.pad %x low[1] high[2] {
  ^bb0(%i: index):
    {0}
  } : tensor<3xf32> to tensor<6xf32>
  return %r : tensor<6xf32>
}"""


@pytest.mark.parametrize(
    "body", ["tensor.yield %e : f32", "%c = arith.constant 4.0 : f32\n    tensor.yield %c : f32"]
)
def test_padding_with_one_value_is_numpys(body):
    (given,) = run(PAD.replace("{0}", body), X[0, :3], np.float32(4))
    np.testing.assert_array_equal(given, [4, 0, 1, 2, 4, 4])


def test_padding_that_depends_on_the_place_is_left():
    body = "%k = arith.index_cast %i : index to i32\n    %c = arith.sitofp %k : i32 to f32\n    tensor.yield %c : f32"
    assert "tensor.pad" in legalized(PAD.replace("{0}", body))


EMPTY = """func.func @main(%x: tensor<2xf32>) -> tensor<{0}xf32> {{
  %0 = tensor.empty() : tensor<{0}xf32>
  %1 = tensor.insert_slice %x into %0[2] [2] [1] : tensor<2xf32> into tensor<{0}xf32>
  %2 = tensor.insert_slice %x into %1[0] [2] [1] : tensor<2xf32> into tensor<{0}xf32>
  return %2 : tensor<{0}xf32>
}}"""


def test_empty_tensor_is_turned_only_where_all_of_it_is_written():
    np.testing.assert_array_equal(run(EMPTY.format(4), X[0, :2])[0], [0, 1, 0, 1])
    assert "tensor.empty" in legalized(EMPTY.format(5))


def test_sizes_are_constants():
    text = """func.func @main(%x: tensor<4x6xf32>) -> tensor<2xi32> {
  %c1 = arith.constant 1 : index
  %0 = tensor.dim %x, %c1 : tensor<4x6xf32>
  %1 = tensor.rank %x : tensor<4x6xf32>
  %2 = arith.index_cast %0 : index to i32
  %3 = arith.index_castui %1 : index to i32
  %4 = tensor.from_elements %2, %3 : tensor<2xi32>
  return %4 : tensor<2xi32>
}"""
    np.testing.assert_array_equal(run(text, X)[0], [6, 2])


IF = """func.func @main(%x: tensor<f32>, %y: tensor<3xf32>) -> (tensor<f32>, tensor<3xf32>) {
  %zero = arith.constant 0.0 : f32
  %s = tensor.extract %x[] : tensor<f32>
  %c = arith.cmpf ogt, %s, %zero : f32
  %r:2 = scf.if %c -> (f32, tensor<3xf32>) {
    %0 = arith.mulf %s, %s : f32
    scf.yield %0, %y : f32, tensor<3xf32>
  } else {
    %0 = math.absf %y : tensor<3xf32>
    scf.yield %zero, %0 : f32, tensor<3xf32>
  }
  %o = tensor.from_elements %r#0 : tensor<f32>
  return %o, %r#1 : tensor<f32>, tensor<3xf32>
}"""


@pytest.mark.parametrize("x", [3.0, -3.0, np.nan])
def test_conditions_choose_scalars_and_tensors(x):
    y = np.array([1, -2, -0.0], np.float32)
    scalar, tensor = run(IF, np.float32(x), y)
    np.testing.assert_array_equal(scalar, x * x if x > 0 else 0)
    np.testing.assert_array_equal(tensor, y if x > 0 else np.abs(y))


FOR = """func.func @main(%x: tensor<6xf32>, %n: tensor<i32>) -> (tensor<6xf32>, tensor<f32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %unit = arith.constant 1.0 : f32
  %last = tensor.extract %n[] : tensor<i32>
  %end = arith.index_cast %last : i32 to index
  %r:2 = scf.for %i = %zero to %end step %two iter_args(%t = %x, %p = %unit) -> (tensor<6xf32>, f32) {
    %v = tensor.extract %t[%i] : tensor<6xf32>
    %q = arith.mulf %p, %v : f32
    %c = arith.cmpi ult, %i, %two : index
    %w = scf.if %c -> (f32) {
      scf.yield %unit : f32
    } else {
      scf.yield %q : f32
    }
    %next = arith.addi %i, %one : index
    %s = tensor.insert %w into %t[%next] : tensor<6xf32>
    scf.yield %s, %q : tensor<6xf32>, f32
  }
  %o = tensor.from_elements %r#1 : tensor<f32>
  return %r#0, %o : tensor<6xf32>, tensor<f32>
}"""


@pytest.mark.parametrize("n", [0, -1, 1, 5, 6])
def test_loops_count_and_carry_scalars_and_tensors(n):
    x = np.array([2, 3, 4, 5, 6, 7], np.float32)
    wanted, product = x.copy(), 1
    for i in range(0, n, 2):
        product = product * wanted[i]
        wanted[i + 1] = 1 if i < 2 else product
    given = run(FOR, x, np.int32(n))
    np.testing.assert_array_equal(given[0], wanted)
    np.testing.assert_array_equal(given[1], product)


WHILE = """func.func @main(%n: tensor<i32>, %x: tensor<3xf32>) -> (tensor<i32>, tensor<3xf32>) {
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %s = tensor.extract %n[] : tensor<i32>
  %r:2 = scf.while (%k = %s, %t = %x) : (i32, tensor<3xf32>) -> ({0}) {
    %c = arith.cmpi sgt, %k, %one : i32
    %odd = arith.remsi %k, %two : i32
    {1}
  } do {
  ^bb0(%a: {2}, %b: {3}):
    {4}
    %h = arith.divsi %k, %two : i32
    %d = math.absf %t : tensor<3xf32>
    %e = arith.mulf %d, %d : tensor<3xf32>
    scf.yield %h, %e : i32, tensor<3xf32>
  }
  %o = tensor.from_elements %r#{5} : tensor<i32>
  return %o, %r#{6} : tensor<i32>, tensor<3xf32>
}"""


@pytest.mark.parametrize("n", [0, 1, 2, 9])
def test_loops_with_a_condition_hand_on_what_they_were_given(n):
    text = WHILE
    for number, part in enumerate(
        (
            "i32, tensor<3xf32>",
            "scf.condition(%c) %k, %t : i32, tensor<3xf32>",
            "i32",
            "tensor<3xf32>",
            "",
            "0",
            "1",
        )
    ):
        text = text.replace(f"{{{number}}}", part)
    text = text.replace("^bb0(%a: i32, %b:", "^bb0(%k: i32, %t:")
    x = np.array([1, -2, 0.5], np.float32)
    given = run(text, np.int32(n), x)
    while n > 1:
        n, x = n // 2, x * x
    np.testing.assert_array_equal(given[0], n)
    np.testing.assert_array_equal(given[1], x)


ROTATED = """func.func @main(%n: tensor<i32>) -> (tensor<i32>, tensor<f32>) {
  %one = arith.constant 1 : i32
  %half = arith.constant 0.5 : f32
  %s = tensor.extract %n[] : tensor<i32>
  %r:2 = scf.while (%k = %s) : (i32) -> (f32, i32) {
    %c = arith.cmpi sgt, %k, %one : i32
    %f = arith.sitofp %k : i32 to f32
    %g = arith.mulf %f, %half : f32
    %j = arith.muli %k, %k : i32
    scf.condition(%c) %g, %j : f32, i32
  } do {
  ^bb0(%g: f32, %j: i32):
    %i = arith.fptosi %g : f32 to i32
    scf.yield %i : i32
  }
  %0 = tensor.from_elements %r#1 : tensor<i32>
  %1 = tensor.from_elements %r#0 : tensor<f32>
  return %0, %1 : tensor<i32>, tensor<f32>
}"""


@pytest.mark.parametrize("n", [0, 1, 2, 9, 100])
def test_loops_whose_condition_computes_what_it_hands_on_run_it_as_often(n):
    given = run(ROTATED, np.int32(n))
    while n > 1:
        n //= 2
    np.testing.assert_array_equal(given[0], n * n)
    np.testing.assert_array_equal(given[1], n / 2)


def test_loop_whose_body_is_its_condition_runs_at_least_once():
    text = ROTATED.replace("%i = arith.fptosi %g : f32 to i32\n    scf.yield %i", "scf.yield %j")
    for n, wanted in ((1, 1), (2, 2**4)):
        text_of_n = text.replace("sgt, %k, %one", "sgt, %one, %k" if n == 1 else "eq, %k, %two")
        text_of_n = text_of_n.replace("%half =", "%two = arith.constant 2 : i32\n  %half =")
        np.testing.assert_array_equal(run(text_of_n, np.int32(n))[0], wanted)


def test_loops_in_conditions_of_loops_do_not_grow():
    sizes = []
    for depth in (4, 8):
        head = "  %v = scf.while (%k = %s) : (i32) -> (i32) {\n    %c = arith.cmpi sgt, %k, %one : i32\n"
        tail = "    %j = arith.muli %k, %k : i32\n    scf.condition(%c) %j : i32\n  } do {\n  ^bb0(%g: i32):\n    scf.yield %g : i32\n  }\n"
        loops = "".join(
            head.replace("%v", f"%v{i}")
            .replace("%k = %s", f"%k{i} = %k{i - 1}")
            .replace("%k,", f"%k{i},")
            .replace("%c", f"%c{i}")
            for i in range(1, depth)
        ) + "".join(
            tail.replace("%k", f"%k{i}")
            .replace("%c", f"%c{i}")
            .replace("%j", f"%j{i}")
            .replace("%g", f"%g{i}")
            for i in reversed(range(1, depth))
        )
        text = f"func.func @main(%n: tensor<i32>) -> tensor<i32> {{\n  %one = arith.constant 1 : i32\n  %k0 = tensor.extract %n[] : tensor<i32>\n{loops}  return %n : tensor<i32>\n}}"
        sizes.append(legalized(text).count("stablehlo.while"))
    assert sizes == [3, 7]


def test_condition_without_results_and_without_else_compiles():
    text = """func.func @main(%n: tensor<i1>) -> tensor<i1> {
  %s = tensor.extract %n[] : tensor<i1>
  scf.if %s {
    %0 = stablehlo.not %n : tensor<i1>
  }
  return %n : tensor<i1>
}"""
    assert run(text, np.array(True))[0]


def test_ops_in_regions_of_stablehlo_are_turned():
    text = """func.func @main(%x: tensor<5xf32>) -> tensor<f32> {
  %0 = stablehlo.constant dense<1.0> : tensor<f32>
  %1 = "stablehlo.reduce"(%x, %0) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %2 = arith.mulf %a, %b : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) {dimensions = array<i64: 0>} : (tensor<5xf32>, tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}"""
    np.testing.assert_allclose(run(text, np.arange(1, 6, dtype=np.float32))[0], 120)


def test_locations_and_attributes_of_dialects_stay():
    text = """sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<4xi32>) -> tensor<4xi32> {
  %0 = arith.divui %x, %x {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>, other} : tensor<4xi32> loc("a.mlir":7:3)
  return %0 : tensor<4xi32>
}"""
    module = ir.Module.parse(text, new_context())
    assert legalize(module)
    ops = [
        view.operation
        for view in module.body.operations[1].operation.regions[0].blocks[0].operations
    ]
    assert [str(op.location) for op in ops[:-1]] == ['loc("a.mlir":7:3)'] * 4
    assert ["sdy.sharding" in op.attributes for op in ops] == [False, False, False, True, False]
    assert not any("other" in op.attributes for op in ops)


UNTOUCHED = [
    "%0 = arith.addf %x, %x : tensor<3xf32>",
    "%0 = math.fma %x, %x, %x : tensor<3xf32>",
    "%0 = arith.constant dense<1.0> : tensor<3xf32>",
    "%0 = tensor.cast %x : tensor<3xf32> to tensor<?xf32>",
    "%0 = tensor.empty() : tensor<3xf32>",
    "%0 = arith.constant dense<1.0> : vector<4xf32>\n  %1 = arith.mulf %0, %0 : vector<4xf32>",
    "%0 = ub.poison : f32\n  %1 = arith.mulf %0, %0 : f32",
    "%m = memref.alloc() : memref<3xf32>\n  %i = arith.constant 0 : index\n  %0 = memref.load %m[%i] : memref<3xf32>\n  %1 = arith.mulf %0, %0 : f32",
    "%c = arith.constant dense<2> : tensor<3xindex>\n  %0 = arith.muli %c, %c : tensor<3xindex>",
    "%c = arith.constant dense<2> : tensor<3xi128>\n  %0 = arith.muli %c, %c : tensor<3xi128>",
    "%0 = stablehlo.add %x, %x : tensor<3xf32>",
]


@pytest.mark.parametrize("body", UNTOUCHED)
def test_what_has_no_exact_form_stays(body):
    left(
        f"func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {{\n  {body}\n  return %x : tensor<3xf32>\n}}"
    )


def test_scalars_that_a_left_op_reads_stay_beside_their_tensors():
    text = """func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %s = tensor.extract %x[] : tensor<f32>
  %0 = arith.mulf %s, %s : f32
  %1 = call @f(%0) : (f32) -> f32
  %2 = tensor.from_elements %0 : tensor<f32>
  return %2 : tensor<f32>
}
func.func private @f(%x: f32) -> f32 { return %x : f32 }"""
    after = legalized(text)
    assert "arith.mulf" in after
    assert "stablehlo.multiply" in after
    assert "from_elements" not in after


MEMORY = """func.func @main(%x: tensor<f32>, %m: memref<4xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  scf.for %i = %zero to %one step %one {
    %0 = memref.load %m[%i] : memref<4xf32>
    %1 = arith.mulf %0, %0 : f32
    memref.store %1, %m[%i] : memref<4xf32>
  }
  return
}"""


def test_loops_over_memory_stay():
    left(MEMORY)


def test_scalar_that_an_op_of_a_moved_body_reads_is_taken_out_of_its_tensor():
    text = """func.func @main(%n: tensor<i32>) -> tensor<i32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %s = tensor.extract %n[] : tensor<i32>
  %r = scf.for %i = %zero to %one step %one iter_args(%a = %s) -> (i32) {
    %k = arith.index_cast %i : index to i128
    %l = arith.trunci %k : i128 to i32
    %m = arith.muli %l, %a : i32
    scf.yield %m : i32
  }
  %o = tensor.from_elements %r : tensor<i32>
  return %o : tensor<i32>
}"""
    after = legalized(text)
    assert "stablehlo.while" in after
    assert "i64 to index" in after
    assert "arith.muli" in after


@pytest.mark.usefixtures("with_addf")
def test_addf_has_a_rule_all_the_same():
    text = "func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {\n  %0 = arith.addf %x, %x : tensor<3xf32>\n  return %0 : tensor<3xf32>\n}"
    assert "stablehlo.add" in legalized(text)


def test_scan_tells_whether_there_is_anything_to_do(read):
    text = "func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {{\n  %0 = {0} : tensor<3xf32>\n  return %0 : tensor<3xf32>\n}}"
    for line, wanted in {
        "arith.mulf %x, %x": True,
        "arith.addf %x, %x": False,
        "arith.constant dense<1.0>": False,
        "stablehlo.add %x, %x": False,
    }.items():
        assert needs_legalizing(read(text.format(line)).index) is wanted


def test_rules_name_ops_of_the_four_dialects_alone():
    assert {name.partition(".")[0] for name in RULES} == {"arith", "math", "scf", "tensor"}


def test_jax_context_is_not_changed():
    context = mlir.make_ir_context()
    module = ir.Module.parse(IF, context)
    before = context.allow_unregistered_dialects
    assert legalize(module)
    assert module.operation.verify()
    assert context.allow_unregistered_dialects == before
    np.testing.assert_array_equal(jax.jit(jnp.add)(1, 2), 3)


def test_scan_after_legalizing_knows_no_foreign_op():
    module = ir.Module.parse(FOR, new_context())
    legalize(module)
    assert not needs_legalizing(scan(module))


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("dtype", [jnp.float16, jnp.bfloat16, np.float64])
def test_signs_are_copied_in_floats_of_every_width(dtype):
    x, y = np.array([1.5, -0.0, -2.0], dtype), np.array([-0.0, 1.0, -1.0], dtype)
    same_bits(apply("math.copysign", x, y), np.copysign(x, y))


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int64])
def test_natural_numbers_of_every_width_are_numpys(dtype):
    x, y = np.array([-1, 5, -128], dtype), np.array([3, -2, 127], dtype)
    natural = np.dtype(dtype.__name__.replace("int", "uint"))
    wanted = (x.view(natural) // y.view(natural)).view(dtype)
    np.testing.assert_array_equal(apply("arith.divui", x, y), wanted)


def test_ops_of_equal_shapes_are_turned_before_the_sizes_are_known():
    text = """func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = arith.mulf %x, %x : tensor<?xf32>
  %1 = math.trunc %0 : tensor<?xf32>
  return %1 : tensor<?xf32>
}"""
    assert "stablehlo.multiply %arg0, %arg0 : tensor<?xf32>" in legalized(text)
    assert "math.log2" in left(
        "func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {\n"
        "  %0 = math.log2 %x : tensor<?xf32>\n  return %0 : tensor<?xf32>\n}"
    )
