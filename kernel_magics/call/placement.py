"""Whether the arguments of a call are where it is to run: a higher layer knows."""

from collections.abc import Callable, Sequence
from typing import Any

import jax

from kernel_magics import _jax_private
from kernel_magics.call.program import Program

Check = Callable[[Program, Sequence[Any], Any], None]
"""Takes the program, its arguments, and the device it is to run on, None for the one in use;
raises where an argument cannot be used.
"""

check: list[Check] = []
"""At most one; looked at by each call, so it is a list and not a function."""


def device_count() -> int:
    """How many devices a program may use: those of the plugin that has most.

    A program finds its devices by where its arguments are, which may be on any plugin.
    """
    jax.devices()
    return max(client.device_count() for client in _jax_private.clients().values())


def set_check(wanted: Check | None) -> None:
    """Has each call of an `HloFunction` checked before it runs, or none."""
    check[:] = [] if wanted is None else [wanted]
