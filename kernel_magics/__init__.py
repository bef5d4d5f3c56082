"""MLIR as a language you can use in a notebook.

A cell of StableHLO becomes JAX functions; the functions of all cells live in one linked module.
"""

import importlib
from typing import TYPE_CHECKING, Any

from kernel_magics.call.function import HloFunction, hlo_call
from kernel_magics.errors import KernelMagicsError
from kernel_magics.graph.function_graph import FunctionGraph
from kernel_magics.ir.link_report import LinkedSymbol, LinkReport
from kernel_magics.sessions import Session

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from kernel_magics.call.replay.replay import to_jax
    from kernel_magics.custom_call.block import block
    from kernel_magics.custom_call.callback import callback, debug_print
    from kernel_magics.custom_call.registry import custom_calls, plugins
    from kernel_magics.widgets.control_panel import ControlPanel
    from kernel_magics.widgets.inspector import Inspector, inspect

__all__ = [
    "ControlPanel",
    "FunctionGraph",
    "HloFunction",
    "Inspector",
    "KernelMagicsError",
    "LinkReport",
    "LinkedSymbol",
    "Session",
    "block",
    "callback",
    "control_panel",
    "custom_calls",
    "debug_print",
    "hlo_call",
    "inspect",
    "load",
    "load_ipython_extension",
    "plugins",
    "session",
    "to_jax",
    "unload_ipython_extension",
]

session = Session()
"""The session of this kernel."""

load = session.load

_LATE = {
    "ControlPanel": "kernel_magics.widgets.control_panel",
    "Inspector": "kernel_magics.widgets.inspector",
    "block": "kernel_magics.custom_call.block",
    "callback": "kernel_magics.custom_call.callback",
    "custom_calls": "kernel_magics.custom_call.registry",
    "debug_print": "kernel_magics.custom_call.callback",
    "inspect": "kernel_magics.widgets.inspector",
    "plugins": "kernel_magics.custom_call.registry",  # its handlers reach what is loaded
    "to_jax": "kernel_magics.call.replay.replay",
}


def __getattr__(name: str) -> Any:
    """Imports what few need when it is asked for: it costs as much as all else."""
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_LATE[name]), name)


def control_panel() -> "ControlPanel":
    """Returns a widget that shows and switches plugins, and shows and registers custom calls."""
    from kernel_magics.custom_call.registry import custom_calls  # noqa: PLC0415 - few ask
    from kernel_magics.plugin.kernel import plugins  # noqa: PLC0415 - as above
    from kernel_magics.widgets.control_panel import ControlPanel  # noqa: PLC0415 - as above

    return ControlPanel(session, plugins, custom_calls)


def load_ipython_extension(shell: "InteractiveShell") -> None:
    """Adds the magics to a shell: `%load_ext kernel_magics`."""
    from kernel_magics.magics import load_magics  # noqa: PLC0415 - IPython is for those who have it

    load_magics(shell, session)


def unload_ipython_extension(shell: "InteractiveShell") -> None:
    """Takes the magics out of a shell again: `%unload_ext kernel_magics`."""
    from kernel_magics.magics import unload_magics  # noqa: PLC0415 - as above

    unload_magics(shell)
