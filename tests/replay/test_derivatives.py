"""Functions by way of their StableHLO have the derivatives and the batches of the originals."""

import jax
import numpy as np
import pytest
from jax import lax
from jax import numpy as jnp
from jax.test_util import check_grads

from kernel_magics.errors import PreflightError
from tests.replay.programs import imported, replayed

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((4, 5)).astype(np.float32)
SQUARE = X[:, :4] @ X[:, :4].T + 4 * np.eye(4, dtype=np.float32)
IMAGE = RANDOM.standard_normal((2, 6, 6, 3)).astype(np.float32)
KERNEL = RANDOM.standard_normal((3, 3, 3, 2)).astype(np.float32)
LAYOUT = ("NHWC", "HWIO", "NHWC")


def recurrent(x):
    def step(c, row):
        c = jnp.tanh(c + row)
        return c, c * 2

    carry, rows = lax.scan(step, jnp.zeros(5), x)
    return carry.sum() + (rows**2).sum()


def pooled(x):
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


FUNCTIONS = {
    "softmax": (lambda x: (jax.nn.softmax(x) * jnp.arange(5)).sum(), X),
    "power": (lambda x: (jnp.abs(x) ** 2.5).sum() + (x**3).sum(), X),
    "special": (lambda x: lax.erf(x).sum() + lax.bessel_i1e(jnp.abs(x) + 1).sum(), X),
    "maximum of rows": (lambda x: (jnp.max(x, 1) ** 2).sum(), X),
    "product of rows": (lambda x: jnp.prod(x, 1).sum(), X),
    "place of the maximum": (lambda x: x[0, jnp.argmax(x[0])] ** 2, X),
    "scan": (recurrent, X),
    "loop": (lambda x: lax.fori_loop(0, 5, lambda i, c: jnp.sin(c) * x[i % 4].sum(), x).sum(), X),
    "branch": (lambda x: lax.switch(jnp.int32(x[0, 0] > 0), [jnp.sin, jnp.cos], x).sum(), X),
    "gather": (lambda x: (x[jnp.array([0, 2, 2, -1])] ** 2).sum(), X),
    "scatter add": (lambda x: (x.at[jnp.array([0, 2, 2])].add(x[1] ** 2) ** 2).sum(), X),
    "scatter set": (lambda x: (x.at[jnp.array([0, 2, 9])].set(x[1] ** 2) ** 2).sum(), X),
    "scatter multiply": (lambda x: (scaled(x) ** 2).sum(), X),
    "sort": (lambda x: (jnp.sort(x, 1) * jnp.arange(5)).sum(), X),
    "order": (lambda x: (x[:, jnp.argsort(x[0])] * jnp.arange(5)).sum(), X),
    "top k": (lambda x: (lax.top_k(x, 2)[0] * jnp.arange(2)).sum(), X),
    "slices": (lambda x: (lax.dynamic_slice(x, (1, 2), (2, 2)) ** 2).sum(), X),
    "padding": (lambda x: (lax.pad(x, 0.0, ((1, -1, 1), (0, 2, 0))) ** 2).sum(), X),
    "convolution": (lambda x: (convolved(x, KERNEL) ** 2).sum(), IMAGE),
    "kernel of a convolution": (lambda k: (convolved(IMAGE, k) ** 2).sum(), KERNEL),
    "pooling": (lambda x: (pooled(x) ** 2).sum(), IMAGE),
    "product": (lambda x: jnp.sin(x @ x.T).sum(), X),
    "running sum": (lambda x: (jnp.cumsum(x, 0) ** 2).sum(), X),
    "running product": (lambda x: (jnp.cumprod(x, 0) ** 2).sum(), X),
    "cholesky": (lambda x: jnp.log(jnp.diag(jnp.linalg.cholesky(x))).sum(), SQUARE),
    "linear system": (lambda x: jnp.linalg.solve(x, jnp.ones(4)).sum(), SQUARE),
    "eigenvalues": (lambda x: (jnp.linalg.eigvalsh(x + x.T) ** 3).sum(), SQUARE),
    "fourier": (lambda x: (jnp.abs(jnp.fft.rfft(x)) ** 2).sum(), X),
}


def convolved(x, k):
    return lax.conv_general_dilated(x, k, (2, 1), "SAME", dimension_numbers=LAYOUT)


def scaled(x):
    return x.at[jnp.array([0, 2])].multiply(x[1] ** 2, unique_indices=True)


@pytest.fixture(params=FUNCTIONS)
def pair(request):
    function, x = FUNCTIONS[request.param]
    return function, imported(function, x), x


def close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-3)


def test_gradients_forwards_and_backwards(pair):
    function, replay, x = pair
    close(jax.grad(replay)(x), jax.grad(function)(x))
    direction = jnp.ones_like(x)
    close(jax.jvp(replay, (x,), (direction,))[1], jax.jvp(function, (x,), (direction,))[1])


def test_hessian_vector_products(pair):
    function, replay, x = pair

    def product(f):
        return jax.jvp(jax.grad(f), (x,), (jnp.ones_like(x),))[1]

    found, expected = product(replay), product(function)
    scale = max(1.0, float(jnp.abs(expected).max()))
    np.testing.assert_allclose(found / scale, expected / scale, rtol=1e-3, atol=1e-3)


def test_batches_of_values_and_gradients(pair):
    function, replay, x = pair
    batch = jnp.stack([x, x * 1.1])
    close(jax.vmap(replay)(batch), jnp.stack([function(row) for row in batch]))
    close(jax.vmap(jax.grad(replay))(batch), jnp.stack([jax.grad(function)(row) for row in batch]))


def test_a_loop_of_unknown_length_has_derivatives_forwards_only():
    def function(x):
        return lax.while_loop(lambda c: c.sum() < 100.0, lambda c: c * 1.5 + 1, x).sum()

    replay = imported(function, X)
    close(jax.jacfwd(replay)(X), jax.jacfwd(function)(X))
    with pytest.raises(ValueError, match="Reverse-mode differentiation does not work"):
        jax.grad(replay)(X)


BODIES = {
    "reduce": """
    func.func @main(%x: tensor<3x4xf32>) -> tensor<3xf32> {
      %s = stablehlo.constant dense<0.5> : tensor<f32>
      %r = "stablehlo.reduce"(%x, %s) ({
        ^bb0(%a: tensor<f32>, %b: tensor<f32>):
          %c = stablehlo.sine %a : tensor<f32>
          %d = stablehlo.add %c, %b : tensor<f32>
          stablehlo.return %d : tensor<f32>
      }) {dimensions = array<i64: 1>} : (tensor<3x4xf32>, tensor<f32>) -> tensor<3xf32>
      return %r : tensor<3xf32>
    }""",
    "reduce_window": """
    func.func @main(%x: tensor<3x4xf32>) -> tensor<3x3xf32> {
      %s = stablehlo.constant dense<0.5> : tensor<f32>
      %r = "stablehlo.reduce_window"(%x, %s) ({
        ^bb0(%a: tensor<f32>, %b: tensor<f32>):
          %d = stablehlo.multiply %a, %b : tensor<f32>
          stablehlo.return %d : tensor<f32>
      }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 1>,
          padding = dense<[[0, 1], [0, 0]]> : tensor<2x2xi64>}
        : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x3xf32>
      return %r : tensor<3x3xf32>
    }""",
    "scatter": """
    func.func @main(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
      %i = stablehlo.constant dense<[[0], [2], [0], [7]]> : tensor<4x1xi32>
      %u = stablehlo.slice %x [0:1, 0:4] : (tensor<3x4xf32>) -> tensor<1x4xf32>
      %v = stablehlo.broadcast_in_dim %u, dims = [0, 1] : (tensor<1x4xf32>) -> tensor<4x4xf32>
      %r = "stablehlo.scatter"(%x, %i, %v) ({
        ^bb0(%a: tensor<f32>, %b: tensor<f32>):
          %d = stablehlo.multiply %a, %b : tensor<f32>
          stablehlo.return %d : tensor<f32>
      }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
          inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}
        : (tensor<3x4xf32>, tensor<4x1xi32>, tensor<4x4xf32>) -> tensor<3x4xf32>
      return %r : tensor<3x4xf32>
    }""",
    "sort": """
    func.func @main(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
      %r = "stablehlo.sort"(%x) ({
        ^bb0(%a: tensor<f32>, %b: tensor<f32>):
          %c = stablehlo.sine %a : tensor<f32>
          %d = stablehlo.sine %b : tensor<f32>
          %p = stablehlo.compare LT, %c, %d : (tensor<f32>, tensor<f32>) -> tensor<i1>
          stablehlo.return %p : tensor<i1>
      }) {dimension = 1 : i64} : (tensor<3x4xf32>) -> tensor<3x4xf32>
      return %r : tensor<3x4xf32>
    }""",
}


@pytest.mark.parametrize("name", BODIES)
def test_any_body_has_derivatives_of_second_order(name):
    x = jnp.array(RANDOM.uniform(0.5, 2.0, (3, 4)), jnp.float32)
    check_grads(lambda x: replayed(BODIES[name])(x)[0], (x,), 2, atol=0.05, rtol=0.05)


def test_a_window_that_is_moved_inside_has_the_derivative_of_what_it_reads():
    text = """
    func.func @main(%x: tensor<4xf32>) -> tensor<2xf32> {
      %i = stablehlo.constant dense<[[-3], [9]]> : tensor<2x1xi32>
      %r = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<
          collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
          slice_sizes = array<i64: 1>} : (tensor<4xf32>, tensor<2x1xi32>) -> tensor<2xf32>
      return %r : tensor<2xf32>
    }"""
    x = jnp.arange(1.0, 5.0)
    found = jax.grad(lambda x: (replayed(text)(x)[0] ** 2).sum())(x)
    np.testing.assert_array_equal(found, [2, 0, 0, 8])


def bits(result):
    return f"""
    func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {{
      %k = stablehlo.constant dense<23> : tensor<3xi32>
      %z = stablehlo.constant dense<0> : tensor<3xi32>
      %0 = stablehlo.bitcast_convert %x : (tensor<3xf32>) -> tensor<3xi32>
      %1 = stablehlo.shift_right_logical %0, %k : tensor<3xi32>
      %2 = stablehlo.compare LT, %0, %z : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
      %n = stablehlo.negate %x : tensor<3xf32>
      %3 = stablehlo.select %2, %n, %x : tensor<3xi1>, tensor<3xf32>
      %4 = stablehlo.convert %1 : (tensor<3xi32>) -> tensor<3xf32>
      return {result} : tensor<3xf32>
    }}"""


def test_numbers_made_of_bits_have_no_derivative():
    x = np.array([0.5, -3, 7], np.float32)
    function = replayed(bits("%4"))
    assert function(x)[0].tolist() == [126, 384, 129]
    with pytest.raises(PreflightError) as error:
        jax.grad(lambda x: function(x)[0].sum())(x)
    assert str(error.value) == (
        "The derivative of `stablehlo.bitcast_convert` is not known: it takes the bits of floats "
        "for integers, of which floats are made again\n"
        "  text:5:12\n"
        "    %0 = stablehlo.bitcast_convert %x : (tensor<3xf32>) -> tensor<3xi32>\n"
        "         ^^^^^^^^^^^^^^^^^^^^^^^^^\n"
        "  Give the function a derivative of its own, or export it with one."
    )
    assert jax.grad(lambda y: (function(x)[0] * y).sum())(x).tolist() == [126, 384, 129]
    assert jax.vmap(function)(x[None])[0].tolist() == [[126, 384, 129]]


def test_truth_values_made_of_bits_are_constant():
    text = bits("%3").replace("%4 = stablehlo.convert %1", "%4 = stablehlo.convert %z")
    text = text.replace("%1 = stablehlo.shift_right_logical %0, %k", "%1 = stablehlo.add %k, %k")
    x = np.array([0.5, -3, 7], np.float32)
    assert jax.grad(lambda x: replayed(text)(x)[0].sum())(x).tolist() == [1, -1, 1]
