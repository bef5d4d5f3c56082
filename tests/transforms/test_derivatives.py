"""A call has the derivatives of the function that its text was made of."""

import jax
import numpy as np
import pytest
from jax import lax
from jax import numpy as jnp
from jax.test_util import check_grads

import kernel_magics as km
from tests.transforms.programs import assert_close, called, text_of

RANDOM = np.random.default_rng(0)
W = RANDOM.standard_normal((3, 4)).astype(np.float32)
X = RANDOM.standard_normal((2, 3)).astype(np.float32)
N = np.int32(2)


def layer(w, x, n):
    y = jnp.tanh(x @ w)
    return (y**2).sum(), y, n + 1, jnp.sin(w)


call = called(layer, W, X, N)


def loss(function):
    return lambda w, x: function(w, x, N)[0]


def test_gradients():
    assert_close(jax.grad(loss(call), (0, 1))(W, X), jax.grad(loss(layer), (0, 1))(W, X))
    found = jax.jit(jax.value_and_grad(loss(call)))(W, X)
    assert_close(found, jax.value_and_grad(loss(layer))(W, X))


def test_forward_mode_and_what_has_no_tangent():
    found = jax.jvp(lambda w: call(w, X, N), (W,), (W,))
    assert_close(found, jax.jvp(lambda w: layer(w, X, N), (W,), (W,)))
    # A result that does not depend on the argument, or is an integer, has none.
    jaxpr = jax.make_jaxpr(lambda x, t: jax.jvp(lambda x: call(W, x, N), (x,), (t,)))(X, X)
    assert "sin" in str(jaxpr)
    assert "cos" not in str(jaxpr)
    tangent = jax.jvp(lambda n: call(W, X, n)[2], (N,), (np.zeros((), jax.dtypes.float0),))[1]
    assert tangent.dtype == jax.dtypes.float0


def test_linearize_transposes_and_gives_the_same_as_forward_mode():
    results, linear = jax.linearize(lambda w: call(w, X, N), W)
    assert_close(results, layer(W, X, N))
    assert_close(linear(W), jax.jvp(lambda w: layer(w, X, N), (W,), (W,))[1])


def test_jacobians_and_hessians():
    def middle(function):
        return lambda w: function(w, X, N)[1]

    for jacobian in (jax.jacfwd, jax.jacrev):
        assert_close(jacobian(middle(call))(W), jacobian(middle(layer))(W))
    assert_close(jax.hessian(loss(call))(W, X), jax.hessian(loss(layer))(W, X), rtol=1e-4)


@pytest.mark.parametrize("order", [3, 4])
def test_derivatives_of_higher_order(order):
    def cubic(x):
        return jnp.exp(x) * x**3

    found, expected = called(cubic, 0.5), cubic
    for _ in range(order):
        found, expected = jax.grad(found), jax.grad(expected)
    assert_close(found(0.5), expected(0.5))


def test_jax_checks_the_derivatives_itself():
    check_grads(lambda w, x: call(w, x, N)[:2], (W, X), 2, atol=0.05, rtol=0.05)


def test_an_argument_that_is_no_float_is_passed_by():
    def scaled(x, flags, n):
        return jnp.where(flags, x * n.astype(x.dtype), x).sum()

    flags = np.array([True, False, True])
    x = np.arange(3, dtype=np.float32)
    function = called(scaled, x, flags, N)
    assert_close(jax.grad(function)(x, flags, N), jax.grad(scaled)(x, flags, N))
    found = jax.grad(function, 2, allow_int=True)(x, flags, N)
    assert found.dtype == jax.dtypes.float0


def test_complex_numbers():
    z = (X + 1j * X[::-1]).astype(np.complex64)

    def power(z):
        return (jnp.abs(jnp.fft.fft(z)) ** 2).sum() + jnp.real(z * z).sum()

    assert_close(jax.grad(called(power, z))(z), jax.grad(power)(z), rtol=1e-4)


@pytest.mark.usefixtures("x64")
def test_64_bits():
    x = X.astype(np.float64)

    def function(x):
        return jnp.exp(-x).sum() ** 2

    check_grads(called(function, x), (x,), 2, atol=1e-6, rtol=1e-6)


@pytest.mark.parametrize("policy", [None, jax.checkpoint_policies.dots_saveable])
def test_checkpoints(policy):
    found = jax.checkpoint(loss(call), policy=policy)
    assert_close(jax.grad(found)(W, X), jax.grad(loss(layer))(W, X))
    assert_close(jax.jit(jax.grad(found))(W, X), jax.grad(loss(layer))(W, X))


def test_a_checkpoint_keeps_only_what_its_policy_says():
    def deep(w, x):
        for _ in range(4):
            x = jnp.tanh(x @ w)
        return x.sum()

    w, x = np.eye(3, dtype=np.float32), X
    function = called(deep, w, x)

    def saved(f):
        _, pull = jax.vjp(jax.checkpoint(f), w, x)
        return sorted(np.shape(leaf) for leaf in jax.tree.leaves(pull))

    assert saved(function) == saved(deep)


def test_gradients_of_loops_over_calls():
    def scanned(f):
        return lambda w: lax.scan(lambda c, _: (c * f(w, X, N)[0], None), 1.0, None, 3)[0]

    def looped(f):
        return lambda w: lax.fori_loop(0, 3, lambda _, c: c * f(w, X, N)[0], 1.0)

    def chosen(f):
        return lambda w: lax.cond(w[0, 0] > 0, lambda w: f(w, X, N)[0], lambda w: 2 * w.sum(), w)

    for around in (scanned, looped, chosen):
        assert_close(jax.grad(around(call))(W), jax.grad(around(layer))(W), rtol=1e-4)


def test_custom_derivatives_round_a_call():
    @jax.custom_vjp
    def doubled(w):
        return call(w, X, N)[0]

    doubled.defvjp(lambda w: (doubled(w), w), lambda w, g: (2 * g * jax.grad(loss(call))(w, X),))
    assert_close(jax.grad(doubled)(W), 2 * jax.grad(loss(layer))(W, X))


def test_a_linear_function_has_a_transpose():
    def linear(w, x):
        return x @ w, 2 * x

    text = text_of(linear, W, X)
    found = jax.linear_transpose(lambda x: km.hlo_call(text, W, x), X)
    expected = jax.linear_transpose(lambda x: linear(W, x), X)
    cotangents = (np.ones((2, 4), np.float32), X)
    assert_close(found(cotangents), expected(cotangents))
    first = jax.linear_transpose(lambda x: km.hlo_call(text, W, x)[1], X)
    assert_close(first(X), (2 * X,))


def test_dynamic_shapes_follow_the_arguments():
    text = """
    func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
      %0 = stablehlo.sine %x : tensor<?xf32>
      %1 = stablehlo.multiply %0, %0 : tensor<?xf32>
      return %1 : tensor<?xf32>
    }"""
    for size in (3, 5):
        x = np.arange(size, dtype=np.float32)
        found = jax.grad(lambda x: km.hlo_call(text, x)[0].sum())(x)
        assert_close(found, 2 * jnp.sin(x) * jnp.cos(x))
        assert_close(jax.vmap(lambda x: km.hlo_call(text, x)[0])(x[None])[0], jnp.sin(x) ** 2)


def test_evaluation_runs_the_original_and_differentiation_one_replay():
    text = text_of(layer, W, X, N)
    assert "hlo_call" in str(jax.make_jaxpr(lambda w: km.hlo_call(text, w, X, N))(W))
    step = jax.value_and_grad(lambda w: km.hlo_call(text, w, X, N)[0])
    jaxpr = str(jax.make_jaxpr(step)(W))
    assert "hlo_call" not in jaxpr
    assert jaxpr.count("tanh") == 1


def test_many_calls_of_a_text_are_traced_once():
    text = text_of(lambda x: jnp.sin(x) * 2, X)

    def many(x):
        for _ in range(20):
            (x,) = km.hlo_call(text, x)
        return x.sum()

    jaxpr = jax.make_jaxpr(jax.grad(many))(X)
    inner = {id(eqn.params["jaxpr"]) for eqn in jaxpr.jaxpr.eqns if eqn.primitive.name == "jit"}
    assert len(inner) <= 4


def test_functions_of_a_session_are_differentiated_with_what_they_are_bound_to(session):
    session.define(
        "func.func @square(%x: tensor<f32>) -> tensor<f32> {\n"
        "  %0 = stablehlo.multiply %x, %x : tensor<f32>\n  return %0 : tensor<f32>\n}"
    )
    session.define(
        "func.func private @square(tensor<f32>) -> tensor<f32>\n"
        "func.func @twice(%x: tensor<f32>) -> tensor<f32> {\n"
        "  %0 = call @square(%x) : (tensor<f32>) -> tensor<f32>\n"
        "  %1 = call @square(%0) : (tensor<f32>) -> tensor<f32>\n  return %1 : tensor<f32>\n}"
    )
    twice = session.functions["twice"]
    assert jax.grad(lambda x: twice(x)[0])(3.0) == 4 * 3.0**3
    assert jax.vmap(twice)(np.float32([1, 2]))[0].tolist() == [1, 16]
