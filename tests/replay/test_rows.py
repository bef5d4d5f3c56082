"""Loops over rows are scans again, and only where nothing else looks at the arrays."""

import jax
import numpy as np
import pytest
from jax import lax
from jax import numpy as jnp

from tests.replay.programs import assert_same, imported, replayed

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((7, 5)).astype(np.float32)
W = RANDOM.standard_normal((5, 5)).astype(np.float32)


def recurrent(x, w):
    def step(c, row):
        c = jnp.tanh(c @ w + row)
        return c, c * 2

    carry, rows = lax.scan(step, jnp.zeros(5), x)
    return carry, rows


def nested(x, w):
    def outer(c, row):
        c, rows = lax.scan(lambda c, s: (jnp.sin(c + s), c * s), c, jnp.stack([row, row * 2]))
        return c, rows @ w

    return lax.scan(outer, jnp.zeros(5), x)


def reverse(x, w):
    return lax.scan(lambda c, row: (jnp.tanh(c @ w + row), c), jnp.zeros(5), x, reverse=True)


def inner_ops(function, *args):
    text = str(jax.make_jaxpr(function)(*args))
    return "scan[" in text, "dynamic_slice[" in text, "dynamic_update_slice" in text


@pytest.mark.parametrize("function", [recurrent, nested, reverse])
def test_values_and_gradients_of_scans(function):
    replay = imported(function, X, W)

    def loss(call):
        return lambda x, w: sum((leaf**2).sum() for leaf in jax.tree.leaves(call(x, w)))

    for found, expected in zip(replay(X, W), function(X, W), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
    found = jax.grad(loss(replay), (0, 1))(X, W)
    expected = jax.grad(loss(function), (0, 1))(X, W)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-3)


def test_scans_are_scans_over_rows_again():
    assert inner_ops(imported(recurrent, X, W), X, W) == (True, False, False)
    assert inner_ops(imported(nested, X, W), X, W) == (True, False, False)


def loop(body, start=0, limit=7):
    kinds = "tensor<i32>, tensor<7x5xf32>, tensor<7x5xf32>"
    return f"""
    func.func @main(%x: tensor<7x5xf32>, %y: tensor<7x5xf32>) -> ({kinds}) {{
      %s = stablehlo.constant dense<{start}> : tensor<i32>
      %z = stablehlo.constant dense<0> : tensor<i32>
      %o = stablehlo.constant dense<1> : tensor<i32>
      %n = stablehlo.constant dense<{limit}> : tensor<i32>
      %r:3 = stablehlo.while(%i = %s, %a = %x, %b = %y) : {kinds}
        cond {{
          %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %c : tensor<i1>
        }} do {{
          %j = stablehlo.add %i, %o : tensor<i32>
          {body}
        }}
      return %r#0, %r#1, %r#2 : {kinds}
    }}"""


KINDS = "tensor<i32>, tensor<7x5xf32>, tensor<7x5xf32>"


def read(array, name, index="%i"):
    types = "(tensor<7x5xf32>, tensor<i32>, tensor<i32>) -> tensor<1x5xf32>"
    return f"%{name} = stablehlo.dynamic_slice {array}, {index}, %z, sizes = [1, 5] : {types}"


def write(array, row, name, index="%i"):
    types = "(tensor<7x5xf32>, tensor<1x5xf32>, tensor<i32>, tensor<i32>) -> tensor<7x5xf32>"
    return f"%{name} = stablehlo.dynamic_update_slice {array}, {row}, {index}, %z : {types}"


COPY = f"""{read("%a", "p")}
          %q = stablehlo.sine %p : tensor<1x5xf32>
          {write("%b", "%q", "d")}
          stablehlo.return %j, %a, %d : {KINDS}"""

BOTH = f"""{read("%b", "p")}
          %q = stablehlo.sine %p : tensor<1x5xf32>
          {write("%b", "%q", "d")}
          stablehlo.return %j, %a, %d : {KINDS}"""

WHOLE = f"""{read("%a", "p")}
          {write("%b", "%p", "d")}
          %e = stablehlo.add %d, %a : tensor<7x5xf32>
          stablehlo.return %j, %a, %e : {KINDS}"""

NEXT = f"""{read("%a", "p", "%j")}
          {write("%b", "%p", "d")}
          stablehlo.return %j, %a, %d : {KINDS}"""

SEEN = f"""{read("%a", "p")}
          {write("%b", "%p", "d")}
          %t = stablehlo.constant dense<true> : tensor<i1>
          %e = "stablehlo.if"(%t) ({{
            stablehlo.return %d : tensor<7x5xf32>
          }}, {{
            stablehlo.return %x : tensor<7x5xf32>
          }}) : (tensor<i1>) -> tensor<7x5xf32>
          stablehlo.return %j, %a, %e : {KINDS}"""


@pytest.mark.parametrize("body", [COPY, BOTH, WHOLE, NEXT, SEEN])
@pytest.mark.parametrize(("start", "limit"), [(0, 7), (2, 5), (0, 9), (-2, 3)])
def test_loops_over_rows_keep_their_values(body, start, limit):
    assert_same(loop(body, start, limit), X, X[::-1].copy(), rtol=1e-6)


@pytest.mark.parametrize(
    ("body", "start", "limit", "expected"),
    [
        (COPY, 0, 7, (True, False, False)),
        (COPY, 0, 9, (True, True, True)),
        (BOTH, 0, 7, (True, True, True)),
        (WHOLE, 0, 7, (True, True, True)),
        (NEXT, 0, 7, (True, True, False)),
    ],
)
def test_only_rows_that_nothing_else_sees_are_scanned(body, start, limit, expected):
    assert inner_ops(replayed(loop(body, start, limit)), X, X) == expected
