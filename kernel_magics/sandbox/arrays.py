"""Arrays on a pipe: dtype by name and shape in the head, the elements as a blob."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jax import numpy as jnp

from kernel_magics.sandbox.messages import MessageError


def array_heads(arrays: Sequence[Any]) -> list[dict[str, Any]]:
    """What an array, or anything with a shape and a dtype, is, for each of some."""
    return [{"dtype": np.dtype(a.dtype).name, "shape": list(a.shape)} for a in arrays]


def array_blobs(arrays: Sequence[Any]) -> list[bytes]:
    """The elements of each array, last dimension first, in the byte order of this machine."""
    return [np.asarray(array).tobytes() for array in arrays]


def read_arrays(heads: Any, blobs: Sequence[bytes]) -> list[np.ndarray]:
    """The arrays that `array_heads` and `array_blobs` were given.

    Raises:
        MessageError: Heads and blobs do not belong together.
    """
    kinds = read_kinds(heads)
    if len(kinds) != len(blobs):
        raise MessageError(f"{len(kinds)} arrays were announced, and {len(blobs)} came")
    arrays: list[np.ndarray] = []
    for (shape, dtype), blob in zip(kinds, blobs, strict=True):
        if math.prod(shape) * dtype.itemsize != len(blob):
            raise MessageError(f"{len(blob)} bytes are no {dtype.name}{list(shape)}")
        arrays.append(np.frombuffer(blob, dtype).reshape(shape))
    return arrays


def read_kinds(heads: Any) -> list[tuple[tuple[int, ...], np.dtype]]:
    """Shape and dtype of each array that `array_heads` was given.

    Raises:
        MessageError: It says something else.
    """
    if not isinstance(heads, list):
        raise MessageError("A list of arrays was expected")
    return [_kind(head) for head in heads]


def _kind(head: Any) -> tuple[tuple[int, ...], np.dtype]:
    if not isinstance(head, Mapping) or not isinstance(shape := head.get("shape"), list):
        raise MessageError("Dtype and shape of an array were expected")
    if not all(type(size) is int and size >= 0 for size in shape):
        raise MessageError(f"{shape} is no shape")
    # By attribute: NumPy alone knows none of the small and brain floats by name.
    dtype = getattr(getattr(jnp, str(head.get("dtype")), None), "dtype", None)
    if not isinstance(dtype, np.dtype):
        raise MessageError(f"{head.get('dtype')!r} is no dtype")
    return tuple(shape), dtype
