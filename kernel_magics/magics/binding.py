"""Functions of a unit as variables of the user's namespace."""

import builtins
import keyword
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from IPython.core.interactiveshell import InteractiveShell

from kernel_magics.call.function import HloFunction
from kernel_magics.session_units import SessionUnit


@dataclass(frozen=True, slots=True)
class Binding:
    """Variables that now name functions of a unit."""

    shell: InteractiveShell
    names: tuple[str, ...]
    before: dict[str, Any]
    """What those of them that were there named before."""
    note: str
    """What a user should know of it; empty where there is nothing."""

    def undo(self) -> None:
        """Gives every variable back what it was."""
        for name in self.names:
            self.shell.user_ns.pop(name, None)
        self.shell.push(self.before)


def bind(shell: InteractiveShell, unit: SessionUnit) -> Binding:
    """Binds a unit's public functions, and its entry under the unit's name."""
    functions = dict(unit.functions)
    if unit.entry is not None and unit.name.isidentifier():
        functions[unit.name] = functions[unit.entry]
    names = [name for name in functions if name.isidentifier() and not keyword.iskeyword(name)]
    before = {name: shell.user_ns[name] for name in names if name in shell.user_ns}
    note = _note(shell, functions, names)
    shell.push({name: functions[name] for name in names})
    return Binding(shell, tuple(names), before, note)


def _note(shell: InteractiveShell, functions: Iterable[str], names: list[str]) -> str:
    """Names that hide others, and names that are no Python names."""
    hidden = [name for name in names if _hides(shell, name)]
    unbound = [name for name in functions if name not in names]
    notes: list[str] = []
    if hidden:
        notes.append(f"now names a function of this unit: {_listed(hidden)}")
    if unbound:
        notes.append(f"no Python name, so in `km.session.functions` only: {_listed(unbound)}")
    return "\n".join(notes)


def _hides(shell: InteractiveShell, name: str) -> bool:
    if name in shell.user_ns:
        return not isinstance(shell.user_ns[name], HloFunction)
    return hasattr(builtins, name)


def _listed(names: list[str], most: int = 5) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:most])
    return shown + (f" and {len(names) - most:,} more" if len(names) > most else "")
