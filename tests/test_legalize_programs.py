"""Programs with ops of other dialects are called, or refused at their line, like any others."""

import jax
import numpy as np
import pytest

import kernel_magics as km
from kernel_magics.errors import PreflightError
from kernel_magics.ir.legalize import lower, lowered_copy
from kernel_magics.ir.preflight import preflight
from kernel_magics.ir.source import Source

POWERS = """func.func @main(%x: tensor<3xf32>, %n: tensor<i32>) -> tensor<3xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %k = tensor.extract %n[] : tensor<i32>
  %end = arith.index_cast %k : i32 to index
  %r = scf.for %i = %c0 to %end step %c1 iter_args(%a = %x) -> (tensor<3xf32>) {
    %0 = func.call @step(%a, %x) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    scf.yield %0 : tensor<3xf32>
  }
  return %r : tensor<3xf32>
}
func.func private @step(%a: tensor<3xf32>, %x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = arith.mulf %a, %x : tensor<3xf32>
  %1 = math.absf %0 : tensor<3xf32>
  return %1 : tensor<3xf32>
}
func.func @other(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = arith.addf %x, %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}"""
X = np.array([1, -2, 3], np.float32)


@pytest.mark.parametrize("n", [0, 1, 3])
def test_programs_are_called_with_and_without_jit(n):
    wanted = np.abs(X) ** (n + 1) if n else X
    np.testing.assert_array_equal(km.hlo_call(POWERS, X, np.int32(n))[0], wanted)
    twice = jax.jit(lambda x: 2 * km.hlo_call(POWERS, x, np.int32(n))[0])
    np.testing.assert_array_equal(twice(X), 2 * wanted)


def test_units_of_a_session_keep_their_ops_and_run(session):
    function = session.load(POWERS, name="powers", func_name="main")
    np.testing.assert_array_equal(function(X, np.int32(1))[0], X * X)
    assert "scf.for" in session.module_text()


def test_declared_functions_are_lowered_where_they_are_defined(session):
    session.define(POWERS.replace("private @step", "@step"), name="library")
    kind = "(tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>"
    text = f"""func.func private @step{kind}
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {{
  %0 = math.exp %x : tensor<3xf32>
  %1 = call @step(%0, %x) : {kind}
  return %1 : tensor<3xf32>
}}"""
    given = session.load(text, name="app")(X)[0]
    np.testing.assert_allclose(given, np.abs(np.exp(X) * X), rtol=1e-6)


def test_dimensions_may_be_unknown_until_the_call():
    text = """func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = arith.mulf %x, %x : tensor<?xf32>
  %1 = math.sqrt %0 : tensor<?xf32>
  return %1 : tensor<?xf32>
}"""
    for size in (2, 5):
        x = np.arange(size, dtype=np.float32)
        np.testing.assert_array_equal(km.hlo_call(text, x)[0], x)


def refusal(text: str, session, entry: str = "main") -> str:
    unit = session.read(Source(text, "cell", 2))
    with pytest.raises(PreflightError) as error:
        session.add(unit, "unit", entry=entry).functions[entry](X)
    return str(error.value)


def test_an_op_that_is_left_is_refused_at_its_line(session):
    text = """func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = math.absf %x : tensor<3xf32>
  %1 = math.fma %0, %x, %x : tensor<3xf32>
  return %1 : tensor<3xf32>
}"""
    assert refusal(text, session) == (
        "`@main` cannot be compiled: `math.fma` is not an op that XLA takes\n"
        "  cell:4:8\n"
        "    %1 = math.fma %0, %x, %x : tensor<3xf32>\n"
        "         ^^^^^^^^\n"
        "  Lower the program to StableHLO first."
    )


def test_addf_is_refused_by_name(session):
    message = refusal(POWERS, session, "other")
    assert message.startswith(
        "`@other` cannot be compiled: `arith.addf` is not an op that XLA takes\n  cell:19:8\n"
    )


def test_an_op_that_is_left_in_a_loop_is_refused_at_its_line(session):
    message = refusal(
        """func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %c1 step %c1 iter_args(%a = %x) -> (tensor<3xf32>) {
    %0 = arith.addf %a, %x : tensor<3xf32>
    scf.yield %0 : tensor<3xf32>
  }
  return %r : tensor<3xf32>
}""",
        session,
    )
    assert "`arith.addf` is not an op that XLA takes\n  cell:6:10\n" in message


def test_cycles_and_declarations_are_found_after_lowering(session):
    text = """func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = arith.mulf %x, %x : tensor<3xf32>
  %1 = call @main(%0) : (tensor<3xf32>) -> tensor<3xf32>
  return %1 : tensor<3xf32>
}"""
    assert refusal(text, session) == (
        "`@main` cannot be compiled: `@main` calls itself\n"
        "  cell:4:8\n"
        "    %1 = call @main(%0) : (tensor<3xf32>) -> tensor<3xf32>\n"
        "         ^^^^\n"
        "  XLA has no recursion: write a `stablehlo.while` instead."
    )
    declared = text.replace("call @main", "call @ext")
    declared += "\nfunc.func private @ext(tensor<3xf32>) -> tensor<3xf32>"
    assert refusal(declared, session).startswith(
        "`@main` cannot be compiled: `@ext` is declared without a body\n  cell:7:1\n"
    )


ROUNDED_TWICE = [
    ("arith.truncf %x : tensor<3xf64> to tensor<3xf16>", "f64", "f16"),
    ("arith.truncf %x : tensor<3xf64> to tensor<3xbf16>", "f64", "bf16"),
    ("arith.sitofp %x : tensor<3xi32> to tensor<3xbf16>", "i32", "bf16"),
    ("arith.uitofp %x : tensor<3xi64> to tensor<3xbf16>", "i64", "bf16"),
]


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize(("line", "given", "made"), ROUNDED_TWICE)
def test_conversions_that_would_round_twice_are_refused(line, given, made):
    text = f"""func.func @main(%x: tensor<3x{given}>) -> tensor<3x{made}> {{
  %0 = {line}
  return %0 : tensor<3x{made}>
}}"""
    dtype = np.dtype({"f": "float", "i": "int"}[given[0]] + given[1:])
    with pytest.raises(PreflightError, match=f"`{line.split()[0]}` is not an op that XLA takes"):
        km.hlo_call(text, np.ones(3, dtype))


def test_integers_that_f32_holds_are_rounded_once_on_the_way_to_narrow_floats():
    text = """func.func @main(%x: tensor<{0}x{1}>) -> tensor<{0}x{2}> {{
  %0 = arith.sitofp %x : tensor<{0}x{1}> to tensor<{0}x{2}>
  return %0 : tensor<{0}x{2}>
}}"""
    small = np.arange(-(2**15), 2**15, 7).astype(np.int16)
    (given,) = km.hlo_call(text.format(small.size, "i16", "bf16"), small)
    np.testing.assert_array_equal(given, small.astype(given.dtype))
    large = np.arange(-66000, 66000, 3, dtype=np.int32)
    (given,) = km.hlo_call(text.format(large.size, "i32", "f16"), large)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(given, large.astype(np.float16))


def test_checks_before_linking_see_what_would_be_compiled(read):
    unit = read(POWERS)
    before = str(unit.module)
    assert preflight(lowered_copy(unit, "main"), "main", unit.source) is None
    with pytest.raises(PreflightError, match="`arith.addf`"):
        preflight(lowered_copy(unit, "other"), "other", unit.source)
    assert str(unit.module) == before
    plain = read("func.func @main() { return }")
    assert lowered_copy(plain, "main") is plain.index


def test_lowered_modules_verify_and_hold_the_entry_alone(read):
    unit = read(POWERS)
    index = lower(unit.index, "main")
    assert set(index.by_name) == {"main", "step"}
    assert unit.module.operation.verify()
