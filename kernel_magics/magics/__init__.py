"""`%%hlo`, `%hlo` and `%%custom_call`: the only part that knows IPython."""

from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import no_var_expand

from kernel_magics.custom_call.registry import custom_calls
from kernel_magics.magics.cell import HloCell
from kernel_magics.magics.custom_call import CustomCallCell
from kernel_magics.magics.display import Displays
from kernel_magics.magics.editor.hooks import add_editor, remove_editor
from kernel_magics.magics.following import follow, unfollow
from kernel_magics.magics.line import HloLine
from kernel_magics.magics.plugins import begin
from kernel_magics.magics.reopened import ReopenedViews
from kernel_magics.magics.settings import KernelMagics
from kernel_magics.sandbox.kernel import end
from kernel_magics.sandbox.policy import Policy, set_policy
from kernel_magics.sessions import Session

_EVENT = "pre_run_cell"


def load_magics(shell: InteractiveShell, session: Session) -> None:
    """Registers the magics; loading twice leaves one of each."""
    unload_magics(shell)
    custom_calls.attend()
    displays = Displays(shell)
    reopened = ReopenedViews(shell, session)
    cell, line = HloCell(shell, session, displays, reopened), HloLine(shell, session, displays)
    custom_call = CustomCallCell(shell, custom_calls)
    reopened.listen()
    configurables: Any = shell.configurables
    settings = KernelMagics(parent=shell)
    configurables.append(settings)
    shell.events.register(_EVENT, cell.remember)
    shell.events.register(_EVENT, custom_call.remember)
    shell.input_transformers_cleanup.append(cell.keep_empty_body)
    # Neither line nor body may be touched: `{x}` and `$x` are text of the program.
    manager: Any = shell.magics_manager
    manager.register_function(no_var_expand(cell), "cell", "hlo")
    manager.register_function(no_var_expand(line), "line", "hlo")
    manager.register_function(no_var_expand(custom_call), "cell", "custom_call")
    follow(shell)
    add_editor(shell, session)
    begin(settings)


def unload_magics(shell: InteractiveShell) -> None:
    """Takes the magics, their hook and their settings out again, and ends the child process."""
    magics: Any = shell.magics_manager.magics
    cell = magics["cell"].pop("hlo", None)
    magics["line"].pop("hlo", None)
    custom_call = magics["cell"].pop("custom_call", None)
    shell.configurables[:] = [c for c in shell.configurables if not isinstance(c, KernelMagics)]
    remove_editor(shell)
    set_policy(Policy())
    unfollow(shell)
    end()
    if isinstance(custom_call, CustomCallCell):
        shell.events.unregister(_EVENT, custom_call.remember)
    if isinstance(cell, HloCell):
        cell.displays.end()
        cell.reopened.end()
        shell.events.unregister(_EVENT, cell.remember)
        shell.input_transformers_cleanup.remove(cell.keep_empty_body)
