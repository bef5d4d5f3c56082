"""Where calls are compiled: jaxlib's CPU, a second client of it, and real PJRT plugins."""

import importlib.metadata
from functools import cache
from pathlib import Path
from typing import Any

import jax
import pytest

from kernel_magics import _jax_private
from kernel_magics.custom_call.pjrt_ffi import api_of_library
from kernel_magics.custom_call.registry import CustomCallRegistry

LIBRARIES = {
    "zml": ("fastatomstruct-xla-cpu", "fastatomstruct_xla_cpu/libpjrt_cpu.so"),
    "old": ("xla-cpu-pjrt", "xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so"),
}
"""Plugins of newer and of older FFI, to packages and their libraries."""

PLACES = ("cpu", "cpu2", "zml", "old")


@cache
def library(name: str) -> Path | None:
    """A plugin's library; None where its package is not installed."""
    package, place = LIBRARIES[name]
    try:
        found = importlib.metadata.distribution(package)
    except importlib.metadata.PackageNotFoundError:
        return None
    return Path(str(found.locate_file(place)))


@cache
def client(name: str) -> Any:
    """A client, made once: a plugin stays in the process that loaded it."""
    if name == "cpu":
        return jax.devices("cpu")[0].client
    if name == "cpu2":
        return _jax_private.start_cpu_client(2)
    path = library(name)
    if path is None:
        pytest.skip(f"the package {LIBRARIES[name][0]}, a plugin to call, is not installed")
    return _jax_private.start_plugin(f"calls_{name}", str(path), {"cpu_device_count": 1}).client


def device(name: str, registry: CustomCallRegistry | None = None) -> Any:
    """The first device of a client, which the registry has reached."""
    found = client(name)
    if registry is not None and name != "cpu":
        api = api_of_library(str(library(name))) if name in LIBRARIES else None
        registry.reach(found, name, api)
    return found.local_devices()[0]
