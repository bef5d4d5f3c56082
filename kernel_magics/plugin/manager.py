"""`km.plugins`: the device plugins of this kernel, and which of them is in use."""

import os
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import jax

from kernel_magics.call.function import HloFunction
from kernel_magics.call.placement import set_check
from kernel_magics.plugin.comparison import Comparison
from kernel_magics.plugin.info import PluginInfo, PluginTable
from kernel_magics.plugin.loading import LoadObserver
from kernel_magics.plugin.placement import working_on
from kernel_magics.plugin.places import PluginPlaces
from kernel_magics.plugin.preference import Preference
from kernel_magics.plugin.probe import TARGETS
from kernel_magics.sandbox.kernel import kernel_sandbox
from kernel_magics.sandbox.plugins import Option
from kernel_magics.sandbox.process import Sandbox

PROBE_TIMEOUT_S = 60.0


class PluginManager(PluginPlaces):
    """Finds, tries, loads and forgets device plugins, and says where work goes.

    The built-in CPU is one of them, `cpu`. What is loaded stays beside what is there: arrays,
    compiled functions and caches of others stay as they are. Starts nothing until asked.
    """

    def __init__(self, sandbox: Callable[[], Sandbox] = kernel_sandbox) -> None:
        """Makes a manager that knows nothing yet.

        Args:
            sandbox: Gives the sandbox in which plugins are tried.
        """
        super().__init__(sandbox)

    def discover(self) -> PluginTable:
        """Looks for plugins: installed ones, those of the environment, those that JAX started.

        Imports, loads and starts nothing.
        """
        with self._lock:
            self._catalogue.refresh()
        return self.table()

    def table(self) -> PluginTable:
        """All plugins that are known, and in which state each is."""
        with self._lock:
            entries = self._entries
            in_use = self._name_in_use()
            rows = [e.info(is_in_use=e.name == in_use) for e in entries.values()]
            return PluginTable([*rows, *self._engines.rows()])

    def info(self, name: str) -> PluginInfo:
        """What is known of one plugin.

        Raises:
            PluginError: There is none of this name.
        """
        if name in self._engines:
            return self._engines.info(name)
        with self._lock:
            entry = self._catalogue.named(name)
            return entry.info(is_in_use=entry.name == self._name_in_use())

    def probe(
        self,
        name: str,
        *,
        path: str | os.PathLike[str] | None = None,
        options: Mapping[str, Option] | None = None,
        targets: Sequence[str] = TARGETS,
        timeout_s: float = PROBE_TIMEOUT_S,
    ) -> PluginInfo:
        """Tries a plugin in a child process: nothing of it reaches this one.

        Args:
            name: A plugin that is known, or a name for the one at `path`.
            path: A PJRT library.
            options: As `load` takes them.
            targets: Custom calls to look for.
            timeout_s: How long it may take, the start of the child not counted.

        Returns:
            What it says of itself, or its state and the reason: a fault is no error here.

        Raises:
            PluginError: There is no plugin of this name, or an option is of a wrong type.
        """
        if name in self._engines:
            return self.info(name)
        entry = self._catalogue.given(name, path)
        self._loading.probe(entry, options, targets, timeout_s)
        return self.info(entry.name)

    def load(
        self,
        name: str,
        path: str | os.PathLike[str] | None = None,
        *,
        options: Mapping[str, Option] | None = None,
        devices: int | None = None,
        force: bool = False,
        timeout_s: float = PROBE_TIMEOUT_S,
    ) -> PluginInfo:
        """Loads a plugin into this kernel, beside what is there.

        It is tried in a child process first, unless it was, with these options. `use` sends work
        to it.

        Args:
            name: A plugin that is known, or a name for what is new.
            path: A PJRT library.
            options: For the making of its client, such as `{"cpu_device_count": 2}`.
            devices: In place of a plugin: one more client of the built-in CPU, with so many.
            force: Loads it untried, or although its trial failed; a fault may end the kernel.
            timeout_s: How long the trial may take.

        Raises:
            PluginError: It does not work, does not exist, or is loaded in another way.
        """
        if name in self._engines:
            self._engines.load(name)
            self._loading.changed()
            return self.info(name)
        if devices is not None:
            entry = self._loading.load_cpu(name, devices, path, options)
        else:
            entry = self._catalogue.given(name, path)
            self._loading.load(entry, options, force=force, timeout_s=timeout_s)
        set_check(self._placement.check)
        return self.info(entry.name)

    def forget(self, name: str, *, clear_caches: bool = False) -> PluginInfo:
        """Lets go of a plugin's client; `load` makes another one.

        The client ends when the last array and the last compiled function of it are gone. The
        library stays in the process: the system keeps it.

        Args:
            name: A plugin that is loaded and not in use.
            clear_caches: Whether JAX's compiled functions, of all plugins, are let go, too: they
                compile again when called.

        Raises:
            PluginError: It is not loaded, is in use, or is the built-in CPU.
        """
        if name in self._engines:
            self._engines.forget(name)
            self._loading.changed()
            return self.info(name)
        with self._lock:
            entry = self._loaded(name)
            self._loading.forget(entry, is_in_use=entry.name == self._name_in_use())
        if clear_caches:
            jax.clear_caches()
        return self.info(entry.name)

    def use(self, name: str | None, *, device: int = 0) -> PluginInfo:
        """Has everything after this run on a plugin: functions of cells, `hlo_call`, `jnp`.

        Arrays that are bound to no device follow. Arrays that were put somewhere are refused by
        functions of cells, with the way to move them.

        Args:
            name: A plugin that is loaded; None for JAX's own choice.
            device: Which of its devices, by number.

        Raises:
            PluginError: It is not loaded, or has no such device. The one in use stays.
        """
        with self._lock:
            target = None if name is None else self.device(name, device)
            jax.config.update("jax_default_device", target)
            set_check(self._placement.check)
            self._loading.changed()
        return self.info(self.active)

    @contextmanager
    def using(self, name: str, *, device: int = 0) -> Generator[None]:
        """As `use`, within a block and in this thread alone."""
        target = self.device(name, device)
        set_check(self._placement.check)
        with working_on(target):
            yield

    def compare(
        self,
        function: Callable[..., Any],
        *args: Any,
        on: Sequence[str] | None = None,
        runs: int = 20,
        seed: int = 0,
    ) -> Comparison:
        """Runs a function on several plugins, and puts results, times and memory side by side.

        Args:
            function: An `HloFunction`, or any function that `jax.jit` takes.
            *args: Its arguments. Without any, an `HloFunction` gets random ones.
            on: Plugins and engines; all that are loaded by default. The first is what others are
                compared to.
            runs: Of each, after the first; the median is told.
            seed: Of random arguments.

        Returns:
            What each plugin did. One that fails has its error there, and stops no other.

        Raises:
            PluginError: A plugin is not loaded.
            SignatureError: Arguments are needed and none were given.
            UsageError: There is no run.
        """
        from kernel_magics.plugin.compare import compare  # noqa: PLC0415 - few ask

        self._loading.default_client()
        names = [*self.clients, *self._engines.loaded()] if on is None else list(on)
        devices = {name: self.place_for(name) for name in names}
        return compare(function, args, devices, runs=runs, seed=seed)

    def artifact(self, function: HloFunction, *args: Any, on: str) -> bytes:
        """Writes a function as a portable artifact, in a version that a plugin reads.

        Args:
            function: What to write.
            *args: Arguments, or `jax.ShapeDtypeStruct`s; none for those of its signature.
            on: A plugin that is loaded.

        Raises:
            PluginError: The plugin is not loaded, or an op is younger than it.
            SignatureError: Its shapes are known at a call only, and no arguments were given.
        """
        from kernel_magics.plugin.artifact import portable_artifact  # noqa: PLC0415 - few ask

        return portable_artifact(function, args, on, self.devices(on)[0])

    def prefer(self, names: Sequence[str]) -> Preference:
        """Loads and uses the first of some plugins that works.

        Returns:
            Which that is, and why not those before it.
        """
        from kernel_magics.plugin.preference import choose  # noqa: PLC0415 - few ask

        return choose(names, self)

    def on_load(self, observer: LoadObserver) -> Callable[[], None]:
        """Has a function called with client and name of each plugin that is or gets loaded.

        Returns:
            A function that ends this.
        """
        return self._loading.on_load(observer)

    def on_change(self, observer: Callable[[], None]) -> Callable[[], None]:
        """Has a function called when a plugin's state has changed; gives one that ends this."""
        return self._loading.on_change(observer)

    def reset(self) -> None:
        """Forgets all that was loaded, and uses what JAX would; observers stay."""
        with self._lock:
            jax.config.update("jax_default_device", None)
            set_check(None)
            self._engines.reset()
            self._loading.reset()
