"""The clients that handlers are given to: jaxlib's own, and those of plugins."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from kernel_magics import _jax_private
from kernel_magics._jax_private import ffi as private_ffi
from kernel_magics.custom_call.pjrt_ffi import PjrtFfi

IN_PROCESS = ""
"""The scope of all clients of jaxlib itself: they share one registry of handlers."""


@dataclass(frozen=True, slots=True, eq=False)
class Reached:
    """A client that handlers are given to."""

    name: str
    """The plugin's; `cpu` for jaxlib's own."""
    platform: str
    """As XLA names it, such as `cpu`, which several plugins may share."""
    is_plugin: bool
    ffi: PjrtFfi | None
    """The plugin's own registry; None where it is jaxlib's, or where it has none."""

    @property
    def scope(self) -> str:
        """Clients of one scope have their handlers in common, whatever they are called."""
        if not self.is_plugin:
            return IN_PROCESS
        return hex(self.ffi.api) if self.ffi is not None else self.name

    @property
    def takes_handlers(self) -> bool:
        """Whether it can be given handlers at all."""
        return not self.is_plugin or (self.ffi is not None and self.ffi.has_extension)


class Clients:
    """Those that are known, as long as somebody needs them. Reads take no lock."""

    def __init__(self, on_reach: Callable[[Reached], None]) -> None:
        """Knows none yet.

        Args:
            on_reach: Called with each client that becomes known.
        """
        self._known: WeakKeyDictionary[Any, Reached] = WeakKeyDictionary()
        self._on_reach = on_reach
        self._lock = threading.RLock()

    def all(self) -> list[Reached]:
        """Those that are known by now."""
        return list(self._known.values())

    def reach(self, client: Any, name: str, api: Any = None) -> Reached:
        """Makes a client known.

        Args:
            client: As `device.client` gives it.
            name: The plugin's.
            api: The plugin's `PJRT_Api`: a capsule, or its address.
        """
        with self._lock:
            known = self._known.get(client)
            if known is not None:
                return known
            is_plugin = private_ffi.is_plugin(client)
            ffi = _ffi(name, api) if is_plugin else None
            reached = Reached(name, str(client.platform), is_plugin, ffi)
            self._known[client] = reached
            self._on_reach(reached)
        return reached

    def of(self, client: Any) -> Reached:
        """What is known of a client; one that nobody introduced is reached by JAX's name for it."""
        known = self._known.get(client)
        return known or self.reach(client, client_name(client))


def client_name(client: Any) -> str:
    """What JAX calls a client; its platform where JAX has it under no name."""
    for name, other in _jax_private.clients().items():
        if other is client:
            return name
    return str(client.platform)


def _ffi(name: str, api: Any) -> PjrtFfi | None:
    if api is None:
        address = private_ffi.plugin_api(name)
    else:
        address = api if isinstance(api, int) else private_ffi.capsule_address(api)
    return PjrtFfi(address, name) if address else None
