"""Loading a device plugin in a child process, before the kernel does."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jax
import numpy as np

from kernel_magics import _jax_private
from kernel_magics.sandbox.messages import MessageError
from kernel_magics.sandbox.process import Answer

Option = bool | int | float | str | list[int]
"""What PJRT takes as the value of an option."""


@dataclass(frozen=True, slots=True)
class Plugin:
    """A PJRT plugin that may be loaded."""

    name: str
    path: Path
    options: Mapping[str, Option] = field(default_factory=dict[str, Option])

    def message(self) -> tuple[dict[str, Any], list[bytes]]:
        """Head and blobs of a `probe_plugin` request."""
        path = str(self.path.expanduser().absolute())
        return {"name": self.name, "path": path, "options": dict(self.options)}, []


@dataclass(frozen=True, slots=True)
class PluginDevice:
    """One device of a plugin."""

    id: int
    kind: str
    memory_bytes: int | None
    """None where the plugin does not tell."""


@dataclass(frozen=True, slots=True)
class PluginFacts:
    """What a plugin says of itself; it has run a small program when this is known."""

    platform: str
    """XLA's word, such as `cpu`, which several plugins may share."""
    platform_version: str
    pjrt_version: tuple[int, int] | None
    stablehlo_version: tuple[int, ...] | None
    """The newest that it reads."""
    devices: tuple[PluginDevice, ...]


def plugin_facts(answer: Answer) -> PluginFacts:
    """What the answer to a `probe_plugin` request says.

    Raises:
        MessageError: It is no such answer.
    """
    try:
        head = answer.head
        pjrt, stablehlo = (
            None if head[key] is None else tuple(int(number) for number in head[key])
            for key in ("pjrt_version", "stablehlo_version")
        )
        devices = tuple(_read_device(device) for device in head["devices"])
        version = (pjrt[0], pjrt[1]) if pjrt else None
        return PluginFacts(
            str(head["platform"]), str(head["platform_version"]), version, stablehlo, devices
        )
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise MessageError(f"The answer of a plugin's trial is not whole: {error}") from error


def probe_plugin(
    head: Mapping[str, Any],
    blobs: Sequence[bytes],  # noqa: ARG001 - as every worker
) -> tuple[dict[str, Any], list[bytes]]:
    """Loads a plugin, asks what it has, and runs a small program on its first device.

    Runs in the child. A plugin cannot be unloaded: the child is for no other use afterwards.
    """
    client = _jax_private.start_plugin(head["name"], head["path"], head["options"]).client
    devices = client.devices()
    if not devices:
        raise RuntimeError(f"The plugin {head['name']!r} has no device")
    _check(devices[0])
    pjrt = [getattr(client, f"pjrt_c_api_{part}_version", None) for part in ("major", "minor")]
    stablehlo = getattr(client, "stablehlo_current_version", None)
    found = {
        "platform": client.platform,
        "platform_version": client.platform_version,
        "pjrt_version": None if None in pjrt else pjrt,
        "stablehlo_version": None if stablehlo is None else list(stablehlo),
        "devices": [_device(device) for device in devices],
    }
    return found, []


def _check(device: Any) -> None:
    given = np.arange(6, dtype=np.float32).reshape(2, 3)

    def work(x: jax.Array) -> jax.Array:
        return x @ x.T + 1

    found = jax.jit(work)(jax.device_put(given, device))
    if not np.allclose(found, given @ given.T + 1, rtol=1e-2):
        raise RuntimeError(f"A product of matrices on it is {np.asarray(found).tolist()}")


def _read_device(found: Mapping[str, Any]) -> PluginDevice:
    memory = found["memory_bytes"]
    return PluginDevice(
        int(found["id"]), str(found["kind"]), None if memory is None else int(memory)
    )


def _device(device: Any) -> dict[str, Any]:
    try:
        memory = (device.memory_stats() or {}).get("bytes_limit")
    except jax.errors.JaxRuntimeError:
        memory = None
    return {"id": device.id, "kind": device.device_kind, "memory_bytes": memory}
