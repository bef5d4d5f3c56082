"""Device plugins in cells: the table, the switch, and what a profile or the environment wants."""

import argparse
import os
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from kernel_magics.call.function import HloFunction
from kernel_magics.magics.display import TextView
from kernel_magics.magics.settings import KernelMagics
from kernel_magics.plugin.engine import EngineDevice
from kernel_magics.plugin.environment import VARIABLE
from kernel_magics.plugin.info import PluginInfo, PluginTable, devices_text
from kernel_magics.plugin.kernel import plugins
from kernel_magics.plugin.placement import working_on
from kernel_magics.plugin.preference import wanted_plugins
from kernel_magics.session_units import SessionUnit


def show_plugins(_: argparse.Namespace) -> PluginTable:
    """`%hlo plugins`: looks again, and shows all that are known."""
    return plugins.discover()


def use_plugin(options: argparse.Namespace) -> TextView:
    """`%hlo use PLUGIN`: everything after this runs there."""
    return TextView(_in_use(plugins.use(options.plugin, device=options.device), options.device))


def device_for(name: str | None) -> Any:
    """Where functions of `%%hlo --on PLUGIN` run; None without it.

    Raises:
        PluginError: The plugin is not loaded.
    """
    return None if name is None else plugins.place_for(name)


def place(unit: SessionUnit, device: Any) -> None:
    """Has calls of a unit's functions run on a device, or where all others do."""
    functions: list[HloFunction] = list(unit.functions.values())
    for function in functions:
        if function.device is not device:
            function.device = device


def working_there(device: Any) -> AbstractContextManager[None]:
    """Has JAX work where `device_for` says, within a block; an engine leaves JAX as it is."""
    is_device = device is not None and not isinstance(device, EngineDevice)
    return working_on(device) if is_device else nullcontext()


def begin(settings: KernelMagics) -> None:
    """Says what is wrong with the environment, and uses the plugin that is preferred."""
    if os.environ.get(VARIABLE):
        for row in plugins.discover():
            if row.state == "broken" and row.source.startswith("environment"):
                print(f"plugin {row}")  # noqa: T201 - where the extension is loaded

    def changed(change: Any) -> None:
        prefer(change["new"])

    settings.observe(changed, "plugins")
    prefer(settings.plugins)


def prefer(setting: Sequence[str]) -> None:
    """Uses the first that works of those that the environment names, else the profile."""
    names = wanted_plugins(setting)
    if names:
        print(plugins.prefer(names))  # noqa: T201 - as above


def _in_use(info: PluginInfo, device: int) -> str:
    what = f"plugin `{info.name}` is in use: {devices_text(info.facts)}"
    return what if device == 0 else f"{what}, device {device}"
