"""Elementwise ops on arrays of any shape: values, derivatives of second order, batches."""

import jax
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes
from jax import numpy as jnp
from jax.test_util import check_grads

import kernel_magics as km
from tests.replay.programs import replayed
from tests.replay.samples import ELEMENTWISE

EXAMPLES = settings(
    max_examples=12, deadline=None, derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)  # fmt: skip
SHAPES = array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)
SMOOTH = sorted(name for name, make in ELEMENTWISE.items() if make().smooth)


@pytest.fixture(autouse=True, scope="module")
def _double():
    with jax.enable_x64(True):
        yield


@EXAMPLES
@given(name=st.sampled_from(sorted(ELEMENTWISE)), shape=SHAPES)
def test_values_and_batches(name, shape):
    sample = ELEMENTWISE[name](shape)
    function = replayed(sample.text)
    found, expected = function(*sample.args), km.hlo_call(sample.text, *sample.args)
    for a, b in zip(found, expected, strict=True):
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        np.testing.assert_allclose(a, b, rtol=1e-7)
    stacked = [np.stack([x, x]) for x in sample.args]
    for batch, alone in zip(jax.vmap(function)(*stacked), found, strict=True):
        np.testing.assert_allclose(batch, np.stack([alone, alone]), rtol=1e-12)


@EXAMPLES
@given(name=st.sampled_from(SMOOTH), shape=array_shapes(min_dims=0, max_dims=2, max_side=3))
def test_derivatives_of_second_order(name, shape):
    sample = ELEMENTWISE[name](shape)
    function = replayed(sample.text)

    def of_smooth(*chosen):
        args = list(sample.args)
        for place, value in zip(sample.smooth, chosen, strict=True):
            args[place] = value
        return function(*args)

    chosen = tuple(jnp.asarray(sample.args[i]) for i in sample.smooth)
    check_grads(of_smooth, chosen, 2, atol=1e-4, rtol=1e-4, eps=1e-5)
