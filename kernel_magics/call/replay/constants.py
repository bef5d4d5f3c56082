"""The elements of a constant, whatever their type: also those that the binding cannot give."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
from jax.extend.mlir import ir

from kernel_magics.call.replay.blocks import dtype_kind
from kernel_magics.ir.types import tensor_type

_DENSE = re.compile(r"dense<(.*)> : tensor<", re.DOTALL)
_RESOURCE = re.compile(r'dense_resource<"?([^">]+)"?>')
_TOKEN = re.compile(r"0x[0-9A-Fa-f]+|true|false|-?\d[\d.]*(?:[eE][+-]?\d+)?")
_HEX = re.compile(r'"0x([0-9A-Fa-f]*)"')


def read_elements(
    operation: ir.Operation, resource: Callable[[str], bytes], name: str = "value"
) -> np.ndarray:
    """The elements of a constant op.

    Args:
        operation: Has the constant as an attribute, and a result of its type.
        resource: Gives the bytes of a `dense_resource`.
        name: The attribute's name.

    Returns:
        An array of the constant's shape; of rank 0 where it is written as one element for all.
    """
    kind = tensor_type(operation.results[0].type)
    assert kind.dtype is not None
    assert kind.shape is not None
    shape = tuple(extent or 0 for extent in kind.shape)
    attribute = _attribute(operation, name)
    text = "" if isinstance(attribute, ir.DenseElementsAttr) else str(attribute or operation)
    blob = _RESOURCE.search(text)
    if blob:
        return _from_bytes(resource(blob[1]), kind.dtype).reshape(shape)
    try:
        found = np.asarray(attribute) if not text else None
    except TypeError:
        found = None
    if found is None:
        return _from_text(text or str(attribute), kind.dtype, shape)
    if found.size > 1 and not any(found.strides):
        found = found.ravel()[0]
    return np.array(found, kind.dtype)


def _attribute(operation: ir.Operation, name: str) -> Any:
    try:
        return operation.attributes[name]
    except TypeError:
        # Complex numbers: the binding has no class for them.
        return None


def _from_text(text: str, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
    dense = _DENSE.search(text)
    assert dense, text[:200]
    body = dense[1]
    packed = _HEX.fullmatch(body.strip())
    if packed:
        found = _from_bytes(bytes.fromhex(packed[1]), dtype)
    else:
        found = _from_tokens(_TOKEN.findall(body), dtype)
    count = int(np.prod(shape, dtype=np.int64))
    return found.reshape(()) if found.size == 1 and count != 1 else found.reshape(shape)


def _from_bytes(content: bytes, dtype: np.dtype) -> np.ndarray:
    if dtype == np.bool_:
        # Packed into bits by MLIR's attribute, one byte each in a resource.
        return np.frombuffer(content, np.uint8) != 0
    return np.frombuffer(content, dtype)


def _from_tokens(tokens: list[str], dtype: np.dtype) -> np.ndarray:
    if dtype.kind == "c":
        part = np.dtype(np.float32 if dtype.itemsize == 8 else np.float64)  # noqa: PLR2004 - bytes
        return _from_tokens(tokens, part).view(dtype)
    if dtype_kind(dtype) != "f":
        words = {"true": 1, "false": 0}
        values = [words[t] if t in words else int(t, 0) for t in tokens]
        return np.array(values, np.int64 if min(values, default=0) < 0 else np.uint64).astype(dtype)
    return np.array([_float(token, dtype) for token in tokens], dtype)


def _float(token: str, dtype: np.dtype) -> Any:
    if not token.startswith("0x"):
        return np.float64(token).astype(dtype)
    bits = np.array(int(token, 16), f"uint{8 * dtype.itemsize}")
    return bits.view(dtype)
