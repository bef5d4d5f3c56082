"""`%hlo`: look at the session and change it."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from IPython.core.interactiveshell import InteractiveShell

from kernel_magics.errors import UsageError
from kernel_magics.ir.signature import Signature
from kernel_magics.ir.source import read_source
from kernel_magics.magics.arguments import HelpShown, line_parser
from kernel_magics.magics.binding import bind
from kernel_magics.magics.calls import show_calls
from kernel_magics.magics.cell import ELIDED, summary
from kernel_magics.magics.display import Displays, GraphView, TextView
from kernel_magics.magics.doctor import diagnose
from kernel_magics.magics.plugins import show_plugins, use_plugin
from kernel_magics.plugin.info import PluginTable
from kernel_magics.sessions import Session

View = GraphView | TextView | PluginTable

_SHORT = 48
"""Longest list of types in a table, in characters."""


class HloLine:
    """The `%hlo` magic of one shell."""

    __name__ = "hlo"

    def __init__(self, shell: InteractiveShell, session: Session, displays: Displays) -> None:
        self._shell = shell
        self._session = session
        self._displays = displays
        self._commands: dict[str, Callable[[argparse.Namespace], View]] = {
            "module": self._module,
            "functions": self._functions,
            "graph": self._graph,
            "doctor": self._doctor,
            "calls": show_calls,
            "plugins": show_plugins,
            "use": use_plugin,
            "load": self._load,
            "save": self._save,
            "restore": self._restore,
            "drop": self._drop,
            "reset": self._reset,
        }

    def __call__(self, line: str) -> View | None:
        """Looks at the session and changes it; `%hlo --help` lists the commands."""
        try:
            options = line_parser().parse_line(line)
        except HelpShown:
            return None
        if options.command is None:
            line_parser().print_help()
            return None
        return self._commands[options.command](options)

    def _module(self, _: Any) -> View:
        return TextView(self._session.module_text(elide=ELIDED))

    def _functions(self, _: Any) -> View:
        return TextView(_function_table(self._session))

    def _graph(self, _: Any) -> View:
        return GraphView(self._displays, self._session)

    def _doctor(self, options: argparse.Namespace) -> View:
        return TextView(diagnose(self._session.units, options.name))

    def _load(self, options: argparse.Namespace) -> View:
        if "{" in options.file or "$" in options.file:
            raise UsageError(
                f"`%hlo load {options.file}`: nothing on this line is expanded",
                advice="For a path in a variable use `km.load(path, name=...)`.",
            )
        read = self._session.read(read_source(Path(options.file)))
        unit = self._session.add(read, options.name or self._session.next_name())
        notes = [bind(self._shell, unit).note, summary(unit.report)]
        return GraphView(self._displays, self._session, "\n".join(filter(None, notes)))

    def _save(self, options: argparse.Namespace) -> View:
        self._session.save(options.file)
        units = _counted(len(self._session.units))
        return TextView(f"{units} written to `{options.file}`")

    def _restore(self, options: argparse.Namespace) -> View:
        self._session.restore(options.file)
        units = sorted(self._session.units.values(), key=lambda unit: unit.serial)
        notes = [bind(self._shell, unit).note for unit in units]
        return GraphView(self._displays, self._session, "\n".join(filter(None, notes)))

    def _drop(self, options: argparse.Namespace) -> View:
        for name in options.name:
            self._session.drop(name, force=options.force)
        return GraphView(self._displays, self._session)

    def _reset(self, _: Any) -> View:
        units = _counted(len(self._session.units))
        self._session.reset()
        return TextView(f"{units} forgotten; functions that you hold keep working")


def _function_table(session: Session) -> str:
    """One row for each public function: how to call it, what it is, where it came from."""
    if not session.functions:
        return "The session holds no function yet: a `%%hlo` cell or `%hlo load FILE` brings some."
    rows = [("call it as", "function", "merged as", "takes and gives")]
    latest = session.functions
    for unit in session.units.values():
        for name, function in unit.functions.items():
            names = [key for key, found in latest.items() if found is function]
            merged = unit.report[name].new_name
            short = _short_signature(function.signature)
            shown = ", ".join(names) or f"(hidden; unit {unit.name})"
            rows.append((shown, f"@{name}", f"@{merged}" if merged != name else "", short))
    widths = [max(len(row[i]) for row in rows) for i in range(3)]
    lines = [
        "  ".join([*(c.ljust(w) for c, w in zip(row, widths, strict=False)), row[3]]).rstrip()
        for row in rows
    ]
    return "\n".join(lines)


def _short_signature(signature: Signature) -> str:
    """The types, or how many there are where a line could not hold them."""
    arguments = ", ".join(map(str, signature.arguments))
    if len(arguments) > _SHORT:
        arguments = f"{len(signature.arguments)} arguments"
    results = ", ".join(map(str, signature.results))
    if len(results) > _SHORT:
        results = f"{len(signature.results)} results"
    return f"({arguments}) -> ({results})"


def _counted(units: int) -> str:
    return f"{units} unit" if units == 1 else f"{units} units"
