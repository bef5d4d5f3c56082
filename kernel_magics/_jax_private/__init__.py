"""The only door to `jax._src` and `jaxlib`.

Each wrapper says why the public way does not do. `tests/test_jax_private.py` pins what it
relies on, for JAX 0.10.2 and the newest JAX.
"""

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from jax._src import ffi as _ffi
from jax._src import xla_bridge as _xla_bridge
from jax._src.interpreters import mlir as _mlir
from jax._src.lib import lapack as _lapack  # pyright: ignore[reportPrivateImportUsage]
from jax._src.lib import xla_client as _xla_client  # pyright: ignore[reportPrivateImportUsage]
from jax._src.lib.mlir import dialects as _dialects
from jax.extend import mlir as mlir_extension
from jax.extend.mlir import ir
from jax.extend.mlir.dialects import stablehlo
from jax.interpreters import mlir
from jaxlib import _hlo, _jax  # pyright: ignore[reportAttributeAccessIssue]


def new_context() -> ir.Context:
    """A fresh MLIR context that knows the dialects which JAX's own contexts know.

    Public `make_ir_context` will not do: since JAX 0.11 it hands out one shared context per
    thread, so that whatever is set on it reaches unrelated lowerings.
    """
    context = _mlir.JaxIrContext()
    context.append_dialect_registry(_mlir.upstream_dialects)
    context.load_all_available_dialects()
    context.enable_multithreading(enable=False)
    dialects: Any = _dialects
    dialects.sdy.register_dialect(context)
    dialects.mpmd.register_dialect(context)
    dialects.mhlo.register_mhlo_dialect(context)
    dialects.chlo.register_dialect(context)
    dialects.hlo.register_dialect(context)
    return context


def lowering_module(context: mlir.LoweringRuleContext) -> tuple[ir.Module, ir.SymbolTable]:
    """The module that a lowering rule writes into, with its symbol table.

    Both hang off the public rule context, but `ModuleContext` itself is documented nowhere.
    """
    module_context: Any = context.module_context
    return module_context.module, module_context.symbol_table


def lowering_memory(context: mlir.LoweringRuleContext) -> dict[Any, Any]:
    """A dictionary that lives as long as the module being lowered, shared by its rules.

    JAX has no public place to remember what a rule has already put into a module.
    """
    module_context: Any = context.module_context
    return module_context.cached_primitive_lowerings


def lowering_platforms(context: mlir.LoweringRuleContext) -> tuple[str, ...]:
    """The platforms that a module is lowered for, such as `("cpu",)`.

    Hangs off the public rule context, like the module itself.
    """
    module_context: Any = context.module_context
    return tuple(module_context.platforms)


def side_effects(*, is_there: bool) -> frozenset[Any]:
    """The effects of an operation, for its abstract evaluation: those of JAX's own FFI calls.

    JAX keeps such operations where nobody uses their results. Kinds of effects that it lets
    through loops and lowering are listed in private places, and ours are the same.
    """
    ffi: Any = _ffi
    return frozenset([ffi._FfiEffect]) if is_there else frozenset()


def stablehlo_versions() -> tuple[str, str]:
    """Oldest and newest StableHLO version that this jaxlib reads, such as `("0.9.0", "1.17.0")`.

    Public in `jax.extend`, but without types.
    """
    dialect: Any = stablehlo
    return dialect.get_minimum_version(), dialect.get_current_version()


def initialize_lapack() -> None:
    """Registers jaxlib's LAPACK handlers, which crash when called before.

    JAX does this while lowering its own `jax.numpy.linalg`; a program from elsewhere that names
    `lapack_*` targets has no public way to ask for it.
    """
    library: Any = _lapack
    library._lapack.initialize()


def scan_counts(parameters: Mapping[str, Any]) -> tuple[int, int]:
    """How many operands of a `scan` equation are constants, and how many are carried.

    A jaxpr is public, the parameters of its equations are not: JAX 0.12 has trees for counts.
    """
    if "num_consts" in parameters:
        return parameters["num_consts"], parameters["num_carry"]
    constants, carried, _ = map(len, parameters["ft_in"].unpack())
    return constants, carried


def hlo_text_to_proto(text: str) -> bytes:
    """Reads HLO text: a serialized `HloModuleProto`; ends the process on some texts.

    JAX has no public parser of HLO text.
    """
    return _hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto()


def hlo_to_stablehlo(proto: bytes) -> bytes:
    """Converts a serialized `HloModuleProto` to MLIR bytecode; ends the process on some.

    Public in `jax.extend.mlir`, but without types.
    """
    return mlir_extension.hlo_to_stablehlo(proto)


def stablehlo_to_hlo(bytecode: bytes) -> None:
    """Converts it back, for the checks on the way; ends the process on some modules.

    JAX does this within a compile, not by itself.
    """
    _jax.mlir.mlir_module_to_xla_computation(bytecode, False, False)  # noqa: FBT003


@dataclass(frozen=True, slots=True)
class StartedPlugin:
    """A PJRT plugin in this process."""

    client: Any
    """Its devices are what to work with."""
    api: Any
    """A capsule that holds its `PJRT_Api`."""


def start_plugin(
    name: str,
    path: str,
    options: Mapping[str, Any],
    say: Callable[[str], None] = lambda _: None,
) -> StartedPlugin:
    """Loads a PJRT plugin in a running process, and makes a client of it.

    JAX takes plugins before the first use of a device alone, from the environment or from
    entry points, and `register_plugin` leaves what it has half done when it fails. The client is
    listed nowhere, and JAX will not make one again by itself: `clear_backends` makes clients of
    all that is registered, and the one of the highest priority the default.

    Args:
        name: A name that no plugin of this process has had.
        path: The shared library.
        options: For the plugin's `PJRT_Client_Create`.
        say: Is told what comes next, for a process that may end on the way.
    """
    bridge: Any = _xla_bridge
    if name in bridge._backend_factories:
        raise ValueError(f"The platform {name!r} is there already")
    try:
        api = bridge.register_plugin(name, library_path=path, options=dict(options))
    finally:
        bridge._backend_factories.pop(name, None)
    say("making a client")
    return StartedPlugin(start_client(name, options), api)


def start_client(name: str, options: Mapping[str, Any]) -> Any:
    """Makes another client of a plugin that `start_plugin` has loaded under this name.

    Public JAX makes one client of a platform, once.
    """
    bridge: Any = _xla_bridge
    client = bridge.make_pjrt_c_api_client(name, options=dict(options))
    # Hooks that JAX 0.10 runs for each of its clients; later versions have none.
    for hook in getattr(bridge, "_backend_initialization_hooks", ()):
        hook(client)
    return client


def start_platform(name: str) -> StartedPlugin:
    """Makes a client of a platform that a package has registered with JAX.

    JAX does so itself for all of them at the first use of a device, or for those alone that
    `jax_platforms` names.
    """
    bridge: Any = _xla_bridge
    return StartedPlugin(bridge._init_backend(name), bridge._backend_factories[name].c_api)


def start_cpu_client(device_count: int) -> Any:
    """Makes a client of jaxlib's own CPU with so many devices.

    JAX makes one, whose number of devices cannot be changed after its first use.
    """
    return _xla_client.make_cpu_client(num_devices=device_count)


def clients() -> dict[str, Any]:
    """The clients that JAX knows by name; none before the first use of a device.

    Public `jax.extend.backend.backends` starts them.
    """
    bridge: Any = _xla_bridge
    with bridge._backend_lock:
        return dict(bridge._backends)


def default_client() -> Any:
    """The client whose devices JAX uses where nobody says otherwise; starts it if needed."""
    return _xla_bridge.get_backend()


def list_client(name: str, client: Any) -> None:
    """Lets `jax.devices(name)` find a client, or none where it is None.

    JAX lists what it started itself. Its memory of earlier answers is cleared, no other cache is.
    """
    bridge: Any = _xla_bridge
    with bridge._backend_lock:
        if client is None:
            bridge._backends.pop(name, None)
        else:
            bridge._backends[name] = client
    for remembers in (bridge.get_backend, bridge.local_devices, bridge.process_count):
        getattr(remembers, "cache_clear", lambda: None)()


def registered_platforms() -> dict[str, bool]:
    """Names of what JAX can make a client of, and whether that is a PJRT plugin.

    No public list; `backends` starts them all.
    """
    bridge: Any = _xla_bridge
    return {name: entry.c_api is not None for name, entry in bridge._backend_factories.items()}


def has_looked_for_plugins() -> bool:
    """Whether JAX has imported the packages that offer plugins, as it does once.

    Nothing public tells.
    """
    bridge: Any = _xla_bridge
    return bool(bridge._plugins_registered)


def platform_problems() -> dict[str, str]:
    """Platforms of which JAX could make no client, and why; it tells that nowhere."""
    bridge: Any = _xla_bridge
    return dict(bridge._backend_errors)


def builtin_targets() -> frozenset[str]:
    """Targets of custom calls that JAX has registered for CPUs of its own.

    Public `jax.ffi` has no such list.
    """
    return frozenset(_xla_client.custom_call_targets("Host"))


@dataclass(frozen=True, slots=True)
class ExportedModule:
    """The program in a blob of `jax.export`."""

    bytecode: bytes
    platforms: tuple[str, ...]
    unused: tuple[int, ...]
    """Arguments of the exported function that its `@main` does not take."""


def read_exported(content: bytes) -> ExportedModule:
    """Reads the program out of what `jax.export.Exported.serialize` wrote.

    Public `jax.export.deserialize` makes a JAX function of it, and for that wants every custom
    pytree class registered and every mesh there; the program needs neither.

    Raises:
        ImportError: The package `flatbuffers` is not installed.
        ValueError: These bytes are no such blob.
    """
    from jax._src.export import serialization_generated  # noqa: PLC0415 - needs flatbuffers

    generated: Any = serialization_generated
    try:
        root = generated.Exported.GetRootAsExported(content, 0)
        code, kept = root.MlirModuleSerializedAsNumpy(), root.ModuleKeptVarIdxAsNumpy()
        platforms = tuple(root.Platforms(i).decode() for i in range(root.PlatformsLength()))
        arguments = range(root.InAvalsIdxsLength() or root.InAvalsLength())
        used = set() if isinstance(kept, int) else {int(i) for i in kept}
        unused = tuple(i for i in arguments if i not in used)
        return ExportedModule(b"" if isinstance(code, int) else code.tobytes(), platforms, unused)
    except (struct.error, IndexError, TypeError, AttributeError, OverflowError) as error:
        raise ValueError(str(error)) from error
