"""Functions of a unit as variables of the user's namespace."""

import builtins
import keyword

from IPython.core.interactiveshell import InteractiveShell

from kernel_magics.call.function import HloFunction
from kernel_magics.session_units import SessionUnit


def bind(shell: InteractiveShell, unit: SessionUnit) -> str:
    """Binds a unit's public functions, and its entry under the unit's name.

    Returns:
        What a user should know: names that are no Python names, names that hide others;
        empty when there is nothing.
    """
    functions = dict(unit.functions)
    if unit.entry is not None and unit.name.isidentifier():
        functions[unit.name] = functions[unit.entry]
    names = [name for name in functions if name.isidentifier() and not keyword.iskeyword(name)]
    unbound = [name for name in functions if name not in names]
    hidden = [name for name in names if _hides(shell, name)]
    shell.push({name: functions[name] for name in names})
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
