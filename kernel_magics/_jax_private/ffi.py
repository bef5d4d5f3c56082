"""The other half of the door to `jax._src` and `jaxlib`: custom calls and callbacks.

As in `_jax_private`: each wrapper says why the public way does not do, and
`tests/test_jax_private_ffi.py` pins what it relies on.
"""

import ctypes
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

from jax._src import callback as _callback
from jax._src import core as _core
from jax._src import debugging as _debugging
from jax._src import ffi as _ffi
from jax._src import xla_bridge as _xla_bridge
from jax._src.export import _export
from jax._src.interpreters import mlir as _mlir
from jax._src.lib import xla_client as _xla_client  # pyright: ignore[reportPrivateImportUsage]
from jax.interpreters import mlir
from jaxlib import _jax  # pyright: ignore[reportAttributeAccessIssue]


def host_targets() -> dict[str, int]:
    """Targets that jaxlib's own CPU clients serve, to the addresses of their handlers.

    Those that JAX holds back until the first client starts are among them. Public `jax.ffi`
    registers and lists nothing. Targets of the old calling convention are not among them: XLA has
    no list of those.
    """
    found: dict[str, Any] = dict(_xla_client.custom_call_targets("Host"))
    for name, stages, version in _held():
        # Zero is the old convention, which has other handlers.
        if version:
            found.setdefault(name, stages if isinstance(stages, dict) else {"execute": stages})
    return {
        name: capsule_address(stages["execute"])
        for name, stages in found.items()
        if set(stages) == {"execute"}
    }


def _held() -> list[tuple[str, Any, int]]:
    """Names, handlers and conventions of what waits for the first client of the CPU."""
    xla_client: Any = _xla_client
    with xla_client._custom_callback_lock:
        held = [*xla_client._custom_callback.get("Host", ())]
    return [(str(name), handler, int(version)) for name, handler, version, *_ in held]


def taken_targets() -> frozenset[str]:
    """Targets that jaxlib's own CPU clients serve, or will when the first of them starts.

    As `host_targets`, with those that have several stages, and those of the old calling
    convention that JAX holds back.
    """
    held = {name for name, _, _ in _held()}
    return frozenset(_xla_client.custom_call_targets("Host")) | held


def stable_targets() -> frozenset[str]:
    """Targets that JAX promises to keep: those of its own that need no registration included.

    Public `jax.export` checks against this list and does not show it.
    """
    export: Any = _export
    return frozenset(export._CUSTOM_CALL_TARGETS_GUARANTEED_STABLE)


def capsule_address(capsule: Any) -> int:
    """The pointer in a capsule, whatever its name; zero where it is no capsule.

    Not JAX's but Python's: `jax.ffi.pycapsule` makes them and nothing public reads them.
    """
    name, pointer = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    name.restype, name.argtypes = ctypes.c_char_p, (ctypes.py_object,)
    pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    try:
        return int(pointer(capsule, name(capsule)) or 0)
    except ValueError:
        return 0


def is_plugin(client: Any) -> bool:
    """Whether a client is that of a PJRT plugin, with custom calls of its own.

    Clients say it themselves from JAX 0.11 on; those of 0.10 have no version of the C API
    where they are in process.
    """
    said = getattr(client, "is_c_api", None)
    if said is not None:
        return bool(said)
    return getattr(client, "pjrt_c_api_minor_version", None) is not None


def plugin_api(name: str) -> int:
    """The address of the `PJRT_Api` of a plugin that JAX has loaded; zero where it tells not.

    JAX 0.12 gives it to nobody publicly, JAX 0.10 to nobody at all.
    """
    ask = getattr(_jax, "get_pjrt_plugin", None)
    if ask is None or not _xla_client.pjrt_plugin_loaded(name):
        return 0
    return capsule_address(ask(name))


def lowering_client(context: mlir.LoweringRuleContext) -> Any:
    """The client that a module is compiled for; None where that is open, as for an export.

    Public `jax.lax.platform_dependent` knows platforms only, of which clients may share one.
    """
    module_context: Any = context.module_context
    if module_context.lowering_parameters.for_export or len(module_context.platforms) > 1:
        return None
    if module_context.backend is None and not _xla_bridge.backends_are_initialized():
        return None
    try:
        return module_context.get_backend(optional=True)
    except RuntimeError:  # lowered for a platform that is not here
        return None


def keep_with_executable(context: mlir.LoweringRuleContext, value: Any) -> None:
    """Keeps a value alive as long as what is being compiled.

    JAX's own callbacks live by this; nothing public does it.
    """
    module_context: Any = context.module_context
    module_context.add_keepalive(value)


def host_effect() -> Any:
    """The effect of a custom call that must happen, as `jax.ffi.ffi_call` has it.

    Effects of one's own have to be made known to JAX in private lists.
    """
    ffi: Any = _ffi
    return ffi._FfiEffect


def refusing_jax(refuse: Callable[[str], Exception]) -> AbstractContextManager[Any]:
    """A context in which this thread's operations of JAX raise.

    An operation within a handler may wait for the thread that runs the handler, for ever.

    Args:
        refuse: Makes the error; takes the name of the operation.
    """
    return _core.set_current_trace(_Refusing(refuse))


class _Refusing(_core.Trace):
    """A trace that takes nothing."""

    def __init__(self, refuse: Callable[[str], Exception]) -> None:
        super().__init__()
        self._refuse = refuse

    def stage_value(self, val: Any) -> Any:
        return val

    def process_primitive(self, primitive: Any, *_: Any) -> Any:
        raise self._refuse(str(primitive.name))

    def process_call(self, call_primitive: Any, *_: Any) -> Any:
        raise self._refuse(str(call_primitive.name))

    def process_custom_jvp_call(self, primitive: Any, *_: Any, **__: Any) -> Any:
        raise self._refuse(str(primitive.name))

    def process_custom_vjp_call(self, primitive: Any, *_: Any, **__: Any) -> Any:
        raise self._refuse(str(primitive.name))


def guard_callbacks(check: Callable[[mlir.LoweringRuleContext, str], None]) -> None:
    """Has each callback of JAX's own checked before it is lowered, once for the process.

    A plugin does not serve them, and XLA says so at the compile, in words that name neither the
    callback nor what to do. There is no public way to be asked.

    Args:
        check: Takes the rule's context and the name of the primitive; raises where it must not be.
    """
    primitives: list[Any] = [
        _callback.pure_callback_p,
        _callback.io_callback_p,
        _debugging.debug_callback_p,
    ]
    # JAX 0.10.2 has it, and so do later versions; what it is lowered by is their own affair.
    primitives += [p for p in [getattr(_debugging, "debug_print_p", None)] if p is not None]
    rules: Any = _mlir
    tables: list[Any] = [rules._lowerings, *rules._platform_specific_lowerings.values()]
    for primitive in primitives:
        for table in tables:
            entry = table.get(primitive)
            if entry is not None and not hasattr(entry.rule, "kernel_magics_guard"):
                guarded = _guarded(entry.rule, primitive.name, check)
                table[primitive] = replace(entry, rule=guarded)


def _guarded(rule: Any, name: str, check: Callable[[Any, str], None]) -> Any:
    def guarded(context: Any, *args: Any, **params: Any) -> Any:
        check(context, name)
        return rule(context, *args, **params)

    guarded.kernel_magics_guard = True  # pyright: ignore[reportFunctionMemberAccess]
    return guarded
