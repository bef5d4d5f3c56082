"""Loading a device plugin in a child process, before the kernel does."""

import importlib
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jax
import numpy as np

from kernel_magics import _jax_private
from kernel_magics.sandbox import pjrt
from kernel_magics.sandbox.messages import MessageError
from kernel_magics.sandbox.process import Answer

Option = bool | int | float | str | list[int]
"""What PJRT takes as the value of an option."""

STAGE = "kernel_magics: trial of a plugin: "
"""Begins a line on the child's stderr that says what comes next."""

_STDERR = 2
_ENVIRONMENT = "PJRT_NAMES_AND_LIBRARY_PATHS"


@dataclass(frozen=True, slots=True)
class Plugin:
    """A PJRT plugin that may be loaded: a library, or a package that registers some with JAX."""

    name: str
    path: Path | None = None
    options: Mapping[str, Option] = field(default_factory=dict[str, Option])
    module: str = ""
    """The package's module, whose `initialize()` JAX calls; it comes before `path`."""
    targets: Sequence[str] = ()
    """Custom calls to look for."""

    def message(self) -> tuple[dict[str, Any], list[bytes]]:
        """Head and blobs of a `probe_plugin` request."""
        path = str(self.path.expanduser().absolute()) if self.path else None
        head = {"name": self.name, "path": path, "options": dict(self.options)}
        return {**head, "module": self.module, "targets": list(self.targets)}, []


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
    stablehlo_oldest: tuple[int, ...] | None = None
    """The oldest that it reads."""
    ffi_version: tuple[int, int] | None = None
    """Of custom calls; None where it takes no handlers."""
    extensions: tuple[str, ...] = ()
    targets: Mapping[str, bool] = field(default_factory=dict[str, bool])
    """Whether it has the custom calls that were looked for."""
    load_s: float = 0.0
    """To load the library and make a client."""
    platforms: tuple[str, ...] = ()
    """The names under which a package has registered it with JAX."""


def plugin_facts(answer: Answer) -> PluginFacts:
    """What the answer to a `probe_plugin` request says.

    Raises:
        MessageError: It is no such answer.
    """
    try:
        head = answer.head
        pjrt_version, ffi = _pair(head["pjrt_version"]), _pair(head.get("ffi_version"))
        newest, oldest = _numbers(head["stablehlo_version"]), _numbers(head.get("stablehlo_oldest"))
        return PluginFacts(
            str(head["platform"]),
            str(head["platform_version"]),
            pjrt_version,
            newest,
            tuple(_read_device(device) for device in head["devices"]),
            oldest,
            ffi,
            tuple(map(str, head.get("extensions", ()))),
            {str(name): bool(has) for name, has in head.get("targets", {}).items()},
            float(head.get("load_s", 0)),
            tuple(map(str, head.get("platforms", ()))),
        )
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise MessageError(f"The answer of a plugin's trial is not whole: {error}") from error


def _pair(found: Any) -> tuple[int, int] | None:
    return None if found is None else (int(found[0]), int(found[1]))


def _numbers(found: Any) -> tuple[int, ...] | None:
    return None if found is None else tuple(int(number) for number in found)


def probe_plugin(
    head: Mapping[str, Any],
    blobs: Sequence[bytes],  # noqa: ARG001 - as every worker
) -> tuple[dict[str, Any], list[bytes]]:
    """Loads a plugin, asks what it has, and runs a small program on its first device.

    Runs in the child. A plugin cannot be unloaded: the child is for no other use afterwards.
    """
    _keep_others_out()
    began = time.perf_counter()
    started, platforms = _start_package(head) if head.get("module") else _start_library(head)
    load_s = time.perf_counter() - began
    client = started.client
    devices = client.local_devices()
    if not devices:
        raise RuntimeError(f"The plugin {head['name']!r} has no device")
    _say("a small program on its first device")
    _check(devices[0])
    found = {
        **facts_of_client(client),
        "targets": _targets(head.get("targets", ()), devices[0]),
        "load_s": load_s,
        "platforms": platforms,
    }
    if started.api is not None:
        _say("reading its extensions")
        found["extensions"] = list(pjrt.extensions(started.api))
        _say("asking for its version of custom calls")
        found["ffi_version"] = pjrt.ffi_version(started.api)
    return found, []


def facts_of_client(client: Any) -> dict[str, Any]:
    """What a client says of itself, as `plugin_facts` reads it."""
    versions = [getattr(client, f"pjrt_c_api_{part}_version", None) for part in ("major", "minor")]
    newest = getattr(client, "stablehlo_current_version", None)
    oldest = getattr(client, "stablehlo_minimum_version", None)
    return {
        "platform": client.platform,
        "platform_version": client.platform_version,
        "pjrt_version": None if None in versions else versions,
        "stablehlo_version": None if newest is None else list(newest),
        "stablehlo_oldest": None if oldest is None else list(oldest),
        "devices": [_device(device) for device in client.local_devices()],
    }


def _keep_others_out() -> None:
    """Has JAX start its own CPU alone: another plugin's fault is not this one's."""
    os.environ.pop(_ENVIRONMENT, None)
    jax.config.update("jax_platforms", "cpu")


def _start_library(head: Mapping[str, Any]) -> tuple[_jax_private.StartedPlugin, list[str]]:
    _say("loading the library")
    jax.devices()
    return _jax_private.start_plugin(head["name"], head["path"], head["options"], _say), []


def _start_package(head: Mapping[str, Any]) -> tuple[_jax_private.StartedPlugin, list[str]]:
    _say(f"importing the module {head['module']}")
    before = set(_jax_private.registered_platforms())
    module: Any = importlib.import_module(head["module"])
    _say(f"{head['module']}.initialize()")
    module.initialize()
    new = [name for name in _jax_private.registered_platforms() if name not in before]
    if not new:
        raise RuntimeError(f"{head['module']}.initialize() registered no plugin with JAX")
    _say("making a client")
    return _jax_private.start_platform(new[0]), new


def _targets(names: Sequence[str], device: Any) -> dict[str, bool]:
    """Whether the plugin has each of some custom calls: it is asked to compile one."""
    found: dict[str, bool] = {}
    for name in names:
        call = jax.ffi.ffi_call(name, jax.ShapeDtypeStruct((), np.float32), has_side_effect=True)
        _say(f"looking for the custom call {name}")
        try:
            with jax.default_device(device):
                jax.jit(call).lower().compile()
            found[name] = True
        except jax.errors.JaxRuntimeError as error:
            found[name] = "NOT_FOUND" not in str(error)
    return found


def _say(stage: str) -> None:
    os.write(_STDERR, f"{STAGE}{stage}\n".encode())


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
