"""Sorting by any comparator gives XLA's order."""

import jax
import numpy as np
import pytest
from jax import numpy as jnp

from tests.replay.programs import assert_same, imported, replayed

RANDOM = np.random.default_rng(0)
TIES = RANDOM.integers(-3, 4, (3, 9))
FLOATS = np.array([1.5, -0.0, 0.0, -2.5, np.inf, -np.inf, 3, 0.0, -0.0], np.float32)


def by(body, dtype="f32", shape="3x9", dimension=1):
    kinds = f"tensor<{shape}x{dtype}>, tensor<{shape}xi32>"
    return f"""
    func.func @main(%x: tensor<{shape}x{dtype}>, %y: tensor<{shape}xi32>) -> ({kinds}) {{
      %k = stablehlo.constant dense<3> : tensor<i32>
      %r:2 = "stablehlo.sort"(%x, %y) ({{
        ^bb0(%a: tensor<{dtype}>, %b: tensor<{dtype}>, %c: tensor<i32>, %d: tensor<i32>):
          {body}
          stablehlo.return %p : tensor<i1>
      }}) {{dimension = {dimension} : i64, is_stable = true}} : ({kinds}) -> ({kinds})
      return %r#0, %r#1 : {kinds}
    }}"""


def compare(direction, operands="%a, %b", dtype="f32", order="", name="p"):
    types = f"(tensor<{dtype}>, tensor<{dtype}>) -> tensor<i1>"
    return f"%{name} = stablehlo.compare {direction}, {operands}{order} : {types}"


def is_general(text, dtype=np.float32, shape=(3, 9)):
    avals = [jax.ShapeDtypeStruct(shape, dtype), jax.ShapeDtypeStruct(shape, np.int32)]
    return "argsort" in str(jax.make_jaxpr(replayed(text))(*avals))


@pytest.mark.parametrize("direction", ["LT", "GT"])
@pytest.mark.parametrize("operands", ["%a, %b", "%b, %a"])
@pytest.mark.parametrize("dtype", ["f32", "i32", "ui8"])
@pytest.mark.parametrize("dimension", [0, 1])
def test_one_key_either_way(direction, operands, dtype, dimension):
    text = by(compare(direction, operands, dtype), dtype, dimension=dimension)
    x = TIES.astype({"f32": np.float32, "i32": np.int32, "ui8": np.uint8}[dtype])
    assert_same(text, x, np.arange(27, dtype=np.int32).reshape(3, 9))
    assert not is_general(text, x.dtype)


@pytest.mark.parametrize("direction", ["LT", "GT"])
def test_total_order_tells_zeros_apart(direction):
    text = by(compare(direction, order=", TOTALORDER"))
    x = np.stack([FLOATS, FLOATS[::-1], np.roll(FLOATS, 3)])
    x[0, 0], x[1, 1] = np.nan, -np.nan
    assert_same(text, x, np.arange(27, dtype=np.int32).reshape(3, 9))
    assert not is_general(text)


def test_keys_one_after_another():
    body = f"""{compare("GT", name="u")}
          {compare("EQ", name="v")}
          {compare("LT", "%c, %d", "i32", name="w")}
          %q = stablehlo.and %v, %w : tensor<i1>
          %p = stablehlo.or %u, %q : tensor<i1>"""
    y = RANDOM.integers(0, 4, (3, 9), np.int32)
    assert_same(by(body), TIES.astype(np.float32), y)
    assert not is_general(by(body))


def test_any_comparator():
    body = f"""%m = stablehlo.remainder %c, %k : tensor<i32>
          %n = stablehlo.remainder %d, %k : tensor<i32>
          {compare("GT", "%m, %n", "i32")}"""
    y = RANDOM.integers(0, 9, (3, 9), np.int32)
    assert_same(by(body), TIES.astype(np.float32), y)
    assert_same(by(body, dimension=0), TIES.astype(np.float32), y)
    assert is_general(by(body))


def test_equality_of_another_key_is_no_tie():
    body = f"""{compare("LT", name="u")}
          {compare("EQ", "%c, %d", "i32", name="v")}
          {compare("LT", "%c, %d", "i32", name="w")}
          %q = stablehlo.and %v, %w : tensor<i1>
          %p = stablehlo.or %u, %q : tensor<i1>"""
    assert is_general(by(body))


@pytest.mark.parametrize("count", [1, 2])
def test_what_jax_sorts_is_one_sort_again(count):
    x = np.stack([FLOATS, FLOATS[::-1], np.roll(FLOATS, 3)])
    x[0, 0] = np.nan
    function = imported(lambda *args: jax.lax.sort(args, num_keys=count), x, x[::-1].copy())
    expected = jax.lax.sort((jnp.array(x), jnp.array(x[::-1])), num_keys=count)
    for found, wanted in zip(function(x, x[::-1].copy()), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)
    text = str(jax.make_jaxpr(function)(x, x))
    assert f"num_keys={count}" in text
    assert "argsort" not in text
