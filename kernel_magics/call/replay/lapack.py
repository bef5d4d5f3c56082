"""LAPACK's factorisations as JAX's own where it has them: those can be differentiated.

What only tells whether LAPACK was successful stays its word, and has no derivative.
"""

from typing import Any

import numpy as np
from jax import lax

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
    if "potrf" in target and letters.get("uplo") == "L":
        return _cholesky(call)
    if "getrf" in target:
        return _lu(call)
    if "trsm" in target and letters:
        return _triangular_solve(letters)
    if ("syevd" in target or "heevd" in target) and letters.get("mode") == "V":
        return _eigh(call, is_lower=letters.get("uplo") == "L")
    return call


def _cholesky(call: Run) -> Run:
    def potrf(x: Any) -> Any:
        factor, info = call(lax.stop_gradient(x))
        # Above the diagonal LAPACK leaves what it was given; of no use is what it leaves then.
        rows, columns = (lax.broadcasted_iota(np.int32, x.shape, x.ndim - i) for i in (2, 1))
        is_good = lax.broadcast_in_dim(info == 0, x.shape, tuple(range(x.ndim - 2)))
        return lax.select(is_good & (rows >= columns), lower_cholesky(x), factor), info

    return potrf


def _lu(call: Run) -> Run:
    def getrf(x: Any) -> Any:
        _, pivots, info = call(lax.stop_gradient(x))
        return lax.linalg.lu(x)[0], pivots, info

    return getrf


def _triangular_solve(letters: dict[str, str]) -> Run:
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


def _eigh(call: Run, *, is_lower: bool) -> Run:
    def syevd(x: Any) -> Any:
        info = call(lax.stop_gradient(x))[2]
        whole = from_lower(x if is_lower else adjoint(x))
        vectors, values = lax.linalg.eigh(whole, symmetrize_input=False)
        return vectors, values, info

    return syevd
