"""Reads a command from a message of a view; what does not fit the protocol is refused."""

from collections.abc import Mapping
from typing import Any, cast

from kernel_magics.widgets.protocol_commands import Command

_FIELDS: Mapping[str, Mapping[str, type]] = {
    "function": {"node": str},
    "symbols": {},
    "text": {"text": int},
    "lines": {"text": int, "first": int, "count": int},
    "find": {"query": str},
    "open": {"group": str},
    "close": {},
    "redraw": {},
}


def read_command(content: Mapping[str, Any]) -> Command:
    """Returns the command that a message holds.

    Raises:
        ValueError: It is not of this version of the protocol; says what is wrong.
    """
    kind = str(content.get("kind"))
    if kind not in _FIELDS:
        raise ValueError(f"the kernel knows no command {kind!r}: reload the page")
    fields = {"id": str, **_FIELDS[kind]}
    unfit = [field for field, wanted in fields.items() if type(content.get(field)) is not wanted]
    if unfit:
        raise ValueError(f"the command `{kind}` needs {unfit[0]!r}: reload the page")
    return cast("Command", dict(content))
