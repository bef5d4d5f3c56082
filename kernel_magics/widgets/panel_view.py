"""All that the control panel shows, read from the kernel's objects at one moment."""

from kernel_magics.custom_call.registry import CustomCallRegistry
from kernel_magics.plugin.info import PluginTable
from kernel_magics.plugin.manager import PluginManager
from kernel_magics.sessions import Session
from kernel_magics.widgets.panel_actions import ActionState
from kernel_magics.widgets.panel_calls import Coverage, call_rows, missing_sentence
from kernel_magics.widgets.panel_compare import compare_view
from kernel_magics.widgets.panel_plugins import plugin_notes, plugin_rows
from kernel_magics.widgets.protocol_panel import PanelView

_MOST_FUNCTIONS = 500
_MOST_COVERED = 6


class PanelReader:
    """Reads the tables; what is dear to read is read when it may be another."""

    def __init__(self, session: Session, plugins: PluginManager, calls: CustomCallRegistry) -> None:
        self._session = session
        self._plugins = plugins
        self._calls = calls
        self._coverage = Coverage(session)

    def view(self, state: ActionState, *, drawn_at: str) -> PanelView:
        """The tables at this moment.

        Args:
            state: What is being done by the panel itself.
            drawn_at: The time of day, such as `18:30:00`.
        """
        infos = self._plugins.table()
        covered = _covered(infos)
        clients = self._plugins.clients
        coverage = self._coverage.rows(self._calls, {name: clients.get(name) for name in covered})
        return {
            "version": 1,
            "plugins": plugin_rows(infos, state.working),
            "notes": plugin_notes(infos),
            "calls": call_rows(self._calls),
            "covered": covered,
            "coverage": coverage,
            "missing": missing_sentence(coverage, covered),
            "functions": list(self._session.functions)[:_MOST_FUNCTIONS],
            "comparisons": [compare_view(state.comparison)] if state.comparison else [],
            "comparing": state.comparing,
            "failure": state.failure,
            "drawn_at": drawn_at,
        }

    def text(self) -> str:
        """The tables for terminals and saved notebooks."""
        return f"{self._plugins.table()!r}\n\n{self._calls.table()!r}"


def _covered(infos: PluginTable) -> list[str]:
    """The plugins in the table of coverage: those that are loaded, then those that may be."""
    loaded = [info.name for info in infos if info.is_loaded]
    others = [info.name for info in infos if info.state in ("probed", "found", "forgotten")]
    return [*(loaded or ["cpu"]), *others][:_MOST_COVERED]
