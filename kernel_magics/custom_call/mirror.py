"""Handlers that jaxlib has and plugins lack, given to plugins: LAPACK above all.

A CPU plugin compiles `jax.numpy.linalg` to custom calls of jaxlib's, and knows nothing of them.
"""

import re

from kernel_magics import _jax_private
from kernel_magics._jax_private import ffi as private_ffi
from kernel_magics.custom_call.clients import IN_PROCESS, Reached
from kernel_magics.custom_call.handler import Handler
from kernel_magics.custom_call.slots import slots

JAX_CALLBACKS = re.compile(r"xla_\w*python_")
"""Begins the targets of JAX's callbacks: they need a stage that plugins run no handlers in."""


def mirror(reached: Reached) -> frozenset[str]:
    """Gives jaxlib's handlers to a plugin of the same platform, those that we gave jaxlib left out.

    Args:
        reached: The plugin.

    Returns:
        Targets that it has now. They stand behind trampolines: a plugin of an older FFI takes no
        handlers of a newer one.
    """
    if reached.ffi is None or reached.platform != "cpu" or not reached.takes_handlers:
        return frozenset()
    _jax_private.initialize_lapack()
    ours = slots.targets(IN_PROCESS)
    made: set[str] = set()
    for target, address in private_ffi.host_targets().items():
        if target in ours or JAX_CALLBACKS.match(target):
            continue
        slots.switch(target, reached, Handler(target, "native", address, target, "jaxlib"))
        made.add(target)
    return frozenset(made)
