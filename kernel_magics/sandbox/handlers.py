"""Calling a custom call's handler in a child process, before the kernel registers it."""

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jax
import numpy as np

from kernel_magics.sandbox.arrays import array_blobs, array_heads, read_arrays, read_kinds

Attribute = bool | int | str | np.ndarray | np.generic
"""As `jax.ffi.ffi_call` takes them; a float says its width as a NumPy scalar."""

_TARGET = "kernel_magics_trial"


@dataclass(frozen=True, slots=True)
class HandlerCall:
    """One call of a handler that lies in a shared library."""

    library: Path
    symbol: str
    arguments: Sequence[np.ndarray]
    results: Sequence[jax.ShapeDtypeStruct]
    """A handler that writes more than this ends the child, or spoils what it answers."""
    attributes: Mapping[str, Attribute] = field(default_factory=dict[str, Attribute])

    def message(self) -> tuple[dict[str, Any], list[bytes]]:
        """Head and blobs of a `call_handler` request."""
        arrays = {
            k: v for k, v in self.attributes.items() if isinstance(v, np.ndarray | np.generic)
        }
        plain = {k: v for k, v in self.attributes.items() if k not in arrays}
        head = {
            "library": str(self.library.expanduser().absolute()),
            "symbol": self.symbol,
            "arguments": array_heads(self.arguments),
            "results": array_heads(self.results),
            "attributes": plain,
            "array_names": list(arrays),
            "arrays": array_heads([*arrays.values()]),
        }
        return head, array_blobs([*self.arguments, *arrays.values()])


def call_handler(
    head: Mapping[str, Any], blobs: Sequence[bytes]
) -> tuple[dict[str, Any], list[bytes]]:
    """Loads, registers and calls a handler once; the answer holds `results`.

    Runs in the child. Nothing of this can be undone: the child is for no other use afterwards.
    """
    arrays = read_arrays(head["arguments"] + head["arrays"], blobs)
    arguments, values = arrays[: len(head["arguments"])], arrays[len(head["arguments"]) :]
    named = {
        name: value[()] if value.ndim == 0 else value
        for name, value in zip(head["array_names"], values, strict=True)
    }
    library = ctypes.CDLL(head["library"])
    jax.ffi.register_ffi_target(_TARGET, jax.ffi.pycapsule(getattr(library, head["symbol"])))
    kinds = [jax.ShapeDtypeStruct(shape, dtype) for shape, dtype in read_kinds(head["results"])]
    run = jax.ffi.ffi_call(_TARGET, kinds, has_side_effect=True)

    def call(*args: Any) -> Sequence[jax.Array]:
        return run(*args, **named, **head["attributes"])

    results = jax.block_until_ready(jax.jit(call)(*arguments))
    return {"results": array_heads(results)}, array_blobs(results)
