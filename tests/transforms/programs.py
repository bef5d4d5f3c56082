"""JAX functions by way of their StableHLO: what `hlo_call` makes of them, to be compared."""

import jax
import numpy as np

import kernel_magics as km


def text_of(function, *args):
    """The StableHLO of a function, as JAX lowers it for these arguments."""
    return jax.jit(function).lower(*args).as_text()


def called(function, *args):
    """The same function as a call of its text; one result is given bare."""
    text = text_of(function, *args)

    def call(*args):
        results = km.hlo_call(text, *args)
        return results[0] if len(results) == 1 else results

    return call


def assert_close(found, expected, rtol=1e-5):
    """Trees of arrays that are equal to some digits, relative to the largest number."""
    assert jax.tree.structure(found) == jax.tree.structure(expected)
    leaves = (map(np.asarray, jax.tree.leaves(tree)) for tree in (found, expected))
    for a, b in zip(*leaves, strict=True):
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        if a.dtype == jax.dtypes.float0:
            continue
        scale = max(1.0, float(np.abs(b).max(initial=0)))
        np.testing.assert_allclose(a / scale, b / scale, rtol=rtol, atol=rtol)
