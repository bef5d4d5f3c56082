"""A function as a portable artifact that a plugin reads: in a version of its window."""

import re
from collections.abc import Sequence
from typing import Any

import jax
from jax.errors import JaxRuntimeError
from jax.extend import mlir
from jax.extend.mlir import ir

from kernel_magics import _jax_private
from kernel_magics.call.function import HloFunction
from kernel_magics.errors import PluginError, SignatureError
from kernel_magics.ir.context import new_context
from kernel_magics.plugin.placement import working_on

_OP = re.compile(r"failed to legalize operation '([^']+)'")

Version = tuple[int, ...]


def portable_artifact(
    function: HloFunction, args: Sequence[Any], plugin: str, device: Any
) -> bytes:
    """Lowers a function for a device, and writes it in the newest version that both sides know.

    Args:
        function: What to write.
        args: Arguments, or `jax.ShapeDtypeStruct`s; none for those of its signature.
        plugin: The plugin's name, for errors.
        device: Where it is to run.

    Raises:
        PluginError: An op of it is younger than the plugin, or the plugin than this jaxlib.
        SignatureError: Its shapes are known at a call only, and no arguments were given.
    """
    given = list(args) or _shapes(function)
    with working_on(device):
        lowered = function.lower(*given)
    module = ir.Module.parse(str(lowered.compiler_ir("stablehlo")), new_context())
    version = readable_version(device.client)
    text = ".".join(map(str, version))
    try:
        return mlir.serialize_portable_artifact(module, text)
    except (JaxRuntimeError, ValueError) as error:
        ops = ", ".join(f"`{name}`" for name in dict.fromkeys(_OP.findall(str(error))))
        raise PluginError(
            f"`@{function.signature.name}` cannot be written for plugin `{plugin}`, which reads "
            f"StableHLO up to {text}",
            details=[f"that version has no form for {ops}" if ops else str(error).split("\n")[0]],
            advice="Write it with older ops, or use a plugin that is younger.",
        ) from error


def readable_version(client: Any) -> Version:
    """The newest StableHLO that both a client reads and this jaxlib writes."""
    ours = tuple(int(part) for part in _jax_private.stablehlo_versions()[1].split("."))
    newest = getattr(client, "stablehlo_current_version", None)
    return ours if newest is None else min(ours, tuple(map(int, newest)))


def _shapes(function: HloFunction) -> list[jax.ShapeDtypeStruct]:
    signature = function.signature
    if signature.is_dynamic:
        raise SignatureError(
            f"`@{signature.name}` cannot be written without arguments",
            details=[f"its dimensions are known only when it is called: {signature}"],
            advice="Give arguments, or a `jax.ShapeDtypeStruct` for each.",
        )
    return [jax.ShapeDtypeStruct(a.type.shape or (), a.type.dtype) for a in signature.arguments]
