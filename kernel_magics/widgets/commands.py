"""Reads a command from a message of a view; what does not fit the protocol is refused."""

from collections.abc import Mapping
from typing import Any, cast

from kernel_magics.widgets.protocol_commands import Command

_REQUEST: Mapping[str, type] = {
    "function": str,
    "root": str,
    "focus": str,
    "hops": int,
    "opened": list,
    "closed": list,
    "folds_trivial": bool,
}
_MOST_IDS = 1_000

_FIELDS: Mapping[str, Mapping[str, type | Mapping[str, type]]] = {
    "function": {"node": str},
    "symbols": {},
    "text": {"text": int},
    "lines": {"text": int, "first": int, "count": int},
    "find": {"query": str, "within": str, "drawn": _REQUEST},
    "ops": {"request": _REQUEST},
    "op": {"function": str, "op": str, "drawn": _REQUEST},
    "op_at": {"text": int, "line": int},
    "open": {"group": str},
    "close": {},
    "redraw": {},
    "export": {"form": str, "function": str},
    "versions": {},
    "diff": {"unit": int, "left": str, "right": str},
    "version_lines": {"unit": int, "version": str, "first": int, "count": int},
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
    for field, wanted in fields.items():
        # There may be no drawing to tell of.
        is_nothing = field == "drawn" and content.get(field) is None
        if not is_nothing and not _fits(content.get(field), wanted):
            raise ValueError(f"the command `{kind}` needs {field!r}: reload the page")
    return cast("Command", dict(content))


def _fits(value: object, wanted: type | Mapping[str, type]) -> bool:
    if not isinstance(wanted, Mapping):
        return type(value) is wanted
    if not isinstance(value, dict):
        return False
    fields = cast("dict[str, object]", value)
    return all(_is_field(fields.get(name), inner) for name, inner in wanted.items())


def _is_field(value: object, wanted: type) -> bool:
    if wanted is not list:
        return type(value) is wanted
    ids = cast("list[object]", value) if isinstance(value, list) else [None]
    return len(ids) <= _MOST_IDS and all(isinstance(one, str) for one in ids)
