"""Programs made ready for derivatives: the same values and derivatives, and less to keep."""

import jax
import numpy as np
import pytest
from jax import lax
from jax import numpy as jnp

from kernel_magics.call.transforms_prepared import prepared
from tests.transforms.programs import assert_close, called

X = np.random.default_rng(0).standard_normal((4, 5, 5)).astype(np.float32)


def stops(function, x=X):
    """How many maxima JAX need not differentiate."""
    return str(prepared(jax.make_jaxpr(function)(x))).count("stop_gradient")


def softmax(x, axis=-1):
    e = jnp.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def log_softmax(x):
    shifted = x - x.max(-1, keepdims=True)
    return shifted - jnp.log(jnp.exp(shifted).sum(-1, keepdims=True))


def both(x):
    shifted = x - x.max(1, keepdims=True)
    e = jnp.exp(shifted)
    total = e.sum(1, keepdims=True)
    return e / total + (shifted - jnp.log(total))


def with_a_start(x):
    e = jnp.exp(x - jnp.maximum(-jnp.inf, x.max(2))[:, :, None])
    return e / e.sum(2)[:, :, None]


FOUND = {
    "softmax": softmax,
    "softmax over the first axis": lambda x: softmax(x, 0),
    "softmax over two axes": lambda x: softmax(x, (1, 2)),
    "log softmax": log_softmax,
    "both of one": both,
    "with a start value": with_a_start,
}


@pytest.mark.parametrize("name", FOUND)
def test_the_maximum_of_a_softmax_is_no_longer_differentiated(name):
    function = FOUND[name]
    assert stops(function) == 1

    def loss(f):
        return lambda x: (jnp.sin(f(x)) * np.arange(5)).sum()

    imported = called(function, X)
    assert_close(imported(X), function(X), rtol=1e-6)
    assert_close(jax.grad(loss(imported))(X), jax.grad(loss(function))(X))

    def product(f):
        return jax.jvp(jax.grad(loss(f)), (X,), (jnp.cos(X),))[1]

    assert_close(product(imported), product(function), rtol=1e-4)


def escapes(x):
    top = x.max(-1, keepdims=True)
    e = jnp.exp(x - top)
    return e / e.sum(-1, keepdims=True) + top


def other_rows(x):
    # Squares: numbers of rows lie along the columns.
    e = jnp.exp(x - x.max(2)[:, None, :])
    return e / e.sum(2)[:, :, None]


def other_sums(x):
    e = jnp.exp(x - x.max(2, keepdims=True))
    return e / e.sum(2)[:, None, :]


def other_axis(x):
    e = jnp.exp(x - x.max(2, keepdims=True))
    return e / e.sum(1, keepdims=True)


def numerator_alone(x):
    return jnp.exp(x - x.max(-1, keepdims=True))


def numerator_twice(x):
    e = jnp.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True) + e


def another_maximum(x):
    e = jnp.exp(x - (2 * x).max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def no_division(x):
    e = jnp.exp(x - x.max(-1, keepdims=True))
    return e.sum(-1, keepdims=True) / e


def mixed(x):
    shifted = x - x.max(-1, keepdims=True)
    return shifted + jnp.log(jnp.exp(shifted).sum(-1, keepdims=True))


OTHERS = {
    f.__name__: f
    for f in (
        escapes,
        other_rows,
        other_sums,
        other_axis,
        numerator_alone,
        numerator_twice,
        another_maximum,
        no_division,
        mixed,
    )
}


@pytest.mark.parametrize("name", OTHERS)
def test_what_depends_on_its_maximum_keeps_its_derivative(name):
    function = OTHERS[name]
    assert stops(function) == 0
    imported = called(function, X)
    for f in (lambda f: jax.grad(lambda x: (f(x) ** 2).sum()), lambda f: jax.jacfwd(f)):
        assert_close(f(imported)(X), f(function)(X), rtol=1e-4)


def test_inner_functions_and_loops_are_made_ready_too():
    def looped(x):
        return lax.scan(lambda c, row: (jax.jit(softmax)(c + row), None), x[0], x)[0]

    assert stops(looped) == 1
    imported = called(looped, X)
    assert_close(jax.jacrev(imported)(X), jax.jacrev(looped)(X))


def kept(function, *args):
    """What lies between the way there and the way back, in bytes."""
    _, back = jax.vjp(jax.jit(function), *args)
    return sum(leaf.nbytes for leaf in jax.tree.leaves(back))


def scaled(x, b):
    y = (x + b) * np.float32(0.5)
    return jnp.tanh(y * 3 + y**3) / jnp.sqrt((y**2).mean(-1, keepdims=True))


def spread(x, b):
    return (jnp.maximum(x, 0.1) ** 3 / (1 + b)).sum()


@pytest.mark.parametrize("function", [scaled, spread])
def test_nothing_more_is_kept_than_by_the_original(function):
    b = np.ones(5, np.float32)
    imported = called(function, X, b)
    assert kept(imported, X, b) <= kept(function, X, b)
    found, expected = (
        jax.grad(lambda x, b, f=f: (f(x, b) ** 2).sum(), (0, 1))(X, b) for f in (imported, function)
    )
    assert_close(found, expected)


def test_what_meets_a_number_stays_spread():
    def function(x):
        row = lax.broadcast_in_dim(x[:, :1, 0], (4, 5), (0, 1))
        whole = lax.broadcast_in_dim(jnp.float32(2), (4, 5), ())
        return row * 2.0, row + whole, whole * 3.0, row * row * row, (x > 0) * (x > 1)

    closed = jax.make_jaxpr(function)(X)
    assert [aval.shape for aval in prepared(closed).out_avals] == [(4, 5)] * 4 + [X.shape]
    found = jax.extend.core.jaxpr_as_fun(prepared(closed))(X)
    for one, expected in zip(found, function(X), strict=True):
        np.testing.assert_array_equal(one, expected)


def test_values_do_not_change_by_a_bit():
    def function(x):
        y = softmax(x) * np.float32(0.3) + x**3
        return y / (1 + jnp.abs(y).max(-1, keepdims=True)), x * x * x - (x * x) * x

    closed = jax.make_jaxpr(function)(X)
    before = jax.jit(jax.extend.core.jaxpr_as_fun(closed))(X)
    after = jax.jit(jax.extend.core.jaxpr_as_fun(prepared(closed)))(X)
    for a, b in zip(before, after, strict=True):
        np.testing.assert_array_equal(a, b)
