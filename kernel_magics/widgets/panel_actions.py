"""What the buttons of the control panel do; what takes long is done in a thread."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from kernel_magics.characters import visible, visible_lines
from kernel_magics.custom_call.registry import CustomCallRegistry
from kernel_magics.errors import KernelMagicsError, UsageError
from kernel_magics.plugin.comparison import Comparison
from kernel_magics.plugin.manager import PluginManager
from kernel_magics.sessions import Session
from kernel_magics.widgets.protocol_panel import (
    CompareCommand,
    DiscoverCommand,
    LoadPathCommand,
    PanelCommand,
    PanelFailure,
    PluginCommand,
    RegisterCommand,
)
from kernel_magics.widgets.working import Working

_COMPARE = "\0compare"


@dataclass(frozen=True, slots=True)
class ActionState:
    """What is being done, and what came of what was done."""

    working: Mapping[str, str]
    """Plugins with which something is being done, to what that is."""
    comparing: str
    comparison: Comparison | None
    failure: PanelFailure | None
    """Of what was done in a thread and did not work; None after the next command."""


class PanelActions:
    """Does what commands say."""

    def __init__(
        self,
        session: Session,
        plugins: PluginManager,
        calls: CustomCallRegistry,
        changed: Callable[[], None],
    ) -> None:
        self._session = session
        self._plugins = plugins
        self._calls = calls
        self._working = Working(changed)
        self._comparison: Comparison | None = None
        self._failure: PanelFailure | None = None

    def state(self) -> ActionState:
        """How things are at this moment."""
        working = dict(self._working.words())
        comparing = working.pop(_COMPARE, "")
        return ActionState(working, comparing, self._comparison, self._failure)

    def do(self, command: PanelCommand) -> str:
        """Does it, or begins it; says in words what was done.

        Raises:
            KernelMagicsError: It was not done; nothing has changed.
        """
        self._failure = None
        match command["kind"]:
            case "plugin" | "load_path" | "discover":
                return self._with_plugins(command)
            case "register":
                return self._register(command)
            case "unregister":
                self._calls.unregister(command["target"])
                return f"{command['target']} is unregistered"
            case "compare":
                return self._compare(command)
            case _:
                return "read again"

    def failure(self, error: Exception) -> PanelFailure:
        """An error as the panel shows it."""
        if not isinstance(error, KernelMagicsError):
            message = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            return {"message": visible(message), "detail": "", "advice": ""}
        lines = [*error.where, *error.details]
        return {
            "message": visible(error.what),
            "detail": visible_lines("\n".join(lines)),
            "advice": visible(error.advice),
        }

    def _with_plugins(self, command: PluginCommand | LoadPathCommand | DiscoverCommand) -> str:
        if command["kind"] == "discover":
            return f"{len(self._plugins.discover())} plugins are known"
        name = command["name"]
        if command["kind"] == "load_path":
            path = command["path"]
            return self._begin(name, "loading", lambda: self._plugins.load(name, path))
        return self._plugin(command)

    def _plugin(self, command: PluginCommand) -> str:
        name = command["name"]
        match command["action"]:
            case "use":
                self._plugins.use(name)
                return f"new work runs on {name}"
            case "forget":
                self._plugins.forget(name)
                return f"{name} is forgotten"
            case "probe":
                return self._begin(name, "trying it", lambda: self._plugins.probe(name))
            case "load":
                return self._begin(name, "loading", lambda: self._plugins.load(name))
            case _:
                raise UsageError(f"A plugin cannot `{command['action']}`")

    def _register(self, command: RegisterCommand) -> str:
        target = command["target"]
        self._calls.register(
            target,
            library=command["library"],
            symbol=command["symbol"] or None,
            plugins=command["plugins"] or None,
            trial=command["is_tried"],
        )
        return f"{target} is registered"

    def _compare(self, command: CompareCommand) -> str:
        function = self._session.functions.get(command["function"])
        if function is None:
            raise UsageError(
                f"The session has no function `{command['function']}` any more",
                advice="Choose another one.",
            )
        if not command["plugins"]:
            raise UsageError("No plugin was chosen", advice="Choose at least one.")

        def compare() -> None:
            self._comparison = self._plugins.compare(function, on=command["plugins"])

        return self._begin(_COMPARE, f"comparing `{command['function']}`", compare)

    def _begin(self, name: str, words: str, work: Callable[[], Any]) -> str:
        def watched() -> None:
            try:
                work()
            # The boundary of a thread: whatever went wrong is shown in the panel.
            except Exception as error:  # noqa: BLE001
                self._failure = self.failure(error)

        if not self._working.begin(name, words, watched):
            raise UsageError("That is being done", advice="Wait until it is done.")
        return words
