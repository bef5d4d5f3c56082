"""How far results are from those of another plugin: in values, and in units of the last place."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jax import numpy as jnp

_BITS_OF_BYTE = 8


@dataclass(frozen=True, slots=True)
class Difference:
    """The largest differences between two lists of arrays."""

    max_absolute: float = 0.0
    max_relative: float = 0.0
    """Of the other's magnitude, where that is not zero."""
    max_ulp: int | None = 0
    """Steps between floats of the type; None where only other types were compared."""
    place: str = ""
    """Where the largest is, such as `result 0 [2, 1]: 1.5, not 1.25`; empty where none is."""
    unlike: int = 0
    """Elements of which one alone is NaN or infinite, or both are infinite with other signs."""

    @property
    def is_zero(self) -> bool:
        """Whether all is equal; NaN is equal to NaN here."""
        return not (self.max_absolute or self.unlike)


def difference(found: Sequence[np.ndarray], wanted: Sequence[np.ndarray]) -> Difference:
    """Compares results one by one.

    Args:
        found: Arrays.
        wanted: As many, of the same shapes and dtypes.
    """
    total = Difference(max_ulp=None)
    for i, (a, b) in enumerate(zip(found, wanted, strict=True)):
        total = _larger(total, _one(i, a, b))
    return total


def special_values(arrays: Sequence[np.ndarray]) -> tuple[int, int]:
    """How many elements are NaN, and how many are infinite."""
    reals = [_real(a) for a in arrays if jnp.issubdtype(a.dtype, jnp.inexact)]
    wide = [real.astype(np.float64) for real in reals]
    return sum(int(np.isnan(a).sum()) for a in wide), sum(int(np.isinf(a).sum()) for a in wide)


def _larger(one: Difference, other: Difference) -> Difference:
    ulps = [ulp for ulp in (one.max_ulp, other.max_ulp) if ulp is not None]
    first = one if one.place and one.max_absolute >= other.max_absolute else other
    return Difference(
        max(one.max_absolute, other.max_absolute),
        max(one.max_relative, other.max_relative),
        max(ulps) if ulps else None,
        first.place,
        one.unlike + other.unlike,
    )


def _one(i: int, found: np.ndarray, wanted: np.ndarray) -> Difference:
    is_float = bool(jnp.issubdtype(found.dtype, jnp.inexact))
    if not found.size:
        return Difference(max_ulp=0 if is_float else None)
    a, b = _real(found), _real(wanted)
    if not is_float:
        return _of_integers(i, a, b)
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    finite = np.isfinite(wide_a) & np.isfinite(wide_b)
    same = finite | (np.isnan(wide_a) & np.isnan(wide_b)) | (wide_a == wide_b)
    distance = np.zeros(a.shape)
    relative = np.zeros(a.shape)
    with np.errstate(over="ignore"):
        np.subtract(wide_a, wide_b, out=distance, where=finite)
        distance = np.abs(distance)
        np.divide(distance, np.abs(wide_b), out=relative, where=finite & (wide_b != 0))
    ulps = _ulps(a, b, finite)
    largest, unlike = float(distance.max()), int((~same).sum())
    at = int(np.argmax(~same)) if unlike else int(np.argmax(distance))
    place = _place(i, at, a, b) if largest or unlike else ""
    return Difference(largest, float(relative.max()), ulps, place, unlike)


def _of_integers(i: int, a: np.ndarray, b: np.ndarray) -> Difference:
    # As Python's integers: 64-bit ones have no wider type that could hold a difference.
    at = np.flatnonzero(a.reshape(-1) != b.reshape(-1))
    if not at.size:
        return Difference(max_ulp=None)
    pairs = [(int(a.reshape(-1)[k]), int(b.reshape(-1)[k])) for k in at]
    distances = [abs(x - y) for x, y in pairs]
    largest = max(range(len(at)), key=distances.__getitem__)
    relative = max(
        (d / abs(y) for d, (_, y) in zip(distances, pairs, strict=True) if y), default=0.0
    )
    return Difference(float(distances[largest]), relative, None, _place(i, int(at[largest]), a, b))


def _ulps(a: np.ndarray, b: np.ndarray, finite: np.ndarray) -> int | None:
    """The most floats between two that correspond; None for types smaller than a byte."""
    if jnp.finfo(a.dtype).bits % _BITS_OF_BYTE:
        return None
    if not finite.any():
        return 0
    steps = [_steps(array[finite]) for array in (a, b)]
    # Unsigned, for floats of 64 bits are further apart than a signed number can say.
    upper, lower = np.maximum(*steps), np.minimum(*steps)
    return int((upper.view(np.uint64) - lower.view(np.uint64)).max())


def _steps(array: np.ndarray) -> np.ndarray:
    """Floats as integers that count them in order, zeros of both signs as one."""
    signed = np.dtype(f"i{array.dtype.itemsize}")
    bits = np.ascontiguousarray(array).view(signed).astype(np.int64)
    magnitude = bits & np.int64(np.iinfo(signed).max)
    return np.where(bits < 0, -magnitude, magnitude)


def _real(array: np.ndarray) -> np.ndarray:
    """An array with a last dimension of two for real and imaginary parts, if it is complex."""
    if not np.iscomplexobj(array):
        return array
    return np.stack([np.real(array), np.imag(array)], -1)


def _place(i: int, at: int, a: np.ndarray, b: np.ndarray) -> str:
    index = [int(k) for k in np.unravel_index(at, a.shape)]
    found, wanted = a.reshape(-1)[at], b.reshape(-1)[at]
    return f"result {i} {index}: {found}, not {wanted}"
