"""From a plugin that is known to one that works, and back."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from threading import RLock
from typing import Any

from kernel_magics import _jax_private
from kernel_magics.errors import PluginError
from kernel_magics.interrupts import uninterrupted
from kernel_magics.plugin.catalogue import BUILT_IN, Catalogue, started
from kernel_magics.plugin.entries import Entry, trial_key
from kernel_magics.plugin.environment import repair_environment
from kernel_magics.plugin.found import Found
from kernel_magics.plugin.loader import Loaded, check_options, load_cpu, load_found
from kernel_magics.plugin.placement import Placement
from kernel_magics.plugin.probe import TARGETS, probe
from kernel_magics.sandbox.plugins import Option
from kernel_magics.sandbox.process import Sandbox

LoadObserver = Callable[[Any, str], None]
"""Takes client and name of a plugin that was loaded."""

_CPUS = "built in, another client"


class Loading:
    """Tries, loads and forgets the plugins of a catalogue, and tells who wants to know."""

    def __init__(
        self,
        catalogue: Catalogue,
        placement: Placement,
        sandbox: Callable[[], Sandbox],
        lock: RLock,
    ) -> None:
        self._catalogue = catalogue
        self._placement = placement
        self._sandbox = sandbox
        self._lock = lock
        self._on_load: list[LoadObserver] = []
        self._on_change: list[Callable[[], None]] = []
        catalogue.on_started = self._tell

    def default_client(self) -> Any:
        """JAX's own choice; starts JAX, without what would make it fail.

        Raises:
            PluginError: JAX cannot start.
        """
        if self._catalogue.is_started():
            return _jax_private.default_client()
        # The first look takes what would make JAX fail out of the environment.
        self._catalogue.fill()
        try:
            return _jax_private.default_client()
        except RuntimeError as first:
            # One that fails leaves those before it: the next call takes them, and says nothing.
            repair_environment()
            try:
                client = _jax_private.default_client()
            except RuntimeError:
                raise PluginError(
                    "JAX cannot start any device",
                    details=str(first).split("\n")[:4],
                    advice='Take the failing plugin out, or set `JAX_PLATFORMS="cpu"`.',
                ) from first
            self._catalogue.refresh()
            return client

    def probe(
        self,
        entry: Entry,
        options: Mapping[str, Option] | None,
        targets: Sequence[str],
        timeout_s: float,
    ) -> None:
        """Tries a plugin in a child process; what comes of it is noted."""
        given = _options(entry.found, options)
        if entry.name == BUILT_IN or entry.found.source == _CPUS:
            self.default_client()
            return
        if entry.found.path is None and not entry.found.module:
            return
        key = trial_key(entry.found, given)
        found = replace(entry.found, options=given)
        outcome = probe(found, self._sandbox(), timeout_s=timeout_s, targets=targets)
        with self._lock:
            entry.tried = key
            entry.words = outcome.words
            if outcome.facts is not None:
                entry.facts = outcome.facts
            if entry.loaded is None:
                entry.state, entry.reason = outcome.state, outcome.reason
        self.changed()

    def load(
        self,
        entry: Entry,
        options: Mapping[str, Option] | None,
        *,
        force: bool,
        timeout_s: float,
    ) -> None:
        """Loads a plugin, tried first.

        Raises:
            PluginError: It does not work, or is loaded with other options.
        """
        self.default_client()
        entry = self._catalogue.named(entry.name)
        given = _options(entry.found, options)
        if entry.loaded is not None:
            _check_same(entry, options, given)
            return
        if not force:
            check_options(entry.found, given)
            if entry.tried != trial_key(entry.found, given) or entry.state != "probed":
                self.probe(entry, given, TARGETS, timeout_s)
            if entry.state != "probed":
                raise _refused(entry)
        self._start(entry, given)

    def load_cpu(
        self,
        name: str,
        devices: int,
        path: str | os.PathLike[str] | None,
        options: Mapping[str, Option] | None,
    ) -> Entry:
        """Makes one more client of the built-in CPU.

        Raises:
            PluginError: The name is taken, or a number or an argument does not fit.
        """
        self._catalogue.check_name(name)
        if path is not None or options:
            raise PluginError(
                "`devices` makes another client of the built-in CPU, which has no path or options",
                details=[f"given: path={path!r}, options={options!r}, devices={devices!r}"],
                advice='A plugin\'s own option may be `options={"cpu_device_count": 4}`.',
            )
        self.default_client()
        known = self._catalogue.entries.get(name)
        if known is not None and not (known.found.source == _CPUS and known.loaded is None):
            has = len(known.facts.devices) if known.facts else 0
            if known.found.source == _CPUS and has == devices:
                return known
            raise PluginError(
                f"The name `{name}` is taken",
                details=[f"`{name}` is {known.state}: {known.found.source}"],
                advice="Choose another name, or forget that one first.",
            )
        loaded = load_cpu(devices)
        entry = Entry(Found(name, _CPUS))
        self._catalogue.add(entry)
        self._finish(entry, loaded)
        return entry

    def forget(self, entry: Entry, *, is_in_use: bool) -> None:
        """Lets go of a client.

        Raises:
            PluginError: It is in use, or is the built-in CPU.
        """
        if entry.name == BUILT_IN:
            raise PluginError(
                "The built-in CPU cannot be forgotten",
                details=["JAX keeps it for what has to run on the host."],
                advice="`km.plugins.use(name)` sends work elsewhere.",
            )
        if is_in_use:
            raise PluginError(
                f"Plugin `{entry.name}` is in use",
                details=["New work would go to it."],
                advice='`km.plugins.use("cpu")` first, or another that is loaded.',
            )
        loaded = entry.loaded
        assert loaded is not None
        with uninterrupted():
            _jax_private.list_client(entry.name, None)
            self._placement.forget(loaded.client)
            entry.loaded, entry.state = None, "forgotten"
            has_library = entry.found.source != _CPUS
            entry.reason = "its library stays in the process" if has_library else ""
            entry.options = {}
        self.changed()

    def reset(self) -> None:
        """Forgets all that was loaded here."""
        for entry in list(self._catalogue.entries.values()):
            if entry.loaded is not None and entry.found.source not in (
                "built in",
                "started by JAX",
            ):
                self.forget(entry, is_in_use=False)
        self._catalogue.clear()
        self.changed()

    def on_load(self, observer: LoadObserver) -> Callable[[], None]:
        """Has a function called for each plugin that is or gets loaded."""
        with self._lock:
            loaded = self._catalogue.loaded()
            self._on_load.append(observer)
            for entry in loaded:
                if entry.loaded is not None:
                    observer(entry.loaded.client, entry.name)
        return lambda: _take_out(self._on_load, observer)

    def on_change(self, observer: Callable[[], None]) -> Callable[[], None]:
        """Has a function called after each change of a state."""
        self._on_change.append(observer)
        return lambda: _take_out(self._on_change, observer)

    def changed(self) -> None:
        """Tells that a state has changed."""
        for observer in tuple(self._on_change):
            observer()

    def _start(self, entry: Entry, options: Mapping[str, Option]) -> None:
        with self._lock, uninterrupted():
            try:
                loaded = load_found(
                    entry.found, options, entry.facts.platforms if entry.facts else ()
                )
            except (RuntimeError, ValueError, TypeError, OSError, ImportError) as error:
                entry.state, entry.reason = "broken", _words(error)
                raise _refused(entry) from error
            entry.options = dict(options)
            self._finish(entry, loaded)

    def _finish(self, entry: Entry, loaded: Loaded) -> None:
        with self._lock:
            _jax_private.list_client(entry.name, loaded.client)
            self._placement.add(loaded.client, entry.name)
            started(entry, loaded)
            self._tell(entry)
        self.changed()

    def _tell(self, entry: Entry) -> None:
        """Tells observers of a plugin that works; it does so whatever they make of it."""
        assert entry.loaded is not None
        entry.observed = []
        for observer in tuple(self._on_load):
            try:
                observer(entry.loaded.client, entry.name)
            except Exception as error:  # noqa: BLE001 - said with the plugin
                entry.observed.append(_words(error))


def _options(found: Found, given: Mapping[str, Option] | None) -> dict[str, Option]:
    return dict(found.options if given is None else given)


def _check_same(
    entry: Entry, options: Mapping[str, Option] | None, given: Mapping[str, Option]
) -> None:
    if options is not None and dict(entry.options) != dict(given):
        raise PluginError(
            f"Plugin `{entry.name}` is loaded with other options",
            details=[f"loaded with: {dict(entry.options)!r}", f"given: {dict(given)!r}"],
            advice=f'`km.plugins.forget("{entry.name}")` first.',
        )


def _refused(entry: Entry) -> PluginError:
    place = entry.found.path or entry.found.module or entry.found.source
    return PluginError(
        f"Plugin `{entry.name}` cannot be loaded: {entry.reason}",
        details=[f"plugin: {place}", *entry.words[:6]],
        advice="The kernel is as it was. Work goes on with what is loaded.",
    )


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error).strip().split(chr(10), 1)[0]}"


def _take_out(observers: list[Any], observer: Any) -> None:
    if observer in observers:
        observers.remove(observer)
