"""The comm over which JupyterLab's status bar shows the plugin in use, and switches it."""

from collections.abc import Mapping
from typing import Any

from comm import create_comm

from kernel_magics.characters import visible
from kernel_magics.errors import KernelMagicsError
from kernel_magics.plugin.manager import PluginManager

TARGET = "kernel_magics.plugins"
"""Both sides know the comm by this name."""


class PluginLink:
    """Tells the front end which plugins are loaded and which is in use.

    The kernel opens the comm; a page that is loaded later finds it and sends an empty message.
    """

    def __init__(self, plugins: PluginManager) -> None:
        self._plugins = plugins
        self._told = self._state("")
        self._comm: Any = create_comm(target_name=TARGET, data=self._told)
        self._comm.on_msg(self._receive)

    def refresh(self) -> None:
        """Tells what is another than when it was told last."""
        found = self._state("")
        if found != self._told:
            self._tell(found)

    def close(self) -> None:
        """Ends it: the front end shows nothing any more."""
        self._comm.close()

    def _receive(self, message: Mapping[str, Any]) -> None:
        wanted = message["content"]["data"].get("use")
        problem = ""
        try:
            if wanted:
                self._plugins.use(str(wanted))
        except KernelMagicsError as error:
            problem = str(error)
        self._tell(self._state(problem))

    def _tell(self, state: dict[str, Any]) -> None:
        self._told = state
        self._comm.send(state)

    def _state(self, problem: str) -> dict[str, Any]:
        rows = self._plugins.table()
        active = [row.name for row in rows if row.state == "in use"]
        return {
            "active": visible(active[0]) if active else "",
            "loaded": [visible(row.name) for row in rows if row.is_loaded],
            "problem": problem,
        }
