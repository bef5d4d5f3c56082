"""Reductions, with the bodies that JAX has and with others."""

import numpy as np
import pytest

from tests.replay.programs import assert_same, imported, replayed

RANDOM = np.random.default_rng(0)

MONOIDS = ["add", "multiply", "maximum", "minimum"]


def reduction(body, dtype="f32", start="0.0", dims=": 1", shape="3x5", result="3"):
    return f"""
    func.func @main(%x: tensor<{shape}x{dtype}>) -> tensor<{result}{"x" if result else ""}{dtype}> {{
      %s = stablehlo.constant dense<{start}> : tensor<{dtype}>
      %r = "stablehlo.reduce"(%x, %s) ({{
        ^bb0(%a: tensor<{dtype}>, %b: tensor<{dtype}>):
          {body}
          stablehlo.return %c : tensor<{dtype}>
      }}) {{dimensions = array<i64{dims}>}} : (tensor<{shape}x{dtype}>, tensor<{dtype}>)
          -> tensor<{result}{"x" if result else ""}{dtype}>
      return %r : tensor<{result}{"x" if result else ""}{dtype}>
    }}"""


@pytest.mark.parametrize("op", MONOIDS)
@pytest.mark.parametrize("start", ["0.0", "2.5"])
@pytest.mark.parametrize("order", ["%a, %b", "%b, %a"])
def test_known_bodies_with_any_start_value(op, start, order):
    text = reduction(f"%c = stablehlo.{op} {order} : tensor<f32>", start=start)
    assert_same(text, RANDOM.standard_normal((3, 5), np.float32), rtol=1e-6)
    assert "scan" not in str(jaxpr(text, (3, 5)))


@pytest.mark.parametrize("op", ["and", "or", "xor", "add", "maximum"])
@pytest.mark.parametrize(("dtype", "start"), [("i32", "6"), ("i1", "true"), ("i1", "false")])
def test_integers_and_booleans(op, dtype, start):
    text = reduction(f"%c = stablehlo.{op} %a, %b : tensor<{dtype}>", dtype, start)
    x = RANDOM.integers(0, 9, (3, 5), np.int32)
    assert_same(text, x > 4 if dtype == "i1" else x)


def test_all_dimensions_and_none():
    body = "%c = stablehlo.add %a, %b : tensor<f32>"
    x = RANDOM.standard_normal((3, 5), np.float32)
    assert_same(reduction(body, dims=": 0, 1", result=""), x, rtol=1e-6)
    assert_same(reduction(body, dims="", result="3x5"), x)
    assert_same(reduction(body, shape="3x0"), np.zeros((3, 0), np.float32))


def test_any_body_takes_the_elements_in_order():
    halves = """%h = stablehlo.constant dense<0.5> : tensor<f32>
          %d = stablehlo.multiply %a, %h : tensor<f32>
          %c = stablehlo.add %d, %b : tensor<f32>"""
    x = RANDOM.standard_normal((3, 5), np.float32)
    assert_same(reduction(halves, start="7.0"), x, rtol=1e-6)
    assert_same(reduction(halves, dims=": 0, 1", result=""), x, rtol=1e-6)


def test_a_body_may_use_what_stands_around_the_op():
    text = """
    func.func @main(%x: tensor<5xf32>, %k: tensor<f32>) -> tensor<f32> {
      %s = stablehlo.constant dense<1.0> : tensor<f32>
      %r = "stablehlo.reduce"(%x, %s) ({
        ^bb0(%a: tensor<f32>, %b: tensor<f32>):
          %d = stablehlo.multiply %a, %k : tensor<f32>
          %c = stablehlo.add %d, %b : tensor<f32>
          stablehlo.return %c : tensor<f32>
      }) {dimensions = array<i64: 0>} : (tensor<5xf32>, tensor<f32>) -> tensor<f32>
      return %r : tensor<f32>
    }"""
    x, k = np.arange(5, dtype=np.float32), np.float32(0.5)
    expected = np.float32(1)
    for element in x:
        expected = expected * k + element
    np.testing.assert_allclose(replayed(text)(x, k)[0], expected)


def test_several_operands_with_a_body_each():
    text = """
    func.func @main(%x: tensor<3x5xf32>, %y: tensor<3x5xi32>) -> (tensor<5xf32>, tensor<5xi32>) {
      %s = stablehlo.constant dense<0.0> : tensor<f32>
      %t = stablehlo.constant dense<9> : tensor<i32>
      %r:2 = "stablehlo.reduce"(%x, %y, %s, %t) ({
        ^bb0(%a: tensor<f32>, %b: tensor<i32>, %c: tensor<f32>, %d: tensor<i32>):
          %e = stablehlo.add %a, %c : tensor<f32>
          %f = stablehlo.minimum %d, %b : tensor<i32>
          stablehlo.return %e, %f : tensor<f32>, tensor<i32>
      }) {dimensions = array<i64: 0>} : (tensor<3x5xf32>, tensor<3x5xi32>, tensor<f32>, tensor<i32>)
          -> (tensor<5xf32>, tensor<5xi32>)
      return %r#0, %r#1 : tensor<5xf32>, tensor<5xi32>
    }"""
    x = RANDOM.standard_normal((3, 5), np.float32)
    assert_same(text, x, RANDOM.integers(0, 20, (3, 5), np.int32), rtol=1e-6)


def test_places_of_extremes_stay_one_reduction():
    import jax
    from jax import numpy as jnp

    x = RANDOM.standard_normal((3, 5), np.float32)
    function = imported(lambda x: jnp.argmax(x, 1), x)
    np.testing.assert_array_equal(function(x), np.argmax(x, 1))
    text = str(jax.make_jaxpr(function)(x))
    assert "reduce" in text
    assert "scan" not in text


def jaxpr(text, *shapes):
    import jax

    avals = [jax.ShapeDtypeStruct(shape, np.float32) for shape in shapes]
    return jax.make_jaxpr(replayed(text))(*avals)
