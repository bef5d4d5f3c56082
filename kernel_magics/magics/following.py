"""The control panel and the status bar follow the kernel: they are told after each cell."""

import sys
from typing import Any

from IPython.core.interactiveshell import InteractiveShell

from kernel_magics.plugin.kernel import plugins
from kernel_magics.widgets.pages import becomes_a_page
from kernel_magics.widgets.plugin_link import PluginLink

_EVENT = "post_run_cell"
_PANEL = "kernel_magics.widgets.control_panel"


class Follower:
    """Tells what is on the screen what a cell has changed."""

    def __init__(self, shell: InteractiveShell) -> None:
        """Begins with the next cell; terminals and pages have no status bar."""
        self._shell = shell
        has_front_end = hasattr(shell, "kernel") and not becomes_a_page()
        self._link = PluginLink(plugins) if has_front_end else None
        shell.events.register(_EVENT, self.tell)

    def tell(self, *_: Any) -> None:
        """Called after each cell."""
        if self._link is not None:
            self._link.refresh()
        # Whoever has a panel has imported it.
        panel = sys.modules.get(_PANEL)
        if panel is not None:
            panel.ControlPanel.refresh_all()

    def close(self) -> None:
        """Ends it."""
        self._shell.events.unregister(_EVENT, self.tell)
        if self._link is not None:
            self._link.close()


def follow(shell: InteractiveShell) -> None:
    """Has what is on the screen follow the cells of a shell, once."""
    unfollow(shell)
    Follower(shell)


def unfollow(shell: InteractiveShell) -> None:
    """Ends what `follow` began."""
    callbacks: Any = shell.events.callbacks[_EVENT]
    for callback in list(callbacks):
        follower = getattr(callback, "__self__", None)
        if isinstance(follower, Follower):
            follower.close()
