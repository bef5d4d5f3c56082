"""The request that has a custom call's handler called in a child process."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jax
import numpy as np

from kernel_magics.sandbox.arrays import array_blobs, array_heads

Attribute = bool | int | str | np.ndarray | np.generic
"""As `jax.ffi.ffi_call` takes them; a float says its width as a NumPy scalar."""


@dataclass(frozen=True, slots=True)
class HandlerCall:
    """One call of a handler that lies in a shared library."""

    library: Path
    symbol: str
    arguments: Sequence[np.ndarray]
    results: Sequence[jax.ShapeDtypeStruct]
    """What there is room for: what is written beside it is found."""
    attributes: Mapping[str, Attribute] = field(default_factory=dict[str, Attribute])
    preload: Sequence[Path] = ()
    """Libraries that this one needs and would not find."""

    def message(self) -> tuple[dict[str, Any], list[bytes]]:
        """Head and blobs of a `call_handler` request."""
        arrays = {
            k: v for k, v in self.attributes.items() if isinstance(v, np.ndarray | np.generic)
        }
        plain = {k: v for k, v in self.attributes.items() if k not in arrays}
        head = {
            "library": str(self.library.expanduser().absolute()),
            "symbol": self.symbol,
            "preload": [str(path) for path in self.preload],
            "arguments": array_heads(self.arguments),
            "results": array_heads(self.results),
            "attributes": plain,
            "array_names": list(arrays),
            "arrays": array_heads([*arrays.values()]),
        }
        return head, array_blobs([*self.arguments, *arrays.values()])
