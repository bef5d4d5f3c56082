"""Who serves the custom calls of a program: asked here, known by a higher layer."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import jax

from kernel_magics._jax_private import ffi as private_ffi
from kernel_magics.ir.targets import ServedTargets

CPU = "cpu"
INTERNAL = "kernel_magics."
"""Begins the targets that are ours: they stand in no table, and no user registers them."""


@dataclass(frozen=True, slots=True)
class CallUse:
    """A custom call or a composite, as a program has it."""

    name: str
    """The target, or the composite's name."""
    is_block: bool
    """Whether it is a composite: it has a function that says the same."""
    arguments: tuple[jax.ShapeDtypeStruct, ...]
    results: tuple[jax.ShapeDtypeStruct, ...]
    attributes: Mapping[str, Any]
    where: str = ""
    """The place in the user's text with a caret; empty where there is none."""


@dataclass(frozen=True, slots=True)
class Handled:
    """A handler serves it."""

    target: str
    attributes: Mapping[str, Any]
    """As the handler's contract has them."""
    has_side_effect: bool = False


@dataclass(frozen=True, slots=True)
class StandIn:
    """No handler serves it there, and a function takes its place."""

    function: Callable[..., Any]
    """Takes the arguments, and the attributes by keyword."""
    attributes: Mapping[str, Any]


Choice = Handled | StandIn | None
"""None: it stays as it is."""


class CallResolver(Protocol):
    """Who knows the handlers that are registered."""

    def choose(self, use: CallUse, client: Any) -> Choice:
        """Says who serves a call.

        Args:
            use: The call.
            client: Of the plugin that the program is compiled for; None where that is open.

        Raises:
            SignatureError: It does not fit what the handler takes.
        """
        ...

    def traced(self, use: CallUse) -> Callable[..., Any] | None:
        """A registered target as a JAX function that gives a tuple; None where it is none."""
        ...

    @property
    def registered(self) -> Collection[str]:
        """Targets that are registered here."""
        ...

    def targets(self, client: Any) -> Collection[str]:
        """Targets that have a handler on a plugin."""
        ...

    def name_of(self, client: Any) -> str:
        """The name of a client's plugin."""
        ...


_NAMESPACE = "block."
"""Of composites that stand for blocks whose names have no dot; MLIR wants one."""


def composite_name(block: str) -> str:
    """What a block is called in a program."""
    return block if "." in block else _NAMESPACE + block


def block_name(composite: str) -> str:
    """The other way round."""
    short = composite.removeprefix(_NAMESPACE)
    return composite if "." in short else short


_resolvers: list[CallResolver] = []

unasked: set[str] = set()
"""Names of calls that were compiled with nobody to ask: somebody may serve them later."""


def resolve_calls_with(resolver: CallResolver | None) -> CallResolver | None:
    """Says who knows the handlers, for every program compiled from now on.

    Args:
        resolver: None for nobody.

    Returns:
        The one before, to be put back.
    """
    before = call_resolver()
    _resolvers[:] = [] if resolver is None else [resolver]
    return before


def call_resolver() -> CallResolver | None:
    """Who knows the handlers; None where nobody said."""
    return _resolvers[0] if _resolvers else None


def served_targets(client: Any) -> ServedTargets | None:
    """Targets that have a handler on a plugin; None where that is not known.

    Args:
        client: None where it is open for which plugin a program is compiled.
    """
    if client is None or client.platform != CPU:
        return None
    resolver = call_resolver()
    if resolver is not None:
        names, place = resolver.targets(client), resolver.name_of(client)
        shown = tuple(sorted(name for name in resolver.registered if not name.startswith(INTERNAL)))
        return ServedTargets(frozenset(names), f"on the plugin `{place}`", shown)
    if private_ffi.is_plugin(client):
        return None
    return ServedTargets(frozenset(private_ffi.host_targets()), f"on the plugin `{CPU}`")
