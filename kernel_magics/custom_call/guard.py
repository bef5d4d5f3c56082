"""JAX's own callbacks, refused in words where a plugin could not serve them.

They need a stage of XLA's FFI that handlers of plugins cannot be registered for: the compile fails
with a name that nobody wrote. Ours have no such need.
"""

from typing import Any

from kernel_magics._jax_private import ffi as private_ffi
from kernel_magics.call.serving import call_resolver
from kernel_magics.errors import CustomCallError

_OURS = {
    "pure_callback": "`km.callback(fn, result_shapes, *args)`",
    "io_callback": "`km.callback(fn, result_shapes, *args)`",
    "debug_callback": "`km.callback(fn, (), *args)` or `km.debug_print(format, *args)`",
    "debug_print": "`km.debug_print(format, *args)`",
}
_THEIRS = {
    "pure_callback": "jax.pure_callback",
    "io_callback": "jax.experimental.io_callback",
    "debug_callback": "jax.debug.callback",
    "debug_print": "jax.debug.print",
}


def guard_jax_callbacks() -> None:
    """Has JAX's callbacks checked before they are lowered for a plugin, once for the process."""
    private_ffi.guard_callbacks(_check)


def _check(context: Any, primitive: str) -> None:
    client = private_ffi.lowering_client(context)
    if client is None or client.platform != "cpu" or not private_ffi.is_plugin(client):
        return
    resolver = call_resolver()
    name = "cpu" if resolver is None else resolver.name_of(client)
    raise CustomCallError(
        f"`{_THEIRS.get(primitive, primitive)}` does not work on the plugin `{name}`",
        details=["a PJRT plugin does not serve JAX's own callbacks"],
        advice=f"Use {_OURS.get(primitive, '`km.callback`')} there.",
    )
