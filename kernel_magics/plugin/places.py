"""Where loaded plugins are: their clients, devices and arrays."""

from collections.abc import Callable, Mapping
from threading import RLock
from types import MappingProxyType
from typing import Any, TypeVar

import jax

from kernel_magics.errors import PluginError
from kernel_magics.plugin.catalogue import BUILT_IN, Catalogue
from kernel_magics.plugin.engines import Engines, not_for_all
from kernel_magics.plugin.entries import Entry, not_loaded
from kernel_magics.plugin.loading import Loading
from kernel_magics.plugin.placement import Placement, default_device
from kernel_magics.sandbox.process import Sandbox

Tree = TypeVar("Tree")


class PluginPlaces:
    """The plugins of a process, as far as work and arrays are on them."""

    def __init__(self, sandbox: Callable[[], Sandbox]) -> None:
        self._lock = RLock()
        self._placement = Placement()
        self._catalogue = Catalogue(self._placement)
        self._engines = Engines()
        self._loading = Loading(self._catalogue, self._placement, sandbox, self._lock)

    @property
    def active(self) -> str:
        """The plugin that work goes to, here and now; starts JAX if it has not started."""
        device = default_device()
        client = self._loading.default_client() if device is None else device.client
        return self._placement.name_of(client)

    @property
    def clients(self) -> Mapping[str, Any]:
        """The clients of all plugins that are loaded, by name; starts nothing."""
        with self._lock:
            loaded = {n: e.loaded.client for n, e in self._entries.items() if e.loaded is not None}
        return MappingProxyType(loaded)

    def api(self, name: str) -> Any:
        """A capsule with a plugin's `PJRT_Api`; None for clients that are built in."""
        loaded = self._loaded(name).loaded
        return None if loaded is None else loaded.api

    def device(self, name: str, number: int = 0) -> Any:
        """A device of a plugin that is loaded, as JAX takes it.

        Raises:
            PluginError: The plugin is not loaded, or has no such device.
        """
        devices = self.devices(name)
        for device in devices:
            if device.id == number:
                return device
        raise PluginError(
            f"Plugin `{name}` has no device {number!r}",
            details=[f"devices: {', '.join(str(device.id) for device in devices)}"],
            advice=f'`km.plugins.use("{name}")` takes the first.',
        )

    def devices(self, name: str) -> list[Any]:
        """The devices of a plugin that is loaded, for meshes and shardings."""
        loaded = self._loaded(name).loaded
        assert loaded is not None
        return list(loaded.client.local_devices())

    def place_for(self, name: str) -> Any:
        """Where functions of cells run that are to run on a plugin, or on an engine.

        What `HloFunction.device` takes.

        Raises:
            PluginError: The plugin is not loaded, or the engine not installed.
        """
        return self._engines.load(name) if name in self._engines else self.devices(name)[0]

    def label(self, device: Any) -> str:
        """A device by plugin and number, such as `zml:0`: several plugins say `cpu:0`."""
        self._catalogue.take_started()
        return self._placement.label(device)

    def where(self, tree: Any) -> str:
        """The plugin that an array lives on, or the plugins of the arrays of a tree."""
        self._catalogue.take_started()
        return self._placement.where(tree)

    def move(self, tree: Tree, name: str, *, device: int = 0) -> Tree:
        """Copies the arrays of a tree to a plugin, and binds them there.

        Args:
            tree: Arrays, or lists, dictionaries and other trees of them.
            name: A plugin that is loaded.
            device: Which of its devices, by number.

        Raises:
            PluginError: It is not loaded, or has no such device.
        """
        return jax.device_put(tree, self.device(name, device))

    @property
    def _entries(self) -> Mapping[str, Entry]:
        return self._catalogue.entries

    def _loaded(self, name: str) -> Entry:
        if name in self._engines:
            raise not_for_all(name)
        entry = self._catalogue.named(name)
        if entry.loaded is None and entry.name == BUILT_IN:
            self._loading.default_client()
            entry = self._catalogue.named(name)
        if entry.loaded is None:
            raise not_loaded(self._entries, entry)
        return entry

    def _name_in_use(self) -> str:
        """As `active`, but starts nothing."""
        device = default_device()
        if device is not None:
            return self._placement.name_of(device.client)
        return self.active if self._catalogue.is_started() else ""
