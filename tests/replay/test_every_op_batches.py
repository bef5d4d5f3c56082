"""Each op of StableHLO and CHLO: batches over each argument and over all give what a loop gives."""

from itertools import product

import jax
import numpy as np
import pytest
from jax import numpy as jnp

from tests.replay.make_ops_table import SAMPLES
from tests.replay.programs import replayed


@pytest.fixture(autouse=True)
def _double():
    with jax.enable_x64(True):
        yield


def close(found, expected):
    for a, b in zip(found, expected, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


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
