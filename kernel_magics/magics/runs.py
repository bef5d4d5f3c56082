"""Runs that may never end: said beforehand, and limited where the user gives a time."""

from kernel_magics.call.function import HloFunction
from kernel_magics.call.runs import endless_loops


def limit_runs(function: HloFunction, timeout_s: float | None) -> str:
    """Gives a function a time limit, if it has a loop whose end is not evident.

    Args:
        function: The entry of a cell.
        timeout_s: What the user gave; None for no limit.

    Returns:
        What a user should know; empty where every loop is seen to end.
    """
    places = endless_loops(function.program)
    function.limit_s = timeout_s if places else None
    if not places:
        return ""
    name = function.signature.name
    where = f"the end of the `while` at {', '.join(places[:3])} is not evident"
    if timeout_s is None:
        return f"{where}: a run of `@{name}` cannot be interrupted; `--timeout SECONDS` limits it"
    return f"{where}: runs of `@{name}` have {timeout_s:g} s, in a child process"
