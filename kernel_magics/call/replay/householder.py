"""Householder's QR by its algorithm: what LAPACK's packed factors are, as JAX can derive it.

JAX has a derivative of Q and R, but none of the packed form that programs hold in between. The
algorithm has: each step is smooth where the column is not zero below the diagonal.
"""

from typing import Any

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp


def packed_qr(x: Any) -> tuple[jax.Array, jax.Array]:
    """R, the reflectors below its diagonal, and their factors.

    Args:
        x: `[..., m, n]`, real or complex.

    Source: LAPACK's `geqr2` and `larfg`.
    """
    return _over_batches(_packed_qr, x.ndim - 2)(x)


def product_of_reflectors(packed: Any, factors: Any) -> jax.Array:
    """The first columns of the product of the reflectors that `packed_qr` gives.

    Args:
        packed: `[..., m, n]`, of which what is below the diagonal counts.
        factors: `[..., k]`, with `k` at most `n`.

    Source: LAPACK's `org2r`.
    """
    return _over_batches(_product_of_reflectors, packed.ndim - 2)(packed, factors)


def _over_batches(function: Any, count: int) -> Any:
    for _ in range(count):
        function = jax.vmap(function)
    return function


def _packed_qr(x: Any) -> tuple[jax.Array, jax.Array]:
    rows, columns = jnp.arange(x.shape[0]), jnp.arange(x.shape[1])

    def step(a: Any, j: Any) -> tuple[jax.Array, jax.Array]:
        column = lax.dynamic_index_in_dim(a, j, 1, keepdims=False)
        head, tau, reflector = _reflector(column, rows, j)
        along = jnp.conj(reflector) @ a
        reflected = a - jnp.conj(tau) * jnp.outer(reflector, along)
        written = jnp.where(rows > j, reflector, jnp.where(rows == j, head, column))
        after = jnp.where(columns > j, reflected, a)
        return jnp.where(columns == j, written[:, None], after), tau

    return lax.scan(step, x, jnp.arange(min(x.shape)))


def _reflector(column: Any, rows: Any, j: Any) -> tuple[jax.Array, jax.Array, jax.Array]:
    """What makes a column zero below the diagonal: the diagonal's element, factor, and vector."""
    alpha = jnp.sum(jnp.where(rows == j, column, 0))
    below = jnp.where(rows > j, column, 0)
    rest = jnp.sum(jnp.real(below * jnp.conj(below)))
    is_done = (rest == 0) & (jnp.imag(alpha) == 0)
    squares = jnp.real(alpha * jnp.conj(alpha)) + rest
    norm = jnp.sqrt(jnp.where(is_done, 1, squares))
    beta = jnp.where(jnp.real(alpha) >= 0, -norm, norm).astype(column.dtype)
    tau = jnp.where(is_done, 0, (beta - alpha) / beta)
    divisor = jnp.where(is_done, 1, alpha - beta)
    vector = jnp.where(rows == j, 1, jnp.where(is_done, 0, below / divisor))
    return jnp.where(is_done, alpha, beta), tau, vector.astype(column.dtype)


def _product_of_reflectors(packed: Any, factors: Any) -> jax.Array:
    rows = jnp.arange(packed.shape[0])

    def step(q: Any, item: Any) -> tuple[jax.Array, None]:
        j, tau = item
        column = lax.dynamic_index_in_dim(packed, j, 1, keepdims=False)
        vector = jnp.where(rows > j, column, jnp.where(rows == j, 1, 0).astype(column.dtype))
        return q - tau * jnp.outer(vector, jnp.conj(vector) @ q), None

    start = jnp.eye(*packed.shape, dtype=packed.dtype)
    items = (jnp.arange(factors.shape[0]), factors)
    return lax.scan(step, start, items, reverse=True)[0]


def derived_from(call: Any, same: Any) -> Any:
    """A call with the derivative of a function that gives the same.

    Args:
        call: Gives an array or several.
        same: Gives the first of these, or all.
    """

    @jax.custom_jvp
    def derived(*args: Any) -> Any:
        made = call(*args)
        return tuple(made) if isinstance(made, list) else made

    def rule(primals: Any, tangents: Any) -> Any:
        values = derived(*primals)
        slopes = jax.jvp(same, primals, tangents)[1]
        if not isinstance(slopes, tuple):
            return values, slopes
        # What tells of success has no derivative.
        others = [np.zeros(v.shape, jax.dtypes.float0) for v in values[len(slopes) :]]
        return values, (*slopes, *others)

    derived.defjvp(rule)
    return derived
