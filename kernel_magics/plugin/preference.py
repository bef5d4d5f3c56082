"""Which plugin to use, as a profile or the environment would have it."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from kernel_magics.characters import visible
from kernel_magics.errors import PluginError
from kernel_magics.plugin.found import plugin_name
from kernel_magics.plugin.info import PluginInfo, PluginTable

VARIABLE = "KERNEL_MAGICS_PLUGINS"


@dataclass(frozen=True, slots=True)
class Preference:
    """What became of a wish."""

    chosen: str | None
    """The plugin in use; None where none of them works, and all is as it was."""
    passed_over: tuple[tuple[str, str], ...]
    """Those before it, each with why."""

    def __str__(self) -> str:
        parts = [f"`{name}` is not: {why}" for name, why in self.passed_over]
        first = f"plugin `{self.chosen}` is in use" if self.chosen else "no preferred plugin works"
        return visible("; ".join([first, *parts]))


class _Manager(Protocol):
    def table(self) -> PluginTable: ...
    def load(self, name: str) -> PluginInfo: ...
    def use(self, name: str) -> PluginInfo: ...


def wanted_plugins(setting: Sequence[str]) -> list[str]:
    """The plugins to try, in order: of the environment, else of the profile's setting."""
    text = os.environ.get(VARIABLE, "")
    return [name.strip() for name in text.split(",") if name.strip()] or list(setting)


def choose(names: Sequence[str], manager: _Manager) -> Preference:
    """Loads and uses the first that works."""
    passed_over: list[tuple[str, str]] = []
    for wanted in names:
        name = _meant(wanted, [row.name for row in manager.table()])
        if name is None:
            passed_over.append((wanted, "there is no such plugin"))
            continue
        try:
            manager.load(name)
            manager.use(name)
        except PluginError as error:
            passed_over.append((wanted, error.what.partition(": ")[2] or error.what))
            continue
        return Preference(name, tuple(passed_over))
    return Preference(None, tuple(passed_over))


def _meant(wanted: str, known: Sequence[str]) -> str | None:
    """The plugin that a word means: `cuda` is also `xla_cuda13`, where nothing has that name."""
    word = plugin_name(wanted)
    if word in known:
        return word
    parts = [name for name in known if any(p.startswith(word) for p in name.split("_"))]
    return parts[0] if parts and word else None
