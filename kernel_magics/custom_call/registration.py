"""One registered target, as a value: its handlers, what it promises, what stands in for it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import FunctionType
from typing import Any, Literal, Protocol

import jax

from kernel_magics.custom_call.handler import Handler

VmapMethod = Literal["sequential", "sequential_unrolled", "expand_dims", "broadcast_all"]
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

    def check_results(
        self, target: str, wanted: Sequence[Any], avals: Sequence[Any], checked: CheckedCall
    ) -> None:
        """Holds the results that a caller declares against those of the contract.

        Raises:
            SignatureError: They are others.
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

    def serves(self, plugin: str, platform: str, *, is_in_process: bool) -> bool:
        """Whether it serves a client.

        Args:
            plugin: The client's name.
            platform: The client's own word.
            is_in_process: Whether it is jaxlib's own: all of those are `cpu`, too.
        """
        if platform != self.platform:
            return False
        names = {plugin, "cpu"} if is_in_process else {plugin}
        return self.plugins is None or not names.isdisjoint(self.plugins)


@dataclass(frozen=True, slots=True)
class Registration:
    """What is known of a target. Replaced as a whole, so readers need no lock."""

    target: str
    served: tuple[Served, ...] = ()
    """The latest first; the first that fits a plugin serves it."""
    contract: Contract | None = None
    fallback: Callable[..., Any] | None = None
    """A JAX function or an `HloFunction`: takes the arguments, and attributes by keyword."""
    supports: Supports | None = None
    vmap_method: VmapMethod | None = None
    vjp: Callable[..., Any] | None = None
    """Takes arguments, results and cotangents of the results as tuples, and attributes by keyword;
    gives a cotangent for each argument."""
    has_side_effect: bool = False
    is_tried: bool = False
    """Whether each handler ran once in a child before it was trusted here."""

    def handler_for(self, plugin: str, platform: str, *, is_in_process: bool) -> Handler | None:
        """The handler that serves a client; None where none does."""
        for served in self.served:
            if served.serves(plugin, platform, is_in_process=is_in_process):
                return served.handler
        return None

    def handler_in_process(self) -> Handler | None:
        """The handler of jaxlib's own CPU clients, which share one."""
        return self.handler_for("cpu", "cpu", is_in_process=True)

    @property
    def meaning(self) -> tuple[Any, ...]:
        """What a trace of a call depends on, handlers left out: they may be replaced in place."""
        return (self.contract, self.fallback, self.vjp, self.vmap_method, self.has_side_effect)


def says_the_same(value: Any, other: Any) -> bool:
    """Whether two options of a registration are as good as one.

    A cell that runs again makes its functions anew: nothing is to be compiled for that.
    """
    if isinstance(value, FunctionType) and isinstance(other, FunctionType):
        parts = ("__code__", "__defaults__", "__kwdefaults__", "__closure__")
        return all(getattr(value, part) == getattr(other, part) for part in parts)
    return value is other or bool(value == other)


def merged(before: tuple[Served, ...], new: Served) -> tuple[Served, ...]:
    """Adds a handler, and drops those that it takes the place of everywhere."""

    def is_covered(old: Served) -> bool:
        if old.platform != new.platform:
            return False
        if new.plugins is None:
            return True
        return old.plugins is not None and old.plugins <= new.plugins

    return (new, *(old for old in before if not is_covered(old)))
