"""`ControlPanel`: plugins, custom calls and comparisons as a widget that follows the kernel."""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, cast
from weakref import WeakSet

import anywidget
import traitlets

from kernel_magics.custom_call.registry import CustomCallRegistry
from kernel_magics.plugin.manager import PluginManager
from kernel_magics.sessions import Session
from kernel_magics.widgets.pages import becomes_a_page
from kernel_magics.widgets.panel_actions import PanelActions
from kernel_magics.widgets.panel_commands import read_panel_command
from kernel_magics.widgets.panel_view import PanelReader
from kernel_magics.widgets.protocol_panel import PanelReply, PanelView

_BUNDLE = Path(__file__).parents[1] / "static/control_panel.js"
_NOT_BUILT = (
    "export default { render({ el }) { el.textContent = "
    "'The widget is not built: run `pip install -e .` in the checkout.'; } }"
)


class ControlPanel(anywidget.AnyWidget):
    """Tables of plugins and custom calls, what can be done with them, and comparisons.

    What a cell does shows in it when the cell is done; what it does holds for the next cell.
    """

    _esm = _BUNDLE if _BUNDLE.is_file() else _NOT_BUILT
    view = traitlets.Dict().tag(sync=True)
    _open: ClassVar[WeakSet["ControlPanel"]] = WeakSet()

    def __init__(self, session: Session, plugins: PluginManager, calls: CustomCallRegistry) -> None:
        """Makes a panel over the objects of one kernel; finds plugins, loads none."""
        plugins.discover()
        self._reader = PanelReader(session, plugins, calls)
        self._actions = PanelActions(session, plugins, calls, self.refresh)
        super().__init__(view=cast("dict[str, Any]", self._take()))
        self.on_msg(self._receive)
        self._unfollow = plugins.on_change(self.refresh)
        ControlPanel._open.add(self)

    @classmethod
    def refresh_all(cls) -> None:
        """Draws all open panels as things are at this moment."""
        for panel in list(cls._open):
            panel.refresh()

    def refresh(self) -> None:
        """Shows how things are at this moment, from any thread; sends what has changed."""
        found = self._take()
        if {**self.view, "drawn_at": ""} != {**found, "drawn_at": ""}:
            self.view = cast("dict[str, Any]", found)

    def _take(self) -> PanelView:
        drawn_at = time.strftime("%H:%M:%S")
        return self._reader.view(self._actions.state(), drawn_at=drawn_at)

    def _receive(self, _: object, content: Mapping[str, Any], __: object) -> None:
        command_id = str(content.get("id", ""))
        try:
            reply: PanelReply = {
                "kind": "done",
                "id": command_id,
                "words": self._actions.do(read_panel_command(content)),
            }
        # The boundary of the kernel: whatever went wrong is shown in the panel.
        except Exception as error:  # noqa: BLE001
            reply = {"kind": "refused", "id": command_id, **self._actions.failure(error)}
        self.refresh()
        self.send(cast("dict[str, Any]", reply))

    def close(self) -> None:
        """Takes it off the screen; work that has begun goes on."""
        self._unfollow()
        ControlPanel._open.discard(self)
        super().close()

    def __repr__(self) -> str:
        return self._reader.text()

    def _repr_mimebundle_(self, **options: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """The widget, and beside it the tables in words."""
        is_page = becomes_a_page()
        bundle = ({}, {}) if is_page else super()._repr_mimebundle_(**options) or ({}, {})
        return {**bundle[0], "text/plain": repr(self)}, bundle[1]
