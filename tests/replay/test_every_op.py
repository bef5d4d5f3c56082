"""Each op of StableHLO and CHLO: its values, its derivatives of second order, its batches."""

from itertools import product

import jax
import numpy as np
import pytest
from jax import numpy as jnp
from jax.test_util import check_grads

import kernel_magics as km
from tests.replay.programs import replayed
from tests.replay.samples import ELEMENTWISE
from tests.replay.samples_of_arrays import ARRAYS

SAMPLES = {**ELEMENTWISE, **ARRAYS}


@pytest.fixture(autouse=True)
def _double():
    with jax.enable_x64(True):
        yield


def close(found, expected, tolerance=1e-12):
    for a, b in zip(found, expected, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", SAMPLES)
def test_values(name):
    sample = SAMPLES[name]()
    found = replayed(sample.text)(*sample.args)
    expected = sample.expected or km.hlo_call(sample.text, *sample.args)
    close(found, expected, 1e-7 if "gamma" in name else 1e-12)


@pytest.mark.parametrize("name", [name for name, make in SAMPLES.items() if make().smooth])
def test_derivatives_of_second_order(name):
    sample = SAMPLES[name]()
    function = replayed(sample.text)

    def of_smooth(*chosen):
        args = list(sample.args)
        for place, value in zip(sample.smooth, chosen, strict=True):
            args[place] = value
        return [r for r in function(*args) if jnp.issubdtype(r.dtype, jnp.inexact)]

    chosen = tuple(jnp.asarray(sample.args[i]) for i in sample.smooth)
    check_grads(of_smooth, chosen, sample.order, sample.modes, atol=1e-4, rtol=1e-4, eps=1e-5)


@pytest.mark.parametrize("name", [name for name, make in SAMPLES.items() if make().args])
def test_batches_over_each_argument_and_over_all(name):
    sample = SAMPLES[name]()
    function = replayed(sample.text)
    count = len(sample.args)
    stacked = [np.stack([x, other(x)]) for x in sample.args]
    for chosen in {*product((0, None), repeat=count)} - {(None,) * count}:
        if chosen.count(0) not in (1, count):
            continue
        args = [
            s if axis == 0 else x for s, x, axis in zip(stacked, sample.args, chosen, strict=True)
        ]
        rows = [
            function(*(a[i] if axis == 0 else a for a, axis in zip(args, chosen, strict=True)))
            for i in range(2)
        ]
        expected = [jnp.stack(each) for each in zip(*rows, strict=True)]
        close(jax.vmap(function, chosen)(*args), expected)


def other(x):
    """Arguments for the other element of a batch."""
    if x.dtype == bool:
        return ~x
    return x * 1.05 if x.dtype.kind in "fc" else np.maximum(x - 1, 0).astype(x.dtype)
