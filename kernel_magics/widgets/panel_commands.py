"""Reads a command from a message of the control panel; what does not fit is refused."""

from collections.abc import Mapping
from typing import Any, cast

from kernel_magics.widgets.protocol_panel import PanelCommand

_FIELDS: Mapping[str, Mapping[str, type]] = {
    "plugin": {"action": str, "name": str},
    "load_path": {"name": str, "path": str},
    "discover": {},
    "register": {
        "target": str,
        "library": str,
        "symbol": str,
        "plugins": list,
        "is_tried": bool,
    },
    "unregister": {"target": str},
    "compare": {"function": str, "plugins": list},
    "refresh": {},
}


def read_panel_command(content: Mapping[str, Any]) -> PanelCommand:
    """Returns the command that a message holds.

    Raises:
        ValueError: It is not of this version of the protocol; says what is wrong.
    """
    kind = str(content.get("kind"))
    if kind not in _FIELDS:
        raise ValueError(f"the kernel knows no command {kind!r}: reload the page")
    for field, wanted in {"id": str, **_FIELDS[kind]}.items():
        value = content.get(field)
        is_right = type(value) is wanted
        if is_right and wanted is list:
            is_right = all(isinstance(one, str) for one in cast("list[object]", value))
        if not is_right:
            raise ValueError(f"the command `{kind}` needs {field!r}: reload the page")
    return cast("PanelCommand", dict(content))
