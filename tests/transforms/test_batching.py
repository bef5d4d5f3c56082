"""A batch of calls is what JAX makes of a batch of the original, and costs as much."""

import re

import jax
import numpy as np
import pytest
from jax import lax
from jax import numpy as jnp

import kernel_magics as km
from tests.transforms.programs import assert_close, called, text_of

RANDOM = np.random.default_rng(1)
W = RANDOM.standard_normal((3, 4)).astype(np.float32)
X = RANDOM.standard_normal((2, 3)).astype(np.float32)
N = np.int32(2)


def layer(w, x, n):
    y = jnp.tanh(x @ w)
    return (y**2).sum(), y, n + 1, jnp.sin(w)


call = called(layer, W, X, N)


@pytest.mark.parametrize(
    "axes", [(0, None, None), (None, 1, None), (2, 0, 0), (1, 2, None), (None, None, 0)]
)
def test_every_argument_and_dimension_can_be_batched(axes):
    arguments = [
        a if d is None else np.stack([a, a * 2, a + 1], d).astype(a.dtype)
        for a, d in zip((W, X, N), axes, strict=True)
    ]
    for out_axes in (0, (0, 2, 0, 1)):
        found, expected = (jax.vmap(f, axes, out_axes)(*arguments) for f in (call, layer))
        assert_close(found, expected)


def test_results_without_a_batch_are_there_once():
    rows = np.stack([X] * 5)
    found = jax.vmap(call, (None, 0, None), (0, 0, None, None))(W, rows, N)
    assert [result.shape for result in found] == [(5,), (5, 2, 4), (), (3, 4)]


def test_batches_of_batches_of_gradients():
    rows = RANDOM.standard_normal((2, 3, 2, 3)).astype(np.float32)

    def twice(f):
        inner = jax.grad(lambda w, x: f(w, x, N)[0])
        return jax.vmap(jax.vmap(inner, (None, 0)), (None, 0))

    assert_close(twice(call)(W, rows), twice(layer)(W, rows))
    other = [
        jax.grad(lambda w, f=f: jax.vmap(f, (None, 0, None))(w, rows[0], N)[0].sum())(W)
        for f in (call, layer)
    ]
    assert_close(*other)


def test_a_named_axis_round_a_call():
    def normal(f):
        return lambda x: f(W, x, N)[1] / lax.psum(1.0, "rows")

    rows = np.stack([X, 2 * X])
    found, expected = (jax.vmap(normal(f), axis_name="rows")(rows) for f in (call, layer))
    assert_close(found, expected)


def elementwise(x, y):
    return jnp.where(x > 0, jnp.exp(-(x**2)) * y, jnp.sin(x) / (1 + y**2)) + 3


def attention(q, k, v):
    scores = jnp.einsum("qd,kd->qk", q, k) / np.float32(4)
    # Spelled out: what `jax.nn.softmax` says of its own derivative is not in its StableHLO.
    weights = jnp.exp(scores - scores.max(1, keepdims=True))
    return weights / weights.sum(1, keepdims=True) @ v


def mixed(w, x):
    return jax.nn.gelu(x @ w).sum(0) * jnp.tanh(w).sum(1, keepdims=True)


SQUARE = RANDOM.standard_normal((16, 16)).astype(np.float32)
WHOLE = {
    "elementwise": (elementwise, 2),
    "attention": (attention, 3),
    "mixed": (mixed, 2),
}


def shape_of(compiled):
    """How many instructions of each kind stand in the compiled program."""
    found = re.findall(r"= \S+ ([\w-]+)\(", compiled.as_text())
    return {kind: found.count(kind) for kind in ("fusion", "dot", "copy", "transpose", "reduce")}


@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.parametrize("around", ["first", "all", "last dimension", "gradient"])
def test_a_batch_compiles_to_as_many_kernels_as_the_original(name, around):
    function, count = WHOLE[name]
    text = text_of(function, *[SQUARE] * count)
    rows = np.stack([SQUARE] * 4)

    def batched(f):
        if around == "first":
            return jax.vmap(f, (0, *[None] * (count - 1))), [rows, *[SQUARE] * (count - 1)]
        if around == "last dimension":
            return jax.vmap(f, 2, 2), [np.moveaxis(rows, 0, 2)] * count
        if around == "gradient":
            return jax.vmap(jax.grad(lambda *a: (f(*a) ** 2).sum())), [rows] * count
        return jax.vmap(f), [rows] * count

    ours, arguments = batched(lambda *a: km.hlo_call(text, *a)[0])
    theirs, _ = batched(function)
    found, expected = (jax.jit(f).lower(*arguments).compile() for f in (ours, theirs))
    ours, theirs = shape_of(found), shape_of(expected)
    assert theirs["fusion"] + theirs["dot"] > 0
    assert all(ours[kind] <= theirs[kind] for kind in theirs), (ours, theirs)
    assert_close(found(*arguments), expected(*arguments), rtol=1e-4)
