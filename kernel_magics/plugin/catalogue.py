"""Which plugins there are: offered by packages and the environment, given by the user, started."""

import importlib
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import jax

from kernel_magics import _jax_private
from kernel_magics.errors import PluginError
from kernel_magics.plugin.discovery import discover
from kernel_magics.plugin.entries import Entry, find, unknown
from kernel_magics.plugin.environment import repair_environment
from kernel_magics.plugin.found import Found
from kernel_magics.plugin.loader import Loaded
from kernel_magics.plugin.placement import Placement
from kernel_magics.sandbox.messages import MessageError
from kernel_magics.sandbox.plugins import facts_of_client, plugin_facts
from kernel_magics.sandbox.process import Answer

BUILT_IN = "cpu"

_TAKEN_OUT = "taken out of the environment, for JAX would fail at it in each call"


class Catalogue:
    """Plugins by name; the built-in CPU comes first."""

    def __init__(self, placement: Placement) -> None:
        self._placement = placement
        self._entries: dict[str, Entry] = {}
        self._is_filled = False
        self.on_started: Callable[[Entry], None] = lambda _: None
        """Told of each plugin that JAX has started by itself, when that is seen."""

    @property
    def entries(self) -> Mapping[str, Entry]:
        """What is known, with what JAX has started meanwhile."""
        self.fill()
        self.take_started()
        return MappingProxyType(self._entries)

    @property
    def known(self) -> Mapping[str, Entry]:
        """What is known by now, without a look: nothing else can be loaded."""
        return MappingProxyType(self._entries)

    def fill(self) -> None:
        """Looks for plugins, if nobody did."""
        if not self._is_filled:
            self.refresh()

    def refresh(self) -> None:
        """Looks again; what is loaded stays, and what is gone is dropped."""
        self._entries.setdefault(BUILT_IN, _built_in())
        repaired = {found.name: found for found in repair_environment()}
        offered = {found.name: found for found in (*repaired.values(), *discover())}
        for name, entry in list(self._entries.items()):
            is_given = entry.found.source == "given by its path"
            is_repaired = entry.reason.endswith(_TAKEN_OUT)
            if not (entry.loaded or is_given or is_repaired or name in offered or name == BUILT_IN):
                del self._entries[name]
        for found in offered.values():
            self._offer(found)
        for name in repaired:
            entry = self._entries[name]
            entry.reason = f"{entry.reason}; {_TAKEN_OUT}"
        self._is_filled = True
        self.take_started()
        self._ask_what_failed()

    def loaded(self) -> list[Entry]:
        """Those that work, without a look for others."""
        self.take_started()
        return [entry for entry in self._entries.values() if entry.loaded is not None]

    def named(self, name: str) -> Entry:
        """The plugin of a name.

        Raises:
            PluginError: There is none; lists those that there are.
        """
        entry = find(self.entries, name)
        if entry is None:
            raise unknown(self.entries, name)
        return entry

    def given(self, name: str, path: str | os.PathLike[str] | None) -> Entry:
        """The plugin of a name, or a new one of a file.

        Raises:
            PluginError: There is none of this name and no path, or one that is loaded from
                elsewhere.
        """
        if path is None:
            return self.named(name)
        self.check_name(name)
        place = Path(path).expanduser().absolute()
        known = self.entries.get(name)
        if known is not None and (known.loaded is not None or name == BUILT_IN):
            if known.found.path == place:
                return known
            raise PluginError(
                f"The name `{name}` is taken by a plugin that is loaded",
                details=[f"loaded: {known.found.path or known.found.source}", f"given: {place}"],
                advice=f'Choose another name, or `km.plugins.forget("{name}")` first.',
            )
        entry = self._entries[name] = Entry(Found(name, "given by its path", path=place))
        return entry

    def check_name(self, name: str) -> None:
        """Raises where a name cannot be one of a new plugin.

        Raises:
            PluginError: JAX and the settings could not name it.
        """
        if not (isinstance(name, str) and name.isidentifier()):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise PluginError(
                f"{name!r} cannot be the name of a plugin",
                details=["A name is made of letters, digits and underscores."],
                advice='For example `km.plugins.load("my_plugin", path="…")`.',
            )

    def add(self, entry: Entry) -> None:
        """Adds a plugin that is new."""
        self._entries[entry.name] = entry

    def clear(self) -> None:
        """Forgets all of them; they are looked for again when asked for."""
        self._entries.clear()
        self._is_filled = False

    def is_started(self) -> bool:
        """Whether JAX has its clients."""
        return bool(_jax_private.clients())

    def take_started(self) -> None:
        """Takes in the clients that JAX has started by itself."""
        ours = {id(e.loaded.client) for e in self._entries.values() if e.loaded is not None}
        for name, client in _jax_private.clients().items():
            if id(client) in ours or self._placement.is_forgotten(client):
                continue
            entry = self._entries.get(name)
            if entry is None or (entry.loaded is not None and not self._is_ours(entry)):
                entry = self._entries[name] = self._entry_for(name)
            if entry.loaded is None:
                started(entry, Loaded(client, None))
                self._placement.add(client, name)
                self.on_started(entry)

    def _entry_for(self, name: str) -> Entry:
        """An entry for a platform that a package has registered under another name than its own."""
        if name == BUILT_IN:
            return _built_in()
        return Entry(Found(name, "started by JAX"))

    def _is_ours(self, entry: Entry) -> bool:
        """Whether its client is still the one that JAX lists: `clear_backends` makes others."""
        return entry.loaded is not None and entry.loaded.client in _jax_private.clients().values()

    def _offer(self, found: Found) -> None:
        entry = self._entries.get(found.name)
        if entry is not None and (entry.loaded is not None or entry.found == found):
            return
        if entry is not None and entry.found.source == "given by its path":
            return
        entry = self._entries[found.name] = Entry(found)
        if found.fault:
            entry.state, entry.reason = "broken", found.fault

    def _ask_what_failed(self) -> None:
        """Says why JAX has not started what it has looked for; it logs that, if anything."""
        if not _jax_private.has_looked_for_plugins():
            return
        problems = _jax_private.platform_problems()
        for entry in self._entries.values():
            if entry.loaded is not None or entry.state != "found":
                continue
            if entry.name in problems:
                entry.state, entry.reason = "broken", problems[entry.name].split("\n")[0]
            elif entry.found.module and entry.found.module not in sys.modules:
                problem = _import_problem(entry.found.module)
                if problem:
                    entry.state, entry.reason = "broken", problem


def _built_in() -> Entry:
    return Entry(Found(BUILT_IN, "built in", jax.__version__))


def started(entry: Entry, loaded: Loaded) -> None:
    """Notes that a plugin works."""
    entry.loaded, entry.state, entry.reason, entry.words = loaded, "loaded", "", ()
    entry.facts = client_facts(loaded.client, entry)


def client_facts(client: Any, entry: Entry) -> Any:
    """What a client says of itself, with what its trial has shown beside that."""
    before = entry.facts
    head = facts_of_client(client)
    if before is not None:
        head |= {
            "ffi_version": before.ffi_version,
            "extensions": before.extensions,
            "targets": before.targets,
            "load_s": before.load_s,
            "platforms": before.platforms,
        }
    try:
        return plugin_facts(Answer(head, (), 0.0))
    except MessageError:
        return before


def _import_problem(module: str) -> str:
    """Why JAX could not import a module; it has tried, so this changes nothing."""
    try:
        importlib.import_module(module)
    except Exception as error:  # noqa: BLE001 - whatever a stranger's module raises
        return f"{type(error).__name__}: {error}".split("\n", 1)[0]
    return ""
