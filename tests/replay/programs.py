"""Programs as replay sees them, against what XLA makes of the very text."""

import jax
import numpy as np

import kernel_magics as km
from kernel_magics.call.program import read_program
from kernel_magics.call.replay.replay import to_jax
from kernel_magics.ir.source import Source


def replayed(text, entry="main"):
    """The function of a text as traced JAX."""
    return to_jax(read_program(Source(text), entry))


def one(op, *types, result):
    """A program of one op, in generic form: `%0`, `%1` … are its arguments."""
    arguments = ", ".join(f"%{i}: {t}" for i, t in enumerate(types))
    return f"func.func @main({arguments}) -> {result} {{\n  %r = {op}\n  return %r : {result}\n}}"


def assert_same(text, *args, rtol=0.0):
    """Replay gives XLA's values; bit for bit, NaN for NaN, unless a tolerance is given."""
    args = [np.asarray(arg) for arg in args]
    expected = km.hlo_call(text, *args)
    found = replayed(text)(*args)
    assert len(found) == len(expected)
    for one_found, one_expected in zip(found, expected, strict=True):
        assert one_found.dtype == one_expected.dtype
        assert one_found.shape == one_expected.shape
        wide = np.complex128 if one_found.dtype.kind == "c" else np.float64
        a, b = (np.asarray(x).astype(wide) for x in (one_found, one_expected))
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol)
        if not rtol and one_found.dtype.kind == "f":
            # Zeros have signs.
            np.testing.assert_array_equal(np.signbit(a), np.signbit(b))
    return found


def imported(function, *args):
    """A JAX function by way of its StableHLO text; a function of one result gives it bare."""
    function_of_arrays = replayed(jax.jit(function).lower(*args).as_text())

    def call(*args):
        results = function_of_arrays(*args)
        return results[0] if len(results) == 1 else results

    return call
