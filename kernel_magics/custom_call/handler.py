"""What serves a target: code with an address, and what keeps it there."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, Literal

Kind = Literal["native", "python", "cfunc"]


@dataclass(frozen=True, slots=True)
class Handler:
    """Code that XLA can call: an `XLA_FFI_Handler*`, and what must live as long as it may run.

    Two are equal when they are the same code.
    """

    name: str = field(compare=False)
    """For people: `rms_norm in libnorms.so`, or a function's qualified name."""
    kind: Kind
    """`native`: machine code of a library. `python`: through ctypes. `cfunc`: made by numba."""
    address: int = field(compare=False)
    """Of the function; it takes one `XLA_FFI_CallFrame*` and gives an `XLA_FFI_Error*` or null."""
    identity: Hashable
    """Equal for the same code: registering it again is nothing. A library's content and symbol."""
    origin: str = field(compare=False)
    """Where it came from: a path, a cell, `capsule`."""
    keep_alive: Any = field(default=None, repr=False, compare=False)
    """Whatever would take the code along when it went."""
    function: Callable[..., Any] | None = field(default=None, repr=False, compare=False)
    """The Python function behind it, where there is one."""
    ffi_version: tuple[int, int] | None = field(default=None, compare=False)
    """Of the headers that it was compiled with; None where nobody asked yet."""
