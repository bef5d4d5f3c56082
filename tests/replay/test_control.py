"""Branches, loops and calls keep their meaning and their boundaries."""

import jax
import numpy as np
import pytest

from kernel_magics.call.program import Binding, Program, read_program
from kernel_magics.call.replay.replay import to_jax
from kernel_magics.ir.source import Source
from tests.replay.programs import assert_same, replayed

CASE = """
func.func @main(%i: tensor<i32>, %x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %r:2 = "stablehlo.case"(%i) ({
    %a = stablehlo.sine %x : tensor<f32>
    stablehlo.return %a, %x : tensor<f32>, tensor<f32>
  }, {
    %a = stablehlo.cosine %x : tensor<f32>
    stablehlo.return %x, %a : tensor<f32>, tensor<f32>
  }, {
    stablehlo.return %x, %x : tensor<f32>, tensor<f32>
  }) : (tensor<i32>) -> (tensor<f32>, tensor<f32>)
  return %r#0, %r#1 : tensor<f32>, tensor<f32>
}"""


def loop(limit="%n", start="0", dtype="i32"):
    return f"""
    func.func @main(%x: tensor<3xf32>, %n: tensor<{dtype}>) -> (tensor<{dtype}>, tensor<3xf32>) {{
      %z = stablehlo.constant dense<{start}> : tensor<{dtype}>
      %o = stablehlo.constant dense<1> : tensor<{dtype}>
      %k = stablehlo.constant dense<7> : tensor<{dtype}>
      %r:3 = stablehlo.while(%i = %z, %a = %x, %w = %x)
          : tensor<{dtype}>, tensor<3xf32>, tensor<3xf32>
        cond {{
          %c = stablehlo.compare LT, %i, {limit} : (tensor<{dtype}>, tensor<{dtype}>) -> tensor<i1>
          stablehlo.return %c : tensor<i1>
        }} do {{
          %j = stablehlo.add %i, %o : tensor<{dtype}>
          %s = stablehlo.sine %a : tensor<3xf32>
          %b = stablehlo.multiply %s, %w : tensor<3xf32>
          stablehlo.return %j, %b, %w : tensor<{dtype}>, tensor<3xf32>, tensor<3xf32>
        }}
      return %r#0, %r#1 : tensor<{dtype}>, tensor<3xf32>
    }}"""


X = np.array([0.5, -1, 2], np.float32)


@pytest.mark.parametrize("index", [-1, 0, 1, 2, 3, 100])
def test_an_index_of_no_branch_means_the_last(index):
    assert_same(CASE, np.int32(index), np.float32(0.5))


@pytest.mark.parametrize("count", [0, 1, 5])
def test_a_loop_whose_end_is_known_at_run_time(count):
    assert_same(loop(), X, np.int32(count), rtol=1e-6)
    assert "while[" in str(jax.make_jaxpr(replayed(loop()))(X, np.int32(3)))


def test_a_loop_whose_end_is_known_is_a_scan():
    text = loop("%k")
    assert_same(text, X, np.int32(3), rtol=1e-6)
    inner = jax.make_jaxpr(replayed(text))(X, np.int32(3)).eqns[0].params["jaxpr"]
    (scan,) = [eqn for eqn in inner.jaxpr.eqns if eqn.primitive.name == "scan"]
    assert scan.params["length"] == 7
    # What the loop does not change is not carried.
    assert len(scan.outvars) == 2


def test_a_loop_that_does_not_begin():
    assert_same(loop("%k", start="9"), X, np.int32(3))


def test_conditions_choose():
    text = """
    func.func @main(%p: tensor<i1>, %x: tensor<3xf32>) -> tensor<3xf32> {
      %r = "stablehlo.if"(%p) ({
        %a = stablehlo.sine %x : tensor<3xf32>
        stablehlo.return %a : tensor<3xf32>
      }, {
        stablehlo.return %x : tensor<3xf32>
      }) : (tensor<i1>) -> tensor<3xf32>
      return %r : tensor<3xf32>
    }"""
    assert_same(text, True, X)
    assert_same(text, False, X)


@pytest.mark.parametrize("shape", ["", "3x", "2x3x"])
def test_maps_of_any_body(shape):
    kind = f"tensor<{shape}f32>"
    dims = ", ".join(str(i) for i in range(shape.count("x")))
    text = f"""
    func.func @main(%x: {kind}, %y: {kind}) -> {kind} {{
      %r = "stablehlo.map"(%x, %y) ({{
        ^bb0(%a: tensor<f32>, %b: tensor<f32>):
          %c = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
          %d = stablehlo.select %c, %a, %b : tensor<i1>, tensor<f32>
          stablehlo.return %d : tensor<f32>
      }}) {{dimensions = array<i64{": " if dims else ""}{dims}>}} : ({kind}, {kind}) -> {kind}
      return %r : {kind}
    }}"""
    x = np.random.default_rng(0).standard_normal([int(n) for n in shape.split("x") if n])
    assert_same(text, np.float32(x), np.float32(-x))


CALLS = """
func.func private @twice(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.add %x, %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = call @twice(%x) : (tensor<3xf32>) -> tensor<3xf32>
  %1 = call @twice(%0) : (tensor<3xf32>) -> tensor<3xf32>
  return %1 : tensor<3xf32>
}"""


def test_a_function_that_is_called_twice_is_traced_once_under_its_name():
    assert_same(CALLS, X)
    text = str(jax.make_jaxpr(replayed(CALLS))(X))
    assert text.count("name=twice") == 2
    assert text.count(" add ") == 1


def test_declarations_mean_functions_of_other_programs():
    text = """
    func.func private @half(tensor<3xf32>) -> tensor<3xf32>
    func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
      %0 = call @half(%x) : (tensor<3xf32>) -> tensor<3xf32>
      return %0 : tensor<3xf32>
    }"""
    other = read_program(Source(CALLS), "main")
    program = Program(Source(text), "main", (Binding("half", other),))
    np.testing.assert_array_equal(to_jax(program)(X)[0], 4 * X)


def test_composites_are_what_they_are_made_of():
    text = CALLS.replace("call @twice(%0) :", "call @twice(%0) :").replace(
        "%1 = call @twice(%0) : (tensor<3xf32>) -> tensor<3xf32>",
        '%1 = stablehlo.composite "my.twice" %0 {decomposition = @twice} : (tensor<3xf32>) -> tensor<3xf32>',
    )
    assert_same(text, X)


def test_barriers_and_tuples_pass_values_on():
    text = """
    func.func @main(%x: tensor<3xf32>, %y: tensor<i32>) -> (tensor<3xf32>, tensor<i32>) {
      %0:2 = stablehlo.optimization_barrier %x, %y : tensor<3xf32>, tensor<i32>
      %1 = stablehlo.tuple %0#0, %0#1 : tuple<tensor<3xf32>, tensor<i32>>
      %2 = stablehlo.get_tuple_element %1[0] : (tuple<tensor<3xf32>, tensor<i32>>) -> tensor<3xf32>
      return %2, %0#1 : tensor<3xf32>, tensor<i32>
    }"""
    assert_same(text, X, np.int32(4))
