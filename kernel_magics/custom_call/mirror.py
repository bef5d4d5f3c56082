"""Handlers that jaxlib has and plugins lack, given to plugins: LAPACK above all.

A CPU plugin compiles `jax.numpy.linalg` to custom calls of jaxlib's, and knows nothing of them.
"""

from collections.abc import Container

from kernel_magics import _jax_private, _jax_private_ffi
from kernel_magics.custom_call.clients import Reached
from kernel_magics.custom_call.handler import Handler
from kernel_magics.custom_call.trampoline import Trampoline, new_trampoline

JAX_CALLBACKS = ("xla_ffi_python_", "xla_ffi_partitioned_python_", "xla_python_")
"""Begin the targets of JAX's callbacks: they need a stage that plugins run no handlers in."""


def mirror(reached: Reached, ours: Container[str]) -> dict[str, Trampoline]:
    """Gives jaxlib's handlers to a plugin of the same platform.

    Args:
        reached: The plugin.
        ours: Targets that have handlers of their own there.

    Returns:
        Targets to what XLA was given: newer than the plugin's FFI the handlers themselves are not
        taken.
    """
    if reached.ffi is None or reached.platform != "cpu" or not reached.takes_handlers:
        return {}
    _jax_private.initialize_lapack()
    made: dict[str, Trampoline] = {}
    for target, address in _jax_private_ffi.host_targets().items():
        if target in ours or target.startswith(JAX_CALLBACKS):
            continue
        trampoline = new_trampoline(target)
        trampoline.switch(Handler(target, "native", address, ("jaxlib", target), "jaxlib"))
        reached.ffi.register(target, trampoline.address, reached.platform)
        made[target] = trampoline
    return made
