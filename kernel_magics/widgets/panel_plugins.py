"""Rows of the control panel's table of plugins."""

from collections.abc import Iterable, Mapping

from kernel_magics.characters import visible, visible_lines
from kernel_magics.plugin.info import PluginInfo, bytes_text, devices_text, version_text
from kernel_magics.widgets.protocol_panel import PluginAction, PluginRow, PluginState

_ACTIONS: Mapping[str, tuple[PluginAction, ...]] = {
    "in use": (),
    "loaded": ("use", "forget"),
    "probed": ("load", "probe"),
    "found": ("probe", "load"),
    "no device": ("probe",),
    "broken": ("probe",),
    "forgotten": ("load",),
}
_BUILT_IN = "cpu"


def plugin_rows(infos: Iterable[PluginInfo], working: Mapping[str, str]) -> list[PluginRow]:
    """Returns one row for each plugin.

    Args:
        infos: What is known of them.
        working: What is being done with a plugin at this moment, in words.
    """
    return [_row(info, working.get(info.name, "")) for info in infos]


def plugin_notes(infos: Iterable[PluginInfo]) -> list[str]:
    """Returns the words of the status line."""
    known = list(infos)
    active = [info.name for info in known if info.state == "in use"]
    loaded = sum(info.is_loaded for info in known)
    return [
        *(f"new work runs on {visible(name)}" for name in active),
        f"{loaded} loaded of {len(known)} found",
    ]


def _row(info: PluginInfo, waiting: str) -> PluginRow:
    facts = info.facts
    state: PluginState = "probing" if waiting else info.state
    is_amiss = info.state in ("broken", "no device")
    short = info.reason.split("\n", 1)[0]
    return {
        "name": visible(info.name),
        "state": state,
        "source": visible(" ".join(filter(None, [info.source, info.version]))),
        "pjrt": version_text(facts.pjrt_version) if facts else "",
        "ffi": version_text(facts.ffi_version) if facts else "",
        "devices": visible(devices_text(facts)),
        "memory": "" if info.memory_bytes is None else bytes_text(info.memory_bytes),
        "problem": visible(short) if is_amiss else "",
        "detail": visible_lines(info.reason) if is_amiss else "",
        "advice": visible("; ".join(info.notes)),
        "waiting": waiting,
        "actions": [] if waiting else list(_actions(info)),
    }


def _actions(info: PluginInfo) -> tuple[PluginAction, ...]:
    actions = _ACTIONS[info.state]
    # What is built in stays.
    return tuple(a for a in actions if a != "forget" or info.name != _BUILT_IN)
