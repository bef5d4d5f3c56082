"""Programs of our own with known values: what they prove stands in the table of proven forms.

The other programs of the corpus have no product of f32 matrices, and no decompositions.
"""

import math

import jax
import ml_dtypes
import numpy as np
import pytest

import kernel_magics as km
from tests.corpus.make_proven_forms import OWN

RANDOM = np.random.default_rng(0)


def normal(*shape):
    return RANDOM.normal(size=shape).astype("f4")


def attention(q, k, v, gain):
    scores = np.einsum("bhqd,bhkd->bhqk", q, k) / 4
    scores = np.where(np.tril(np.ones((8, 8), bool)), scores, -1e9)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    y = np.einsum("bhqk,bhkd->bhqd", weights / weights.sum(-1, keepdims=True), v)
    y = (y - y.mean(-1, keepdims=True)) / np.sqrt(y.var(-1, keepdims=True) + 1e-5) * gain
    gelu = 0.5 * y * (1 + np.tanh(math.sqrt(2 / math.pi) * (y + 0.044715 * y**3)))
    return (np.tanh(y) / (1 + np.exp(-y)) + gelu,)


def products(a, b):
    pairs = [(a.astype(t), b.astype(t)) for t in (ml_dtypes.bfloat16, np.float16)]
    (half, small) = [x.astype("f4") @ y.astype("f4") for x, y in pairs]
    return a @ b, half.astype(ml_dtypes.bfloat16), half, small.astype(np.float16), small


def integers(x, y):
    quotient = np.trunc(x / y).astype("i4")
    unsigned = x.view("u4") >> y.view("u4")
    return quotient, x - quotient * y, unsigned.view("i4"), x >> y, x << y


def windows(x, update, at):
    updated = x.copy()
    updated[at : at + 2, at : at + 2] = update
    view = np.lib.stride_tricks.sliding_window_view(x, (2, 2))
    return updated, x[at : at + 2, at : at + 2], np.cumsum(x, 1), view.max((-1, -2))


def parts(x):
    return np.cos(x), np.sin(x), np.ones_like(x)


def specials(x):
    order = np.argsort(-x, kind="stable")[:3]
    return None, x * x, x[order], order, np.tanh(x), np.arcsin(x)


def decompositions(a, b):
    s = a @ a.T + 4 * np.eye(4, dtype="f4")
    return np.linalg.cholesky(s), np.linalg.solve(a, b), a, a, s


def draws(key):
    key = jax.random.wrap_key_data(key)
    return (
        jax.random.normal(key, (5,)),
        jax.random.uniform(key, (5,)),
        jax.random.randint(key, (5,), 0, 10),
    )


CASES = {
    attention: (normal(2, 2, 8, 16), normal(2, 2, 8, 16), normal(2, 2, 8, 16), normal(16)),
    products: (normal(4, 6), normal(6, 3)),
    integers: (
        np.array([7, -7, 9, -9, 2**31 - 1, -(2**31)], "i4"),
        np.array([2, 2, 4, 5, 7, 3], "i4"),
    ),
    windows: (normal(4, 5), normal(2, 2), np.int32(1)),
    parts: (normal(4),),
    specials: (np.array([0.5, -0.5, 0.1, 0.9, -0.9, 0.0], "f4"),),
    decompositions: (normal(4, 4), normal(4)),
    draws: (np.array([1, 2], "u4"),),
}


def test_every_program_has_its_values():
    assert {path.stem for path in OWN.glob("*.mlir")} == {case.__name__ for case in CASES}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_the_values_are_those_of_numpy(case):
    arguments = CASES[case]
    results = km.hlo_call(OWN / f"{case.__name__}.mlir", *arguments)
    for result, wanted in zip(results, case(*arguments), strict=True):
        if wanted is not None:
            exact = np.asarray(wanted).dtype.kind in "iu"
            tolerance = 0 if exact else 1e-2 if result.dtype.itemsize == 2 else 1e-4
            np.testing.assert_allclose(
                np.asarray(result).astype("f8"),
                np.asarray(wanted).astype("f8"),
                tolerance,
                tolerance,
            )


def test_the_inverse_of_erf_is_one():
    (x,) = CASES[specials]
    inverse = km.hlo_call(OWN / "specials.mlir", x)[0]
    np.testing.assert_allclose([math.erf(v) for v in np.asarray(inverse)], x, rtol=1e-5, atol=1e-6)
