"""Each op of StableHLO and CHLO: its derivatives of second order, in both modes."""

import jax
import pytest
from jax import numpy as jnp
from jax.test_util import check_grads

from tests.replay.make_ops_table import SAMPLES
from tests.replay.programs import replayed


@pytest.fixture(autouse=True)
def _double():
    with jax.enable_x64(True):
        yield


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
