"""LAPACK's factorisations as JAX's own where it has them: those can be differentiated.

What only tells whether LAPACK was successful stays its word, and has no derivative.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from jax import lax

from kernel_magics.call.replay.householder import (
    derived_from,
    packed_qr,
    product_of_reflectors,
)
from kernel_magics.call.replay.linear_algebra import adjoint, from_lower, lower_cholesky
from kernel_magics.call.replay.operation import Run


def differentiable(target: str, attributes: dict[str, Any], call: Run) -> Run:
    """A call of LAPACK that JAX can differentiate, or the call as it is.

    Args:
        target: Such as `lapack_spotrf_ffi`.
        attributes: What the handler gets; letters as numbers.
        call: The custom call.
    """
    numbers = {n: v for n, v in attributes.items() if getattr(v, "dtype", None) == np.uint8}
    letters = {name: chr(number) for name, number in numbers.items()}
    name = target.removeprefix("lapack_")[1:].removesuffix("_ffi")
    form = _FORMS.get(name)
    # Without letters it is a call of an older convention, whose operands are others.
    return call if form is None or not target.endswith("_ffi") else form(call, letters)


def _cholesky(call: Run, letters: dict[str, str]) -> Run:
    is_lower = letters["uplo"] == "L"

    def potrf(x: Any) -> Any:
        factor, info = call(lax.stop_gradient(x))
        # Beyond the diagonal LAPACK leaves what it was given; of no use is what it leaves then.
        rows, columns = (lax.broadcasted_iota(np.int32, x.shape, x.ndim - i) for i in (2, 1))
        is_good = lax.broadcast_in_dim(info == 0, x.shape, tuple(range(x.ndim - 2)))
        is_part = rows >= columns if is_lower else rows <= columns
        known = lower_cholesky(x) if is_lower else adjoint(lower_cholesky(adjoint(x)))
        return lax.select(is_good & is_part, known, factor), info

    return potrf


def _lu(call: Run, _: dict[str, str]) -> Run:
    def getrf(x: Any) -> Any:
        _, pivots, info = call(lax.stop_gradient(x))
        return lax.linalg.lu(x)[0], pivots, info

    return getrf


def _triangular_solve(_: Run, letters: dict[str, str]) -> Run:
    def trsm(a: Any, b: Any) -> Any:
        return lax.linalg.triangular_solve(
            a,
            b,
            left_side=letters["side"] == "L",
            lower=letters["uplo"] == "L",
            transpose_a=letters["trans_x"] in "TC",
            conjugate_a=letters["trans_x"] == "C",
            unit_diagonal=letters["diag"] == "U",
        )

    return trsm


def _eigh(call: Run, letters: dict[str, str]) -> Run:
    if letters["mode"] != "V":
        return call
    is_lower = letters["uplo"] == "L"

    def syevd(x: Any) -> Any:
        info = call(lax.stop_gradient(x))[2]
        whole = from_lower(x if is_lower else adjoint(x))
        vectors, values = lax.linalg.eigh(whole, symmetrize_input=False)
        return vectors, values, info

    return syevd


def _svd(call: Run, letters: dict[str, str]) -> Run:
    mode = letters["mode"]

    def gesdd(x: Any) -> Any:
        work, _, left, right, info = call(lax.stop_gradient(x))
        if mode == "N":
            values: Any = lax.linalg.svd(x, compute_uv=False)
            return work, values, left, right, info
        left, values, right = lax.linalg.svd(x, full_matrices=mode == "A")
        return work, values, left, right, info

    return gesdd


def _eig(call: Run, letters: dict[str, str]) -> Run:
    has_left, has_right = (letters[name] == "V" for name in ("compute_left", "compute_right"))

    def geev(x: Any) -> Any:
        *parts, left, right, info = call(lax.stop_gradient(x))
        values, *vectors = lax.linalg.eig(
            x,
            compute_left_eigenvectors=has_left,
            compute_right_eigenvectors=has_right,
            enable_eigvec_derivs=has_right and not has_left,
        )
        left = vectors.pop(0) if has_left else left
        right = vectors.pop(0) if has_right else right
        pair = [lax.real(values), lax.imag(values)] if len(parts) > 1 else [values]
        return *pair, left, right, info

    return geev


def _packed_qr(call: Run, _: dict[str, str]) -> Run:
    return derived_from(call, packed_qr)


def _reflectors(call: Run, _: dict[str, str]) -> Run:
    return derived_from(call, product_of_reflectors)


def _tridiagonal(call: Run, _: dict[str, str]) -> Run:
    def gtsv(low: Any, diagonal: Any, high: Any, b: Any) -> Any:
        *work, _, info = call(*map(lax.stop_gradient, (low, diagonal, high, b)))
        return *work, lax.linalg.tridiagonal_solve(low, diagonal, high, b), info

    return gtsv


_FORMS: dict[str, Callable[[Run, dict[str, str]], Run]] = {
    "geev": _eig,
    "geqrf": _packed_qr,
    "gesdd": _svd,
    "getrf": _lu,
    "gtsv": _tridiagonal,
    "heevd": _eigh,
    "orgqr": _reflectors,
    "potrf": _cholesky,
    "syevd": _eigh,
    "trsm": _triangular_solve,
    "ungqr": _reflectors,
}
"""LAPACK's names without the letter of the type. JAX cannot derive `gees`, `gehrd`, `sytrd`."""
