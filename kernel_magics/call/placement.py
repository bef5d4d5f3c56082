"""Whether the arguments of a call are where it is to run: a higher layer knows."""

from collections.abc import Callable, Sequence
from typing import Any

from kernel_magics.call.program import Program

Check = Callable[[Program, Sequence[Any], Any], None]
"""Takes the program, its arguments, and the device it is to run on, None for the one in use;
raises where an argument cannot be used.
"""

check: list[Check] = []
"""At most one; looked at by each call, so it is a list and not a function."""


def set_check(wanted: Check | None) -> None:
    """Has each call of an `HloFunction` checked before it runs, or none."""
    check[:] = [] if wanted is None else [wanted]
