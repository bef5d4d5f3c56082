"""The plugins that a manager knows, and in which state each is."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

import jax

from kernel_magics.errors import PluginError
from kernel_magics.plugin.found import Found, plugin_name
from kernel_magics.plugin.info import PluginInfo, State
from kernel_magics.plugin.loader import Loaded
from kernel_magics.sandbox.plugins import Option, PluginFacts


@dataclass(slots=True)
class Entry:
    """One plugin, from when it is known."""

    found: Found
    state: State = "found"
    reason: str = ""
    words: tuple[str, ...] = ()
    """What was said of a fault, where that is more than the reason."""
    facts: PluginFacts | None = None
    loaded: Loaded | None = None
    options: Mapping[str, Option] = field(default_factory=dict[str, Option])
    """With which it was loaded."""
    tried: tuple[object, ...] | None = None
    """What was tried in a child process last, as `trial_key` tells."""
    observed: list[str] = field(default_factory=list[str])
    """What observers of its load had to complain of."""

    @property
    def name(self) -> str:
        """Under which it is asked for."""
        return self.found.name

    def info(self, *, is_in_use: bool) -> PluginInfo:
        """What is known of it now."""
        notes = tuple(self.observed)
        if self.loaded is not None and self.loaded.note:
            notes = (self.loaded.note, *notes)
        return PluginInfo(
            name=self.name,
            state="in use" if is_in_use and self.state == "loaded" else self.state,
            source=self.found.source,
            version=self.found.version,
            path=self.found.path,
            reason=self.reason,
            facts=self.facts,
            memory_bytes=None if self.loaded is None else memory_in_use(self.loaded.client),
            options=tuple(self.options.items()),
            notes=notes,
        )


def trial_key(found: Found, options: Mapping[str, Option]) -> tuple[object, ...]:
    """What a trial stands for: a file as it is now, and the options."""
    stamp: object = None
    if found.path is not None:
        try:
            status = found.path.expanduser().stat()
            stamp = (status.st_ino, status.st_size, status.st_mtime_ns)
        except OSError:
            stamp = None
    return (str(found.path), found.module, stamp, repr(sorted(options.items())))


def find(entries: Mapping[str, Entry], name: str) -> Entry | None:
    """The plugin of a name, also as a package spells it."""
    return entries.get(name) or entries.get(plugin_name(name))


def unknown(entries: Mapping[str, Entry], name: str) -> PluginError:
    """The error for a name that no plugin has."""
    close = get_close_matches(plugin_name(name), entries, 1)
    hint = f"; did you mean `{close[0]}`?" if close else ""
    return PluginError(
        f"There is no plugin `{name}`{hint}",
        details=[f"known: {listed(entries)}"],
        advice='`km.plugins.load(name, path="…")` loads one from a file; '
        "`km.plugins.discover()` looks again for installed ones.",
    )


def not_loaded(entries: Mapping[str, Entry], entry: Entry) -> PluginError:
    """The error for a plugin that work was to go to."""
    state = f"it is {entry.state}" + (f": {entry.reason}" if entry.reason else "")
    loaded = {name: other for name, other in entries.items() if other.loaded is not None}
    return PluginError(
        f"Plugin `{entry.name}` is not loaded",
        details=[state, f"loaded: {', '.join(f'`{name}`' for name in loaded) or 'none'}"],
        advice=f'`km.plugins.load("{entry.name}")` loads it.',
    )


def listed(entries: Mapping[str, Entry]) -> str:
    """Plugins and their states, in a line."""
    return ", ".join(f"`{name}` ({entry.state})" for name, entry in entries.items()) or "none"


def memory_in_use(client: Any) -> int | None:
    """Bytes in use on a client's devices: as it tells, or those of the arrays that are alive."""
    try:
        told = [device.memory_stats() for device in client.local_devices()]
        if all(told):
            return sum(int(stats["bytes_in_use"]) for stats in told)
        return sum(int(array.nbytes) for array in client.live_arrays())
    except (jax.errors.JaxRuntimeError, NotImplementedError, KeyError, TypeError):
        return None
