"""Rows of the control panel's tables of custom calls: who serves what, and what is missing."""

from collections.abc import Hashable, Mapping
from typing import Any

from kernel_magics.characters import visible, visible_lines
from kernel_magics.custom_call.registry import CustomCallRegistry
from kernel_magics.custom_call.table import TargetRow
from kernel_magics.ir.checks_targets import OWN_TARGETS
from kernel_magics.sessions import Session
from kernel_magics.widgets.protocol_panel import CallRow, CoverageRow, Serving

_EVERYWHERE = "everywhere"
_MILLI = 1000


def call_rows(calls: CustomCallRegistry) -> list[CallRow]:
    """Returns one row for each target that is registered."""
    return [_call_row(row) for row in calls.table()]


class Coverage:
    """Which custom calls of the session are served on which plugin."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._state: Hashable = None
        self._callers: dict[str, list[str]] = {}

    def rows(
        self, calls: CustomCallRegistry, clients: Mapping[str, Any | None]
    ) -> list[CoverageRow]:
        """One row for each target that a function of the session calls.

        Args:
            calls: The registry.
            clients: Plugins by name; None for one that is not loaded.
        """
        served = {name: calls.serving.targets(c) for name, c in clients.items() if c is not None}
        return [
            {
                "target": visible(target),
                "cells": [_serving(calls, target, served.get(name)) for name in clients],
                "called_in": visible(_listed(callers)),
            }
            for target, callers in self._targets().items()
        ]

    def _targets(self) -> Mapping[str, list[str]]:
        """Targets to the functions that call them; read again when the session is another one."""
        units = self._session.units
        state = tuple((unit.name, unit.serial) for unit in units.values())
        if state != self._state:
            self._callers = _callers(self._session)
            self._state = state
        return self._callers


def missing_sentence(rows: list[CoverageRow], covered: list[str]) -> str:
    """Returns what nobody serves where it may run; empty where all is served."""
    gaps = [(row, covered[i]) for row in rows for i, c in enumerate(row["cells"]) if c == "missing"]
    if not gaps:
        return ""
    row, plugin = gaps[0]
    more = f", and {len(gaps) - 1} more" if len(gaps) > 1 else ""
    return (
        f"`{row['target']}` has no handler on {plugin}: it is called in {row['called_in']}{more}."
    )


def _callers(session: Session) -> dict[str, list[str]]:
    graph = session.graph()
    names = {node.id: f"@{node.author_name}" for node in graph.nodes}
    targets = {node.id: node.author_name for node in graph.nodes if node.kind == "custom_call"}
    found = {target: list[str]() for target in targets.values() if target not in OWN_TARGETS}
    for edge in graph.edges:
        target = targets.get(edge.callee)
        if target in found:
            found[target].append(names[edge.caller])
    return found


def _serving(calls: CustomCallRegistry, target: str, served: frozenset[str] | None) -> Serving:
    if served is None:
        return "not loaded"
    known = calls.serving.now.of(target)
    if target in served or (known is not None and known.target in served):
        return "served"
    return "fallback" if known is not None and known.fallback is not None else "missing"


def _call_row(row: TargetRow) -> CallRow:
    words = {"": "nobody", "fallback": "its fallback"}
    by = ", ".join(row.handlers) or words.get(row.state, "nobody")
    untried = ", not tried" if row.state == "not tried" else ""
    return {
        "target": visible(row.target),
        "served_by": visible(by + untried),
        "plugins": visible(", ".join(row.plugins)),
        "contract": visible(row.contract),
        "calls": row.calls,
        "mean": "" if row.mean_us is None else _time_text(row.mean_us),
        "problem": visible(row.last_error.split("\n", 1)[0]),
        "detail": visible_lines(row.last_error) if "\n" in row.last_error else "",
    }


def _time_text(mean_us: float) -> str:
    return f"{mean_us:.3g} µs" if mean_us < _MILLI else f"{mean_us / _MILLI:.3g} ms"


def _listed(names: list[str], most: int = 3) -> str:
    shown = ", ".join(names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")
