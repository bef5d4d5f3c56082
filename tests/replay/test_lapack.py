"""Programs that call LAPACK have the derivatives of the JAX functions they came from."""

import jax
import numpy as np
import pytest
from jax import lax
from jax import numpy as jnp
from jax.test_util import check_grads

import kernel_magics as km
from tests.replay.programs import imported, replayed

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((3, 3))
TALL, WIDE = RANDOM.standard_normal((4, 3)), RANDOM.standard_normal((3, 4))
SYMMETRIC = X @ X.T + np.eye(3)
COMPLEX = X + 1j * RANDOM.standard_normal((3, 3))
HERMITIAN = COMPLEX @ COMPLEX.conj().T + np.eye(3)


def absolute(pair):
    """Vectors up to their signs and phases."""
    return [jnp.abs(x) if x.ndim > 1 else x for x in pair]


def squared(x):
    return jnp.abs(jnp.linalg.eig(x)[1]) ** 2


FUNCTIONS = {
    "qr": (jnp.linalg.qr, X),
    "qr of a tall matrix": (jnp.linalg.qr, TALL),
    "qr of a wide matrix": (lambda x: jnp.linalg.qr(x)[1], WIDE),
    "qr of a complex matrix": (jnp.linalg.qr, COMPLEX),
    "r alone": (lambda x: jnp.linalg.qr(x, mode="r"), TALL),
    "singular values": (lambda x: jnp.linalg.svd(x, compute_uv=False), TALL),
    "singular vectors": (lambda x: absolute(jnp.linalg.svd(x, full_matrices=False)), TALL),
    "eigenvalues": (jnp.linalg.eigvals, X),
    "eigenvectors of a symmetric matrix": (lambda x: absolute(jnp.linalg.eigh(x)), SYMMETRIC),
    "eigenvalues of a Hermitian matrix": (jnp.linalg.eigvalsh, HERMITIAN),
    "cholesky": (jnp.linalg.cholesky, SYMMETRIC),
    "upper cholesky": (lambda x: jnp.linalg.cholesky(x, upper=True), SYMMETRIC),
    "complex cholesky": (jnp.linalg.cholesky, HERMITIAN),
    "system": (lambda x: jnp.linalg.solve(x, jnp.ones(3)), X),
    "triangular system": (
        lambda x: lax.linalg.triangular_solve(x, x, left_side=True, lower=True), SYMMETRIC),
    "determinant": (jnp.linalg.det, X),
    "least squares": (lambda x: jnp.linalg.lstsq(x, jnp.ones(4))[0], TALL),
    "pseudo-inverse": (jnp.linalg.pinv, TALL),
    "tridiagonal system": (
        lambda x: lax.linalg.tridiagonal_solve(x[0] * (jnp.arange(3) > 0), x[1] + 5,
                                               x[2] * (jnp.arange(3) < 2), x), X),
}  # fmt: skip


@pytest.fixture(autouse=True)
def _double():
    with jax.enable_x64(True):
        yield


@pytest.fixture(params=FUNCTIONS)
def pair(request):
    function, x = FUNCTIONS[request.param]
    return function, imported(function, x), x


def test_values_derivatives_and_batches_are_those_of_the_original(pair):
    function, replay, x = pair
    direction = np.random.default_rng(1).standard_normal(x.shape).astype(x.dtype)
    found = jax.tree.leaves(jax.jvp(replay, (x,), (direction,)))
    expected = jax.tree.leaves(jax.jvp(function, (x,), (direction,)))
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-8)
    batch = np.stack([x, x + direction * 0.01])
    rows = [jax.tree.leaves(function(row)) for row in batch]
    batched = jax.tree.leaves(jax.vmap(replay)(batch))
    for a, *b in zip(batched, *rows, strict=True):
        np.testing.assert_allclose(a, np.stack(b), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("name", ["qr", "qr of a tall matrix", "r alone", "cholesky", "system"])
def test_derivatives_of_second_order(name):
    function, x = FUNCTIONS[name]
    check_grads(imported(function, x), (jnp.asarray(x),), 2, atol=1e-4, rtol=1e-4, eps=1e-5)


def test_the_derivative_of_eigenvectors_is_that_of_jax():
    found = jax.jvp(imported(squared, X), (X,), (X.T,))[1]
    step = 1e-6
    expected = (squared(X + step * X.T) - squared(X - step * X.T)) / (2 * step)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_one_triangle_alone_counts():
    text = """
    func.func @main(%x: tensor<3x3xf64>) -> tensor<3x3xf64> {
      %r = stablehlo.cholesky %x, lower = true : tensor<3x3xf64>
      return %r : tensor<3x3xf64>
    }"""
    slope = jax.jacobian(lambda x: replayed(text)(x)[0])(SYMMETRIC)
    assert not np.triu(slope, 1).any()
    symmetric = jnp.asarray(SYMMETRIC + X)
    np.testing.assert_allclose(
        replayed(text)(symmetric)[0], km.hlo_call(text, symmetric)[0], rtol=1e-12
    )


def test_what_jax_cannot_derive_is_named():
    replay = imported(lambda x: lax.linalg.schur(x)[0], X)
    with pytest.raises(ValueError, match="FFI call to `lapack_dgees_ffi` cannot be diff"):
        jax.jvp(replay, (X,), (X,))
