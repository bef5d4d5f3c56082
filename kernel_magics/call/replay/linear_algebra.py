"""Factorisations, triangular systems and Fourier transforms."""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax import lax

from kernel_magics.call.replay.operation import Op, Run


def adjoint(x: Any) -> jax.Array:
    """The conjugate transpose of the last two dimensions."""
    order = (*range(x.ndim - 2), x.ndim - 1, x.ndim - 2)
    transposed = lax.transpose(x, order)
    return lax.conj(transposed) if np.issubdtype(x.dtype, np.complexfloating) else transposed


def from_lower(x: Any) -> jax.Array:
    """The Hermitian matrix of a lower triangle.

    What stands above the diagonal is not read, and must not count in a derivative either: JAX
    differentiates factorisations of one triangle as if the whole matrix were read.
    """
    rows, columns = (lax.broadcasted_iota(np.int32, x.shape, x.ndim - i) for i in (2, 1))
    return lax.select(rows >= columns, x, adjoint(x))


def lower_cholesky(x: Any) -> jax.Array:
    """The factor from the lower triangle alone, as XLA takes it; NaN where there is none."""
    return lax.linalg.cholesky(from_lower(x), symmetrize_input=False)


def _upper_cholesky(x: Any) -> jax.Array:
    return adjoint(lower_cholesky(adjoint(x)))


def _cholesky(op: Op) -> Run:
    if op.flag("lower"):
        return lower_cholesky
    return _upper_cholesky


def _triangular_solve(op: Op) -> Run:
    left_side, lower, unit = (op.flag(n) for n in ("left_side", "lower", "unit_diagonal"))
    word = op.word("transpose_a", "NO_TRANSPOSE")

    def triangular_solve(a: Any, b: Any) -> jax.Array:
        return lax.linalg.triangular_solve(
            a,
            b,
            left_side=left_side,
            lower=lower,
            transpose_a=word in ("TRANSPOSE", "ADJOINT"),
            conjugate_a=word == "ADJOINT",
            unit_diagonal=unit,
        )

    return triangular_solve


def _fft(op: Op) -> Run:
    kind, lengths = op.word("fft_type"), op.ints("fft_length")

    def fft(x: Any) -> jax.Array:
        return lax.fft(x, kind, lengths)

    return fft


LINEAR_ALGEBRA: dict[str, Callable[[Op], Run]] = {
    "cholesky": _cholesky,
    "fft": _fft,
    "triangular_solve": _triangular_solve,
}
