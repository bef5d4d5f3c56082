"""One registered target, as a value: its handlers, what it promises, what stands in for it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import jax

from kernel_magics.custom_call.handler import Handler

VmapMethod = Literal["sequential", "expand_dims", "broadcast_all"]
Supports = Callable[[str, Sequence[Any], Mapping[str, Any]], bool]
"""Takes the plugin's name, the avals and the attributes, and may say no."""


@dataclass(frozen=True, slots=True)
class CheckedCall:
    """What a contract makes of a call."""

    results: tuple[jax.ShapeDtypeStruct, ...]
    attributes: Mapping[str, Any]
    """Defaults filled in, each a NumPy scalar or array of its declared type, a str or a bool."""


class Contract(Protocol):
    """What a handler takes and gives."""

    def check(
        self, target: str, avals: Sequence[Any], attributes: Mapping[str, Any]
    ) -> CheckedCall:
        """Types a call.

        Args:
            target: For messages.
            avals: What has `shape` and `dtype` of each argument.
            attributes: As the caller gave them.

        Raises:
            SignatureError: The call does not fit; names argument and wanted type.
        """
        ...


@dataclass(frozen=True, slots=True)
class Served:
    """A handler and where it serves."""

    handler: Handler
    plugins: frozenset[str] | None = None
    """Names of plugins; None for all that have its platform."""
    platform: str = "cpu"
    """Whose memory the handler can read: `cpu`, `cuda`, `rocm`."""


@dataclass(frozen=True, slots=True)
class Registration:
    """What is known of a target. Replaced as a whole, so readers need no lock."""

    target: str
    served: tuple[Served, ...]
    """The latest first; the first that fits a plugin serves it."""
    contract: Contract | None = None
    fallback: Callable[..., Any] | None = field(default=None, compare=False)
    """A JAX function or an `HloFunction`: takes the arguments, and attributes by keyword."""
    supports: Supports | None = field(default=None, compare=False)
    vmap_method: VmapMethod | None = None
    vjp: Callable[..., Any] | None = field(default=None, compare=False)
    """Takes arguments, results and cotangents of the results as tuples, and attributes by keyword;
    gives a cotangent for each argument."""
    has_side_effect: bool = False
    is_tried: bool = False
    """Whether each handler ran once in a child before it was trusted here."""
