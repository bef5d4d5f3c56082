"""The engines that there are, as rows of the table of plugins."""

import atexit
from collections.abc import Iterator

from kernel_magics.errors import PluginError
from kernel_magics.plugin.engine import Engine, EngineDevice
from kernel_magics.plugin.info import PluginInfo
from kernel_magics.plugin.iree import Iree


class Engines:
    """Engines by name; one that is not installed is not shown."""

    def __init__(self) -> None:
        known: list[Engine] = [Iree()]
        self._engines = {engine.name: engine for engine in known}
        self._loaded: dict[str, EngineDevice] = {}

    def rows(self) -> Iterator[PluginInfo]:
        """What is known of each that is installed."""
        for engine in self._engines.values():
            if engine.is_installed():
                yield self.info(engine.name)

    def info(self, name: str) -> PluginInfo:
        """What is known of one."""
        engine = self._engines[name]
        is_installed = engine.is_installed()
        state = "loaded" if name in self._loaded else "found" if is_installed else "broken"
        return PluginInfo(
            name=name,
            state=state,
            source=f"package {engine.package}",
            version=engine.version(),
            reason="" if is_installed else "it is not installed",
            notes=("an engine: for cells with `--on` and for `compare`",),
        )

    def __contains__(self, name: object) -> bool:
        """Whether an engine has this name."""
        return name in self._engines

    def loaded(self) -> list[str]:
        """Those that were asked for."""
        return list(self._loaded)

    def load(self, name: str) -> EngineDevice:
        """The engine of a name, ready for work.

        Raises:
            PluginError: It is not installed.
        """
        engine = self._engines[name]
        if not engine.is_installed():
            raise PluginError(
                f"Engine `{name}` is not installed",
                details=[f"its package is `{engine.package}`"],
                advice=f"`pip install 'kernel-magics[{name}]'` brings it.",
            )
        if name not in self._loaded:
            self._loaded[name] = device = EngineDevice(engine, {})
            # A runtime that is still in use when Python ends complains of it.
            atexit.register(device.close)
        return self._loaded[name]

    def forget(self, name: str) -> None:
        """Lets go of what it has compiled."""
        device = self._loaded.pop(name, None)
        if device is not None:
            device.close()

    def reset(self) -> None:
        """Lets go of all."""
        for name in self.loaded():
            self.forget(name)


def not_for_all(name: str) -> PluginError:
    """The error for an engine that everything was to run on."""
    return PluginError(
        f"`{name}` is an engine: it cannot run everything",
        details=["JAX's own operations run on PJRT plugins alone."],
        advice=f"`%%hlo --on {name}` runs a cell's functions there, and "
        f'`km.plugins.compare(function, on=["cpu", "{name}"])` compares.',
    )
