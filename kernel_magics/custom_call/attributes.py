"""Attributes of a call as a value: what a trace carries, and what caches compare."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from kernel_magics.errors import SignatureError


class Attributes:
    """Names to NumPy scalars and arrays, strings, and dictionaries of these; equal by content."""

    __slots__ = ("_key", "values")

    def __init__(self, values: Mapping[str, Any], target: str = "") -> None:
        """Takes attributes as a caller gave them.

        Args:
            values: Python numbers become what `jax.ffi.ffi_call` makes of them: 64 bits.
            target: For messages.

        Raises:
            SignatureError: A value cannot be an attribute.
        """
        self.values: dict[str, Any] = {k: _plain(v, k, target) for k, v in values.items()}
        self._key = _key(self.values)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Attributes) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        shown = (f"{name}={_shown(value)}" for name, value in self.values.items())
        return f"({', '.join(shown)})"


def _plain(value: Any, name: str, target: str) -> Any:
    if isinstance(value, str | np.ndarray | np.generic):
        return value
    if isinstance(value, bool):
        return np.bool_(value)
    if isinstance(value, int):
        return np.int64(value)
    if isinstance(value, float):
        return np.float64(value)
    if isinstance(value, Mapping):
        return {str(k): _plain(v, f"{name}.{k}", target) for k, v in value.items()}
    if isinstance(value, list | tuple) and np.asarray(value).dtype.kind in "biuf":
        return np.asarray(value)
    raise SignatureError(
        f"The attribute `{name}` of `{target}` cannot be {type(value).__name__}",
        details=[
            f"given: {value!r}",
            "wanted: a number, a string, an array of numbers, a dictionary",
        ],
        advice="What changes from call to call is an argument, not an attribute.",
    )


def _key(value: Any) -> Any:
    if isinstance(value, Mapping):
        return tuple((k, _key(v)) for k, v in sorted(value.items()))
    if isinstance(value, np.ndarray | np.generic):
        return (str(value.dtype), value.shape, value.tobytes())
    return value


def _shown(value: Any) -> str:
    return str(value) if isinstance(value, np.ndarray | np.generic) else repr(value)
