"""Whether the arguments of a call are where it is to run: a higher layer knows."""

from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax.core import Tracer

from kernel_magics import _jax_private
from kernel_magics.call.program import Program
from kernel_magics.call.scalars import Run

Check = Callable[[Program, Sequence[Any], Any], None]
"""Takes the program, its arguments, and the device it is to run on, None for the one in use;
raises where an argument cannot be used.
"""

check: list[Check] = []
"""At most one; looked at by each call, so it is a list and not a function."""


def run_on(device: Any, function: Any, run: Run) -> Run:
    """A function that runs on a device, or on what stands in its place.

    Args:
        device: A device of JAX; or a function of an `HloFunction` and its arguments.
        function: The `HloFunction`.
        run: What it does where work goes; within a trace it is what is done.
    """

    def placed(*args: Any) -> tuple[jax.Array, ...]:
        with jax.default_device(device):
            return run(*args)

    def elsewhere(*args: Any) -> tuple[jax.Array, ...]:
        is_traced = any(isinstance(arg, Tracer) for arg in args)
        return run(*args) if is_traced else device(function, args)

    return elsewhere if callable(device) else placed


def device_count() -> int:
    """How many devices a program may use: those of the plugin that has most.

    A program finds its devices by where its arguments are, which may be on any plugin.
    """
    jax.devices()
    return max(client.device_count() for client in _jax_private.clients().values())


def set_check(wanted: Check | None) -> None:
    """Has each call of an `HloFunction` checked before it runs, or none."""
    check[:] = [] if wanted is None else [wanted]
