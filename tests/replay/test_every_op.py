"""Each op of StableHLO and CHLO gives XLA's values, or those that are known where XLA refuses it."""

import jax
import numpy as np
import pytest

import kernel_magics as km
from tests.replay.make_ops_table import SAMPLES
from tests.replay.programs import replayed


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
