"""Replay as a whole: what it is made of, what it refuses, and what JAX says about it."""

import traceback

import jax
import numpy as np
import pytest
from jax import numpy as jnp

import kernel_magics as km
from kernel_magics.call.program import Binding, Program, read_program
from kernel_magics.call.replay.replay import blockers, make_jaxpr, replay, to_jax
from kernel_magics.errors import PreflightError, SignatureError
from kernel_magics.ir.source import Source
from tests.replay.programs import assert_same, one, replayed

RANDOM = """
func.func private @draw(%a: tensor<f32>) -> tensor<3xf32> {
  %n = stablehlo.constant dense<3> : tensor<1xi64>
  %0 = stablehlo.rng %a, %a, %n, distribution = UNIFORM
    : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
func.func @main(%a: tensor<f32>) -> tensor<3xf32> {
  %0 = call @draw(%a) : (tensor<f32>) -> tensor<3xf32>
  %t = stablehlo.create_token : !stablehlo.token
  %1 = "stablehlo.outfeed"(%0, %t) {outfeed_config = ""}
    : (tensor<3xf32>, !stablehlo.token) -> !stablehlo.token
  return %0 : tensor<3xf32>
}
func.func @other(%a: tensor<f32>) -> tensor<f32> {
  return %a : tensor<f32>
}"""


def test_all_that_blocks_is_told_at_once_with_its_lines():
    program = read_program(Source(RANDOM, "cell"), "main")
    found = blockers(program)
    assert [(b.op, b.function) for b in found] == [
        ("stablehlo.rng", "draw"),
        ("stablehlo.outfeed", "main"),
    ]
    with pytest.raises(PreflightError) as error:
        to_jax(program)(1.0)
    lines = str(error.value).split("\n")
    assert lines[0].startswith("`@main` has no form in JAX: `stablehlo.rng`: it draws numbers")
    assert lines[0].endswith("(and 1 more)")
    assert [line.strip() for line in lines if "cell:" in line] == ["cell:4:8", "cell:11:8"]


def test_what_the_entry_does_not_use_does_not_block():
    program = read_program(Source(RANDOM), "other")
    assert blockers(program) == []
    assert to_jax(program)(2.0)[0] == 2


def test_what_a_binding_uses_blocks():
    text = """
    func.func private @draw(tensor<f32>) -> tensor<3xf32>
    func.func @main(%a: tensor<f32>) -> tensor<3xf32> {
      %0 = call @draw(%a) : (tensor<f32>) -> tensor<3xf32>
      return %0 : tensor<3xf32>
    }"""
    other = read_program(Source(RANDOM), "draw")
    program = Program(Source(text), "main", (Binding("draw", other),))
    assert [b.op for b in blockers(program)] == ["stablehlo.rng"]


def test_arguments_are_checked_as_those_of_a_call():
    function = replayed(
        "func.func @main(%a: tensor<3xf32>) -> tensor<3xf32> { return %a : tensor<3xf32> }"
    )
    with pytest.raises(SignatureError, match="takes f32\\[3\\] as argument 0"):
        function(np.zeros(4, np.float32))


def test_a_handle_of_a_session_is_taken(session):
    session.define(
        "func.func @f(%a: tensor<f32>) -> tensor<f32> { %0 = stablehlo.sine %a : tensor<f32> return %0 : tensor<f32> }".replace(
            "> return", ">\n return"
        ).replace("{ %0", "{\n %0")
    )
    function = session.functions["f"]
    assert isinstance(function, km.HloFunction)
    assert to_jax(function)(0.5)[0] == function(0.5)[0]
    assert jax.grad(lambda x: to_jax(function)(x)[0])(0.5) == jnp.cos(0.5)


def test_the_lines_of_the_program_are_the_lines_of_the_jaxpr():
    text = """func.func @main(%a: tensor<3xf32>) -> tensor<3xf32> {
      %0 = stablehlo.sine %a : tensor<3xf32>
      %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<3xf32>) -> tensor<3xf32>
      %2 = stablehlo.log %1 : tensor<3xf32>
      return %2 : tensor<3xf32>
    }"""
    jaxpr = make_jaxpr(read_program(Source(text, "cell", first_line=2), "main"))
    shown = jaxpr.pretty_print(source_info=True)
    assert [f"cell:{line}:" in shown for line in (3, 5)] == [True, True]
    assert "(main)" in shown


def test_what_jax_cannot_differentiate_is_told_with_its_line():
    text = """
    func.func @main(%a: tensor<3xf32>) -> tensor<3xf32> {
      %0 = stablehlo.custom_call @nobody.knows(%a) {api_version = 4 : i32} : (tensor<3xf32>) -> tensor<3xf32>
      return %0 : tensor<3xf32>
    }"""
    with pytest.raises(ValueError, match="cannot be differentiated") as error:
        jax.grad(lambda x: replayed(text)(x)[0].sum())(np.zeros(3, np.float32))
    assert 'File "text", line 3, in main' in str(error.value.__cause__) or any(
        frame.name == "main" and frame.filename == "text" and frame.lineno == 3
        for frame in traceback.extract_tb(error.value.__cause__.__traceback__)
    )


def test_an_error_in_a_trace_carries_the_line():
    text = """
    func.func @main() -> tensor<ui32> {
      %0 = stablehlo.partition_id : tensor<ui32>
      return %0 : tensor<ui32>
    }"""
    with pytest.raises(PreflightError):
        replayed(text.replace("\n", "\n\n"))()
    with pytest.raises(PreflightError) as error:
        replayed(text)()
    # JAX adds a note of its own. An equal program with other lines was replayed before.
    assert (
        "in `stablehlo.partition_id` of the replayed program\n"
        "text:3:12\n"
        "  %0 = stablehlo.partition_id : tensor<ui32>\n"
        "       ^^^^^^^^^^^^^^^^^^^^^^"
    ) in error.value.__notes__


def test_names_that_jax_gave_are_scopes():
    @jax.jit
    def function(x):
        with jax.named_scope("layer"):
            y = jnp.sin(x)
        return y + 1

    x = np.zeros(3, np.float32)
    text = function.lower(x).as_text(debug_info=True)
    lowered = jax.jit(replayed(text)).lower(x).as_text(debug_info=True)
    assert "layer/sin" in lowered
    assert "layer/add" not in lowered


def test_values_of_64_bits_inside_are_kept_whole_while_jax_cuts_them():
    text = """
    func.func @main(%x: tensor<3xi32>) -> tensor<3xi32> {
      %k = stablehlo.constant dense<4294967296> : tensor<3xi64>
      %0 = stablehlo.convert %x : (tensor<3xi32>) -> tensor<3xi64>
      %1 = stablehlo.multiply %0, %k : tensor<3xi64>
      %2 = stablehlo.divide %1, %k : tensor<3xi64>
      %3 = stablehlo.convert %2 : (tensor<3xi64>) -> tensor<3xi32>
      return %3 : tensor<3xi32>
    }"""
    assert_same(text, np.array([1, -5, 7], np.int32))


def test_dimensions_that_are_known_at_a_call():
    text = """
    func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
      %0 = stablehlo.add %x, %x : tensor<?xf32>
      return %0 : tensor<?xf32>
    }"""
    for length in (2, 5):
        assert_same(text, np.arange(length, dtype=np.float32))
    with pytest.raises(PreflightError, match="known at a call only"):
        make_jaxpr(read_program(Source(text), "main"))


def test_shapes_that_are_operands():
    text = """
    func.func @main(%x: tensor<2x3xf32>) -> (tensor<3x2x3xf32>, tensor<2x4xf32>, tensor<1x2xf32>, tensor<6xf32>) {
      %z = stablehlo.constant dense<0.5> : tensor<f32>
      %s = stablehlo.constant dense<[3, 2, 3]> : tensor<3xi32>
      %a = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [1, 2] : (tensor<2x3xf32>, tensor<3xi32>) -> tensor<3x2x3xf32>
      %l = stablehlo.constant dense<[0, 1]> : tensor<2xi32>
      %h = stablehlo.constant dense<0> : tensor<2xi32>
      %b = stablehlo.dynamic_pad %x, %z, %l, %h, %h : (tensor<2x3xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x4xf32>
      %u = stablehlo.constant dense<[1, 3]> : tensor<2xi32>
      %o = stablehlo.constant dense<1> : tensor<2xi32>
      %c = stablehlo.real_dynamic_slice %x, %l, %u, %o : (tensor<2x3xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<1x2xf32>
      %n = stablehlo.constant dense<6> : tensor<1xi32>
      %d = stablehlo.dynamic_reshape %x, %n : (tensor<2x3xf32>, tensor<1xi32>) -> tensor<6xf32>
      return %a, %b, %c, %d : tensor<3x2x3xf32>, tensor<2x4xf32>, tensor<1x2xf32>, tensor<6xf32>
    }"""
    assert_same(text, np.arange(6, dtype=np.float32).reshape(2, 3))


CONSTANTS = [
    ("2xcomplex<f32>", "[(1.0, -2.5), (0x7F800000, 3.0)]"),
    ("3xcomplex<f32>", "(1.0, -2.5)"),
    ("2xcomplex<f32>", '"0x0000803F000000400000803F00000040"'),
    ("3xbf16", "[1.5, -0.0, 0xFF80]"),
    ("3xf8E4M3FN", "[1.5, -0.0, 0x7F]"),
    ("4xf8E5M2", "0.25"),
    ("3xi4", "[-8, 7, 0]"),
    ("2x2xui4", "15"),
    ("3xi1", "[true, false, true]"),
    ("2x3xf16", "0x7C00"),
    ("3xi8", "[-128, 127, 0]"),
    ("0x2xf32", ""),
]


@pytest.mark.parametrize(("kind", "elements"), CONSTANTS)
def test_constants_of_any_type(kind, elements):
    text = f"func.func @main() -> tensor<{kind}> {{\n  %0 = stablehlo.constant dense<{elements}> : tensor<{kind}>\n  return %0 : tensor<{kind}>\n}}"
    assert_same(text)


def test_constants_whose_bytes_stand_at_the_end():
    text = """
    func.func @main() -> tensor<2xf32> {
      %0 = stablehlo.constant dense_resource<abc> : tensor<2xf32>
      return %0 : tensor<2xf32>
    }
    {-# dialect_resources: { builtin: { abc: "0x040000000000803F00000040" } } #-}"""
    np.testing.assert_array_equal(replayed(text)()[0], [1, 2])


def test_a_constant_of_one_value_is_small_in_a_jaxpr():
    kind = "tensor<1000x1000xf32>"
    text = one(f"stablehlo.constant dense<2.0> : {kind}", result=kind)
    assert make_jaxpr(read_program(Source(text), "main")).consts == []


def test_mhlo_has_the_rules_of_stablehlo():
    kind = "tensor<3xf32>"
    text = f"func.func @main(%0: {kind}) -> {kind} {{\n  %1 = mhlo.add %0, %0 : {kind}\n  %2 = mhlo.erf %1 : {kind}\n  return %2 : {kind}\n}}"
    x = np.array([0.1, -2, 3], np.float32)
    program = read_program(Source(text), "main")
    np.testing.assert_allclose(replay(program, [x])[0], jax.lax.erf(2 * x))


def test_annotations_pass_values_on():
    kind = "tensor<3xf32>"
    op = f'stablehlo.custom_call @Sharding(%0) {{mhlo.sharding = "{{replicated}}"}} : ({kind}) -> {kind}'
    assert replayed(one(op, kind, result=kind))(np.arange(3, dtype=np.float32))[0].tolist() == [
        0,
        1,
        2,
    ]


@pytest.mark.parametrize("axis", [0, 1])
def test_scans_of_chlo(axis):
    end = "2" if axis == 1 else "3"
    text = f"""
    func.func @main(%x: tensor<2x3xf32>, %s: tensor<{end}xf32>) -> (tensor<2x3xf32>, tensor<{end}xf32>) {{
      %0:2 = chlo.scan(%x) inits(%s) dimension={axis} {{
        ^bb0(%a: tensor<{end}xf32>, %b: tensor<{end}xf32>):
          %c = stablehlo.multiply %a, %b : tensor<{end}xf32>
          %d = stablehlo.sine %c : tensor<{end}xf32>
          stablehlo.return %c, %d : tensor<{end}xf32>, tensor<{end}xf32>
      }} : (tensor<2x3xf32>, tensor<{end}xf32>) -> (tensor<2x3xf32>, tensor<{end}xf32>)
      return %0#0, %0#1 : tensor<2x3xf32>, tensor<{end}xf32>
    }}"""
    x = np.arange(6, dtype=np.float32).reshape(2, 3) / 3
    assert_same(text, x, np.ones(int(end), np.float32), rtol=1e-6)


def test_a_function_without_a_body_is_refused_in_words():
    text = "func.func private @f(tensor<2xf32>) -> tensor<2xf32>"
    with pytest.raises(PreflightError) as error:
        make_jaxpr(Program(Source(text, "cell"), "f"))
    assert str(error.value).startswith(
        "`@f` has no form in JAX: `func.func`: it has no body and no meaning here\n  cell:1:1\n"
    )
