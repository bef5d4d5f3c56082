"""XLA's numbers for element types, and the dtypes that NumPy has for them."""

from functools import lru_cache

import numpy as np
from jax import numpy as jnp

_NAMES = {
    1: "bool",
    2: "int8",
    3: "int16",
    4: "int32",
    5: "int64",
    6: "uint8",
    7: "uint16",
    8: "uint32",
    9: "uint64",
    10: "float16",
    11: "float32",
    12: "float64",
    15: "complex64",
    16: "bfloat16",
    18: "complex128",
    19: "float8_e5m2",
    20: "float8_e4m3fn",
    23: "float8_e4m3b11fnuz",
    24: "float8_e5m2fnuz",
    25: "float8_e4m3fnuz",
    28: "float8_e4m3",
    29: "float8_e3m4",
    33: "float8_e8m0fnu",
}
"""`XLA_FFI_DataType`, but for types narrower than a byte, which XLA packs and NumPy does not."""


@lru_cache(maxsize=64)
def numpy_dtype(number: int) -> np.dtype:
    """The dtype of an element type.

    Raises:
        TypeError: NumPy has none that lies in memory as XLA lays it out.
    """
    name = _NAMES.get(number)
    if name is None or (name not in np.sctypeDict and not hasattr(jnp, name)):
        raise TypeError(f"NumPy has no dtype for XLA's element type {number}")
    return np.dtype(name) if name in np.sctypeDict else np.dtype(getattr(jnp, name))


def xla_number(dtype: np.dtype) -> int | None:
    """XLA's number for a dtype; None for types narrower than a byte, and those XLA has not."""
    return next((number for number, name in _NAMES.items() if name == dtype.name), None)
