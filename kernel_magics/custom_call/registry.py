"""The registry of this kernel: which code serves which target, on which plugin."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from os import PathLike
from pathlib import Path
from typing import Any

from kernel_magics.call.serving import INTERNAL
from kernel_magics.custom_call.build import build
from kernel_magics.custom_call.build_compiler import Language
from kernel_magics.custom_call.contract import ResultsOf
from kernel_magics.custom_call.contract import contract as contract_of
from kernel_magics.custom_call.handler import Handler
from kernel_magics.custom_call.library import Libraries, Library
from kernel_magics.custom_call.packages import Offer, Packages
from kernel_magics.custom_call.registering import (
    code_of,
    ensure_tried,
    kept_where_same,
    plugin_names,
    promised,
    refuse_name,
)
from kernel_magics.custom_call.registration import (
    Contract,
    Registration,
    Served,
    Supports,
    VmapMethod,
    merged,
)
from kernel_magics.custom_call.serving import Serving
from kernel_magics.custom_call.slots import refuse_taken
from kernel_magics.custom_call.table import TargetTable, target_rows
from kernel_magics.errors import CustomCallError
from kernel_magics.plugin.kernel import plugins


class CustomCallRegistry:
    """Targets and who serves them, in this kernel and on each of its plugins."""

    def __init__(self, *, native: bool | None = None) -> None:
        """Knows nothing yet, and starts nothing.

        Args:
            native: Whether trampolines are machine code; None for where that is at hand.
        """
        self.serving = Serving(native=native)
        self.libraries = Libraries()
        self._packages = Packages(self.register)
        self.serving.bring = self._packages.bring
        self.serving.offered = self._packages.targets

    def register(  # noqa: PLR0913 - each says one thing that a target may have
        self,
        target: str,
        *,
        library: Any = None,
        symbol: str | None = None,
        handler: Handler | Callable[..., Any] | Any = None,
        plugins: str | Iterable[str] | None = None,
        platform: str = "cpu",
        contract: Contract | str | None = None,
        fallback: Callable[..., Any] | None = None,
        supports: Supports | None = None,
        vmap_method: VmapMethod | None = None,
        vjp: Callable[..., Any] | None = None,
        has_side_effect: bool | None = None,
        trial: bool = True,
    ) -> Registration:
        """Says who serves a target, from now on, in functions compiled before, too.

        The same again changes nothing. What is left out stays as it was registered before.

        Args:
            target: The custom call's name in the IR.
            library: A path, a name given to `register_library`, or a `Library`.
            symbol: The handler in it; `target` where left out.
            handler: Instead of a library: a Python function, a numba `cfunc`, a capsule as
                `jax.ffi.pycapsule` makes it, or a `Handler`.
            plugins: Where it serves; everywhere by default.
            platform: Whose memory it reads: `cpu`, `cuda`, `rocm`.
            contract: What it takes and gives.
            fallback: What stands in for it where it does not serve: a JAX function or an
                `HloFunction`. Takes the arguments, and attributes by keyword.
            supports: May say no to a plugin, avals and attributes; the fallback is used then.
            vmap_method: How a batch of calls becomes one: as in `jax.ffi.ffi_call`.
            vjp: The derivative: `vjp(arguments, results, cotangents, **attributes)`. Without
                it the derivative is that of the fallback.
            has_side_effect: Whether a call must happen even if nobody uses its results.
            trial: Whether it runs in a child process first.

        Raises:
            CustomCallError: The target is taken, the plugin unknown, or there is no such handler.
            LibraryError: The library cannot be loaded, or has no such handler.
        """
        refuse_name(target, INTERNAL)
        refuse_taken(target)
        names = plugin_names(plugins, self.serving.clients.all())
        code = code_of(target, handler, library, symbol, self.libraries)
        agreed = promised(contract, code)
        options = {
            "contract": agreed,
            "fallback": fallback,
            "supports": supports,
            "vmap_method": vmap_method,
            "vjp": vjp,
            "has_side_effect": has_side_effect,
        }
        known = self.serving.now.registrations.get(target)
        held = agreed or (known.contract if known else None)
        is_tried = code is not None and ensure_tried(code, held, is_wanted=trial)

        def add(kept: Registration) -> Registration:
            new = kept_where_same(kept, options)
            if code is not None:
                served = merged(new.served, Served(code, names, platform))
                return replace(new, served=served, is_tried=is_tried)
            if not new.served and new.fallback is None:
                raise CustomCallError(
                    f"`{target}` was given neither a handler nor a fallback",
                    advice="Say `handler=`, `library=` or `fallback=`.",
                )
            return new

        return self.serving.update(target, add)

    def unregister(self, target: str) -> None:
        """Forgets a target: what calls it fails in words until it is registered again.

        Raises:
            CustomCallError: It is not registered.
        """
        is_offered = self._packages.decline(target)
        if not self.serving.drop(target) and not is_offered:
            raise self._unknown(target)

    def reset(self) -> None:
        """Forgets all targets, and which of them serve which blocks."""
        self.serving.clear()
        self.libraries.reset()
        self._packages.reset()

    @property
    def offers(self) -> tuple[Offer, ...]:
        """What installed packages would serve; they are imported when it is wanted."""
        return self._packages.offers

    def prefer(self, choices: Mapping[str, str]) -> None:
        """Says which packages serve which targets, where several offer to.

        Args:
            choices: Targets, to names of packages. What another package has brought gives way.

        Raises:
            CustomCallError: The package offers no such target, or it fails.
        """
        self._packages.prefer(choices)
        for target in choices:
            if target in self.serving.now.registrations:
                self._packages.bring(target)

    def attend(self) -> None:
        """Has programs ask here who serves their calls, before anything is registered."""
        self.serving.attend()

    def serve(self, mapping: Mapping[str, str]) -> None:
        """Says which targets serve which blocks, or serve in place of which other targets.

        Args:
            mapping: Names of blocks, to targets that are registered or will be. A name that is
                mapped to itself is served by the target of its name, as without a mapping.
        """
        self.serving.serve(dict(mapping))

    def table(self) -> TargetTable:
        """The targets: who serves them where, how often they were called, how long they took."""
        shown = {
            name: known
            for name, known in self.serving.now.registrations.items()
            if not name.startswith(INTERNAL)
        }
        return TargetTable(target_rows(shown, self.serving.now.serves, self.serving.clients.all()))

    def registration(self, target: str) -> Registration:
        """What is registered for a target.

        Raises:
            CustomCallError: Nothing is.
        """
        known = self.serving.now.of(target)
        if known is None:
            raise self._unknown(target)
        return known

    def contract(
        self, text: str, /, *, results_of: ResultsOf | None = None, **attributes: Any
    ) -> Contract:
        """Says what a custom call takes and gives: see `contract.contract`.

        `km.custom_calls.contract("(f32[b, n], f32[n]) -> f32[b, n]", eps=np.float32(1e-6))`
        """
        return contract_of(text, results_of=results_of, **attributes)

    def build(self, source: str | Path, *, language: Language = "c++", name: str = "") -> Library:
        """Compiles the source of handlers, or takes what was made of it before.

        Args:
            source: The text, or a file with it: whole functions with a line that makes handlers
                of them, or the body of one behind a `// contract: …` line.
            language: Of the source.
            name: Of the handler, where the source is a body.

        Returns:
            What `register` takes as `library`.

        Raises:
            BuildError: There is no compiler, or it refuses the source.
            UsageError: There is no handler in it, or its contract cannot be read.
        """
        return build(source, language=language, name=name).library

    def register_library(self, name: str, path: str | PathLike[str] | Library) -> Library:
        """Gives a library a name, by which `register` knows it.

        Raises:
            LibraryError: The file is not there, or cannot be loaded.
        """
        return self.libraries.register(name, path)

    def call(self, target: str, *args: Any, results: Any = None, **attributes: Any) -> Any:
        """Calls a target as a JAX function, in a trace or outside of one.

        Args:
            target: One that is registered, or one that a plugin has by itself.
            *args: JAX or NumPy arrays, or Python scalars.
            results: A `jax.ShapeDtypeStruct`, or a sequence of them, for a target whose
                registration has neither contract nor fallback.
            **attributes: As the contract declares them.

        Returns:
            One array, or a tuple of them where there is another number of results.

        Raises:
            SignatureError: The call does not fit the contract.
            CustomCallError: Nobody serves it where it is compiled.
        """
        from kernel_magics.custom_call.calling import call_target  # noqa: PLC0415 - a cycle

        return call_target(self.serving, target, args, results, attributes)

    def reach(self, client: Any, name: str, api: Any = None) -> None:
        """Gives a client the handlers of all targets, and of those to come.

        Args:
            client: As `device.client` gives it.
            name: The plugin's.
            api: The plugin's `PJRT_Api`, as a capsule or an address. Where it is left out, JAX is
                asked.
        """
        self.serving.clients.reach(client, name, api)

    def follow(self, manager: Any) -> None:
        """Reaches the clients of a plugin manager, as they are loaded."""

        def reach(client: Any, name: str) -> None:
            self.reach(client, name, manager.api(name))

        manager.on_load(reach)

    def _unknown(self, target: str) -> CustomCallError:
        names = [n for n in self.serving.now.registrations if not n.startswith(INTERNAL)]
        close = get_close_matches(target, names, 1)
        hint = f"; did you mean `{close[0]}`?" if close else ""
        listed = [f"registered: {', '.join(sorted(names))}"] if names else []
        return CustomCallError(
            f"No custom call `{target}` is registered{hint}",
            details=listed,
            advice=f'`km.custom_calls.register("{target}", …)` registers it.',
        )


custom_calls = CustomCallRegistry()
"""The registry of this kernel."""

custom_calls.follow(plugins)
